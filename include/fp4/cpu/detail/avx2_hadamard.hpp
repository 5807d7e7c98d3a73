// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_registers.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// Butterflies of stages 1, 2 and 4 inside a register: v times +1 or -1, plus the partner, is a + b below and a - b
/// above, rounded once.
FP4_INLINE __m256 butterflies_inside(__m256 v) noexcept {
  __m256 const by_1 = _mm256_setr_ps(1, -1, 1, -1, 1, -1, 1, -1);
  __m256 const by_2 = _mm256_setr_ps(1, 1, -1, -1, 1, 1, -1, -1);
  __m256 const by_4 = _mm256_setr_ps(1, 1, 1, 1, -1, -1, -1, -1);
  v = fused(v, by_1, _mm256_permute_ps(v, 0xB1));
  v = fused(v, by_2, _mm256_permute_ps(v, 0x4E));
  return fused(v, by_4, _mm256_permute2f128_ps(v, v, 1));
}

/// Hadamard transform of `count` values, a multiple of N; multiplier[i] is the constant with the sign of element i.
template <int N, bool RoundsToBfloat16, class In>
FP4_NOINLINE void hadamard_groups(float const* multiplier, In const* x, int count, float* out) noexcept {
  constexpr int registers = N / 8;
  __m256 constants[registers];
  for (int i = 0; i < registers; ++i) { constants[i] = _mm256_loadu_ps(multiplier + 8 * i); }
  for (int first = 0; first < count; first += N) {
    __m256 r[registers];
    for (int i = 0; i < registers; ++i) { r[i] = butterflies_inside(load_eight(x + first + 8 * i) * constants[i]); }
    for (int h = 1; h < registers; h *= 2) {
      for (int i = 0; i < registers; i += 2 * h) {
        for (int j = i; j < i + h; ++j) {
          __m256 const a = r[j], b = r[j + h];
          r[j] = a + b;
          r[j + h] = a - b;
        }
      }
    }
    for (int i = 0; i < registers; ++i) {
      _mm256_storeu_ps(out + first + 8 * i, RoundsToBfloat16 ? round_to_bfloat16<true>(r[i]) : r[i]);
    }
  }
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
