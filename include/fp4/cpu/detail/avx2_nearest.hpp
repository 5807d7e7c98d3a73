// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_pack.hpp"
#include "avx2_scales.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// Unit * e2m1 code of each z, nearest even, for |z| < 7 and not NaN. Unit is a multiple of 64.
///
/// Let E be the power of two of |z|, at least 1; e2m1's step there is E / 2. fma(E, 2^22, |z|) rounds |z| to
/// a multiple of it and leaves the count n in the low bits; the code is n + 2 * log2(E). The sign needs no
/// work of its own: the multiplier takes z's, and rounding is symmetric. The weighted sum of the result's
/// halves, 64 * n + the exponent field (128 for a factor of two), is 64 * code + a constant, which even
/// offsets to n bring to 0, and to 64 * 8 for negative z.
template <int Unit>
FP4_INLINE __m256i round_nearest(__m256 z) noexcept {
  __m256i const exponent = _mm256_max_epi32(_mm256_and_si256(as_ints(z), all(infinity_bits)), all(0x3F800000u));
  __m256 const k = _mm256_blendv_ps(all(4194304.0f + 32619.0f), all(-4194304.0f - 111.0f), z);
  __m256 const shifted = fused(as_floats(exponent), k, z);
  return _mm256_madd_epi16(as_ints(shifted), all(static_cast<uint32_t>(Unit / 64 << 16 | Unit)));
}

/// z bounded to [-6, 6]; NaN becomes 6.
template <number_range Range>
FP4_INLINE __m256 bound_to_six(__m256 z) noexcept {
  if constexpr (Range == number_range::below_seven) {
    return z;
  } else if constexpr (Range == number_range::finite) {
    return _mm256_max_ps(_mm256_min_ps(z, all(6.0f)), all(-6.0f));
  } else {
    __m256i const a = magnitude(z);
    __m256i const sign = _mm256_andnot_si256(is_nan(a), _mm256_and_si256(as_ints(z), all(0x80000000u)));
    return as_floats(_mm256_or_si256(_mm256_min_epi32(a, all(0x40C00000u)), sign));
  }
}

/// The number that is rounded, from x and the block's factor.
template <element_rule Rule, number_range Range>
FP4_INLINE __m256 scaled_eight(__m256 x, __m256 factor, __m256 first_divisor) noexcept {
  if constexpr (Rule == element_rule::multiply) {
    return x * factor;
  } else if constexpr (Rule == element_rule::divide) {
    return x / factor;
  } else if constexpr (Rule == element_rule::divide_to_bfloat16) {
    return round_to_bfloat16<Range == number_range::any>(x / factor);
  } else {
    return (x / first_divisor) / factor;
  }
}

/// Sixteen values under one factor to nearest even codes.
template <element_rule Rule, number_range Range>
struct nearest_rounder {
  __m256 factor;
  __m256 first_divisor;

  template <int Unit, int /*Register*/>
  FP4_INLINE __m256i codes(__m256 x) const noexcept {
    return round_nearest<Unit>(bound_to_six<Range>(scaled_eight<Rule, Range>(x, factor, first_divisor)));
  }
};

/// e2m1 codes of `sixteens` times sixteen values, nearest even; factors[i * 16 / BlockSize] scales the i-th
/// sixteen.
template <int BlockSize, element_rule Rule, number_range Range, class In>
FP4_NOINLINE void nearest_codes(float first_divisor, In const* x, int sixteens, float const* factors, int read_ahead,
                                uint8_t* codes) noexcept {
  using rounder = nearest_rounder<Rule, Range>;
  __m256 const divisor = all(first_divisor);
  for (; sixteens >= 4; sixteens -= 4) {
    if constexpr (waits_for_memory<Rule, nearest_even, In>) {
      prefetch<32 * sizeof(In)>(x + 32, read_ahead);
    } else {
      prefetch<64 * sizeof(In)>(x, read_ahead);
    }
    __m256i bytes[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      rounder const round{_mm256_broadcast_ss(factors + j * 16 / BlockSize), divisor};
      bytes[j] = bytes_of_sixteen(x + j * 16, round);
    }
    store_ints(codes, pack_bytes<In>(bytes));
    x += 64, factors += 64 / BlockSize, codes += 32;
  }
  for (int j = 0; j < sixteens; ++j) {
    rounder const round{_mm256_broadcast_ss(factors + j * 16 / BlockSize), divisor};
    store_eight_bytes<In>(codes + j * 8, bytes_of_sixteen(x + j * 16, round));
  }
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
