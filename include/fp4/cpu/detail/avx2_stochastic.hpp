// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_nearest.hpp"
#include "avx2_philox.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// Unit * e2m1 code of each z: round_stochastic. With random16 = 0 it rounds toward zero. Unit is at most 4096.
///
/// Let a = min(|z|, 6) and E its power of two, at least 1. a / (E / 2) in units of 2^-16, plus the random bits, carries
/// into bit 16 where z is rounded up; adding 2 * log2(E) and the sign there makes bits 16 to 19 the code.
template <int Unit, number_range Range>
FP4_INLINE __m256i round_stochastic(__m256 z, __m256i random16) noexcept {
  __m256i const size = magnitude(z);
  __m256i const a = _mm256_min_epi32(size, all(0x40C00000u));  // NaN becomes 6
  __m256i const exponent = _mm256_max_epi32(_mm256_and_si256(a, all(infinity_bits)), all(0x3F800000u));
  __m256 const to_steps = as_floats(_mm256_sub_epi32(all((2 * 127u + 17u) << 23), exponent));
  __m256i const steps = _mm256_cvttps_epi32(as_floats(a) * to_steps);
  __m256 sign = z;
  if constexpr (Range == number_range::any) { sign = as_floats(_mm256_andnot_si256(is_nan(size), as_ints(z))); }
  // The exponent field counts from 127: 254 half binades too many.
  __m256i const signs = as_ints(_mm256_blendv_ps(as_floats(all(static_cast<uint32_t>(-254) << 16)),
                                                 as_floats(all(static_cast<uint32_t>(8 - 254) << 16)), sign));
  __m256i const above = _mm256_add_epi32(_mm256_srli_epi32(exponent, 6), signs);
  __m256i const sum = _mm256_add_epi32(_mm256_add_epi32(steps, random16), above);
  return _mm256_madd_epi16(sum, all(static_cast<uint32_t>(Unit) << 16));
}

/// Sixteen values under one factor to codes rounded by random bits.
template <element_rule Rule, number_range Range>
struct stochastic_rounder {
  __m256 factor;
  __m256 first_divisor;
  __m256i random[2];

  template <int Unit, int Register>
  FP4_INLINE __m256i codes(__m256 x) const noexcept {
    return round_stochastic<Unit, Range>(scaled_eight<Rule, Range>(x, factor, first_divisor), random[Register]);
  }
};

/// nearest_codes, but stochastic, or toward zero. All positions share their upper 32 bits.
template <int BlockSize, element_rule Rule, number_range Range, bool Stochastic, class In>
FP4_NOINLINE void stochastic_codes(float first_divisor, random_source const& source, In const* x, int sixteens,
                                   float const* factors, int read_ahead, uint8_t* codes) noexcept {
  using rounder = stochastic_rounder<Rule, Range>;
  __m256 const divisor = all(first_divisor);
  philox_four const philox(source.seed, source.stream, source.position);
  __m256i position = philox_four::positions(source.position);
  random_lanes random{};
  for (; sixteens >= 4; sixteens -= 4) {
    if constexpr (Stochastic) { spread_bits<In>(philox, position, random); }
    prefetch<64 * sizeof(In)>(x, read_ahead);
    __m256i bytes[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      rounder const round{
          _mm256_broadcast_ss(factors + j * 16 / BlockSize), divisor, {random.first[j], random.second[j]}};
      bytes[j] = bytes_of_sixteen(x + j * 16, round);
    }
    store_ints(codes, pack_bytes<In>(bytes));
    x += 64, factors += 64 / BlockSize, codes += 32;
  }
  if constexpr (Stochastic) {
    if (sixteens > 0) { spread_bits<In>(philox, position, random); }
  }
  for (int j = 0; j < sixteens; ++j) {
    rounder const round{
        _mm256_broadcast_ss(factors + j * 16 / BlockSize), divisor, {random.first[j], random.second[j]}};
    store_eight_bytes<In>(codes + j * 8, bytes_of_sixteen(x + j * 16, round));
  }
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
