// SPDX-License-Identifier: Apache-2.0
//
// cvt to and from packed floats: f16x2, bf16x2, e4m3x2, e5m2x2, e2m3x2, e3m2x2, e2m1x2, ue8m0x2 and the x4 forms.
//
//   to x2:  d = {high: cvt(a), low: cvt(b)}      from x2: both elements, in their places
//   to x4:  d = {a, b, e, f} from the top down, a vector of four sources and random bits
#include "execute/convert.hpp"
#include "execute/exact.hpp"
#include "execute/floats.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

bool is_four(type t) {
  return t == type::e4m3x4 || t == type::e5m2x4 || t == type::e2m3x4 || t == type::e3m2x4 || t == type::e2m1x4;
}

/// Bits that an element takes in the register: e2m1 four, the other small ones eight.
int stride_of(type t) { return static_cast<int>(bits_of(t)) / (is_four(t) ? 4 : 2); }

/// ue8m0 holds 2^(c - 127); NaN is 0xFF; magnitudes count, zero is the smallest.
std::uint64_t to_ue8m0(exact x, modifiers const& with) {
  x.negative = false;
  if (x.what == exact::nan) { return 0xFF; }
  if (x.what == exact::zero) { return 0; }
  std::uint64_t const top = with.satfinite ? 0xFE : 0xFF;
  if (x.what == exact::infinite) { return top; }
  // The exponent of |x|, one more for .rp when anything is below it.
  int exponent = x.exponent;
  unsigned __int128 s = x.significand;
  for (; (s & 1) == 0; s >>= 1) { ++exponent; }
  bool const power = s == 1;
  for (; s > 1; s >>= 1) { ++exponent; }
  if (with.round == rounding::rp && !power) { ++exponent; }
  return exponent < -127 ? 0 : exponent > 127 ? top : static_cast<std::uint64_t>(exponent + 127);
}

exact from_ue8m0(std::uint64_t code) {
  exact x;
  x.what = code == 0xFF ? exact::nan : exact::finite;
  x.significand = 1;
  x.exponent = static_cast<int>(code) - 127;
  return x;
}

/// One element: rounding, saturation, what NaN becomes.
std::uint64_t narrowed(exact const& x, type to, modifiers const& with, std::uint32_t random, int random_bits) {
  if (to == type::ue8m0x2) { return to_ue8m0(x, with); }
  float_format const f = format_of(to);
  exact value = x;
  if (x.what == exact::nan) {
    // e2m1, e2m3 and e3m2 have no NaN: the largest positive number. e4m3 and e5m2: 0x7F.
    return f.top == top_codes::finite ? f.largest() : f.nan();
  }
  if (with.relu && x.negative) { return 0; }
  return pack(f, value, {with.round, with.satfinite, random, random_bits});
}

exact widened(std::uint64_t code, type from) {
  if (from == type::ue8m0x2) { return from_ue8m0(code); }
  return unpack(format_of(from), code);
}

/// d, a, b: two scalars of f32 to one register.
void two_to_packed(warp& w, instruction const& i, lane_set m) {
  type const to = i.with.first;
  int const stride = stride_of(to);
  w.use(i, 1, m, 0x0F);
  w.use(i, 2, m, 0x0F);
  bool const random = i.with.round == rounding::rs;
  if (random) { w.use(i, 3, m, 0x0F); }
  each_lane(m, [&](int l) {
    std::uint64_t r = 0;
    for (int k = 0; k < 2; ++k) {  // k = 0: the low element, from b
      std::uint64_t const source = flushed(i.with, type::f32, w.values(i.operands[2 - k])[l]);
      auto const bits = random ? static_cast<std::uint32_t>(w.values(i.operands[3])[l] >> (16 * k)) & 0xFFFFu : 0u;
      // f16x2 takes 13 random bits of each half, bf16x2 all 16.
      int const n = to == type::f16x2 ? 13 : 16;
      r |= narrowed(unpack(f32_format, source), to, i.with, bits & ((1u << n) - 1), n) << (stride * k);
    }
    w.destination(i.operands[0])[l] = r;
  });
  w.set_result(i.operands[0], m);
}

/// d, a: one packed register to another.
void packed_to_packed(warp& w, instruction const& i, lane_set m) {
  type const to = i.with.first, from = i.with.second;
  int const out = stride_of(to), in = stride_of(from);
  w.use(i, 1, m, bytes_mask(bytes_of(from)));
  each_lane(m, [&](int l) {
    std::uint64_t r = 0;
    for (int k = 0; k < 2; ++k) {
      std::uint64_t const code = w.values(i.operands[1])[l] >> (in * k) & ((1u << in) - 1);
      r |= narrowed(widened(code, from), to, i.with, 0, 0) << (out * k);
    }
    w.destination(i.operands[0])[l] = r;
  });
  w.set_result(i.operands[0], m);
}

std::uint32_t reversed(std::uint32_t x, int bits) {
  std::uint32_t r = 0;
  for (int k = 0; k < bits; ++k) { r |= (x >> k & 1) << (bits - 1 - k); }
  return r;
}

