// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_decode.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// v with a NaN of its sign in the lanes where `is_nan` is -1.
FP4_INLINE __m256 with_nan(__m256 v, __m128i is_nan) noexcept {
  __m256i const nan = _mm256_or_si256(_mm256_and_si256(as_ints(v), all(0x80000000u)), all(0x7FC00000u));
  return as_floats(_mm256_blendv_epi8(as_ints(v), nan, _mm256_cvtepi16_epi32(is_nan)));
}

/// Sixteen codes of a byte each, as floats.
template <class Element>
FP4_INLINE void decode_sixteen_elements(uint8_t const* codes, __m256& first, __m256& second) noexcept {
  // Moved to fp16's place a code is its value times 2^(bias - 15), also where it is subnormal.
  constexpr int to_place = 10 - Element::mantissa_bits, to_sign = 16 - Element::width;
  constexpr float rescale = static_cast<float>(1 << (15 - Element::bias));
  __m256i const bytes = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<__m128i const*>(codes)));
  __m256i const magnitudes = _mm256_and_si256(bytes, _mm256_set1_epi16(Element::magnitude_bits));
  __m256i const signs = _mm256_and_si256(bytes, _mm256_set1_epi16(Element::sign_bit));
  __m256i const halves = _mm256_or_si256(_mm256_slli_epi16(magnitudes, to_place), _mm256_slli_epi16(signs, to_sign));
  first = _mm256_cvtph_ps(_mm256_castsi256_si128(halves)) * all(rescale);
  second = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1)) * all(rescale);
  if constexpr (Element::has_nan) {
    constexpr int last_number = Element::specials == float_specials::nan ? Element::max_code : Element::max_code + 1;
    __m256i const is_nan_code = _mm256_cmpgt_epi16(magnitudes, _mm256_set1_epi16(last_number));
    first = with_nan(first, _mm256_castsi256_si128(is_nan_code));
    second = with_nan(second, _mm256_extracti128_si256(is_nan_code, 1));
  }
}

/// Values of whole blocks of codes of a byte each, under finite factors.
template <class Format, bool Divides, bool Streams, class Out>
FP4_NOINLINE void decode_bytes(block_decoder const& decoder, uint8_t const* codes, int blocks,
                               tile_scales const& scales, Out* out) noexcept {
  using element = typename Format::element;
  int const count = blocks * Format::block_size;
  int i = 0;
  for (; i + 16 <= count; i += 16) {
    __m256 const factor = _mm256_broadcast_ss(scales.factor + (Format::has_block_scale ? i / Format::block_size : 0));
    __m256 first, second;
    decode_sixteen_elements<element>(codes + i, first, second);
    first = first * factor, second = second * factor;
    if constexpr (Divides) { first = first / all(decoder.tensor), second = second / all(decoder.tensor); }
    // Under a factor of zero even NaN and infinity are zeros with their signs.
    __m256i const keep =
        _mm256_or_si256(all(0x80000000u), _mm256_cmpgt_epi32(magnitude(factor), _mm256_setzero_si256()));
    first = as_floats(_mm256_and_si256(as_ints(first), keep));
    second = as_floats(_mm256_and_si256(as_ints(second), keep));
    store_sixteen<Streams, element::has_nan>(out + i, first, second);
  }
  if (i < count) {  // formats without blocks alone
    scalar_backend::decode<Format>(decoder, codes + i, count - i, scales, out + i, false);
  }
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
