// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_registers.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

FP4_INLINE __m128i load_half(void const* from) noexcept { return _mm_loadu_si128(static_cast<__m128i const*>(from)); }

/// Four columns of eight rows of values of 4 bytes become rows of eight.
template <class In>
FP4_INLINE void transpose_four(In const* x, int64_t stride, In* out, int64_t out_stride) noexcept {
  __m256i v[4];  // v[i]: row i, and row i + 4 in the upper half
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    __m256i const lower = _mm256_castsi128_si256(load_half(x + i * stride));
    v[i] = _mm256_inserti128_si256(lower, load_half(x + (i + 4) * stride), 1);
  }
  __m256i const ab_low = _mm256_unpacklo_epi32(v[0], v[1]), ab_high = _mm256_unpackhi_epi32(v[0], v[1]);
  __m256i const cd_low = _mm256_unpacklo_epi32(v[2], v[3]), cd_high = _mm256_unpackhi_epi32(v[2], v[3]);
  store_ints(out, _mm256_unpacklo_epi64(ab_low, cd_low));
  store_ints(out + out_stride, _mm256_unpackhi_epi64(ab_low, cd_low));
  store_ints(out + 2 * out_stride, _mm256_unpacklo_epi64(ab_high, cd_high));
  store_ints(out + 3 * out_stride, _mm256_unpackhi_epi64(ab_high, cd_high));
}

/// Eight columns of eight rows.
template <class In>
FP4_INLINE void transpose_eight(In const* x, int64_t stride, In* out, int64_t out_stride) noexcept {
  if constexpr (sizeof(In) == 4) {
    transpose_four(x, stride, out, out_stride);
    transpose_four(x + 4, stride, out + 4 * out_stride, out_stride);
  } else {
    __m256i pair[4];  // rows i and i + 4 by words: 0 and 1 of the lower half are a0 e0, ...
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      __m128i const upper_row = load_half(x + i * stride), lower_row = load_half(x + (i + 4) * stride);
      __m256i const low = _mm256_castsi128_si256(_mm_unpacklo_epi16(upper_row, lower_row));
      pair[i] = _mm256_inserti128_si256(low, _mm_unpackhi_epi16(upper_row, lower_row), 1);
    }
    __m256i const even[2] = {_mm256_unpacklo_epi16(pair[0], pair[2]), _mm256_unpackhi_epi16(pair[0], pair[2])};
    __m256i const odd[2] = {_mm256_unpacklo_epi16(pair[1], pair[3]), _mm256_unpackhi_epi16(pair[1], pair[3])};
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      __m256i const first = _mm256_unpacklo_epi16(even[i], odd[i]), second = _mm256_unpackhi_epi16(even[i], odd[i]);
      auto const store_half = [&](int column, __m128i v) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + column * out_stride), v);
      };
      store_half(2 * i, _mm256_castsi256_si128(first));
      store_half(2 * i + 1, _mm256_castsi256_si128(second));
      store_half(2 * i + 4, _mm256_extracti128_si256(first, 1));
      store_half(2 * i + 5, _mm256_extracti128_si256(second, 1));
    }
  }
}

/// scalar_backend::transpose.
template <class In>
FP4_NOINLINE void transpose(In const* x, int64_t stride, int rows, int cols, In* out, int64_t out_stride) noexcept {
  int const whole_rows = rows / 8 * 8, whole_cols = cols / 8 * 8;
  for (int r = 0; r < whole_rows; r += 8) {
    for (int i = 8; i < 16; ++i) { prefetch<128>(x + (r + i) * stride, 0); }
    for (int c = 0; c < whole_cols; c += 8) {
      transpose_eight(x + r * stride + c, stride, out + c * out_stride + r, out_stride);
    }
  }
  scalar_backend::transpose(x + whole_cols, stride, whole_rows, cols - whole_cols, out + whole_cols * out_stride,
                            out_stride);
  scalar_backend::transpose(x + whole_rows * stride, stride, rows - whole_rows, cols, out + whole_rows, out_stride);
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
