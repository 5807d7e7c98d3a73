// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_registers.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
namespace fp4::cpu::detail::avx2 {

/// What divide_twice divides by first. Called from inside and from outside of the AVX2 region.
template <class Tensor>
FP4_INLINE float first_divisor_of(Tensor const& tensor) noexcept {
  if constexpr (Tensor::elements == element_rule::divide_twice) {
    return tensor.first_divisor;
  } else {
    return 1.0f;
  }
}

}  // namespace fp4::cpu::detail::avx2

FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// v >= 0, at most max_finite, becomes the nearest value of an unsigned scale format with zero; returns 256 * code.
///
/// fma(E, K, v), with E the power of two of v (at least the smallest normal) and K = 2^(23 - mantissa bits), rounds v
/// to its step and leaves the count of steps in the low bits and E's exponent in the high ones. A weighted sum of the
/// two halves is the code; K has an offset of an even number of steps that makes the constant part of the sum vanish.
template <class Scale>
FP4_INLINE __m256i round_scale_to_codes(__m256& v) noexcept {
  constexpr int m = Scale::mantissa_bits;
  constexpr int min_normal_exponent = 128 - Scale::bias;
  constexpr int steps_of_exponents = (23 - m + min_normal_exponent) << m;  // what the exponent field adds
  constexpr int offset = 0x10000 - steps_of_exponents;                     // in steps; as an int16 it is negative
  static_assert(steps_of_exponents % 2 == 0 && steps_of_exponents < 0x7F00,
                "ties keep their parity, no int16 overflows");
  constexpr float k = static_cast<float>(1 << (23 - m)) + static_cast<float>(offset) / static_cast<float>(1 << m);
  __m256i const exponent = _mm256_max_epi32(_mm256_and_si256(as_ints(v), all(infinity_bits)),
                                            all(static_cast<uint32_t>(min_normal_exponent) << 23));
  __m256 const shifted = fused(as_floats(exponent), all(k), v);
  v = fused(as_floats(exponent), all(-k), shifted);
  constexpr int unit = 256;
  constexpr int exponent_weight = unit << m >> 7;
  return _mm256_madd_epi16(as_ints(shifted), all(static_cast<uint32_t>(exponent_weight << 16 | unit)));
}

/// The largest number of blocks that their scaling can give: each is in magnitude at most the block's amax, scaled,
/// since scaling is monotone. (Before divide_to_bfloat16 rounds it once more.)
template <element_rule Rule>
FP4_INLINE __m256i scaled_amax(__m256 amax, __m256 factor, __m256 first_divisor) noexcept {
  if constexpr (Rule == element_rule::multiply) {
    return as_ints(amax * factor);
  } else if constexpr (Rule == element_rule::divide_twice) {
    return as_ints((amax / first_divisor) / factor);
  } else {
    return as_ints(amax / factor);
  }
}

/// From unsigned maxima of scaled_amax: 0 * infinity and 0 / 0 are NaN with the sign set, past every number.
FP4_INLINE number_range range_from(__m256i largest) noexcept {
  auto const at_most = [&](uint32_t bound) {
    __m256i const fits = _mm256_cmpeq_epi32(_mm256_max_epu32(largest, all(bound)), all(bound));
    return _mm256_movemask_ps(as_floats(fits)) == 0xFF;
  };
  if (at_most(float_bits(6.9f))) { return number_range::below_seven; }  // also rounded to bfloat16
  return at_most(infinity_bits - 1) ? number_range::finite : number_range::any;
}

/// scalar_backend::rounded_scales, and the range of the tile. Reads and writes to a multiple of 8 blocks.
template <class Scale, class Tensor>
FP4_NOINLINE void rounded_scales(Tensor const& tensor_of_caller, int blocks, tile_scales& scales) noexcept {
  using floats = lanes<8>::floats;
  Tensor const tensor = tensor_of_caller;  // nothing that is stored can alias it
  __m256 const first_divisor = all(first_divisor_of(tensor));
  // Byte 1 of each lane to the first two dwords.
  __m256i const second_bytes = _mm256_setr_epi8(1, 5, 9, 13, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,  //
                                                -1, -1, -1, -1, 1, 5, 9, 13, -1, -1, -1, -1, -1, -1, -1, -1);
  __m256i largest = _mm256_setzero_si256();
  for (int b = 0; b < blocks; b += 8) {
    floats amax, value, factor;
    load(amax, scales.amax + b);
    value = amax;
    tensor.scale_value(value);
    __m256 rounded = _mm256_min_ps(value, all(Scale::max_finite));
    __m256i const codes = _mm256_shuffle_epi8(round_scale_to_codes<Scale>(rounded), second_bytes);
    factor = rounded;
    tensor.factor(factor, amax, value);
    store(scales.factor + b, factor);
    __m128i const bytes = _mm_or_si128(_mm256_castsi256_si128(codes), _mm256_extracti128_si256(codes, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(scales.code + b), bytes);
    if constexpr (Tensor::elements != element_rule::own) {
      largest = _mm256_max_epu32(largest, scaled_amax<Tensor::elements>(amax, factor, first_divisor));
    }
  }
  scales.range = scales.has_nan ? number_range::any : range_from(largest);
}

/// The range of a tile whose scales were found in another way.
template <class Tensor>
FP4_NOINLINE number_range range_of(Tensor const& tensor, int blocks, tile_scales const& scales) noexcept {
  if (scales.has_nan) { return number_range::any; }
  alignas(32) static constexpr uint32_t masks[16] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
  __m256 const first_divisor = all(first_divisor_of(tensor));
  __m256i largest = _mm256_setzero_si256();
  for (int b = 0; b < blocks; b += 8) {
    __m256i found = scaled_amax<Tensor::elements>(_mm256_load_ps(scales.amax + b), _mm256_load_ps(scales.factor + b),
                                                  first_divisor);
    if (b + 8 > blocks) { found = _mm256_and_si256(found, load_ints(masks + (b + 8 - blocks))); }
    largest = _mm256_max_epu32(largest, found);
  }
  return range_from(largest);
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
