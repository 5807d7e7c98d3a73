// SPDX-License-Identifier: Apache-2.0
//
// atom and red.
#include "execute/access.hpp"
#include "execute/floats.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

/// The new value of a location from its old one and the operands.
using update = std::uint64_t (*)(modifiers const&, std::uint64_t old, std::uint64_t b, std::uint64_t c);
using mods = modifiers;

std::uint64_t exchange(mods const&, std::uint64_t, std::uint64_t b, std::uint64_t) { return b; }
std::uint64_t compare_and_swap(mods const&, std::uint64_t old, std::uint64_t b, std::uint64_t c) {
  return old == b ? c : old;
}
std::uint64_t bit_and(mods const&, std::uint64_t old, std::uint64_t b, std::uint64_t) { return old & b; }
std::uint64_t bit_or(mods const&, std::uint64_t old, std::uint64_t b, std::uint64_t) { return old | b; }
std::uint64_t bit_xor(mods const&, std::uint64_t old, std::uint64_t b, std::uint64_t) { return old ^ b; }
std::uint64_t add(mods const&, std::uint64_t old, std::uint64_t b, std::uint64_t) { return old + b; }
std::uint64_t increment(mods const&, std::uint64_t old, std::uint64_t b, std::uint64_t) {
  return old >= b ? 0 : old + 1;
}
std::uint64_t decrement(mods const&, std::uint64_t old, std::uint64_t b, std::uint64_t) {
  return old == 0 || old > b ? b : old - 1;
}
template <class T>
std::uint64_t minimum(mods const&, std::uint64_t old, std::uint64_t b, std::uint64_t) {
  return to_bits(std::min(static_cast<T>(old), static_cast<T>(b)));
}
template <class T>
std::uint64_t maximum(mods const&, std::uint64_t old, std::uint64_t b, std::uint64_t) {
  return to_bits(std::max(static_cast<T>(old), static_cast<T>(b)));
}
template <type T, class F>
std::uint64_t on_floats(mods const& with, std::uint64_t old, std::uint64_t b, std::uint64_t) {
  return on_elements<T, F>(with, old, b);
}

struct atomic_row {
  std::string_view name, types;
  update how;
};

constexpr atomic_row rows[] = {
    {"exch", "b32 b64", exchange},
    {"cas", "b16 b32 b64", compare_and_swap},
    {"and", "b32 b64", bit_and},
    {"or", "b32 b64", bit_or},
    {"xor", "b32 b64", bit_xor},
    {"add", "u32 s32 u64 s64", add},
    {"inc", "u32", increment},
    {"dec", "u32", decrement},
    {"min", "u32", minimum<std::uint32_t>},
    {"min", "s32", minimum<std::int32_t>},
    {"min", "u64", minimum<std::uint64_t>},
    {"min", "s64", minimum<std::int64_t>},
    {"max", "u32", maximum<std::uint32_t>},
    {"max", "s32", maximum<std::int32_t>},
    {"max", "u64", maximum<std::uint64_t>},
    {"max", "s64", maximum<std::int64_t>},
    {"add", "f32", on_floats<type::f32, float_add>},
    {"add", "f64", on_floats<type::f64, float_add>},
    {"add", "f16", on_floats<type::f16, float_add>},
    {"add", "f16x2", on_floats<type::f16x2, float_add>},
    {"add", "bf16", on_floats<type::bf16, float_add>},
    {"add", "bf16x2", on_floats<type::bf16x2, float_add>},
    {"min", "f16", on_floats<type::f16, float_min>},
    {"min", "f16x2", on_floats<type::f16x2, float_min>},
    {"min", "bf16", on_floats<type::bf16, float_min>},
    {"min", "bf16x2", on_floats<type::bf16x2, float_min>},
    {"max", "f16", on_floats<type::f16, float_max>},
    {"max", "f16x2", on_floats<type::f16x2, float_max>},
    {"max", "bf16", on_floats<type::bf16, float_max>},
    {"max", "bf16x2", on_floats<type::bf16x2, float_max>},
};

