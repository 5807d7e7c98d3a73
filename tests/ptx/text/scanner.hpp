// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "memory/finding.hpp"

namespace ptx {

/// A number as written: an integer, or the bits of a float.
struct number {
  enum class form : std::uint8_t { integer, real32, real64 } kind = form::integer;
  std::uint64_t bits = 0;
};

/// Reads PTX text from left to right; comments and blanks are skipped between words.
class scanner {
 public:
  explicit scanner(std::string_view text) : text_(text) { skip_blanks(); }

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] std::size_t position() const { return at_; }
  /// The text from a position to here, without trailing blanks.
  [[nodiscard]] std::string_view since(std::size_t from) const;

  /// Whether the next character is this one; takes it and the blanks after it.
  bool accept(char c);
  /// Whether the next word is exactly this one (".entry", "inlined_at"); takes it.
  bool accept(std::string_view word);
  void expect(char c);

  [[nodiscard]] bool at_word() const;
  [[nodiscard]] bool at_number() const;
  /// An identifier: letters, digits, _ $ %.
  std::string_view word();
  /// An identifier with the .suffixes that follow it at once: ld.global.v4.f32, %tid.x, .visible.
  std::string_view dotted_word();
  /// A number without sign.
  number read_number();
  std::uint64_t unsigned_integer();
  std::string_view quoted();
  /// The digits before a point: the 9 of "9.0".
  std::uint64_t digits();
  /// Skips to the end of the line.
  void skip_line();
  /// Skips to the next such character, which stays.
  void skip_to(char c);

  [[noreturn]] void fail(std::string const& what) const;

 private:
  void skip_blanks();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t end_of_last_ = 0;  // where the last word or character taken ended, before blanks
  int line_ = 1;
};

}  // namespace ptx
