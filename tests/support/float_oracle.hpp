// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a small float is, from its definition in real numbers: a table of values in double, searched. Shares
/// no code with the library, and reads fp32 patterns by their fields, so that neither -ffast-math nor FTZ/DAZ
/// can touch them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <fp4/format/half.hpp>
#include <fp4/format/types.hpp>

namespace test {

/// The fields of a format, as its specification states them.
struct float_definition {
  bool is_signed;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  std::uint32_t max_code;              ///< Magnitude code of the largest finite value.
  std::uint32_t nan_code;              ///< What NaN becomes, whatever its sign.
  bool overflows_to_infinity = false;  ///< The code after max_code is infinity, and rounding may reach it.
};

template <class T>
constexpr float_definition definition_of{};
template <>
inline constexpr float_definition definition_of<fp4::e2m1>{true, 2, 1, 1, 0x7, 0x7};
template <>
inline constexpr float_definition definition_of<fp4::e2m3>{true, 2, 3, 1, 0x1F, 0x1F};
template <>
inline constexpr float_definition definition_of<fp4::e3m2>{true, 3, 2, 3, 0x1F, 0x1F};
template <>
inline constexpr float_definition definition_of<fp4::e4m3>{true, 4, 3, 7, 0x7E, 0x7F};
template <>
inline constexpr float_definition definition_of<fp4::e5m2>{true, 5, 2, 15, 0x7B, 0x7F};
template <>
inline constexpr float_definition definition_of<fp4::ue4m3>{false, 4, 3, 7, 0x7E, 0x7F};
template <>
inline constexpr float_definition definition_of<fp4::ue5m3>{false, 5, 3, 15, 0xFE, 0xFF};
template <>
inline constexpr float_definition definition_of<fp4::e8m0>{false, 8, 0, 127, 0xFE, 0xFF};
template <>
inline constexpr float_definition definition_of<fp4::float16>{true, 5, 10, 15, 0x7BFF, 0x7E00, true};
template <>
inline constexpr float_definition definition_of<fp4::bfloat16>{true, 8, 7, 127, 0x7F7F, 0x7FC0, true};

/// The real number that a pattern of fields stands for, NaN and infinity aside. A format without mantissa
/// bits has no subnormals and no zero.
inline double real_value(std::uint32_t magnitude, int mantissa_bits, int bias) {
  int const exponent = static_cast<int>(magnitude >> mantissa_bits);
  std::uint32_t const one = 1u << mantissa_bits;
  std::uint32_t const mantissa = magnitude & (one - 1);
  if (exponent == 0 && mantissa_bits > 0) { return std::ldexp(mantissa, 1 - bias - mantissa_bits); }
  return std::ldexp(one + mantissa, exponent - bias - mantissa_bits);
}

/// |x| of an fp32 pattern that is not NaN; infinity counts as 2^128.
inline double real_float_magnitude(std::uint32_t bits) { return real_value(bits & 0x7FFFFFFFu, 23, 127); }

inline bool is_nan_pattern(std::uint32_t bits) { return (bits & 0x7FFFFFFFu) > 0x7F800000u; }

/// Encodes fp32 patterns by searching the table of all values.
template <class T>
class float_oracle {
 public:
  static constexpr float_definition definition = definition_of<T>;

  float_oracle() {
    std::uint32_t const last = definition.max_code + (definition.overflows_to_infinity ? 1 : 0);
    for (std::uint32_t code = 0; code <= last; ++code) {
      values_.push_back(real_value(code, definition.mantissa_bits, definition.bias));
    }
  }

  /// The values of codes 0 to max_code, and then the one that stands for infinity where the format rounds to
  /// it.
  [[nodiscard]] std::vector<double> const& values() const { return values_; }

  /// Nearest, ties to the even code, saturating.
  [[nodiscard]] std::uint32_t nearest(std::uint32_t bits) const { return encode(bits, true); }
  /// The value at or below in magnitude.
  [[nodiscard]] std::uint32_t toward_zero(std::uint32_t bits) const { return encode(bits, false); }

 private:
  [[nodiscard]] std::uint32_t encode(std::uint32_t bits, bool to_nearest) const {
    bool const negative = bits >> 31 != 0;
    std::uint32_t const sign =
        definition.is_signed && negative ? 1u << (definition.exponent_bits + definition.mantissa_bits) : 0;
    if (is_nan_pattern(bits)) { return nan(bits); }
    if (negative && !definition.is_signed) { return 0; }
    double const x = real_float_magnitude(bits);
    // The first value above x, and the one before it.
    auto const above = std::upper_bound(values_.begin(), values_.end(), x);
    if (above == values_.begin()) { return sign; }
    auto low = static_cast<std::uint32_t>(above - values_.begin()) - 1;
    if (above != values_.end() && to_nearest) {
      double const middle = (values_[low] + *above) / 2;  // exact: one more bit than either
      if (x > middle || (x == middle && low % 2 == 1)) { ++low; }
    }
    return sign | low;
  }

  /// 16-bit floats keep the sign of NaN, and bfloat16 the high bits of its payload.
  [[nodiscard]] static std::uint32_t nan(std::uint32_t bits) {
    if (!definition.overflows_to_infinity) { return definition.nan_code; }
    std::uint32_t const kept = definition.mantissa_bits == 7 ? bits >> 16 : bits >> 16 & 0x8000u;
    return kept | definition.nan_code;
  }

  std::vector<double> values_;
};

FP4_EXACT_BEGIN  // as the library's own code, so that g++ may inline that
                 /// Every encoder that takes fp32, as a type: encode(float) and the code the oracle wants for a
                 /// pattern.
    template <class T>
    struct to_nearest {
  static std::uint32_t encode(float x) { return T::from_float(x).bits; }
  static std::uint32_t wanted(float_oracle<T> const& oracle, std::uint32_t bits) { return oracle.nearest(bits); }
  using type = T;
};
template <class T>
struct to_zero {
  static std::uint32_t encode(float x) { return T::from_float_toward_zero(x).bits; }
  static std::uint32_t wanted(float_oracle<T> const& oracle, std::uint32_t bits) { return oracle.toward_zero(bits); }
  using type = T;
};
FP4_EXACT_END

}  // namespace test
