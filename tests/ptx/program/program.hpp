// SPDX-License-Identifier: Apache-2.0
//
// A decoded module: one array of instructions, each with the function that executes it and its operands' places.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "machine.hpp"
#include "program/types.hpp"
#include "text/ast.hpp"

namespace ptx {

class warp;
struct instruction;

/// A set of lanes of a warp, one bit each.
using lane_set = std::uint32_t;
inline constexpr lane_set all_lanes = 0xFFFFFFFFu;
inline constexpr int warp_size = 32;

/// Executes an instruction for some lanes.
using handler = void (*)(warp&, instruction const&, lane_set);

/// Where an operand's values lie: 32 of them in a row, one for each lane.
enum class place : std::uint8_t { frame, constant, special };

struct operand {
  place where = place::frame;
  std::uint8_t bytes = 4;   ///< width of the register; a constant's is its type's
  std::uint32_t slot = 0;   ///< 32 values of 64 bits each
  std::int64_t offset = 0;  ///< added: addresses, and symbols that are no compile-time constants
};

/// Slots every function's frame begins with.
inline constexpr std::uint32_t sink_slot = 0, local_base_slot = 1, carry_slot = 2, first_free_slot = 3;

enum class flow : std::uint8_t { next, branch, indexed, call, leave, exit, barrier, meet };

enum class rounding : std::uint8_t { rn, rz, rm, rp, rna, rs };

/// What the modifiers of an opcode say, as far as a handler asks.
struct modifiers {
  type first = type::none, second = type::none, third = type::none, fourth = type::none;
  rounding round = rounding::rn;
  bool ftz = false, saturate = false, satfinite = false, relu = false, abs = false, nan = false, xorsign = false;
  bool integer_round = false;  ///< cvt.rni and its kin
  bool approximate = false, has_sink = false;
  std::uint8_t compare = 0, combine = 0, mode = 0, vector = 1, elements = 0;
  space where = space::generic;
  order ordering = order::weak;
  scope reach = scope::device;
};

struct instruction {
  handler run = nullptr;
  operand const* operands = nullptr;
  std::int32_t guard = -1;  ///< slot of the predicate; -1 without
  bool guard_negated = false;
  flow how = flow::next;
  std::uint8_t count = 0;       ///< of operands
  std::uint16_t step_cost = 1;  ///< what a spinning loop is charged
  std::uint32_t target = 0;     ///< of a branch; index of a target list or a call site
  modifiers with{};
};

/// What a report says of an instruction.
struct origin {
  int line = 0;
  std::uint32_t location = 0, function = 0, kind = 0;
  std::string_view text{};
};

/// A parameter or result of a function: bytes in the frame, eight a slot.
struct frame_bytes {
  std::uint32_t slot = 0, bytes = 0;
  bool constant = false;  ///< an argument that is a number: the slot is one of the constants
};

struct call_site {
  std::int32_t callee = -1;  ///< -1: operand 0 holds the address
  std::vector<frame_bytes> results{}, arguments{};
};

struct function_code {
  std::string_view name{};
  bool entry = false, defined = false;
  std::uint32_t begin = 0;  ///< its first instruction
  std::uint32_t frame_slots = first_free_slot;
  std::uint32_t local_bytes = 0;
  std::vector<frame_bytes> results{}, parameters{};
  std::vector<std::string> register_names{};  ///< by slot
  kernel_info info{};                         ///< of an entry
  bool calls = false;
  std::vector<std::uint32_t> callees{};  ///< by name; others are called by address
  std::string refused{};  ///< why it cannot run: its first instruction that is not known; empty when it can
};

/// Which bytes of a register were ever written (bits 0 to 7), and which of the others come from arithmetic with such
/// bytes (bits 8 to 15): harmless until they decide something or go to global memory. The rest are mere copies.
using byte_set = std::uint16_t;
inline constexpr byte_set all_bytes_defined = 0xFF, computed = 0xFF00;

inline unsigned computed_bytes(byte_set s) { return s >> 8; }
inline byte_set bytes_of_origin(unsigned defined, unsigned computed_ones) {
  return static_cast<byte_set>((defined & 0xFF) | (computed_ones & ~defined & 0xFF) << 8);
}

/// Values in columns of 32, with the bytes of each that are defined.
struct columns {
  std::vector<std::uint64_t> values{};
  std::vector<byte_set> defined{};
};

struct program {
  ast::module text;
  std::vector<instruction> code{};
  std::vector<origin> origins{};
  std::vector<operand> operands{};
  std::vector<function_code> functions{};
  std::vector<call_site> calls{};
  std::vector<std::vector<std::uint32_t>> targets{};
  std::vector<std::string> kinds{};
  columns constants{};
  std::map<std::string, variable_info, std::less<>> variables{};
  std::uint32_t common_shared = 0;  ///< .shared variables outside of entries
};

/// The address that a function has; nothing is there.
inline constexpr std::uint64_t code_window = std::uint64_t{4} << 56;

}  // namespace ptx
