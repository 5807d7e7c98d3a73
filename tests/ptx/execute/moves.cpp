// SPDX-License-Identifier: Apache-2.0
//
// mov and the conversions between state spaces' addresses. They copy undefined bytes as they are.
#include "execute/access.hpp"
#include "execute/instructions.hpp"
#include "execute/special_values.hpp"

namespace ptx {
namespace {

constexpr std::uint64_t mask_of_bits(unsigned bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

void copy(warp& w, instruction const& i, lane_set m) {
  operand const &to = i.operands[0], &from = i.operands[1];
  if (m == all_lanes) {
    std::memcpy(w.destination(to), w.values(from), 32 * sizeof(std::uint64_t));
    std::memcpy(w.destination_defined(to), w.defined(from), 32 * sizeof(byte_set));
    return;
  }
  each_lane(m, [&](int l) {
    w.destination(to)[l] = w.values(from)[l];
    w.destination_defined(to)[l] = w.defined(from)[l];
  });
}

/// The address of a variable whose base is known at launch.
void copy_with_offset(warp& w, instruction const& i, lane_set m) {
  operand const& from = i.operands[1];
  std::uint64_t const mask = mask_of_bits(8u * i.operands[0].bytes);
  each_lane(m, [&](int l) {
    w.destination(i.operands[0])[l] = (w.values(from)[l] + static_cast<std::uint64_t>(from.offset)) & mask;
    w.destination_defined(i.operands[0])[l] = w.defined(from)[l];
  });
}

void read_clock(warp& w, instruction const& i, lane_set m) {
  std::uint64_t const now = clock_value(static_cast<special>(i.operands[1].slot), w);
  each_lane(m, [&](int l) { w.destination(i.operands[0])[l] = now; });
  w.set_result(i.operands[0], m);
}

/// d = {a, b, ..}, the first in the lowest bits
void pack_elements(warp& w, instruction const& i, lane_set m) {
  int const n = i.count - 1;
  unsigned const bits = i.with.elements;
  each_lane(m, [&](int l) {
    std::uint64_t value = 0;
    unsigned known = 0, computed_ones = 0;
    for (int k = 0; k < n; ++k) {
      value |= (w.values(i.operands[1 + k])[l] & mask_of_bits(bits)) << (bits * static_cast<unsigned>(k));
      byte_set const source = w.defined(i.operands[1 + k])[l];
      known |= (source & bytes_mask(bits / 8)) << (bits / 8 * static_cast<unsigned>(k));
      computed_ones |= (computed_bytes(source) & bytes_mask(bits / 8)) << (bits / 8 * static_cast<unsigned>(k));
    }
    w.destination(i.operands[0])[l] = value;
    w.destination_defined(i.operands[0])[l] = bytes_of_origin(known, computed_ones);
  });
}

/// {a, b, ..} = d
void unpack_elements(warp& w, instruction const& i, lane_set m) {
  int const n = i.count - 1;
  unsigned const bits = i.with.elements;
  operand const& from = i.operands[n];
  each_lane(m, [&](int l) {
    std::uint64_t const value = w.values(from)[l];
    byte_set const known = w.defined(from)[l];
    for (int k = 0; k < n; ++k) {
      unsigned const first = bits / 8 * static_cast<unsigned>(k);
      w.destination(i.operands[k])[l] = (value >> (bits * static_cast<unsigned>(k))) & mask_of_bits(bits);
      w.destination_defined(i.operands[k])[l] =
          bytes_of_origin((known & 0xFFu) >> first | ~bytes_mask(bits / 8), computed_bytes(known) >> first);
    }
  });
}

/// Values of two slots: mov.b128 with {low, high} on one side or neither.
void copy_wide(warp& w, instruction const& i, lane_set m) {
  bool const packs = i.with.mode == 1, unpacks = i.with.mode == 2;
  auto const second = [](operand o) {
    ++o.slot;
    return o;
  };
  operand const to[2] = {i.operands[0], unpacks ? i.operands[1] : second(i.operands[0])};
  operand const& first_source = i.operands[unpacks ? 2 : 1];
  operand const from[2] = {first_source, packs ? i.operands[2] : second(first_source)};
  for (int k = 0; k < 2; ++k) {
    each_lane(m, [&](int l) {
      w.destination(to[k])[l] = w.values(from[k])[l];
      w.destination_defined(to[k])[l] = w.defined(from[k])[l];
    });
  }
}

void build_wide_move(form& f) {
  bool const unpacks = f.peek().kind == ast::operand_kind::vector;
  unpacks ? f.destinations(type::b64, 2) : f.destination(type::b128);
  bool const packs = f.peek().kind == ast::operand_kind::vector;
  packs ? f.sources(type::b64, 2) : f.source(type::b128);
  f.out.with.mode = packs ? 1 : unpacks ? 2 : 0;
  f.out.run = copy_wide;
}

type bits_type(unsigned bits) {
  return bits == 8 ? type::b8 : bits == 16 ? type::b16 : bits == 32 ? type::b32 : type::b64;
}

void build_mov(form& f) {
  type const t = f.take_type();
  if (t == type::b128) { return build_wide_move(f); }
  auto const elements = [&](std::size_t n) {
    if (n != 2 && n != 4) { f.fail("wrong number of vector elements"); }
    f.out.with.elements = static_cast<std::uint8_t>(bits_of(t) / n);
    if (f.out.with.elements < 8) { f.fail("wrong number of vector elements"); }
    return bits_type(f.out.with.elements);
  };
  if (f.peek().kind == ast::operand_kind::vector) {
    std::size_t const n = f.peek().parts.size();
    f.destinations(elements(n), n);
    f.source(t);
    f.out.run = unpack_elements;
    return;
  }
  f.destination(t);
  ast::operand const from = f.peek();
  if (from.kind == ast::operand_kind::vector) {
    f.sources(elements(from.parts.size()), from.parts.size());
    f.out.run = pack_elements;
    return;
  }
  special const s = special_named(from.name);
  f.source(t, true);
  f.out.run = s != special::count && is_clock(s) ? read_clock : copy_with_offset;
  if (f.out.run == copy_with_offset && !f.needs_offset()) { f.out.run = copy; }
}

// Generic addresses: global ones are themselves, shared and local ones lie in their windows.

template <bool ToGeneric>
void convert_address(warp& w, instruction const& i, lane_set m) {
  operand const& from = i.operands[1];
  w.use(i, 1, m, 0xFF);
  each_lane(m, [&](int l) {
    std::uint64_t const a = w.values(from)[l] + static_cast<std::uint64_t>(from.offset);
    std::uint64_t const window = i.with.where == space::shared  ? shared_window
                                 : i.with.where == space::local ? local_window
                                                                : 0;
    std::uint64_t const offset = window == 0 ? a : a & (shared_window - 1);
    w.destination(i.operands[0])[l] = ToGeneric ? offset + window : offset;
  });
  w.set_result(i.operands[0], m);
}

void build_cvta(form& f) {
  bool const from_generic = f.take("to");
  if (!f.take_one(access_spaces, f.out.with.where)) { f.fail("expected a state space"); }
  type const t = f.take_type();
  if (bits_of(t) != 64) { f.fail("only 64-bit addresses"); }
  f.out.run = from_generic ? convert_address<false> : convert_address<true>;
  f.destination(t);
  f.source(t, true);
}

enum class window : std::uint8_t { global, shared, local, constant, parameter };

window window_of(warp& w, std::uint64_t address) {
  if (address >> 56 == shared_window >> 56) { return window::shared; }
  if (address >> 56 == local_window >> 56) { return window::local; }
  launch_state const& launch = w.home().launch();
  if (address - launch.parameter_base < launch.request.parameters.size()) { return window::parameter; }
  allocation const* const a = launch.memory.device.find(address);
  return a != nullptr && a->kind == allocation_kind::constant ? window::constant : window::global;
}

void is_in_space(warp& w, instruction const& i, lane_set m) {
  w.use(i, 1, m, 0xFF);
  each_lane(m, [&](int l) {
    window const in = window_of(w, w.values(i.operands[1])[l]);
    w.destination(i.operands[0])[l] = in == static_cast<window>(i.with.mode) ? 1 : 0;
  });
  w.set_result(i.operands[0], m);
}

void build_isspacep(form& f) {
  static constexpr named<window> windows[] = {{"global", window::global},      {"shared", window::shared},
                                              {"shared::cta", window::shared}, {"shared::cluster", window::shared},
                                              {"local", window::local},        {"const", window::constant},
                                              {"param", window::parameter},    {"param::entry", window::parameter}};
  window in = window::global;
  if (!f.take_one(windows, in)) { f.fail("expected a state space"); }
  f.out.with.mode = static_cast<std::uint8_t>(in);
  f.out.run = is_in_space;
  f.destination(type::pred);
  f.source(type::b64);
}

}  // namespace

void add_moves(opcode_table& t) {
  t.add("mov", build_mov);
  t.add("cvta", build_cvta);
  t.add("isspacep", build_isspacep);
}

}  // namespace ptx
