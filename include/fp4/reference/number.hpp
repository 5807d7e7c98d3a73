// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One number: fp32 arithmetic as fp64 arithmetic rounded once more, small floats as tables that are
/// searched, 16-bit floats and random bits by their definitions. Nothing here is shared with the rooms that
/// it judges.

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../format/half.hpp"
#include "../rounding/rounding.hpp"

FP4_EXACT_BEGIN
namespace fp4::reference::detail {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float largest_float = 0x1.fffffep127f;
inline constexpr float smallest_normal_float = 0x1p-126f;

/// A rounding step that no compiler fuses into the next operation.
inline float round_to_float(double x) {
  float volatile rounded = static_cast<float>(x);
  return rounded;
}
inline double round_to_double(double x) {
  double volatile rounded = x;
  return rounded;
}

// fp64 has more than 2 * 24 + 1 bits, so rounding its result again gives the correctly rounded fp32 result.
inline float sum(float a, float b) { return round_to_float(static_cast<double>(a) + static_cast<double>(b)); }
inline float product(float a, float b) { return round_to_float(static_cast<double>(a) * static_cast<double>(b)); }
inline float quotient(float a, float b) { return round_to_float(static_cast<double>(a) / static_cast<double>(b)); }
inline float reciprocal(float a) { return quotient(1.0f, a); }

// clang with -ffast-math takes the values of `?:`, of calls and of negations for finite, whatever the pragmas say. So
// the fields of a number tell what it is, its sign is a bit, and choices between numbers are `if`s.
inline uint64_t bits_of(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline bool is_negative(double x) { return bits_of(x) >> 63 != 0; }
inline bool is_nan(double x) { return bits_of(x) << 1 > uint64_t{0x7FF} << 53; }
inline bool is_infinite(double x) { return bits_of(x) << 1 == uint64_t{0x7FF} << 53; }
inline bool is_nan(float x) { return is_nan(static_cast<double>(x)); }
inline bool is_infinite(float x) { return is_infinite(static_cast<double>(x)); }

inline double negated(double x) {
  uint64_t const bits = bits_of(x) ^ uint64_t { 1 } << 63;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
inline float negated(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof x);
  bits ^= uint32_t{1} << 31;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
template <class Real>
Real negated_if(bool condition, Real x) {
  if (condition) { x = negated(x); }
  return x;
}
inline float magnitude(float x) { return negated_if(is_negative(static_cast<double>(x)), x); }

/// The one that is a number, where the other is NaN: C's fmin and fmax.
inline float smaller(float a, float b) {
  if (is_nan(a) || b < a) { a = b; }
  return a;
}
inline float larger(float a, float b) {
  if (is_nan(a) || b > a) { a = b; }
  return a;
}

/// Values of the finite codes without sign, ascending, from the meaning of the fields.
template <class Number>
std::vector<double> make_magnitudes() {
  constexpr int m_bits = Number::mantissa_bits;
  constexpr int codes = 1 << (Number::exponent_bits + m_bits);
  constexpr int not_finite = Number::specials == float_specials::none  ? 0
                             : Number::specials == float_specials::nan ? 1
                                                                       : 1 << m_bits;
  std::vector<double> values;
  for (int code = 0; code < codes - not_finite; ++code) {
    int const e = code >> m_bits;
    int const m = code % (1 << m_bits);
    if (e == 0 && m_bits > 0) {
      values.push_back(std::ldexp(m, 1 - Number::bias - m_bits));
    } else {
      values.push_back(std::ldexp((1 << m_bits) + m, e - Number::bias - m_bits));
    }
  }
  return values;
}

template <class Number>
std::vector<double> const& magnitudes() {
  static std::vector<double> const values = make_magnitudes<Number>();
  return values;
}

/// The largest finite code.
template <class Number>
int largest_code() {
  return static_cast<int>(magnitudes<Number>().size()) - 1;
}

/// The value of any code. Higher bits of its byte do not count: that is where a ue4m3 from elsewhere may have a sign.
template <class Number>
double value_of(int code) {
  constexpr int sign = 1 << (Number::exponent_bits + Number::mantissa_bits);
  int const unsigned_code = code % sign;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  double value = nan;
  if (unsigned_code <= largest_code<Number>()) {
    value = magnitudes<Number>()[static_cast<size_t>(unsigned_code)];
  } else if (Number::specials == float_specials::infinity_and_nan && unsigned_code == largest_code<Number>() + 1) {
    value = infinite;
  }
  return negated_if(Number::is_signed && code / sign % 2 == 1, value);
}

/// A non-negative number as a fraction, so that comparing it with a value of the table needs no division.
struct fraction {
  double numerator;
  double divisor = 1;
};

/// Code without sign: nearest, ties to the even code, saturating.
template <class Number>
int round(fraction x, nearest_even, uint32_t) {
  auto const& value = magnitudes<Number>();
  size_t code = 0;
  for (; code + 1 < value.size(); ++code) {
    double const midpoint = (value[code] + value[code + 1]) / 2 * x.divisor;
    if (x.numerator < midpoint || (x.numerator == midpoint && code % 2 == 0)) { break; }
  }
  return static_cast<int>(code);
}

/// Code without sign: the largest that is not above x.
template <class Number>
int round(fraction x, toward_zero, uint32_t) {
  auto const& value = magnitudes<Number>();
  double const z = x.numerator / x.divisor;
  size_t code = 0;
  while (code + 1 < value.size() && value[code + 1] <= z) { ++code; }
  return static_cast<int>(code);
}

/// Code without sign: cvt.rs.satfinite with 16 random bits.
template <class Number>
int round(fraction x, stochastic const&, uint32_t random16) {
  auto const& value = magnitudes<Number>();
  double const z = x.numerator / x.divisor;
  if (z >= value.back()) { return largest_code<Number>(); }
  int const below = round<Number>(fraction{z}, toward_zero{}, 0);
  double const low = value[static_cast<size_t>(below)];
  double const step = value[static_cast<size_t>(below) + 1] - low;
  double const steps = std::floor((z - low) / step * 65536);
  return below + static_cast<int>((static_cast<uint32_t>(steps) + random16) >> 16);
}

/// Nearest code of a number that is not negative.
template <class Number>
int nearest_code(float x) {
  return round<Number>(fraction{static_cast<double>(x)}, nearest_even{}, 0);
}

/// The code of x / divisor, with its sign. NaN becomes the code with all exponent and mantissa bits set.
template <class Number, class Rounding>
int encode(double x, double divisor, Rounding const& rounding, uint32_t random16) {
  constexpr int bits = Number::exponent_bits + Number::mantissa_bits;
  if (is_nan(x)) { return (1 << bits) - 1; }
  bool const negative = is_negative(x);
  int const code = round<Number>(fraction{negated_if(negative, x), divisor}, rounding, random16);
  return negative ? code + (1 << bits) : code;
}

/// IEEE-like 16-bit code of x: nearest even, overflow to infinity.
inline uint16_t half_code(double x, int exponent_bits, int mantissa_bits) {
  int const bias = (1 << (exponent_bits - 1)) - 1;
  int const infinity_code = ((1 << exponent_bits) - 1) << mantissa_bits;
  int code = infinity_code;
  double const a = negated_if(is_negative(x), x);
  if (is_nan(x)) {
    code = infinity_code + (1 << (mantissa_bits - 1));
  } else if (!is_infinite(x)) {
    int const exponent = a == 0 || std::ilogb(a) < 1 - bias ? 1 - bias : std::ilogb(a);
    double const steps = std::ldexp(a, mantissa_bits - exponent);
    double whole = std::floor(steps);
    double const rest = steps - whole;
    if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) == 1)) { whole += 1; }
    code = ((exponent + bias - 1) << mantissa_bits) + static_cast<int>(whole);
    if (code > infinity_code) { code = infinity_code; }
  }
  return static_cast<uint16_t>(code + (is_negative(x) ? 0x8000 : 0));
}

