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
FP4_HD FP4_INLINE constexpr void fill(F& v, float x) noexcept {
  if constexpr (std_types::is_same<F, float>::value) {
    v = x;
  } else {
    v = F{} + x;
  }
}

/// The bits of |v|, which order magnitudes as integers do: infinity above every number, NaN above infinity. Choices
/// between magnitudes are made on them, since clang's fast-math flags make a choice between floats forget both.
template <class F>
struct magnitude_bits {
  using type = decltype(F{} < F{});
};
template <>
struct magnitude_bits<float> {
  using type = int32_t;
};
template <class F>
using magnitude_bits_t = typename magnitude_bits<F>::type;

template <class F>
FP4_HD FP4_INLINE constexpr void to_magnitude_bits(magnitude_bits_t<F>& bits, F const& v) noexcept {
  if constexpr (std_types::is_same<F, float>::value) {
    bits = static_cast<int32_t>(float_bits(v) & magnitude_mask);
  } else {
    bits = reinterpret_cast<magnitude_bits_t<F>>(v) & static_cast<int32_t>(magnitude_mask);
  }
}
template <class F>
FP4_HD FP4_INLINE constexpr void from_magnitude_bits(F& v, magnitude_bits_t<F> const& bits) noexcept {
  if constexpr (std_types::is_same<F, float>::value) {
    v = bits_float(static_cast<uint32_t>(bits));
  } else {
    v = reinterpret_cast<F>(bits);
  }
}

/// v = other where |condition| is above `bound` (NaN is), else v. All are positive.
template <class F>
FP4_HD FP4_INLINE constexpr void replace_where_above(F& v, F const& condition, float bound, F const& other) noexcept {
  magnitude_bits_t<F> a{}, kept{}, replacement{};
  to_magnitude_bits(a, condition);
  to_magnitude_bits(kept, v);
  to_magnitude_bits(replacement, other);
  kept = a > static_cast<int32_t>(float_bits(bound)) ? replacement : kept;
  from_magnitude_bits(v, kept);
}

/// v = min(v, most) for v >= 0; NaN becomes `most`.
template <class F>
FP4_HD FP4_INLINE constexpr void limit(F& v, float most) noexcept {
  F bound{};
  fill(bound, most);
  replace_where_above(v, v, most, bound);
}

/// v = `replacement` where `condition` >= 0 is at most `bound`, else v.
template <class F>
FP4_HD FP4_INLINE constexpr void replace_where_at_most(F& v, F const& condition, float bound,
                                                       float replacement) noexcept {
  F other{};
  fill(other, replacement);
  replace_where_above(other, condition, bound, v);
  v = other;
}

/// v = max(v, least) for v >= 0; NaN becomes `least`.
template <class F>
FP4_HD FP4_INLINE constexpr void at_least(F& v, float least) noexcept {
  F bound{};
  fill(bound, least);
  replace_where_at_most(v, v, least, least);
  replace_where_above(v, v, bits_float(infinity_bits), bound);
}

/// v = numerator / v.
template <class F>
FP4_HD FP4_INLINE void divide_into(F& v, float numerator) noexcept {
  if constexpr (std_types::is_same<F, float>::value) {
    v = quotient(numerator, v);
  } else {
    F n;
    fill(n, numerator);
    v = n / v;
  }
}

/// v = v * x.
template <class F>
FP4_HD FP4_INLINE void multiply_by(F& v, float x) noexcept {
  if constexpr (std_types::is_same<F, float>::value) {
    v = scaled_by(v, x);
  } else {
    v *= x;
  }
}

}  // namespace detail
}  // namespace fp4
FP4_EXACT_END
