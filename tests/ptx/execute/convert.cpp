// SPDX-License-Identifier: Apache-2.0
//
// cvt between integers, and between integers and scalar floats. Packed small floats: convert_packed.cpp.
#include <limits>

#include "execute/convert.hpp"
#include "execute/floats.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

/// The 64-bit pattern of a register's low bits, read as the type says.
std::uint64_t extended(std::uint64_t bits, type t) {
  unsigned const n = bits_of(t);
  if (n >= 64) { return bits; }
  std::uint64_t const low = bits & ((std::uint64_t{1} << n) - 1);
  return is_signed(t) && (low >> (n - 1)) != 0 ? low | ~((std::uint64_t{1} << n) - 1) : low;
}

std::uint64_t mask_of_bytes(unsigned bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
}

/// Integer to integer: narrowing keeps the low bytes and what is known of them; .sat clamps.
void integer_to_integer(warp& w, instruction const& i, lane_set m) {
  type const to = i.with.first, from = i.with.second;
  std::uint64_t const mask = mask_of_bytes(i.operands[0].bytes);
  unsigned const kept = std::min(bytes_of(to), bytes_of(from));
  if (i.with.saturate) { w.use(i, 1, m, bytes_mask(bytes_of(from))); }
  each_lane(m, [&](int l) {
    std::uint64_t value = extended(w.values(i.operands[1])[l], from);
    if (i.with.saturate) {
      bool const negative = is_signed(from) && static_cast<std::int64_t>(value) < 0;
      value = clamped(negative ? 0 - value : value, negative, to);
    }
    w.destination(i.operands[0])[l] = extended(value, to) & mask;
    byte_set const source = w.defined(i.operands[1])[l];
    auto const extended_bytes = [&](unsigned bytes) {  // those above are like the sign, or zeros
      bool const sign = is_signed(from) && (bytes >> (kept - 1) & 1) != 0;
      return (bytes & bytes_mask(kept)) | (sign ? ~bytes_mask(kept) : 0);
    };
    w.destination_defined(i.operands[0])[l] =
        bytes_of_origin(~extended_bytes(~source), extended_bytes(computed_bytes(source)));
  });
  w.spoil(i.operands[0]);
}

void integer_to_float(warp& w, instruction const& i, lane_set m) {
  type const to = i.with.first, from = i.with.second;
  float_format const f = format_of(to);
  w.use(i, 1, m, bytes_mask(bytes_of(from)));
  each_lane(m, [&](int l) {
    std::uint64_t const value = extended(w.values(i.operands[1])[l], from);
    bool const negative = is_signed(from) && static_cast<std::int64_t>(value) < 0;
    std::uint64_t r = pack(f, from_integer(negative ? 0 - value : value, negative), {i.with.round});
    if (i.with.saturate) { r = saturated(to, r); }
    w.destination(i.operands[0])[l] = r;
  });
  w.set_result(i.operands[0], m);
}

/// NaN gives zero for up to 32 bits, and the highest bit alone for 64 bits; too large numbers give the limits.
void float_to_integer(warp& w, instruction const& i, lane_set m) {
  type const to = i.with.first, from = i.with.second;
  float_format const f = format_of(from);
  w.use(i, 1, m, bytes_mask(bytes_of(from)));
  std::uint64_t const mask = mask_of_bytes(i.operands[0].bytes);
  each_lane(m, [&](int l) {
    exact const x = unpack(f, flushed(i.with, from, w.values(i.operands[1])[l]));
    std::uint64_t r;
    if (x.what == exact::nan) {
      r = bits_of(to) == 64 || from == type::f64 ? nan_as_integer(to, from) : 0;
    } else {
      integer_result const n = to_integer(x, i.with.round);
      r = clamped(n.magnitude, n.negative, to);
    }
    w.destination(i.operands[0])[l] = extended(r, to) & mask;
  });
  w.set_result(i.operands[0], m);
}

/// f32 to f64 and the like; .rni and its kin round to an integer in the same format.
void float_to_float(warp& w, instruction const& i, lane_set m) {
  type const to = i.with.first, from = i.with.second;
  float_format const f = format_of(from), g = format_of(to);
  w.use(i, 1, m, bytes_mask(bytes_of(from)));
  rounding_rule const rule{i.with.round, i.with.satfinite};
  each_lane(m, [&](int l) {
    std::uint64_t const a = flushed(i.with, from, w.values(i.operands[1])[l] & mask_of_bytes(bytes_of(from)));
    exact x = unpack(f, a);
    if (i.with.integer_round && x.what == exact::finite && x.exponent < 0) {
      integer_result const n = to_integer(x, i.with.round);
      bool const negative = x.negative;
      x = from_integer(n.magnitude, negative);
      x.negative = negative;
    }
    std::uint64_t r = to == from && !i.with.integer_round && i.with.round != rounding::rs ? a : pack(g, x, rule);
    if (to == type::tf32) { r <<= 13; }
    r = flushed(i.with, to, r);
    if (i.with.saturate) { r = saturated(to, r); }
    if (i.with.relu) { r = without_negatives(to, r); }
    w.destination(i.operands[0])[l] = r;
  });
  w.set_result(i.operands[0], m);
}

