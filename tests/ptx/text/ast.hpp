// SPDX-License-Identifier: Apache-2.0
//
// What PTX text says, before anything is looked up. Names are views into the module's own copy of the text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptx::ast {

enum class operand_kind : std::uint8_t {
  name,     ///< register, label, variable, function, special register such as %tid.x
  integer,  ///< bits hold the two's complement value
  real32,   ///< 0f3F800000; bits hold the pattern
  real64,   ///< 0d..., or a decimal number with a point
  address,  ///< [base + offset]: parts[0] is a name or an integer; a second part is a cache policy or the like
  vector,   ///< {a, b, ...}
  list,     ///< (a, b, ...): arguments of a call
  pair,     ///< a|b, the two destinations of setp, shfl and match
  sink      ///< _
};

struct operand {
  operand_kind kind = operand_kind::name;
  bool negated = false;  ///< !p
  std::string_view name{};
  std::uint64_t bits = 0;
  std::int64_t offset = 0;  ///< of an address, or of name+offset
  std::vector<operand> parts{};
};

struct instruction {
  std::string_view opcode{};  ///< with all its modifiers: "ld.global.nc.v2.u64"
  std::string_view guard{};   ///< predicate register of @p, empty without
  bool guard_negated = false;
  std::vector<operand> operands{};
};

/// One value of an initialiser: a number, or the address of a symbol (plus offset), perhaps one byte of it.
struct initial_value {
  std::uint64_t bits = 0;
  std::string_view symbol{};
  std::uint64_t mask = 0;  ///< of mask(symbol): which byte, as 0xFF << 8k; zero for all
};

/// A variable in any state space, a register range (`.reg .b32 %r<7>`), or a formal parameter.
struct variable {
  std::string_view space{};  ///< "reg", "global", "const", "shared", "local", "param"
  std::string_view type{};   ///< "b32", "pred", ...
  std::string_view name{};
  std::uint32_t range = 0;   ///< %r<range>; zero for a single name
  std::uint32_t vector = 1;  ///< 2 with .v2
  std::uint32_t align = 0;   ///< as written; zero for the type's own
  bool external = false;
  bool managed = false;
  bool is_array = false;
  std::uint64_t elements = 1;  ///< product of the dimensions; zero for name[]
  std::vector<initial_value> values{};
  int line = 0;
};

/// A line of the source, from .loc; where it was inlined, that place is another one.
struct location {
  int file = 0, line = 0;
  std::uint32_t inlined_at = 0;  ///< index of a location; zero for none
};

enum class item_kind : std::uint8_t { instruction, variable, label, open, close, prototype, targets };

/// One step of a function's body. Braces stay, because names belong to the innermost of them.
struct item {
  item_kind kind = item_kind::instruction;
  int line = 0;                           ///< of the PTX text, from 1
  std::uint32_t location = 0;             ///< index of the last .loc, zero for none
  std::string_view text{};                ///< the statement as written
  std::string_view name{};                ///< of a label, prototype or target list
  ast::instruction instruction{};         ///< kind instruction
  std::vector<variable> variables{};      ///< kind variable; the parameters of a prototype
  std::vector<variable> results{};        ///< kind prototype
  std::vector<std::string_view> names{};  ///< kind targets
};

struct function {
  std::string_view name{};
  bool entry = false;
  bool defined = false;  ///< has a body
  std::vector<variable> results{}, parameters{};
  std::vector<item> body{};
  std::uint32_t max_threads = 0;  ///< .maxntid or .reqntid; zero without
  std::uint32_t min_blocks = 0;
  std::uint32_t cluster[3] = {0, 0, 0};
  int line = 0;
};

struct module {
  std::unique_ptr<std::string const> text;
  int version_major = 0, version_minor = 0;
  std::string_view target{};
  std::vector<variable> variables{};
  std::vector<function> functions{};
  std::vector<std::pair<int, std::string_view>> files{};  ///< .file numbers and names
  std::vector<location> locations{{}};
};

}  // namespace ptx::ast
