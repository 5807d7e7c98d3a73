// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// e2m1 codes to bfloat16 by a table a block. The magnitudes 0 .5 1 1.5 2 3 4 6 have two significands: their products
/// with a factor, rounded to bfloat16, are those of 1 and of 1.5 times powers of two. The eight patterns of a block
/// fill a 16-byte table of lower bytes and one of upper bytes, for a byte shuffle to look up sixteen codes at once.

#include "avx2_decode.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// AtOnce factors, 4 or 8; four are repeated.
template <int AtOnce>
FP4_INLINE __m256 load_factors(float const* factors) noexcept {
  if constexpr (AtOnce == 4) {
    return _mm256_broadcast_ps(reinterpret_cast<__m128 const*>(factors));
  } else {
    return _mm256_loadu_ps(factors);
  }
}

/// True where tables under each of `count` factors, a multiple of AtOnce, hold normal numbers alone: where 1 and its
/// product with a factor lie far from all ends.
template <int AtOnce, bool Divides>
FP4_INLINE bool tables_are_normal(float const* factors, int count, __m256 divisor) noexcept {
  __m256i largest = _mm256_setzero_si256();
  for (int i = 0; i < count; i += AtOnce) {
    __m256 one = load_factors<AtOnce>(factors + i);
    if constexpr (Divides) { one = one / divisor; }
    largest = _mm256_max_epu32(largest, _mm256_sub_epi32(as_ints(one), all((127u - 120u) << 23)));
  }
  __m256i const bound = all(240u << 23);
  __m256i const fits = _mm256_cmpeq_epi32(_mm256_max_epu32(largest, bound), bound);
  return _mm256_movemask_ps(as_floats(fits)) == 0xFF;
}

/// bfloat16 patterns of 1 and 1.5 under eight factors, in the lower and upper half of each lane.
template <bool Divides>
FP4_INLINE __m256i significands(__m256 factor, __m256 divisor) noexcept {
  __m256 one = factor, three_halves = factor * all(1.5f);
  if constexpr (Divides) { one = one / divisor, three_halves = three_halves / divisor; }
  return _mm256_blend_epi16(_mm256_srli_epi32(bfloat16_above(one), 16), bfloat16_above(three_halves), 0xAA);
}

/// Values of 32 codes. The tables of the lower half, for the first sixteen, are made from its first dword of
/// `patterns`, those of the upper half likewise.
template <bool Streams>
FP4_INLINE void decode_by_tables(__m256i patterns, uint8_t const* codes, bfloat16* out) noexcept {
  constexpr char none = -1;
  __m256i const repeated =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(none, none, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3));
  __m256i const exponents = _mm256_broadcastsi128_si256(_mm_setr_epi16(0, -0x80, 0, 0, 0x80, 0x80, 0x100, 0x100));
  __m256i const words = _mm256_add_epi16(_mm256_shuffle_epi8(patterns, repeated), exponents);
  __m256i const lower_bytes =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14));
  __m256i const upper_bytes =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 3, 5, 7, 9, 11, 13, 15, 1, 3, 5, 7, 9, 11, 13, 15));
  __m256i const signs = _mm256_broadcastsi128_si256(_mm_set_epi64x(static_cast<int64_t>(0x8080808080808080u), 0));
  __m256i const lower = _mm256_shuffle_epi8(words, lower_bytes);
  __m256i const upper = _mm256_or_si256(_mm256_shuffle_epi8(words, upper_bytes), signs);

  __m256i const bytes = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<__m128i const*>(codes)));
  __m256i const nibbles = _mm256_and_si256(_mm256_or_si256(bytes, _mm256_slli_epi16(bytes, 4)), _mm256_set1_epi8(0x0F));
  __m256i const low = _mm256_shuffle_epi8(lower, nibbles), high = _mm256_shuffle_epi8(upper, nibbles);
  __m256i const first = _mm256_unpacklo_epi8(low, high), second = _mm256_unpackhi_epi8(low, high);
  store_values<Streams>(out, _mm256_permute2x128_si256(first, second, 0x20));
  store_values<Streams>(out + 16, _mm256_permute2x128_si256(first, second, 0x31));
}

/// decode_sixteens for bfloat16.
template <int BlockSize, bool Divides, bool Streams>
FP4_NOINLINE void decode_sixteens_by_tables(uint8_t const* codes, int sixteens, float const* factors, float divisor,
                                            bfloat16* out) noexcept {
  __m256 const by = all(divisor);
  // Even blocks of 16 in the lower half, odd ones in the upper; blocks of 32 in both.
  __m256i const order =
      BlockSize == 32 ? _mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3) : _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  constexpr int at_once = 128 / BlockSize;
  if (tables_are_normal<at_once, Divides>(factors, sixteens / 8 * at_once, by)) {
    for (; sixteens >= 8; sixteens -= 8) {
      __m256 const factor = load_factors<at_once>(factors);
      __m256i patterns = _mm256_permutevar8x32_epi32(significands<Divides>(factor, by), order);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        decode_by_tables<Streams>(patterns, codes + 16 * i, out + 32 * i);
        patterns = _mm256_srli_si256(patterns, 4);
      }
      codes += 64, factors += at_once, out += 128;
    }
  }
  decode_sixteens<BlockSize, Divides, Streams>(codes, sixteens, factors, divisor, out);
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
