// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_pack.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// The signed constants of a transform, eight elements a register.
template <int N>
struct signed_constants {
  __m256 v[N / 8];

  FP4_INLINE explicit signed_constants(hadamard<N> const& how) noexcept {
    __m256i const to_sign_bit = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
    for (int r = 0; r < N / 8; ++r) {
      __m256i const bits = _mm256_sllv_epi32(all(how.signs[r / 4] >> (r % 4 * 8)), to_sign_bit);
      __m256i const sign = _mm256_and_si256(bits, all(0x80000000u));
      v[r] = as_floats(_mm256_xor_si256(sign, as_ints(all(fp4::detail::hadamard_scale(N)))));
    }
  }
};

/// Butterflies of stages 1, 2 and 4 inside a register. fma(v, 1, w) is a sum and fma(v, -1, w) a difference, rounded
/// once.
FP4_INLINE __m256 butterflies_inside(__m256 v) noexcept {
  __m256 const stage_1 = _mm256_setr_ps(1, -1, 1, -1, 1, -1, 1, -1);
  __m256 const stage_2 = _mm256_setr_ps(1, 1, -1, -1, 1, 1, -1, -1);
  __m256 const stage_4 = _mm256_setr_ps(1, 1, 1, 1, -1, -1, -1, -1);
  v = fused(v, stage_1, _mm256_permute_ps(v, 0xB1));
  v = fused(v, stage_2, _mm256_permute_ps(v, 0x4E));
  return fused(v, stage_4, _mm256_permute2f128_ps(v, v, 0x01));
}

/// Butterflies between registers that lie Distance apart.
template <int Distance, int Registers>
FP4_INLINE void butterflies_at(__m256 (&v)[Registers]) noexcept {
#pragma GCC unroll 4
  for (int k = 0; k < Registers / 2; ++k) {
    int const i = k / Distance * 2 * Distance + k % Distance, j = i + Distance;
    __m256 const a = v[i], b = v[j];
    v[i] = a + b, v[j] = a - b;
  }
}

/// The stages that follow butterflies_inside, between 2, 4 or 8 registers.
template <int Registers>
FP4_INLINE void butterflies_between(__m256 (&v)[Registers]) noexcept {
  butterflies_at<1>(v);
  if constexpr (Registers > 2) { butterflies_at<2>(v); }
  if constexpr (Registers > 4) { butterflies_at<4>(v); }
}

template <bool ToBfloat16>
FP4_INLINE void store_transformed(float* out, __m256 v) noexcept {
  if constexpr (ToBfloat16) { v = round_to_bfloat16<true>(v); }
  _mm256_storeu_ps(out, v);
}

/// One group of N values. Up to eight registers are transformed at once; larger groups take a second pass over `out`.
template <int N, bool ToBfloat16, class In>
FP4_INLINE void transform_group(signed_constants<N> const& constants, In const* x, float* out) noexcept {
  constexpr int registers = N / 8, first = registers <= 8 ? registers : 4, second = registers / first;
  for (int g = 0; g < registers; g += first) {
    __m256 v[first];
#pragma GCC unroll 8
    for (int r = 0; r < first; ++r) { v[r] = butterflies_inside(load_eight(x + (g + r) * 8) * constants.v[g + r]); }
    butterflies_between(v);
#pragma GCC unroll 8
    for (int r = 0; r < first; ++r) { store_transformed<ToBfloat16 && second == 1>(out + (g + r) * 8, v[r]); }
  }
  if constexpr (second > 1) {
    for (int g = 0; g < first; ++g) {
      __m256 v[second];
#pragma GCC unroll 8
      for (int r = 0; r < second; ++r) { v[r] = _mm256_loadu_ps(out + (g + r * first) * 8); }
      butterflies_between(v);
#pragma GCC unroll 8
      for (int r = 0; r < second; ++r) { store_transformed<ToBfloat16>(out + (g + r * first) * 8, v[r]); }
    }
  }
}

template <int N, bool ToBfloat16, class In>
FP4_INLINE void transform_groups(signed_constants<N> const& constants, In const* x, int count, float* out) noexcept {
  constexpr int ahead = tile_elements * static_cast<int>(sizeof(In));
  for (; count >= 64 && N < 64; count -= 64, x += 64, out += 64) {
    prefetch<64 * sizeof(In)>(x, ahead);
#pragma GCC unroll 4
    for (int i = 0; i < 64; i += N) { transform_group<N, ToBfloat16>(constants, x + i, out + i); }
  }
  for (; count > 0; count -= N, x += N, out += N) {
    for (int i = 0; i + 64 <= N; i += 64) { prefetch<64 * sizeof(In)>(x + i, ahead); }
    transform_group<N, ToBfloat16>(constants, x, out);
  }
}

/// scalar_backend::transform.
template <int N, class In>
FP4_NOINLINE void transform(hadamard<N> const& how, In const* x, int count, float* out) noexcept {
  signed_constants<N> const constants(how);
  if (how.rounds_to_bfloat16) {
    transform_groups<N, true>(constants, x, count, out);
  } else {
    transform_groups<N, false>(constants, x, count, out);
  }
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
