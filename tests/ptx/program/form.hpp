// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/program.hpp"

namespace ptx {

template <class E>
using named = std::pair<std::string_view, E>;

/// One instruction on its way from text to code. A builder takes the modifiers it knows and the operands in their
/// order; what it leaves is an error, so that nothing is ignored.
class form {
 public:
  virtual ~form() = default;

  instruction out{};

  /// The opcode without modifiers.
  [[nodiscard]] std::string_view base() const { return base_; }
  /// Takes a modifier wherever it stands; whether it was there.
  bool take(std::string_view modifier);
  /// Takes the first modifier that is a type.  \throws error without one
  type take_type();
  [[nodiscard]] bool has_type() const;
  /// Takes the first modifier of a table.
  template <class E, std::size_t N>
  bool take_one(named<E> const (&table)[N], E& value) {
    for (auto const& [name, meaning] : table) {
      if (take(name)) {
        value = meaning;
        return true;
      }
    }
    return false;
  }
  /// The modifiers not taken yet.
  [[nodiscard]] std::vector<std::string_view> const& rest() const { return modifiers_; }

  /// Operands not taken yet, and a look at the next.
  [[nodiscard]] std::size_t operands_left() const { return written_.size() - next_; }
  [[nodiscard]] ast::operand const& peek() const;
  ast::operand const& skip();

  /// Each takes the next operand and appends what it becomes.
  void destination(type t);                  ///< a register, or _
  void source(type t, bool symbol = false);  ///< a register or a number; a symbol where an offset is added
  void predicate_source();                   ///< p or !p; negation goes to operand.offset
  void address();                            ///< [a+b]
  void destinations(type t, std::size_t n);  ///< {a, b, ..}, or one without braces
  void sources(type t, std::size_t n);
  void destination_pair(type first, type second);  ///< d|p, or d alone and nowhere for p
  void number(std::uint64_t value);                ///< one that is not written
  void append(ast::operand const& o, type t, bool is_destination, bool symbol);
  /// Whether the last operand is a symbol with an offset.
  [[nodiscard]] bool needs_offset() const { return lowered_.back().offset != 0; }

  /// Makes the last operand, of 128 bits, two of 64.
  void split_last();
  /// Takes the modifiers that are only advice: cache operators, eviction priorities, prefetch sizes. True with a cache
  /// policy, which is one operand more.
  bool take_cache_advice();

  /// Whether the next operand is a predicate register.
  [[nodiscard]] virtual bool next_is_predicate() = 0;

  /// What most builders end with.  \throws error when there is no handler, as for a wrong type
  void complete(handler h, type result, std::initializer_list<type> sources);

  /// ld, st and cvt take registers that are wider than their types.
  void allow_wide_registers() { wide_registers_ = true; }

  /// For control flow and calls, which look names up themselves.
  virtual std::uint32_t label(std::string_view name) = 0;
  virtual std::uint32_t target_list(std::string_view name) = 0;
  virtual std::uint32_t call_site(form& f) = 0;
  /// A .param variable of a function: its bytes in the frame. False when the name is something else.
  virtual bool frame_parameter(std::string_view name, frame_bytes& where) = 0;
  /// A kernel's parameter.
  virtual bool kernel_parameter(std::string_view name, parameter_info& where) = 0;

  /// \throws error with the instruction's line and text
  [[noreturn]] void fail(std::string const& what) const { throw error(what + where()); }

 protected:
  /// Place of a register, symbol or number.
  virtual operand lower(ast::operand const& o, type t, bool is_destination) = 0;
  [[nodiscard]] virtual std::string where() const = 0;
  void begin(std::string_view opcode, std::vector<ast::operand> const& operands);
  void finish() const;
  [[nodiscard]] std::vector<operand> const& lowered() const { return lowered_; }
  [[nodiscard]] bool wide_registers() const { return wide_registers_; }

 private:
  std::string_view base_{};
  std::vector<std::string_view> modifiers_{};
  std::vector<ast::operand> written_{};
  std::size_t next_ = 0;
  std::vector<operand> lowered_{};
  bool wide_registers_ = false;
};

using builder = void (*)(form&);

/// All opcodes, by their name without modifiers.
class opcode_table {
 public:
  void add(std::string_view name, builder how) { builders_[std::string(name)] = how; }
  [[nodiscard]] builder find(std::string_view name) const {
    auto const at = builders_.find(name);
    return at == builders_.end() ? nullptr : at->second;
  }

 private:
  std::map<std::string, builder, std::less<>> builders_{};
};

}  // namespace ptx
