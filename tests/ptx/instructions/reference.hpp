// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the tests compute their expectations with: the host's float and double under all four rounding modes, and one
/// slow, obvious rounding of a double to any narrower format.

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "instructions/program.hpp"

namespace ptx::test {

inline float as_f32(word w) {
  auto const low = static_cast<std::uint32_t>(w);
  float x;
  std::memcpy(&x, &low, 4);
  return x;
}
inline double as_f64(word w) {
  double x;
  std::memcpy(&x, &w, 8);
  return x;
}
/// Bits, with PTX's canonical NaN for float.
inline word bits(float x) {
  std::uint32_t w;
  std::memcpy(&w, &x, 4);
  return x != x ? 0x7FFF'FFFF : w;
}
inline word bits(double x) {
  word w;
  std::memcpy(&w, &x, 8);
  return w;
}

enum class rounding { nearest, zero, down, up, away };  ///< .rn .rz .rm .rp .rna

struct named_rounding {
  char const* name;
  rounding mode;
};
inline constexpr named_rounding roundings[] = {
    {".rn", rounding::nearest}, {".rz", rounding::zero}, {".rm", rounding::down}, {".rp", rounding::up}};

/// f() under a rounding mode of the host. Operands and results of f have to be volatile.
template <class F>
auto rounded(rounding mode, F f) {
  constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  std::fesetround(modes[static_cast<int>(mode)]);
  auto const result = f();
  std::fesetround(FE_TONEAREST);
  return result;
}

enum class specials { ieee, nan_only, none };  ///< infinities and NaN; one NaN code; every code is a number

struct float_format {
  int exponent_bits, fraction_bits;
  specials special = specials::ieee;
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] word sign() const { return word{1} << (exponent_bits + fraction_bits); }
  [[nodiscard]] word infinity() const { return sign() - (word{1} << fraction_bits); }
  [[nodiscard]] word largest() const {
    return special == specials::ieee ? infinity() - 1 : special == specials::nan_only ? sign() - 2 : sign() - 1;
  }
  [[nodiscard]] word nan() const { return sign() - 1; }  ///< canonical; for formats without NaN what .satfinite gives
};
inline constexpr float_format f16{5, 10}, bf16{8, 7}, tf32{8, 10}, f32{8, 23};
inline constexpr float_format e4m3{4, 3, specials::nan_only}, e5m2{5, 2}, e2m3{2, 3, specials::none};
inline constexpr float_format e3m2{3, 2, specials::none}, e2m1{2, 1, specials::none};

/// The value of a code; exact.
inline double decode(float_format const& f, word code) {
  bool const negative = (code & f.sign()) != 0;
  code &= f.sign() - 1;
  double magnitude;
  if (code > f.largest()) {
    magnitude = f.special == specials::ieee && code == f.infinity() ? INFINITY : NAN;
  } else {
    auto const exponent = static_cast<int>(code >> f.fraction_bits);
    auto const fraction = static_cast<double>(code & ((word{1} << f.fraction_bits) - 1));
    double const implied = exponent == 0 ? 0 : std::ldexp(1.0, f.fraction_bits);
    magnitude = std::ldexp(implied + fraction, std::max(exponent, 1) - f.bias() - f.fraction_bits);
  }
  return negative ? -magnitude : magnitude;
}

/// The code of x, rounded once. Too large gives the largest number with `saturate`, else what IEEE 754 says.
inline word encode(float_format const& f, double x, rounding mode = rounding::nearest, bool saturate = false) {
  if (x != x) { return f.nan(); }
  bool const negative = std::signbit(x);
  bool const outward = mode == (negative ? rounding::down : rounding::up);
  word const sign = negative ? f.sign() : 0;
  if (x == 0) { return sign; }
  bool const to_largest = saturate || f.special != specials::ieee;
  if (std::isinf(x)) { return sign | (to_largest ? f.largest() : f.infinity()); }

  int exponent;
  std::frexp(x, &exponent);
  exponent = std::max(exponent - 1, 1 - f.bias());
  double const steps = std::ldexp(std::fabs(x), f.fraction_bits - exponent);  // of one unit in the last place
  double const whole = std::floor(steps), rest = steps - whole;
  bool up = false;
  switch (mode) {
    case rounding::nearest: up = rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) != 0); break;
    case rounding::away: up = rest >= 0.5; break;
    default: up = outward && rest > 0;
  }
  // Counting on from the start of the binade: a carry moves into the exponent by itself.
  double const count = whole + (up ? 1 : 0) - std::ldexp(1.0, f.fraction_bits);
  double const first = std::ldexp(exponent + f.bias(), f.fraction_bits);
  word const code = static_cast<word>(first + count);
  if (code <= f.largest()) { return sign | code; }
  bool const stays = to_largest || (mode != rounding::nearest && mode != rounding::away && !outward);
  return sign | (stays ? f.largest() : f.infinity());
}

/// a + b, rounded to odd: rounding that once more to a format of at most 51 bits is rounding a + b itself.
inline double sum_to_odd(double a, double b) {
  double const volatile s = a + b;
  if (!std::isfinite(s)) { return s; }
  double const volatile b_part = s - a, a_part = s - b_part;
  double const volatile b_rest = b - b_part, a_rest = a - a_part;
  double const rest = a_rest + b_rest;
  if (rest == 0 || (bits(double{s}) & 1) != 0) { return s; }
  return std::nextafter(double{s}, rest > 0 ? INFINITY : -INFINITY);
}

/// Both signs of zero, subnormals, ties, ends of the range, infinities and NaN, in a format's codes.
inline column special_codes(float_format const& f) {
  word const one = static_cast<word>(f.bias()) << f.fraction_bits;
  word const normal = word{1} << f.fraction_bits;
  column c;
  for (word m : {word{0}, word{1}, word{2}, normal - 1, normal, normal + 1, one - normal, one - 1, one, one + 1,
                 one + normal / 2, one + normal, one + normal + normal / 4 + 1, one + 3 * normal, f.largest() - normal,
                 f.largest(), f.infinity(), f.infinity() + 1, f.nan()}) {
    c.push_back(m);
    c.push_back(m | f.sign());
  }
  return c;
}

/// f32 values on every tie and grid point of a format, beside them, and the special ones; random ones as well.
inline column aimed(float_format const& f) {
  column c = special_codes(f32);
  for (word code = 0; code <= f.largest(); ++code) {
    double const lo = decode(f, code), hi = code == f.largest() ? 2 * lo : decode(f, code + 1);
    for (double x : {lo, (lo + hi) / 2}) {
      word const w = bits(static_cast<float>(x));
      for (word v : {w - 1, w, w + 1}) { c.push_back(v & 0x7FFF'FFFF), c.push_back(v | 0x8000'0000); }
    }
  }
  for (word w : random(300, 1).words) { c.push_back((w & 0x8FFF'FFFF) | 0x3800'0000); }
  return c;
}

/// 2^(c - 127), the value of an ue8m0 code c; downward or upward, of |x|.
inline word ue8m0_code(double x, bool up, bool saturate) {
  if (x != x) { return 0xFF; }
  x = std::fabs(x);
  if (std::isinf(x)) { return saturate ? 0xFE : 0xFF; }
  if (x <= 0x1p-127) { return 0; }
  int const exponent = std::ilogb(x);
  int const code = exponent + 127 + (up && x > std::ldexp(1.0, exponent) ? 1 : 0);
  return static_cast<word>(code == 255 && saturate ? 254 : code);
}

}  // namespace ptx::test
