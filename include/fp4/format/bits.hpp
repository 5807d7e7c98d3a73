// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../config.hpp"

namespace fp4::detail {

FP4_HD FP4_INLINE constexpr uint32_t float_bits(float x) noexcept { return __builtin_bit_cast(uint32_t, x); }
FP4_HD FP4_INLINE_TO_FLOAT constexpr float bits_float(uint32_t bits) noexcept {
  return __builtin_bit_cast(float, bits);
}

inline constexpr uint32_t magnitude_mask = 0x7FFFFFFFu;
inline constexpr uint32_t infinity_bits = 0x7F800000u;

/// Shifts right by `count` >= 1 and rounds to nearest, ties to even. Counts past 31 give 0.
FP4_HD FP4_INLINE constexpr uint32_t shift_right_nearest_even(uint32_t m, uint32_t count) noexcept {
  if (count > 31) { return 0; }
  return (m + ((1u << (count - 1)) - 1) + ((m >> count) & 1u)) >> count;
}

/// Shifts right; counts past 31 give 0.
FP4_HD FP4_INLINE constexpr uint32_t shift_right_truncate(uint32_t m, uint32_t count) noexcept {
  return count > 31 ? 0 : m >> count;
}

}  // namespace fp4::detail

FP4_EXACT_BEGIN
namespace fp4::detail {

/// A float as a double, also on a device that flushes subnormal floats (nvcc -ftz=true).
FP4_HD constexpr double widen(float x) noexcept {
#if FP4_DEVICE_CODE
  uint32_t const u = float_bits(x), a = u & magnitude_mask;
  uint64_t const sign = uint64_t{u - a} << 32;
  if (a < 0x00800000u) {
    double const magnitude = static_cast<double>(static_cast<int32_t>(a)) * 0x1p-149;
    return sign != 0 ? -magnitude : magnitude;
  }
  uint64_t const exponent = a < infinity_bits ? uint64_t{896} << 52 : uint64_t{1792} << 52;
  return __builtin_bit_cast(double, sign | ((uint64_t{a} << 29) + exponent));
#else
  return static_cast<double>(x);
#endif
}

/// The nearest float, ties to even, also on a device that flushes subnormal floats.
FP4_HD constexpr float narrow(double x) noexcept {
#if FP4_DEVICE_CODE
  uint64_t const u = __builtin_bit_cast(uint64_t, x), a = u & ~(uint64_t{1} << 63);
  uint32_t const sign = static_cast<uint32_t>((u ^ a) >> 32);
  uint32_t const exponent = static_cast<uint32_t>(a >> 52);
  if (a > uint64_t{0x7FF} << 52) { return bits_float(sign | 0x7FC00000u); }
  if (exponent >= 1151) { return bits_float(sign | infinity_bits); }
  uint32_t const shift = exponent >= 897 ? 29 : 29 + (897 - exponent);
  if (shift > 54) { return bits_float(sign); }
  uint64_t const m = (a & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
  uint64_t const rounded = (m + ((uint64_t{1} << (shift - 1)) - 1) + (m >> shift & 1)) >> shift;
  return bits_float(sign | (static_cast<uint32_t>(rounded) + (exponent >= 897 ? (exponent - 897) << 23 : 0u)));
#else
  return static_cast<float>(x);
#endif
}

/// a / b in fp32, rounded once whatever the compiler's flags. On a device it costs some hundred instructions, by way of
/// fp64, where a quotient or product of two floats rounds the same as directly: for what is computed once a tensor.
FP4_HD constexpr float quotient(float a, float b) noexcept {
#if FP4_DEVICE_CODE
  return narrow(widen(a) / widen(b));
#else
  return a / b;
#endif
}

/// a * b, likewise. Not to be added to anything: see `product`.
FP4_HD constexpr float scaled_by(float a, float b) noexcept {
#if FP4_DEVICE_CODE
  return narrow(widen(a) * widen(b));
#else
  return a * b;
#endif
}

/// a + b, likewise.
FP4_HD constexpr float sum_of(float a, float b) noexcept {
#if FP4_DEVICE_CODE
  return narrow(widen(a) + widen(b));
#else
  return a + b;
#endif
}

/// a - b, likewise. (Turning the sign of b by its bits would not do: nvcc makes that a negation, which flushes.)
FP4_HD constexpr float difference_of(float a, float b) noexcept {
#if FP4_DEVICE_CODE
  return narrow(widen(a) - widen(b));
#else
  return a - b;
#endif
}

/// a * b rounded by itself: never fused into the sum that it is added to.
template <class Real>
FP4_HD inline Real product(Real a, Real b) noexcept {
#if FP4_DEVICE_CODE
  if constexpr (std_types::is_same<Real, float>::value) {
    return narrow(widen(a) * widen(b));
  } else {
    return __dmul_rn(a, b);
  }
#elif FP4_PRAGMA_STOPS_CONTRACTION
  return a * b;
#else
  Real volatile rounded = a * b;
  return rounded;
#endif
}

}  // namespace fp4::detail
FP4_EXACT_END
