// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "../../config.hpp"

#if FP4_TARGET_X86_64
#include <emmintrin.h>
#endif

/// \file
/// Four words at a time: moved, transposed, and stored to the caches or around them.

namespace fp4::cpu::detail {

/// Output past this many bytes would push everything else out of the caches: it is written around them.
inline constexpr int64_t streamed_copy_bytes = int64_t{16} << 20;

#if FP4_TARGET_X86_64

using four_words = __m128i;

FP4_INLINE four_words load_words(uint8_t const* from) noexcept {
  return _mm_loadu_si128(reinterpret_cast<__m128i const*>(from));
}
/// `Streams` asks for a store around the caches, to a multiple of 16 bytes.
template <bool Streams>
FP4_INLINE void store_words(uint8_t* to, four_words v) noexcept {
  if constexpr (Streams) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), v);
  } else {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v);
  }
}
/// Word j of v[i] becomes word i of v[j].
FP4_INLINE void transpose_words(four_words (&v)[4]) noexcept {
  __m128i const low_01 = _mm_unpacklo_epi32(v[0], v[1]), high_01 = _mm_unpackhi_epi32(v[0], v[1]);
  __m128i const low_23 = _mm_unpacklo_epi32(v[2], v[3]), high_23 = _mm_unpackhi_epi32(v[2], v[3]);
  v[0] = _mm_unpacklo_epi64(low_01, low_23), v[1] = _mm_unpackhi_epi64(low_01, low_23);
  v[2] = _mm_unpacklo_epi64(high_01, high_23), v[3] = _mm_unpackhi_epi64(high_01, high_23);
}
/// Makes what was streamed visible to other threads.
inline void end_word_streams() noexcept { _mm_sfence(); }
/// Asks for the cache line of an address, which need not be valid.
FP4_INLINE void prefetch(uint8_t const* from) noexcept {
  _mm_prefetch(reinterpret_cast<char const*>(from), _MM_HINT_T0);
}

#else

struct four_words {
  uint32_t word[4];
};

FP4_INLINE four_words load_words(uint8_t const* from) noexcept {
  four_words v;
  std::memcpy(&v, from, 16);
  return v;
}
template <bool Streams>
FP4_INLINE void store_words(uint8_t* to, four_words v) noexcept {
  std::memcpy(to, &v, 16);
}
FP4_INLINE void transpose_words(four_words (&v)[4]) noexcept {
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < i; ++j) {
      uint32_t const word = v[i].word[j];
      v[i].word[j] = v[j].word[i], v[j].word[i] = word;
    }
  }
}
inline void end_word_streams() noexcept {}
inline void prefetch(uint8_t const*) noexcept {}

#endif

/// Whether stores around the caches may begin here.
inline bool is_streamable(void const* to, int64_t stride) noexcept {
  return reinterpret_cast<size_t>(to) % 16 == 0 && stride % 16 == 0;
}

}  // namespace fp4::cpu::detail
