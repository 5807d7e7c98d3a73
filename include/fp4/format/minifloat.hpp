// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bits.hpp"

namespace fp4 {

/// Which codes are no numbers.
enum class float_specials : unsigned char {
  none,              ///< Every code is a finite number.
  nan,               ///< The code whose exponent and mantissa bits are all set is NaN.
  infinity_and_nan,  ///< The highest exponent holds infinity and NaN, as in IEEE 754.
};

namespace detail {

/// fp32 bits of the finite code `magnitude`. Without mantissa bits code 0 is 2^-bias, else it is zero.
FP4_HD FP4_INLINE constexpr uint32_t decode_magnitude(uint32_t magnitude, int mantissa_bits, int bias) noexcept {
  if (mantissa_bits == 0) { return magnitude == 0 ? 0x00400000u : magnitude << 23; }
  int exponent = static_cast<int>(magnitude >> mantissa_bits);
  uint32_t mantissa = magnitude & ((1u << mantissa_bits) - 1);
  if (exponent == 0) {
    if (mantissa == 0) { return 0; }
    for (exponent = 1; (mantissa >> mantissa_bits) == 0; --exponent) { mantissa <<= 1; }
    mantissa &= (1u << mantissa_bits) - 1;
  }
  return static_cast<uint32_t>(exponent + 127 - bias) << 23 | mantissa << (23 - mantissa_bits);
}

/// Code of the non-negative fp32 pattern `a`, rounded to nearest even or toward zero, not yet saturated.
template <bool Nearest>
FP4_HD FP4_INLINE constexpr uint32_t encode_magnitude(uint32_t a, int mantissa_bits, int bias) noexcept {
  if (mantissa_bits == 0) {
    // Below 2^-126 the pattern is subnormal: codes 0 and 1 are 2^-127 and 2^-126, their tie is 1.5 * 2^-127.
    if (a < 0x00800000u) { return Nearest && a > 0x00600000u ? 1 : 0; }
    return Nearest ? shift_right_nearest_even(a, 23) : a >> 23;
  }
  uint32_t const dropped = static_cast<uint32_t>(23 - mantissa_bits);
  uint32_t const exponent = a >> 23;
  uint32_t const min_normal_exponent = static_cast<uint32_t>(128 - bias);
  if (exponent < min_normal_exponent) {
    if (exponent == 0) { return 0; }  // below 2^-126: far under half the smallest subnormal
    uint32_t const m = (a & 0x7FFFFFu) | 0x800000u;
    uint32_t const shift = dropped + (min_normal_exponent - exponent);
    return Nearest ? shift_right_nearest_even(m, shift) : shift_right_truncate(m, shift);
  }
  uint32_t const code = Nearest ? shift_right_nearest_even(a, dropped) : a >> dropped;
  return code - (static_cast<uint32_t>(127 - bias) << mantissa_bits);
}

}  // namespace detail

/// A float of at most 8 bits, held as its code in the low bits of a byte.
///
///     [ sign? ] [ exponent ] [ mantissa ]    value = 2^(exponent - Bias) * 1.mantissa, subnormals below
///
/// Conversions are explicit, integer-only, and independent of fast-math flags and of the rounding mode of the
/// process. Encoding rounds once and saturates at max_finite: no finite input and no infinity becomes NaN.
/// A format without mantissa bits (e8m0) has no zero: code 0 is 2^-Bias.
template <bool Signed, int ExponentBits, int MantissaBits, int Bias, float_specials Specials>
struct minifloat {
  static_assert(ExponentBits + MantissaBits + (Signed ? 1 : 0) <= 8, "a minifloat fits in one byte");

  static constexpr bool is_signed = Signed;
  static constexpr int exponent_bits = ExponentBits;
  static constexpr int mantissa_bits = MantissaBits;
  static constexpr int bias = Bias;
  static constexpr float_specials specials = Specials;
  static constexpr int width = (Signed ? 1 : 0) + ExponentBits + MantissaBits;
  static constexpr bool has_zero = MantissaBits > 0;
  static constexpr bool has_nan = Specials != float_specials::none;

  static constexpr uint8_t magnitude_bits = static_cast<uint8_t>((1u << (ExponentBits + MantissaBits)) - 1);
  static constexpr uint8_t sign_bit = Signed ? static_cast<uint8_t>(1u << (ExponentBits + MantissaBits)) : 0;
  static constexpr uint8_t nan_code = magnitude_bits;  ///< Meaningful where has_nan.
  static constexpr uint8_t max_code = Specials == float_specials::none ? magnitude_bits
                                      : Specials == float_specials::nan
                                          ? static_cast<uint8_t>(magnitude_bits - 1)
                                          : static_cast<uint8_t>((((1u << ExponentBits) - 1) << MantissaBits) - 1);
  static constexpr float max_finite = detail::bits_float(detail::decode_magnitude(max_code, MantissaBits, Bias));
  static constexpr float min_positive =
      detail::bits_float(detail::decode_magnitude(has_zero ? 1 : 0, MantissaBits, Bias));

  uint8_t bits{};  ///< The code; bits above `width` are zero.

  /// Nearest value, ties to the even code, saturating; the sign of zero is kept. NaN becomes nan_code whatever its
  /// sign, or +max_finite where there is no NaN. A negative input of an unsigned format gives the smallest value.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr minifloat from_float(float x) noexcept { return encode<true>(x); }

  /// The neighbour of x on the side of zero, saturating; everything else as from_float.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr minifloat from_float_toward_zero(float x) noexcept {
    return encode<false>(x);
  }

  /// The exact value; a NaN code gives a quiet NaN.
  [[nodiscard]] FP4_HD FP4_INLINE_TO_FLOAT constexpr float to_float() const noexcept {
    uint32_t const sign = (bits & sign_bit) != 0 ? 0x80000000u : 0u;
    uint32_t const magnitude = bits & magnitude_bits;
    if (is_nan()) { return detail::bits_float(sign | 0x7FC00000u); }
    if (magnitude > max_code) { return detail::bits_float(sign | detail::infinity_bits); }
    return detail::bits_float(sign | detail::decode_magnitude(magnitude, MantissaBits, Bias));
  }

  [[nodiscard]] FP4_HD FP4_INLINE constexpr bool is_nan() const noexcept {
    uint32_t const magnitude = bits & magnitude_bits;
    return has_nan && (Specials == float_specials::nan ? magnitude == nan_code : magnitude > max_code + 1u);
  }

  /// Compares codes, so +0 and -0 differ and NaN equals itself.
  FP4_HD FP4_INLINE friend constexpr bool operator==(minifloat a, minifloat b) noexcept { return a.bits == b.bits; }
  FP4_HD FP4_INLINE friend constexpr bool operator!=(minifloat a, minifloat b) noexcept { return a.bits != b.bits; }

 private:
  template <bool Nearest>
  FP4_HD FP4_INLINE static constexpr minifloat encode(float x) noexcept {
    uint32_t const u = detail::float_bits(x);
    uint32_t const a = u & detail::magnitude_mask;
    bool const negative = u != a;
    if (a > detail::infinity_bits) { return {has_nan ? nan_code : max_code}; }
    if (negative && !Signed) { return {0}; }
    // An infinite pattern counts as a value past the largest, so it saturates by itself.
    uint32_t const code = detail::encode_magnitude<Nearest>(a, MantissaBits, Bias);
    uint32_t const saturated = code < max_code ? code : max_code;
    return {static_cast<uint8_t>(saturated | (negative ? sign_bit : 0u))};
  }
};

}  // namespace fp4
