// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_registers.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

// Magnitudes are compared as integers: the order is the same, and NaN wins, so that it is found.

/// Register r of the bits of 32 bytes of magnitudes.
template <class In>
FP4_INLINE __m256i magnitudes(In const* x, int r) noexcept {
  __m256i const v = load_ints(reinterpret_cast<char const*>(x) + 32 * r);
  return _mm256_and_si256(v, sizeof(In) == 4 ? all(magnitude_mask) : _mm256_set1_epi16(0x7FFF));
}

template <class In>
FP4_INLINE __m256i larger(__m256i a, __m256i b) noexcept {
  return sizeof(In) == 4 ? _mm256_max_epi32(a, b) : _mm256_max_epi16(a, b);
}

/// The largest magnitudes of one block, spread over a register.
template <int BlockSize, class In>
FP4_INLINE __m256i block_maxima(In const* x) noexcept {
  constexpr int registers = BlockSize * static_cast<int>(sizeof(In)) / 32;
  __m256i largest = magnitudes(x, 0);
#pragma GCC unroll 4
  for (int r = 1; r < registers; ++r) { largest = larger<In>(largest, magnitudes(x, r)); }
  return largest;
}

/// [a b] in each half, 8 bytes each, from registers that are maxima of a and of b.
template <class In>
FP4_INLINE __m256i fold_two(__m256i a, __m256i b) noexcept {
  __m256i const apart = _mm256_blend_epi32(a, b, 0xCC);
  __m256i const swapped = _mm256_castpd_si256(_mm256_shuffle_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), 0x5));
  return larger<In>(apart, swapped);
}

/// [a b c d] in each half, 4 bytes each, from two results of fold_two.
template <class In>
FP4_INLINE __m256i fold_four(__m256i ab, __m256i cd) noexcept {
  __m256 const low = _mm256_shuffle_ps(as_floats(ab), as_floats(cd), 0x88);
  __m256 const high = _mm256_shuffle_ps(as_floats(ab), as_floats(cd), 0xDD);
  return larger<In>(as_ints(low), as_ints(high));
}

/// [a b c d e f g h], 4 bytes each, from two results of fold_four.
template <class In>
FP4_INLINE __m256i fold_eight(__m256i abcd, __m256i efgh) noexcept {
  __m256i const apart = _mm256_blend_epi32(abcd, efgh, 0xF0);
  __m256i const swapped = _mm256_permute2x128_si256(abcd, efgh, 0x21);
  return larger<In>(apart, swapped);
}

/// One magnitude a lane from the maxima of its 4 bytes, as fp32 bits.
template <class In>
FP4_INLINE __m256i widen_maxima(__m256i v) noexcept {
  if constexpr (std_types::is_same<In, bfloat16>::value) {
    return _mm256_and_si256(_mm256_max_epi16(v, _mm256_slli_epi32(v, 16)), all(0xFFFF0000u));
  } else if constexpr (std_types::is_same<In, float16>::value) {
    __m256i const low = _mm256_and_si256(_mm256_max_epi16(v, _mm256_srli_epi32(v, 16)), all(0xFFFFu));
    __m256i const packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, low), 0x08);
    return as_ints(_mm256_cvtph_ps(_mm256_castsi256_si128(packed)));
  } else {
    return v;
  }
}

template <int BlockSize, class In>
FP4_INLINE __m256i amax_of_eight_blocks(In const* x) noexcept {
  __m256i m[8];
#pragma GCC unroll 8
  for (int b = 0; b < 8; ++b) { m[b] = block_maxima<BlockSize>(x + b * BlockSize); }
  __m256i const abcd = fold_four<In>(fold_two<In>(m[0], m[1]), fold_two<In>(m[2], m[3]));
  __m256i const efgh = fold_four<In>(fold_two<In>(m[4], m[5]), fold_two<In>(m[6], m[7]));
  return widen_maxima<In>(fold_eight<In>(abcd, efgh));
}

/// The largest lane of v, maxima of In, as fp32 bits.
template <class In>
FP4_INLINE uint32_t largest_lane(__m256i v) noexcept {
  v = fold_two<In>(v, v);
  v = fold_four<In>(v, v);
  v = widen_maxima<In>(fold_eight<In>(v, v));
  return static_cast<uint32_t>(_mm256_cvtsi256_si32(v));
}

/// Largest magnitude of each block, NaN ignored; true where a value is NaN. Writes zeros after amax[blocks - 1] to a
/// multiple of 8.
template <int BlockSize, class In>
FP4_NOINLINE bool block_amax(In const* x, int blocks, int read_ahead, float* amax) noexcept {
  __m256i largest = _mm256_setzero_si256();
  int b = 0;
  for (; b + 8 <= blocks; b += 8) {
    if (read_ahead != 0) {
      for (int i = 0; i < 8 * BlockSize; i += 64) { prefetch<32 * sizeof(In)>(x + b * BlockSize + i, read_ahead); }
    }
    __m256i const found = amax_of_eight_blocks<BlockSize>(x + b * BlockSize);
    largest = _mm256_max_epi32(largest, found);
    store_ints(amax + b, found);
  }
  if (b < blocks) {
    alignas(32) uint32_t rest[8]{};
    for (int i = b; i < blocks; ++i) { rest[i - b] = largest_lane<In>(block_maxima<BlockSize>(x + i * BlockSize)); }
    __m256i const found = load_ints(rest);
    largest = _mm256_max_epi32(largest, found);
    store_ints(amax + b, found);
  }
  if (_mm256_testz_si256(is_nan(largest), is_nan(largest)) != 0) { return false; }
  for (b = 0; b < blocks; ++b) {
    if (float_bits(amax[b]) > infinity_bits) { amax[b] = scalar_backend::amax(x + b * BlockSize, BlockSize); }
  }
  return true;
}

/// portable_backend::amax.
template <class In>
FP4_NOINLINE float amax(In const* x, int64_t count) noexcept {
  constexpr int step = 32 / static_cast<int>(sizeof(In));
  __m256i largest[4]{};
  int64_t i = 0;
  for (; i + 4 * step <= count; i += 4 * step) {
    prefetch<128>(x + i, 6144);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) { largest[r] = larger<In>(largest[r], magnitudes(x + i, r)); }
  }
  for (; i + step <= count; i += step) { largest[0] = larger<In>(largest[0], magnitudes(x + i, 0)); }
  largest[0] = larger<In>(larger<In>(largest[0], largest[1]), larger<In>(largest[2], largest[3]));
  uint32_t found = largest_lane<In>(largest[0]);
  for (; i < count; ++i) {
    uint32_t const a = float_bits(as_float(x[i])) & magnitude_mask;
    found = a > found ? a : found;
  }
  if (found <= infinity_bits) { return bits_float(found); }
  // A NaN won: it is left out one by one.
  found = 0;
  for (i = 0; i < count; ++i) {
    uint32_t const a = float_bits(as_float(x[i])) & magnitude_mask;
    found = a <= infinity_bits && a > found ? a : found;
  }
  return bits_float(found);
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