bool has_word(std::string_view list, std::string_view word) {
  std::size_t const at = list.find(word);
  if (at == std::string_view::npos) { return false; }
  std::size_t const end = at + word.size();
  return (at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ');
}

update update_for(form& f, std::string_view name, type t) {
  for (atomic_row const& r : rows) {
    if (r.name == name && has_word(r.types, row(t).name)) { return r.how; }
  }
  f.fail("no such atomic operation on this type");
}

/// What is known of a register of 64 bits after `bytes` of it were loaded.
byte_set loaded_bytes(std::uint32_t defined, unsigned bytes) {
  return static_cast<byte_set>((defined | ~bytes_mask(bytes)) & all_bytes_defined);
}

/// d.., [a], b.., c: with.elements elements; red has no d. `target` is the row of the operation.
void atomic(warp& w, instruction const& i, lane_set m) {
  type const t = i.with.first;
  unsigned const each = bytes_of(t);
  int const n = i.with.vector;
  bool const returns = i.with.mode != 0, three = i.with.combine != 0;
  int const address = returns ? n : 0;
  for (int k = address + 1; k < i.count; ++k) { w.require(i, k, m, bytes_mask(each)); }
  request r = make_request(w, i, address, m, each * static_cast<unsigned>(n));
  update const how = rows[i.target].how;
  std::uint64_t const mask = each >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * each)) - 1;
  w.home().memory().atomic(w.index(), r, how == exchange, [&](unsigned lane, std::byte* at, std::uint32_t defined) {
    modifiers with = i.with;
    // atom.add.f32 flushes subnormals in global memory, and not in shared memory.
    with.ftz = t == type::f32 && i.with.where != space::shared && r.address[lane] < shared_window;
    for (int k = 0; k < n; ++k) {
      std::uint64_t old = 0;
      std::memcpy(&old, at + each * static_cast<unsigned>(k), each);
      std::uint64_t const b = w.values(i.operands[address + 1 + k])[lane] & mask;
      std::uint64_t const c = three ? w.values(i.operands[address + 2])[lane] & mask : 0;
      std::uint64_t const fresh = how(with, old, b, c);
      std::memcpy(at + each * static_cast<unsigned>(k), &fresh, each);
      if (!returns) { continue; }
      w.destination(i.operands[k])[lane] = old;
      w.destination_defined(i.operands[k])[lane] = loaded_bytes(defined >> (each * static_cast<unsigned>(k)), each);
    }
  });
}

/// exch and cas of 128 bits: d, [a], b{, c}, each in two operands.
void atomic_128(warp& w, instruction const& i, lane_set m) {
  for (int k = 3; k < i.count; ++k) { w.require(i, k, m, 0xFF); }
  bool const three = i.with.combine != 0;
  request const r = make_request(w, i, 2, m, 16);
  w.home().memory().atomic(w.index(), r, !three, [&](unsigned lane, std::byte* at, std::uint32_t defined) {
    auto const operand_value = [&](int k) { return w.values(i.operands[k])[lane]; };
    std::uint64_t old[2];
    std::memcpy(old, at, sizeof old);
    std::uint64_t const b[2] = {operand_value(3), operand_value(4)};
    bool const swaps = !three || (old[0] == b[0] && old[1] == b[1]);
    std::uint64_t const fresh[2] = {three ? operand_value(5) : b[0], three ? operand_value(6) : b[1]};
    if (swaps) { std::memcpy(at, fresh, sizeof fresh); }
    for (int k = 0; k < 2; ++k) {
      w.destination(i.operands[k])[lane] = old[k];
      w.destination_defined(i.operands[k])[lane] = loaded_bytes(defined >> (8 * k), 8);
    }
  });
}

void build_atomic_128(form& f, std::string_view name) {
  f.out.with.combine = name == "cas" ? 1 : 0;
  if (f.base() != "atom" || (name != "cas" && name != "exch")) { f.fail("no such atomic operation on this type"); }
  f.out.run = atomic_128;
  f.out.step_cost = polling_cost;
  f.destination(type::b128);
  f.split_last();
  f.address();
  for (int k = 0; k < (name == "cas" ? 2 : 1); ++k) {
    f.source(type::b128);
    f.split_last();
  }
}

void build_atomic(form& f) {
  modifiers& with = f.out.with;
  with.ordering = order::relaxed;
  static constexpr named<order> orders[] = {{"relaxed", order::relaxed},
                                            {"acquire", order::acquire},
                                            {"release", order::release},
                                            {"acq_rel", order::acq_rel}};
  f.take_one(orders, with.ordering);
  f.take_one(access_scopes, with.reach);
  f.take_one(access_spaces, with.where);
  static constexpr named<std::uint8_t> vectors[] = {{"v2", 2}, {"v4", 4}, {"v8", 8}};
  f.take_one(vectors, with.vector);
  f.take("noftz");
  bool const policy = f.take_cache_advice();
  std::string_view name{};
  for (atomic_row const& r : rows) {
    if (name.empty() && f.take(r.name)) { name = r.name; }
  }
  type const t = with.first = f.take_type();
  if (t == type::b128) {
    build_atomic_128(f, name);
    if (policy) { f.skip(); }
    return;
  }
  update const how = update_for(f, name, t);
  for (std::size_t k = 0; k < std::size(rows); ++k) {
    if (rows[k].how == how) { f.out.target = static_cast<std::uint32_t>(k); }
  }
  with.mode = f.base() == "atom" ? 1 : 0;
  with.combine = name == "cas" ? 1 : 0;
  f.out.run = atomic;
  f.out.step_cost = polling_cost;
  if (with.mode != 0) { f.destinations(t, with.vector); }
  f.address();
  f.sources(t, with.vector);
  if (with.combine != 0) { f.source(t); }
  if (policy) { f.skip(); }
}

}  // namespace

void add_atomics(opcode_table& t) {
  t.add("atom", build_atomic);
  t.add("red", build_atomic);
}

}  // namespace ptx
