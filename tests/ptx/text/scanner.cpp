// SPDX-License-Identifier: Apache-2.0
#include "text/scanner.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace ptx {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void scanner::skip_blanks() {
  while (at_ < text_.size()) {
    char const c = text_[at_];
    if (c == '\n') {
      ++line_, ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
      ++at_;
    } else if (text_.compare(at_, 2, "//") == 0) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.compare(at_, 2, "/*") == 0) {
      std::size_t const end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) { fail("comment without end"); }
      for (; at_ < end + 2; ++at_) { line_ += text_[at_] == '\n' ? 1 : 0; }
    } else {
      return;
    }
  }
}

std::string_view scanner::since(std::size_t from) const {
  return text_.substr(from, end_of_last_ > from ? end_of_last_ - from : 0);
}

bool scanner::accept(char c) {
  if (peek() != c || at_end()) { return false; }
  end_of_last_ = ++at_;
  skip_blanks();
  return true;
}

bool scanner::accept(std::string_view word) {
  if (text_.compare(at_, word.size(), word) != 0) { return false; }
  std::size_t const end = at_ + word.size();
  if (end < text_.size() && is_word_character(text_[end])) { return false; }
  end_of_last_ = at_ = end;
  skip_blanks();
  return true;
}

void scanner::expect(char c) {
  if (!accept(c)) { fail(std::string("expected '") + c + "'"); }
}

bool scanner::at_word() const { return !at_end() && is_word_character(peek()) && !is_digit(peek()); }
bool scanner::at_number() const { return !at_end() && is_digit(peek()); }

std::string_view scanner::word() {
  std::size_t const from = at_;
  while (at_ < text_.size() && is_word_character(text_[at_])) { ++at_; }
  if (at_ == from) { fail("expected a name"); }
  end_of_last_ = at_;
  std::string_view const found = text_.substr(from, at_ - from);
  skip_blanks();
  return found;
}

std::string_view scanner::dotted_word() {
  std::size_t const from = at_;
  while (at_ < text_.size()) {
    bool const two_colons = text_.compare(at_, 2, "::") == 0;  // .kind::mxf4nvf4
    if (!is_word_character(text_[at_]) && text_[at_] != '.' && !two_colons) { break; }
    at_ += two_colons ? 2 : 1;
  }
  if (at_ == from) { fail("expected a name"); }
  end_of_last_ = at_;
  std::string_view const found = text_.substr(from, at_ - from);
  skip_blanks();
  return found;
}

number scanner::read_number() {
  std::size_t const from = at_;
  while (at_ < text_.size() && is_word_character(text_[at_])) { ++at_; }
  std::string_view digits = text_.substr(from, at_ - from);
  number result;
  bool const has_point = at_ < text_.size() && text_[at_] == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
  bool const has_exponent = digits.size() > 1 && digits[0] != '0' && digits.find_first_of("eE") != digits.npos;
  if (has_point || has_exponent) {  // a decimal float: 1.5, 1.0e-3
    std::string const tail(text_.substr(from, 64));
    char* end = nullptr;
    double const value = std::strtod(tail.c_str(), &end);
    at_ = from + static_cast<std::size_t>(end - tail.c_str());
    result.kind = number::form::real64;
    std::memcpy(&result.bits, &value, sizeof value);
  } else {
    int base = 10;
    if (digits.size() > 2 && digits[0] == '0' && std::strchr("xXfFdDbB", digits[1]) != nullptr) {
      char const c = static_cast<char>(digits[1] | 0x20);
      base = c == 'b' ? 2 : 16;
      if (c == 'f') { result.kind = number::form::real32; }
      if (c == 'd') { result.kind = number::form::real64; }
      digits.remove_prefix(2);
    } else if (digits.size() > 1 && digits[0] == '0') {
      base = 8;
    }
    if (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u')) { digits.remove_suffix(1); }
    auto const [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), result.bits, base);
    if (status != std::errc{} || end != digits.data() + digits.size()) { fail("not a number"); }
  }
  end_of_last_ = at_;
  skip_blanks();
  return result;
}

std::uint64_t scanner::unsigned_integer() {
  number const n = read_number();
  if (n.kind != number::form::integer) { fail("expected an integer"); }
  return n.bits;
}

std::string_view scanner::quoted() {
  if (peek() != '"') { fail("expected a string"); }
  std::size_t const end = text_.find('"', at_ + 1);
  if (end == std::string_view::npos) { fail("string without end"); }
  std::string_view const found = text_.substr(at_ + 1, end - at_ - 1);
  end_of_last_ = at_ = end + 1;
  skip_blanks();
  return found;
}

std::uint64_t scanner::digits() {
  std::uint64_t value = 0;
  for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
    value = 10 * value + static_cast<unsigned>(text_[at_] - '0');
  }
  return value;
}

void scanner::skip_to(char c) {
  while (at_ < text_.size() && text_[at_] != c) { line_ += text_[at_++] == '\n' ? 1 : 0; }
}

void scanner::skip_line() {
  at_ = std::min(text_.find('\n', at_), text_.size());
  skip_blanks();
}

void scanner::fail(std::string const& what) const {
  std::size_t const from = text_.rfind('\n', at_ == 0 ? 0 : at_ - 1);
  std::size_t const begin = from == std::string_view::npos ? 0 : from + 1;
  std::size_t const end = std::min(text_.find('\n', at_), text_.size());
  throw error("PTX line " + std::to_string(line_) + ": " + what + ": " + std::string(text_.substr(begin, end - begin)));
}

}  // namespace ptx
