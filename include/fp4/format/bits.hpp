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

/// a * b rounded by itself: never fused into the sum that it is added to.
template <class Real>
FP4_HD inline Real product(Real a, Real b) noexcept {
#if FP4_PRAGMA_STOPS_CONTRACTION
  return a * b;
#else
  Real volatile rounded = a * b;
  return rounded;
#endif
}

}  // namespace fp4::detail
FP4_EXACT_END
