// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_registers.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// Values of eight codes of an unsigned scale format, NaN for NaN codes.
template <class Scale>
FP4_INLINE __m256 decode_scales(__m256i codes) noexcept {
  __m256i const nan = all(0x7FC00000u);
  if constexpr (Scale::has_zero) {
    constexpr int m = Scale::mantissa_bits;
    codes = _mm256_and_si256(codes, all(uint32_t{Scale::magnitude_bits}));
    __m256i const at_place = _mm256_slli_epi32(codes, 23 - m);
    __m256i const normal = _mm256_add_epi32(at_place, all(static_cast<uint32_t>(127 - Scale::bias) << 23));
    // The mantissa below the smallest normal's leading one, minus that one.
    __m256i const min_normal = all(static_cast<uint32_t>(128 - Scale::bias) << 23);
    __m256 const subnormal = as_floats(_mm256_or_si256(at_place, min_normal)) - as_floats(min_normal);
    __m256i const is_subnormal = _mm256_cmpgt_epi32(all(1u << m), codes);
    __m256i const value = _mm256_blendv_epi8(normal, as_ints(subnormal), is_subnormal);
    return as_floats(_mm256_blendv_epi8(value, nan, _mm256_cmpeq_epi32(codes, all(uint32_t{Scale::nan_code}))));
  } else {
    static_assert(std_types::is_same<Scale, e8m0>::value, "powers of two");
    __m256i const value = _mm256_max_epi32(_mm256_slli_epi32(codes, 23), all(0x00400000u));  // 2^-127 is subnormal
    return as_floats(_mm256_blendv_epi8(value, nan, _mm256_cmpeq_epi32(codes, all(0xFFu))));
  }
}

/// The largest of `count` scale codes, as magnitudes.
template <class Scale>
FP4_INLINE uint8_t largest_code(uint8_t const* codes, int count) noexcept {
  alignas(32) uint8_t last[32]{};
  __m256i const magnitudes_only = _mm256_set1_epi8(static_cast<char>(Scale::magnitude_bits));
  __m256i largest = _mm256_setzero_si256();
  int i = 0;
  for (; i + 32 <= count; i += 32) {
    largest = _mm256_max_epu8(largest, _mm256_and_si256(load_ints(codes + i), magnitudes_only));
  }
  if (i < count) {
    std::memcpy(last, codes + i, static_cast<size_t>(count - i));
    largest = _mm256_max_epu8(largest, _mm256_and_si256(load_ints(last), magnitudes_only));
  }
  __m128i v = _mm_max_epu8(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
  v = _mm_max_epu8(v, _mm_srli_epi16(v, 8));
  // The least of inverted words, whose upper bytes are made equal.
  v = _mm_minpos_epu16(_mm_xor_si128(_mm_and_si128(v, _mm_set1_epi16(0xFF)), _mm_set1_epi16(0xFF)));
  return static_cast<uint8_t>(~_mm_cvtsi128_si32(v));
}

/// Two factors whose product with a decoded scale, one after the other, is block_decoder::factor of it.
struct plain_factors {
  bool exist;
  float first, second;

  /// They exist where no product of an ordinary scale can come near the ends of fp32's range.
  explicit plain_factors(block_decoder const& decoder) noexcept : exist(false), first(1.0f), second(1.0f) {
    bool const ordinary = decoder.tensor > 1e-25f && decoder.tensor < 1e25f;
    switch (decoder.rule) {
      case decode_rule::amax_over_range:
        exist = ordinary, first = decoder.tensor;
        if (decoder.from_amax) { second = decoder.per_range; }
        break;
      case decode_rule::product: exist = ordinary, first = decoder.tensor; break;
      case decode_rule::quotient:
      case decode_rule::block_only: exist = true; break;
      default: break;
    }
  }
};

/// scalar_backend::decode_factors, and whether all are known to be finite. Reads and writes to a multiple of 8 blocks.
template <class Scale>
FP4_NOINLINE void decode_factors(block_decoder const& decoder_of_caller, int blocks, tile_scales& scales) noexcept {
  if constexpr (Scale::has_zero && Scale::mantissa_bits == 3) {
    // A code moved to fp16's place is the scale times 2^(bias - 15), unless fp16 has an infinity there.
    constexpr int fp16_codes = (31 << 3) - 1, most = Scale::max_code < fp16_codes ? Scale::max_code : fp16_codes;
    plain_factors const plain(decoder_of_caller);
    if (plain.exist && largest_code<Scale>(scales.code, blocks) <= most) {
      __m256 const first = all(plain.first * static_cast<float>(1 << (15 - Scale::bias))), second = all(plain.second);
      for (int b = 0; b < blocks; b += 8) {
        __m128i const bytes = _mm_loadl_epi64(reinterpret_cast<__m128i const*>(scales.code + b));
        __m128i const codes = _mm_and_si128(_mm_cvtepu8_epi16(bytes), _mm_set1_epi16(Scale::magnitude_bits));
        _mm256_store_ps(scales.factor + b, _mm256_cvtph_ps(_mm_slli_epi16(codes, 7)) * first * second);
      }
      scales.range = number_range::finite;
      return;
    }
  }
  block_decoder const decoder = decoder_of_caller;
  for (int b = 0; b < blocks; b += 8) {
    __m128i const bytes = _mm_loadl_epi64(reinterpret_cast<__m128i const*>(scales.code + b));
    lanes<8>::floats factor = decode_scales<Scale>(_mm256_cvtepu8_epi32(bytes));
    decoder.factor(factor);
    store(scales.factor + b, factor);
  }
  scales.range = number_range::unknown;
}

/// True where none of `count` factors is infinite or NaN.
FP4_INLINE bool all_finite(float const* factors, int count) noexcept {
  __m256i largest = _mm256_setzero_si256();
  int i = 0;
  for (; i + 8 <= count; i += 8) { largest = _mm256_max_epi32(largest, magnitude(_mm256_loadu_ps(factors + i))); }
  __m256i const past = _mm256_cmpgt_epi32(largest, all(infinity_bits - 1));
  bool finite = _mm256_testz_si256(past, past) != 0;
  for (; i < count; ++i) { finite = finite && (float_bits(factors[i]) & magnitude_mask) < infinity_bits; }
  return finite;
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