constexpr named<rounding> roundings[] = {{"rn", rounding::rn}, {"rz", rounding::rz},   {"rm", rounding::rm},
                                         {"rp", rounding::rp}, {"rna", rounding::rna}, {"rs", rounding::rs}};
constexpr named<rounding> integer_roundings[] = {
    {"rni", rounding::rn}, {"rzi", rounding::rz}, {"rmi", rounding::rm}, {"rpi", rounding::rp}};

void build_scalar(form& f, type to, type from, bool rounded) {
  modifiers& with = f.out.with;
  bool const to_float = row(to).family == 'f', from_float = row(from).family == 'f';
  bool const narrows = to_float && from_float && format_of(to).fraction_bits < format_of(from).fraction_bits;
  if (to_float && !from_float && !rounded) { f.fail("expected a rounding"); }
  if (!to_float && from_float && !with.integer_round) { f.fail("expected a rounding to integer"); }
  if (to_float && from_float && to != from && narrows && !rounded) { f.fail("expected a rounding"); }
  if (!to_float && !is_integer(to)) { f.fail("not for this type"); }
  if (!from_float && !is_integer(from)) { f.fail("not for this type"); }
  f.out.run = to_float ? (from_float ? float_to_float : integer_to_float)
                       : (from_float ? float_to_integer : integer_to_integer);
  f.destination(to);
  f.source(from);
}

void build_cvt(form& f) {
  f.allow_wide_registers();
  modifiers& with = f.out.with;
  bool rounded = f.take_one(roundings, with.round);
  if (!rounded) { with.integer_round = rounded = f.take_one(integer_roundings, with.round); }
  with.ftz = f.take("ftz");
  with.saturate = f.take("sat");
  with.satfinite = f.take("satfinite");
  with.relu = f.take("relu");
  with.first = f.take_type();
  with.second = f.take_type();
  bool const packed = row(with.first).family == 'x' || row(with.second).family == 'x';
  if (packed) { return build_packed_conversion(f); }
  build_scalar(f, with.first, with.second, rounded);
}

/// cvt.pack.sat.convertType.s32{.b32} d, a, b{, c}
void pack_saturated(warp& w, instruction const& i, lane_set m) {
  for (int k = 1; k < i.count; ++k) { w.use(i, k, m, 0x0F); }
  unsigned const bits = bits_of(i.with.first);
  std::uint64_t const mask = (std::uint64_t{1} << bits) - 1;
  each_lane(m, [&](int l) {
    auto const one = [&](int k) {
      auto const v = static_cast<std::int64_t>(static_cast<std::int32_t>(w.values(i.operands[k])[l]));
      return clamped(static_cast<std::uint64_t>(v < 0 ? -v : v), v < 0, i.with.first) & mask;
    };
    std::uint64_t const c = i.count == 4 ? w.values(i.operands[3])[l] : 0;
    w.destination(i.operands[0])[l] = (one(2) | one(1) << bits | c << (2 * bits)) & 0xFFFFFFFFu;
  });
  w.set_result(i.operands[0], m);
}

void build_any(form& f) {
  if (!f.take("pack")) { return build_cvt(f); }
  if (!f.take("sat")) { f.fail("expected .sat"); }
  f.out.with.first = f.take_type();
  f.take_type();
  bool const third = f.has_type();
  if (third) { f.take_type(); }
  f.out.run = pack_saturated;
  f.destination(type::b32);
  for (int k = 0; k < (third ? 3 : 2); ++k) { f.source(type::b32); }
}

}  // namespace

std::uint64_t clamped(std::uint64_t magnitude, bool negative, type to) {
  unsigned const n = bits_of(to);
  if (is_signed(to)) {
    std::uint64_t const limit = (std::uint64_t{1} << (n - 1)) - (negative ? 0 : 1);
    magnitude = std::min(magnitude, limit);
    return negative ? 0 - magnitude : magnitude;
  }
  if (negative) { return 0; }
  return n >= 64 ? magnitude : std::min(magnitude, (std::uint64_t{1} << n) - 1);
}

std::uint64_t nan_as_integer(type to, type from) {
  if (bits_of(to) < 64 && from != type::f64) { return 0; }
  return std::uint64_t{1} << (bits_of(to) - 1);
}

std::uint64_t flushed(modifiers const& with, type t, std::uint64_t bits) {
  return with.ftz && t == type::f32 ? float_element<type::f32>::flushed(with, bits) : bits;
}

namespace {
bool is_nan(float_format const& f, std::uint64_t bits) { return unpack(f, bits).what == exact::nan; }
}  // namespace

std::uint64_t saturated(type t, std::uint64_t bits) {
  float_format const f = format_of(t);
  std::uint64_t const one = static_cast<std::uint64_t>(f.bias) << f.fraction_bits;
  bool const negative = (bits >> (f.bits() - 1) & 1) != 0;
  return is_nan(f, bits) || negative ? 0 : std::min(bits, one);
}

std::uint64_t without_negatives(type t, std::uint64_t bits) {
  float_format const f = format_of(t);
  int const shift = t == type::tf32 ? 13 : 0;
  bool const negative = (bits >> (f.bits() - 1 + shift) & 1) != 0;
  return negative && !is_nan(f, bits >> shift) ? 0 : bits;
}

void add_convert(opcode_table& t) { t.add("cvt", build_any); }

}  // namespace ptx
