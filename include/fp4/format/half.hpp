// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// 16-bit floats as plain bits, so that a host program needs no CUDA header.

#include "bits.hpp"

namespace fp4 {

/// IEEE 754 binary16, bit-compatible with `__half` and `_Float16`.
struct float16 {
  uint16_t bits{};

  /// Nearest, ties to even; overflows to infinity; NaN stays NaN (quiet, with its sign).
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr float16 from_float(float x) noexcept {
    uint32_t const u = detail::float_bits(x);
    uint32_t const a = u & detail::magnitude_mask;
    uint32_t const sign = u >> 16 & 0x8000u;
    if (a > detail::infinity_bits) { return {static_cast<uint16_t>(sign | 0x7E00u)}; }
    if (a >= 0x477FF000u) { return {static_cast<uint16_t>(sign | 0x7C00u)}; }  // 65520 and above
    if (a < 0x38800000u) {                                                     // below 2^-14
      uint32_t const m = a < 0x00800000u ? 0 : (a & 0x7FFFFFu) | 0x800000u;
      return {static_cast<uint16_t>(sign | detail::shift_right_nearest_even(m, 126 - (a >> 23)))};
    }
    return {static_cast<uint16_t>(sign | (detail::shift_right_nearest_even(a, 13) - (112u << 10)))};
  }

  /// Exact.
  [[nodiscard]] FP4_HD FP4_INLINE_TO_FLOAT constexpr float to_float() const noexcept {
    uint32_t const sign = (bits & 0x8000u) << 16;
    uint32_t const a = bits & 0x7FFFu;
    if (a >= 0x7C00u) {
      return detail::bits_float(sign | 0x7F800000u | (a & 0x3FFu) << 13 | (a > 0x7C00u ? 0x400000u : 0u));
    }
    if (a >= 0x0400u) { return detail::bits_float(sign | ((a << 13) + (112u << 23))); }
    if (a == 0) { return detail::bits_float(sign); }
    uint32_t exponent = 113;
    uint32_t mantissa = a << 13;
    while ((mantissa & 0x800000u) == 0) { mantissa <<= 1, --exponent; }
    return detail::bits_float(sign | exponent << 23 | (mantissa & 0x7FFFFFu));
  }

  FP4_HD FP4_INLINE friend constexpr bool operator==(float16 a, float16 b) noexcept { return a.bits == b.bits; }
};

/// bfloat16: the high half of an fp32, bit-compatible with `__nv_bfloat16`.
struct bfloat16 {
  uint16_t bits{};

  /// Nearest, ties to even; overflows to infinity; NaN stays NaN (quiet, with its sign).
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr bfloat16 from_float(float x) noexcept {
    uint32_t const u = detail::float_bits(x);
    if ((u & detail::magnitude_mask) > detail::infinity_bits) { return {static_cast<uint16_t>(u >> 16 | 0x40u)}; }
    return {static_cast<uint16_t>(detail::shift_right_nearest_even(u, 16))};
  }

  /// Exact.
  [[nodiscard]] FP4_HD FP4_INLINE_TO_FLOAT constexpr float to_float() const noexcept {
    return detail::bits_float(static_cast<uint32_t>(bits) << 16);
  }

  FP4_HD FP4_INLINE friend constexpr bool operator==(bfloat16 a, bfloat16 b) noexcept { return a.bits == b.bits; }
};

/// True for the types a tensor's values may have: float, float16, bfloat16.
template <class T>
inline constexpr bool is_value_v = std_types::is_same<T, float>::value || std_types::is_same<T, float16>::value ||
                                   std_types::is_same<T, bfloat16>::value;

namespace detail {

template <class T>
FP4_HD FP4_INLINE constexpr float as_float(T x) noexcept {
  if constexpr (std_types::is_same<T, float>::value) {
    return x;
  } else {
    return x.to_float();
  }
}

template <class T>
FP4_HD FP4_INLINE constexpr T from_float_to(float x) noexcept {
  if constexpr (std_types::is_same<T, float>::value) {
    return x;
  } else {
    return T::from_float(x);
  }
}

}  // namespace detail
}  // namespace fp4
