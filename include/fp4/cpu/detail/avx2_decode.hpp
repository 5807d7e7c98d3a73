// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_registers.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// A register to memory that nobody will read soon, or to the caches.
template <bool Streams>
FP4_INLINE void store_values(void* to, __m256i v) noexcept {
  if constexpr (Streams) {
    _mm256_stream_si256(static_cast<__m256i*>(to), v);
  } else {
    store_ints(to, v);
  }
}

/// Eight floats rounded to bfloat16 (none is NaN), in the upper half of each lane.
FP4_INLINE __m256i bfloat16_above(__m256 v) noexcept {
  __m256i const bits = as_ints(v);
  __m256i const odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), all(1u));
  return _mm256_add_epi32(_mm256_add_epi32(bits, all(0x7FFFu)), odd);
}

/// Sixteen values, already scaled, from two registers. NaN must not occur unless `KeepsNan`.
template <bool Streams, bool KeepsNan, class Out>
FP4_INLINE void store_sixteen(Out* out, __m256 first, __m256 second) noexcept {
  if constexpr (std_types::is_same<Out, float>::value) {
    store_values<Streams>(out, as_ints(first));
    store_values<Streams>(out + 8, as_ints(second));
  } else if constexpr (std_types::is_same<Out, float16>::value) {
    __m128i const low = _mm256_cvtps_ph(first, _MM_FROUND_TO_NEAREST_INT);
    __m128i const high = _mm256_cvtps_ph(second, _MM_FROUND_TO_NEAREST_INT);
    store_values<Streams>(out, _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1));
  } else {
    if constexpr (KeepsNan) {
      first = round_to_bfloat16<true>(first), second = round_to_bfloat16<true>(second);
    } else {
      first = as_floats(bfloat16_above(first)), second = as_floats(bfloat16_above(second));
    }
    __m256i const low = _mm256_srli_epi32(as_ints(first), 16), high = _mm256_srli_epi32(as_ints(second), 16);
    store_values<Streams>(out, _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xD8));
  }
}

/// The bfloat16 patterns of 32 e2m1 codes, 16 bytes. A register holds sixteen; its 64-bit quarters are elements 0 to 3,
/// 8 to 11, 4 to 7 and 12 to 15.
FP4_INLINE void decode_e2m1(uint8_t const* codes, __m256i (&patterns)[2]) noexcept {
  constexpr char none = -1;
  __m256i const spread = _mm256_setr_epi8(0, none, 1, none, 4, none, 5, none, 8, none, 9, none, 12, none, 13, none,  //
                                          2, none, 3, none, 6, none, 7, none, 10, none, 11, none, 14, none, 15, none);
  // 0 .5 1 1.5 2 3 4 6 and their negatives.
  __m256i const high = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 0x3F, 0x3F, 0x3F, 0x40, 0x40, 0x40, 0x40, static_cast<char>(0x80), static_cast<char>(0xBF),
                    static_cast<char>(0xBF), static_cast<char>(0xBF), static_cast<char>(0xC0), static_cast<char>(0xC0),
                    static_cast<char>(0xC0), static_cast<char>(0xC0)));
  __m256i const low = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 0, static_cast<char>(0x80), static_cast<char>(0xC0), 0, 0x40, static_cast<char>(0x80),
                    static_cast<char>(0xC0), 0, 0, static_cast<char>(0x80), static_cast<char>(0xC0), 0, 0x40,
                    static_cast<char>(0x80), static_cast<char>(0xC0)));
  __m256i const bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<__m128i const*>(codes)));
  __m256i const words = _mm256_shuffle_epi8(bytes, spread);
  __m256i const nibbles = _mm256_and_si256(_mm256_or_si256(words, _mm256_slli_epi16(words, 4)), _mm256_set1_epi8(0x0F));
  __m256i const upper = _mm256_shuffle_epi8(high, nibbles), lower = _mm256_shuffle_epi8(low, nibbles);
  patterns[0] = _mm256_unpacklo_epi8(lower, upper);
  patterns[1] = _mm256_unpackhi_epi8(lower, upper);
}

/// Sixteen values from a register of decode_e2m1's.
template <bool Divides, bool Streams, class Out>
FP4_INLINE void scale_sixteen(__m256i patterns, __m256 factor, __m256 divisor, Out* out) noexcept {
  __m256i const zero = _mm256_setzero_si256();
  __m256 first = as_floats(_mm256_unpacklo_epi16(zero, patterns)) * factor;
  __m256 second = as_floats(_mm256_unpackhi_epi16(zero, patterns)) * factor;
  if constexpr (Divides) { first = first / divisor, second = second / divisor; }
  store_sixteen<Streams, false>(out, first, second);
}

/// `sixteens` times sixteen values of e2m1 codes under finite factors.
template <int BlockSize, bool Divides, bool Streams, class Out>
FP4_NOINLINE void decode_sixteens(uint8_t const* codes, int sixteens, float const* factors, float divisor,
                                  Out* out) noexcept {
  __m256 const by = all(divisor);
  for (; sixteens >= 4; sixteens -= 4) {
#pragma GCC unroll 2
    for (int i = 0; i < 4; i += 2) {
      __m256i patterns[2];
      decode_e2m1(codes + i * 8, patterns);
#pragma GCC unroll 2
      for (int j = i; j < i + 2; ++j) {
        __m256 const factor = _mm256_broadcast_ss(factors + j * 16 / BlockSize);
        scale_sixteen<Divides, Streams>(patterns[j - i], factor, by, out + j * 16);
      }
    }
    codes += 32, factors += 64 / BlockSize, out += 64;
  }
  for (int i = 0; i < sixteens; ++i) {
    __m256i patterns[2];
    uint8_t last[16]{};
    std::memcpy(last, codes + i * 8, 8);
    decode_e2m1(last, patterns);
    scale_sixteen<Divides, Streams>(patterns[0], _mm256_broadcast_ss(factors + i * 16 / BlockSize), by, out + i * 16);
  }
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
