// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Eight floats or ints a register. Everything that uses an intrinsic lies between FP4_AVX2_BEGIN and FP4_AVX2_END, and
/// is entered from outside through functions that are not inlined. Floating-point arithmetic is written with operators:
/// the bodies of the intrinsics lie in a header that -ffast-math reaches.

#include "lanes.hpp"

#if FP4_HAS_AVX2_PATH

#include <immintrin.h>

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

FP4_INLINE __m256 as_floats(__m256i v) noexcept { return _mm256_castsi256_ps(v); }
FP4_INLINE __m256i as_ints(__m256 v) noexcept { return _mm256_castps_si256(v); }
FP4_INLINE __m256i all(uint32_t bits) noexcept { return _mm256_set1_epi32(static_cast<int>(bits)); }
FP4_INLINE __m256 all(float x) noexcept { return _mm256_set1_ps(x); }

FP4_INLINE __m256i load_ints(void const* from) noexcept {
  return _mm256_loadu_si256(static_cast<__m256i const*>(from));
}
FP4_INLINE void store_ints(void* to, __m256i v) noexcept { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }

/// a * b + c, rounded once. The builtin instead of the intrinsic, whose body -ffast-math reaches: the sign of a zero
/// sum matters.
FP4_INLINE __m256 fused(__m256 a, __m256 b, __m256 c) noexcept { return __builtin_ia32_vfmaddps256(a, b, c); }

/// |v| as ordered bits.
FP4_INLINE __m256i magnitude(__m256 v) noexcept { return _mm256_and_si256(as_ints(v), all(magnitude_mask)); }

/// All bits set where |v| is NaN. (A comparison of floats is not safe from -ffast-math.)
FP4_INLINE __m256i is_nan(__m256i magnitude_bits) noexcept {
  return _mm256_cmpgt_epi32(magnitude_bits, all(infinity_bits));
}

/// Eight values as floats.
template <class In>
FP4_INLINE __m256 load_eight(In const* x) noexcept {
  if constexpr (std_types::is_same<In, float>::value) {
    return _mm256_loadu_ps(x);
  } else {
    __m128i const halves = _mm_loadu_si128(reinterpret_cast<__m128i const*>(x));
    if constexpr (std_types::is_same<In, bfloat16>::value) {
      return as_floats(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
    } else {
      return _mm256_cvtph_ps(halves);
    }
  }
}

/// z rounded to bfloat16 values. NaN stays NaN where `KeepsNan`, else it must not occur.
template <bool KeepsNan>
FP4_INLINE __m256 round_to_bfloat16(__m256 z) noexcept {
  __m256i const bits = as_ints(z);
  __m256i const odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), all(1u));
  __m256i const sum = _mm256_add_epi32(_mm256_add_epi32(bits, all(0x7FFFu)), odd);
  __m256i const rounded = _mm256_and_si256(sum, all(0xFFFF0000u));
  if constexpr (KeepsNan) {
    __m256i const quiet = _mm256_and_si256(_mm256_or_si256(bits, all(0x00400000u)), all(0xFFFF0000u));
    return as_floats(_mm256_blendv_epi8(rounded, quiet, is_nan(magnitude(z))));
  }
  return as_floats(rounded);
}

/// Asks for the cache lines of Bytes, a multiple of 64, that lie `distance` bytes ahead of x. Addresses past the end of
/// memory are harmless.
template <int Bytes>
FP4_INLINE void prefetch(void const* x, int distance) noexcept {
  size_t const at = reinterpret_cast<size_t>(x) + static_cast<size_t>(distance);
#pragma GCC unroll 4
  for (size_t line = 0; line < Bytes; line += 64) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address only, which may lie past the end
    _mm_prefetch(reinterpret_cast<char const*>(at + line), _MM_HINT_T0);
  }
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
