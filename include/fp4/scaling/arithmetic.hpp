// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The few operations that scale formulas need beyond * and /, on one number or on a register of numbers.
/// A formula takes `F&` and works in place: F is float, a vector of floats, or a device's exactly rounded float.

#include "../format/types.hpp"

FP4_EXACT_BEGIN
namespace fp4 {

/// Category of a scaling argument.
struct scaling_choice {};

namespace detail {

inline constexpr float float_max = 3.402823466e+38f;
inline constexpr float float_min_normal = 1.175494351e-38f;
inline constexpr float one_sixth = 0x1.555556p-3f;  // bits 0x3E2AAAAB

template <class F>
FP4_HD FP4_INLINE void fill(F& v, float x) noexcept {
  if constexpr (std_types::is_same<F, float>::value) {
    v = x;
  } else {
    v = F{} + x;
  }
}

/// v = min(v, most); NaN becomes `most`.
template <class F>
FP4_HD FP4_INLINE void limit(F& v, float most) noexcept {
  F bound;
  fill(bound, most);
  v = v < bound ? v : bound;
}

/// v = max(v, least); NaN becomes `least`.
template <class F>
FP4_HD FP4_INLINE void at_least(F& v, float least) noexcept {
  F bound;
  fill(bound, least);
  v = v > bound ? v : bound;
}

/// v = `replacement` where `condition` is at most `bound`.
template <class F>
FP4_HD FP4_INLINE void replace_where_at_most(F& v, F const& condition, float bound, float replacement) noexcept {
  F limit_value, other;
  fill(limit_value, bound);
  fill(other, replacement);
  v = condition <= limit_value ? other : v;
}

/// v = numerator / v.
template <class F>
FP4_HD FP4_INLINE void divide_into(F& v, float numerator) noexcept {
  F n;
  fill(n, numerator);
  v = n / v;
}

}  // namespace detail
}  // namespace fp4
FP4_EXACT_END