inline float half_value(uint16_t bits, int exponent_bits, int mantissa_bits) {
  int const bias = (1 << (exponent_bits - 1)) - 1;
  int const e = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
  int const m = bits & ((1 << mantissa_bits) - 1);
  double value = std::ldexp((1 << mantissa_bits) + m, e - bias - mantissa_bits);
  if (e == 0) { value = std::ldexp(m, 1 - bias - mantissa_bits); }
  if (e == (1 << exponent_bits) - 1) { value = std::numeric_limits<double>::infinity(); }
  if (e == (1 << exponent_bits) - 1 && m != 0) { value = std::numeric_limits<double>::quiet_NaN(); }
  return static_cast<float>(negated_if((bits & 0x8000) != 0, value));
}

inline float to_float(float x) { return x; }
inline float to_float(float16 x) { return half_value(x.bits, 5, 10); }
inline float to_float(bfloat16 x) { return half_value(x.bits, 8, 7); }
inline void store(float x, float& to) { to = x; }
inline void store(float x, float16& to) { to.bits = half_code(static_cast<double>(x), 5, 10); }
inline void store(float x, bfloat16& to) { to.bits = half_code(static_cast<double>(x), 8, 7); }
inline float round_to_bfloat16(float x) { return half_value(half_code(static_cast<double>(x), 8, 7), 8, 7); }

}  // namespace fp4::reference::detail
FP4_EXACT_END
