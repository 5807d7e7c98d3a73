// SPDX-License-Identifier: Apache-2.0
#include "execute/exact.hpp"

#include <algorithm>

namespace ptx {
namespace {

using uint128 = unsigned __int128;

int highest_bit(uint128 x) {
  auto const high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(static_cast<std::uint64_t>(x));
}

/// The highest set bit comes to this position; only ever moved up.
exact normalised(exact x, int position) {
  int const shift = position - highest_bit(x.significand);
  if (shift > 0) {
    x.significand <<= shift;
    x.exponent -= shift;
  }
  return x;
}

/// Halves `by` times; what falls off makes it sticky.
void shift_down(exact& x, int by) {
  if (by <= 0) { return; }
  if (by > 127) {
    x.sticky = x.sticky || x.significand != 0;
    x.significand = 0;
  } else {
    x.sticky = x.sticky || (x.significand & ((uint128{1} << by) - 1)) != 0;
    x.significand >>= by;
  }
  x.exponent += by;
}

exact special(exact::kind what, bool negative) {
  exact x;
  x.what = what;
  x.negative = negative;
  return x;
}

/// Whether to go one up in magnitude, given what was cut off.
bool rounds_up(rounding mode, bool negative, bool odd, bool half, bool rest) {
  switch (mode) {
    case rounding::rn: return half && (rest || odd);
    case rounding::rna: return half;
    case rounding::rm: return negative && (half || rest);
    case rounding::rp: return !negative && (half || rest);
    default: return false;
  }
}

/// Cuts `drop` bits off and rounds.
uint128 rounded(exact const& x, int drop, rounding_rule const& rule) {
  if (drop <= 0) { return x.significand << -drop; }
  if (rule.mode == rounding::rs) {
    // The first `random_bits` of the fraction, plus as many random bits: a carry goes up.
    exact cut = x;
    shift_down(cut, std::max(0, drop - rule.random_bits));
    int const left = std::min(drop, rule.random_bits);
    uint128 const aligned = cut.significand << (rule.random_bits - left);
    return (aligned + rule.random) >> rule.random_bits;
  }
  if (drop > 127) { return rounds_up(rule.mode, x.negative, false, false, true) ? 1 : 0; }
  uint128 const kept = x.significand >> drop;
  bool const half = ((x.significand >> (drop - 1)) & 1) != 0;
  bool const rest = x.sticky || (x.significand & ((uint128{1} << (drop - 1)) - 1)) != 0;
  return kept + (rounds_up(rule.mode, x.negative, (kept & 1) != 0, half, rest) ? 1 : 0);
}

std::uint64_t overflow(float_format const& f, bool negative, rounding_rule const& rule) {
  bool const to_largest = rule.saturate_finite || f.top == top_codes::finite || rule.mode == rounding::rz ||
                          (rule.mode == rounding::rm && !negative) || (rule.mode == rounding::rp && negative);
  return to_largest ? f.largest() : f.largest() + 1;  // infinity, or e4m3's NaN
}

}  // namespace

float_format format_of(type t) {
  switch (t) {
    case type::f16:
    case type::f16x2: return f16_format;
    case type::bf16:
    case type::bf16x2: return bf16_format;
    case type::f64: return f64_format;
    case type::tf32: return tf32_format;
    case type::e4m3:
    case type::e4m3x2:
    case type::e4m3x4:
    case type::ue4m3: return e4m3_format;
    case type::e5m2:
    case type::e5m2x2:
    case type::e5m2x4: return e5m2_format;
    case type::e2m3:
    case type::e2m3x2:
    case type::e2m3x4: return e2m3_format;
    case type::e3m2:
    case type::e3m2x2:
    case type::e3m2x4: return e3m2_format;
    case type::e2m1:
    case type::e2m1x2:
    case type::e2m1x4: return e2m1_format;
    default: return f32_format;
  }
}

exact unpack(float_format const& f, std::uint64_t bits) {
  std::uint64_t const fraction_mask = (std::uint64_t{1} << f.fraction_bits) - 1;
  std::uint64_t const top = (std::uint64_t{1} << f.exponent_bits) - 1;
  std::uint64_t const fraction = bits & fraction_mask, exponent = (bits >> f.fraction_bits) & top;
  exact x;
  x.negative = ((bits >> (f.bits() - 1)) & 1) != 0;
  if (exponent == top && f.top == top_codes::ieee) {
    x.what = fraction != 0 ? exact::nan : exact::infinite;
    return x;
  }
  if (exponent == top && f.top == top_codes::one_nan && fraction == fraction_mask) {
    x.what = exact::nan;
    return x;
  }
  if (exponent == 0 && fraction == 0) { return x; }
  x.what = exact::finite;
  x.significand = exponent == 0 ? fraction : fraction | (fraction_mask + 1);
  x.exponent = static_cast<int>(std::max<std::uint64_t>(exponent, 1)) - f.bias - f.fraction_bits;
  return x;
}

exact from_integer(std::uint64_t magnitude, bool negative) {
  exact x;
  if (magnitude == 0) { return x; }
  x.what = exact::finite;
  x.negative = negative;
  x.significand = magnitude;
  return x;
}

std::uint64_t pack(float_format const& f, exact const& x, rounding_rule const& rule) {
  std::uint64_t const sign = std::uint64_t{x.negative} << (f.bits() - 1);
  if (x.what == exact::nan) { return f.nan(); }
  if (x.what == exact::zero) { return sign; }
  if (x.what == exact::infinite) {
    bool const keep = f.top == top_codes::ieee && !rule.saturate_finite;
    return sign | (keep                                                   ? f.largest() + 1
                   : f.top == top_codes::one_nan && !rule.saturate_finite ? f.nan()
                                                                          : f.largest());
  }
  int const smallest = 1 - f.bias;
  int const magnitude = x.exponent + highest_bit(x.significand);
  int const exponent = std::max(magnitude, smallest);
  uint128 const kept = rounded(x, exponent - f.fraction_bits - x.exponent, rule);
  // A normal number's leading one adds one to the exponent field; so does a carry, into the next binade or the normals.
  if (exponent + f.bias - 1 > (1 << f.exponent_bits)) { return sign | overflow(f, x.negative, rule); }
  auto const code =
      (static_cast<std::uint64_t>(exponent + f.bias - 1) << f.fraction_bits) + static_cast<std::uint64_t>(kept);
  return sign | (code > f.largest() ? overflow(f, x.negative, rule) : code);
}

exact sum(exact a, exact b, rounding mode) {
  if (a.what == exact::nan || b.what == exact::nan) { return special(exact::nan, false); }
  if (a.what == exact::infinite || b.what == exact::infinite) {
    bool const both = a.what == b.what;
    if (both && a.negative != b.negative) { return special(exact::nan, false); }
    return a.what == exact::infinite ? a : b;
  }
  if (a.what == exact::zero && b.what == exact::zero) {
    return special(exact::zero, a.negative == b.negative ? a.negative : mode == rounding::rm);
  }
  if (a.what == exact::zero) { return b; }
  if (b.what == exact::zero) { return a; }
  a = normalised(a, 124);
  b = normalised(b, 124);
  if (a.exponent < b.exponent) { std::swap(a, b); }
  shift_down(b, a.exponent - b.exponent);
  exact r = a;
  r.sticky = b.sticky;
  if (a.negative == b.negative) {
    r.significand += b.significand;
  } else if (a.significand >= b.significand + (b.sticky ? 1 : 0)) {
    r.significand -= b.significand + (b.sticky ? 1 : 0);
  } else {
    r.significand = b.significand - a.significand;  // same exponent, nothing was cut off
    r.negative = b.negative;
  }
  if (r.significand == 0 && !r.sticky) { return special(exact::zero, mode == rounding::rm); }
  return r;
}

exact product(exact const& a, exact const& b) {
  bool const negative = a.negative != b.negative;
  if (a.what == exact::nan || b.what == exact::nan) { return special(exact::nan, false); }
  if (a.what == exact::infinite || b.what == exact::infinite) {
    bool const with_zero = a.what == exact::zero || b.what == exact::zero;
    return special(with_zero ? exact::nan : exact::infinite, negative && !with_zero);
  }
  if (a.what == exact::zero || b.what == exact::zero) { return special(exact::zero, negative); }
  exact r = a;
  r.negative = negative;
  r.significand = a.significand * b.significand;  // 53 bits each at most
  r.exponent = a.exponent + b.exponent;
  return r;
}

exact quotient(exact const& a, exact const& b) {
  bool const negative = a.negative != b.negative;
  if (a.what == exact::nan || b.what == exact::nan || (a.what == b.what && a.what != exact::finite)) {
    return special(exact::nan, false);
  }
  if (a.what == exact::infinite || b.what == exact::zero) { return special(exact::infinite, negative); }
  if (a.what == exact::zero || b.what == exact::infinite) { return special(exact::zero, negative); }
  exact r = normalised(a, 120);
  r.negative = negative;
  r.sticky = r.significand % b.significand != 0;
  r.significand /= b.significand;
  r.exponent -= b.exponent;
  return r;
}

exact square_root(exact const& a) {
  if (a.what == exact::nan || a.what == exact::zero) { return a; }
  if (a.negative) { return special(exact::nan, false); }
  if (a.what == exact::infinite) { return a; }
  exact r = normalised(a, 122);
  if ((r.exponent & 1) != 0) {
    r.significand <<= 1;
    --r.exponent;
  }
  uint128 root = 0;
  for (uint128 bit = uint128{1} << 62; bit != 0; bit >>= 1) {
    if ((root + bit) * (root + bit) <= r.significand) { root += bit; }
  }
  r.sticky = root * root != r.significand;
  r.significand = root;
  r.exponent /= 2;
  return r;
}

integer_result to_integer(exact const& x, rounding mode) {
  integer_result r;
  r.negative = x.negative;
  if (x.what == exact::zero) { return r; }
  bool const huge = x.what == exact::infinite || x.exponent + highest_bit(x.significand) >= 64;
  uint128 const n = huge ? 0 : rounded(x, -x.exponent, {mode});
  r.out_of_range = huge || (n >> 64) != 0;
  r.magnitude = r.out_of_range ? ~std::uint64_t{0} : static_cast<std::uint64_t>(n);
  return r;
}

}  // namespace ptx