/// The 16 random bits of element k (0 is the lowest, f; 3 the highest, a) out of one word.
///
/// e2m1x4: bytes B3 B1 serve a and b, bytes B2 B0 serve e and f; the two of a pair see them bit-reversed.
/// The 8-bit formats: the halves of the word, likewise.
std::uint32_t random_bits_of(type to, int k, std::uint32_t word) {
  auto const byte = [&](int at) { return word >> (8 * at) & 0xFF; };
  if (to != type::e2m1x4) {
    std::uint32_t const half = k >= 2 ? word >> 16 : word & 0xFFFF;
    return k % 2 == 1 ? reversed(half, 16) : half;
  }
  int const high = k >= 2 ? 3 : 2, low = k >= 2 ? 1 : 0;
  if (k % 2 == 1) { return reversed(byte(low), 8) << 8 | reversed(byte(high), 8); }
  return byte(high) << 8 | byte(low);
}

/// d, {a, b, e, f}, random bits
void four_to_packed(warp& w, instruction const& i, lane_set m) {
  type const to = i.with.first;
  int const stride = stride_of(to);
  for (int k = 1; k <= 5; ++k) { w.use(i, k, m, 0x0F); }
  each_lane(m, [&](int l) {
    auto const word = static_cast<std::uint32_t>(w.values(i.operands[5])[l]);
    std::uint64_t r = 0;
    for (int k = 0; k < 4; ++k) {
      exact const x = unpack(f32_format, w.values(i.operands[4 - k])[l]);
      r |= narrowed(x, to, i.with, random_bits_of(to, k, word), 16) << (stride * k);
    }
    w.destination(i.operands[0])[l] = r;
  });
  w.set_result(i.operands[0], m);
}

// Which pairs exist with CUDA 13.0, and what must or may stand between. Rounding letters: n z p s(tochastic).
struct packed_row {
  type to, from;
  std::string_view rounding;
  bool relu, satfinite_possible, satfinite_required;
};

constexpr packed_row rows[] = {
    {type::f16x2, type::f32, "nzs", true, true, false},      {type::bf16x2, type::f32, "nzs", true, true, false},
    {type::e4m3x2, type::f32, "n", true, true, true},        {type::e5m2x2, type::f32, "n", true, true, true},
    {type::e4m3x2, type::f16x2, "n", true, true, true},      {type::e5m2x2, type::f16x2, "n", true, true, true},
    {type::f16x2, type::e4m3x2, "n", true, false, false},    {type::f16x2, type::e5m2x2, "n", true, false, false},
    {type::e2m1x2, type::f32, "n", true, true, true},        {type::e2m3x2, type::f32, "n", true, true, true},
    {type::e3m2x2, type::f32, "n", true, true, true},        {type::e2m1x2, type::f16x2, "n", true, true, true},
    {type::f16x2, type::e2m1x2, "n", true, false, false},    {type::f16x2, type::e2m3x2, "n", true, false, false},
    {type::f16x2, type::e3m2x2, "n", true, false, false},    {type::ue8m0x2, type::f32, "zp", false, true, false},
    {type::ue8m0x2, type::bf16x2, "zp", false, true, false}, {type::bf16x2, type::ue8m0x2, "n", false, false, false},
    {type::e2m1x4, type::f32, "s", true, true, true},        {type::e2m3x4, type::f32, "s", true, true, true},
    {type::e3m2x4, type::f32, "s", true, true, true},        {type::e4m3x4, type::f32, "s", true, true, true},
    {type::e5m2x4, type::f32, "s", true, true, true},
};

char letter_of(rounding r) {
  switch (r) {
    case rounding::rn: return 'n';
    case rounding::rz: return 'z';
    case rounding::rp: return 'p';
    case rounding::rs: return 's';
    default: return '?';
  }
}

}  // namespace

void build_packed_conversion(form& f) {
  modifiers const& with = f.out.with;
  packed_row const* found = nullptr;
  for (packed_row const& r : rows) {
    if (r.to == with.first && r.from == with.second) { found = &r; }
  }
  if (found == nullptr) { f.fail("no conversion between these types"); }
  if (found->rounding.find(letter_of(with.round)) == std::string_view::npos || with.integer_round) {
    f.fail("wrong rounding for these types");
  }
  if (with.saturate || with.ftz) { f.fail("unknown modifier for these types"); }
  if (with.relu && !found->relu) { f.fail("unknown modifier .relu"); }
  if (with.satfinite && !found->satfinite_possible) { f.fail("unknown modifier .satfinite"); }
  if (!with.satfinite && found->satfinite_required) { f.fail("expected .satfinite"); }
  f.destination(with.first);
  if (is_four(with.first)) {
    f.out.run = four_to_packed;
    f.sources(type::f32, 4);
    f.source(type::b32);
  } else if (with.second == type::f32) {
    f.out.run = two_to_packed;
    f.source(type::f32);
    f.source(type::f32);
    if (with.round == rounding::rs) { f.source(type::b32); }
  } else {
    f.out.run = packed_to_packed;
    f.source(with.second);
  }
}

}  // namespace ptx
