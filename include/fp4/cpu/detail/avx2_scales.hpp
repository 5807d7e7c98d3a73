// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_registers.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// v >= 0, at most max_finite, becomes the nearest value of an unsigned scale
/// format with zero; returns 256 * code.
///
/// fma(E, K, v), with E the power of two of v (at least the smallest normal)
/// and K = 2^(23 - mantissa bits), rounds v to its step and leaves the count of
/// steps in the low bits and E's exponent in the high ones. A weighted sum of
/// the two halves is the code; K has an offset of an even number of steps that
/// makes the constant part of the sum vanish.
template <class Scale>
FP4_INLINE __m256i round_scale_to_codes(__m256 &v) noexcept {
  constexpr int m = Scale::mantissa_bits;
  constexpr int min_normal_exponent = 128 - Scale::bias;
  constexpr int steps_of_exponents = (23 - m + min_normal_exponent)
                                     << m; // what the exponent field adds
  constexpr int offset =
      0x10000 - steps_of_exponents; // in steps; as an int16 it is negative
  static_assert(steps_of_exponents % 2 == 0 && steps_of_exponents < 0x7F00,
                "ties keep their parity, no int16 overflows");
  constexpr float k = static_cast<float>(1 << (23 - m)) +
                      static_cast<float>(offset) / static_cast<float>(1 << m);
  __m256i const exponent =
      _mm256_max_epi32(_mm256_and_si256(as_ints(v), all(infinity_bits)),
                       all(static_cast<uint32_t>(min_normal_exponent) << 23));
  __m256 const shifted = _mm256_fmadd_ps(as_floats(exponent), all(k), v);
  v = _mm256_fnmadd_ps(as_floats(exponent), all(k), shifted);
  constexpr int unit = 256;
  constexpr int exponent_weight = unit << m >> 7;
  return _mm256_madd_epi16(
      as_ints(shifted),
      all(static_cast<uint32_t>(exponent_weight << 16 | unit)));
}

/// scalar_backend::rounded_scales. Reads and writes to a multiple of 8 blocks.
template <class Scale, class Tensor>
FP4_NOINLINE void rounded_scales(Tensor const &tensor, int blocks,
                                 tile_scales &scales) noexcept {
  using floats = lanes<8>::floats;
  // Byte 1 of each lane to the first two dwords.
  __m256i const second_bytes = _mm256_setr_epi8(
      1, 5, 9, 13, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, //
      -1, -1, -1, -1, 1, 5, 9, 13, -1, -1, -1, -1, -1, -1, -1, -1);
  for (int b = 0; b < blocks; b += 8) {
    floats amax, value, factor;
    load(amax, scales.amax + b);
    value = amax;
    tensor.scale_value(value);
    factor = value;
    fp4::detail::limit(factor, Scale::max_finite);
    __m256 rounded = factor;
    __m256i const codes =
        _mm256_shuffle_epi8(round_scale_to_codes<Scale>(rounded), second_bytes);
    factor = rounded;
    tensor.factor(factor, amax, value);
    store(scales.factor + b, factor);
    __m128i const bytes = _mm_or_si128(_mm256_castsi256_si128(codes),
                                       _mm256_extracti128_si256(codes, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i *>(scales.code + b), bytes);
  }
}

/// What is known of the numbers that are rounded to elements.
enum class number_range {
  below_seven, ///< in magnitude, so that rounding does not pass e2m1's largest
  finite,
  any,
};

/// Each number is in magnitude at most its block's amax, scaled, since scaling
/// is monotone. The bound 6.9 leaves room for a rounding to bfloat16 after
/// that.
template <element_rule Rule>
FP4_NOINLINE number_range range_of(float first_divisor, int blocks,
                                   tile_scales const &scales) noexcept {
  if (scales.has_nan) {
    return number_range::any;
  }
  alignas(32) static constexpr uint32_t masks[16] = {~0u, ~0u, ~0u, ~0u,
                                                     ~0u, ~0u, ~0u, ~0u};
  __m256i largest = _mm256_setzero_si256();
  for (int b = 0; b < blocks; b += 8) {
    __m256 z = _mm256_load_ps(scales.amax + b);
    __m256 const factor = _mm256_load_ps(scales.factor + b);
    if constexpr (Rule == element_rule::multiply) {
      z = z * factor;
    } else {
      if constexpr (Rule == element_rule::divide_twice) {
        z = z / all(first_divisor);
      }
      z = z / factor;
    }
    // 0 * infinity and 0 / 0 are NaN with the sign set: past every number as
    // unsigned.
    __m256i bits = as_ints(z);
    if (b + 8 > blocks) {
      bits = _mm256_and_si256(bits, load_ints(masks + (b + 8 - blocks)));
    }
    largest = _mm256_max_epu32(largest, bits);
  }
  auto const all_at_most = [&](uint32_t bound) {
    __m256i const fits =
        _mm256_cmpeq_epi32(_mm256_max_epu32(largest, all(bound)), all(bound));
    return _mm256_movemask_ps(as_floats(fits)) == 0xFF;
  };
  if (all_at_most(float_bits(6.9f))) {
    return number_range::below_seven;
  }
  return all_at_most(infinity_bits - 1) ? number_range::finite
                                        : number_range::any;
}

} // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
