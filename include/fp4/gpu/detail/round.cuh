// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Eight scaled numbers -> a word of eight e2m1 codes, the first in the lowest nibble: by the instruction where the
/// target has it, else in software. Both give the bytes of rounding/rounding.hpp.

#include "../../rounding/rounding.hpp"
#include "ptx.cuh"

namespace fp4::gpu::detail {

/// True where the target rounds to e2m1 by an instruction. toward_zero is stochastic rounding with bits of 0.
template <class Rounding>
__device__ constexpr bool rounds_natively() {
  return std_types::is_same<Rounding, nearest_even>::value ? bool(FP4_DEVICE_E2M1) : bool(FP4_DEVICE_STOCHASTIC_E2M1);
}

/// Eight codes by the instruction.
template <class Rounding>
__device__ __forceinline__ uint32_t round_natively(float const (&z)[8], uint32_t bits0, uint32_t bits1) {
  if constexpr (std_types::is_same<Rounding, nearest_even>::value) {
#if FP4_DEVICE_E2M1
    return ptx::e2m1_x8(z);
#endif
  } else {
#if FP4_DEVICE_STOCHASTIC_E2M1
    return ptx::e2m1_x8_stochastic(z, bits0, bits1);
#endif
  }
  return 0;
}

/// One code in software, any number and NaN.
__device__ __forceinline__ uint32_t round_carefully(float z, nearest_even, uint32_t) {
  float const y = ptx::max(ptx::min(z, 6.0f), -6.0f);  // NaN becomes 6
  float const a = ptx::abs(y);
  // 2^22 times the power of two of a (at least 1), and twice its exponent in the low bits: the sum leaves the code
  // there.
  uint32_t const exponent = __float_as_uint(ptx::max(a, 1.0f)) >> 23;
  uint32_t const magic = exponent * 0x00800002u + (0x0B000000u - 254u);
  return (__float_as_uint(ptx::add(a, __uint_as_float(magic))) & 7u) | (__float_as_uint(y) >> 28 & 8u);
}
__device__ __forceinline__ uint32_t round_carefully(float z, stochastic, uint32_t random16) {
  return round_stochastic(z, random16).bits;
}
__device__ __forceinline__ uint32_t round_carefully(float z, toward_zero, uint32_t) {
  return e2m1::from_float_toward_zero(z).bits;
}

/// Eight codes in software, any numbers and NaN.
template <class Rounding>
__device__ __forceinline__ uint32_t round_carefully(float const (&z)[8], Rounding how, uint32_t bits0, uint32_t bits1) {
  uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    word |= round_carefully(z[i], how, element_bits(i < 4 ? bits0 : bits1, i % 4)) << 4 * i;
  }
  return word;
}

// --- In software, quickly ------------------------------------------------------------------------------------
//
// Numbers come multiplied by `quick_scale`, so that the grid 0, .5, 1, ... 6 lies where a converter of the target packs
// it: e4m3 codes whose bits 2 to 4 are those of e2m1, or halves whose bits 9 to 11 are. Zeros lose their signs on the
// way: all signs are put back at the end.

/// 2^-6 where the target converts to e4m3, else 2^-14.
__device__ constexpr float quick_scale() {
#if FP4_DEVICE_E4M3
  return 0x1p-6f;
#else
  return 0x1p-14f;
#endif
}

/// Below this times quick_scale() nothing has to be clamped for rounding to nearest.
inline constexpr float nearest_bound = 6.9f;

/// |z| < 7, no NaN: the nearest number of the grid.
__device__ __forceinline__ float round_quickly(float z, nearest_even, uint32_t) {
  float const m = ptx::at_least_in_magnitude(z, 1.5f * quick_scale());
  float const r = ptx::fma(m, -0x1p22f, z);  // rounded to the step of z's binade
  return ptx::fma(m, 0x1p22f, r);            // exact
}
/// No NaN: |z| plus a random part of its step, cut to the grid. `factor` is the bits of 64 * (1 + random16 * 2^-23).
__device__ __forceinline__ float round_quickly(float z, stochastic, uint32_t factor) {
  float const y = ptx::at_most_in_magnitude(z, 6.0f * quick_scale());
  float const power = ptx::at_least_in_magnitude(__uint_as_float(__float_as_uint(y) & 0xFF800000u), quick_scale());
  float const t = ptx::fma_rz(__uint_as_float(factor), power, y);
  float const r = ptx::fma_rz(power, 0x1p22f - 64.0f, t);
  return ptx::fma(power, -0x1p22f, r);
}

inline constexpr uint32_t random_top = 0x42800000u;  // 64
/// The bits of 64 * (1 + r * 2^-23), r the 16 random bits of element i: see element_bits. `top` is `random_top`, from
/// where the assembler cannot see it, or it spends an instruction more.
template <class Rounding>
__device__ __forceinline__ uint32_t random_factor(int i, uint32_t word, uint32_t top) {
  if constexpr (is_stochastic_v<Rounding>) {
    uint32_t const mirrored = __brev(word);
    switch (i) {
      case 0: return __byte_perm(word, top, 0x7620);
      case 1: return __byte_perm(mirrored, top, 0x7631);
      case 2: return __byte_perm(word, top, 0x7631);
      default: return __byte_perm(mirrored, top, 0x7620);
    }
  } else {
    return random_top;
  }
}

/// The signs of eight numbers, each in the top bit of a byte: `even` holds elements 0, 2, 4, 6.
struct sign_bytes {
  uint32_t even, odd;
};
__device__ __forceinline__ sign_bytes signs_of(float const (&z)[8]) {
  auto const top_bytes = [&](int a, int b) {
    return __byte_perm(__float_as_uint(z[a]), __float_as_uint(z[b]), 0x0073);
  };
  return {__byte_perm(top_bytes(0, 2), top_bytes(4, 6), 0x5410), __byte_perm(top_bytes(1, 3), top_bytes(5, 7), 0x5410)};
}
/// Of four words of two halves.
__device__ __forceinline__ sign_bytes signs_of(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  uint32_t const ab = __byte_perm(a, b, 0x7351), cd = __byte_perm(c, d, 0x7351);  // even, even, odd, odd
  return {__byte_perm(ab, cd, 0x5410), __byte_perm(ab, cd, 0x7632)};
}

/// Grid numbers times quick_scale() and signs -> codes.
__device__ __forceinline__ uint32_t pack_quickly(float const (&q)[8], sign_bytes signs) {
#if FP4_DEVICE_E4M3
  uint32_t const low = ptx::e4m3_x4(q[0], q[2], q[4], q[6]) >> 2, high = ptx::e4m3_x4(q[1], q[3], q[5], q[7]) << 2;
#else
  auto const top_bytes = [&](int i) {
    return __byte_perm(ptx::pack(float16{}, q[i], q[i + 2]), ptx::pack(float16{}, q[i + 4], q[i + 6]), 0x7531);
  };
  uint32_t const low = top_bytes(0) >> 1, high = top_bytes(1) << 3;
#endif
  uint32_t const magnitudes = (low & 0x07070707u) | (high & 0xF8F8F8F8u);
  uint32_t const sign = (signs.odd & 0x80808080u) | (signs.even >> 4 & 0x7F7F7F7Fu);
  return (sign & 0x88888888u) | (magnitudes & 0x77777777u);
}

/// Eight codes of numbers times quick_scale(): |z| < 7 for rounding to nearest, no NaN for the others.
template <class Rounding>
__device__ __forceinline__ uint32_t round_quickly(float const (&z)[8], sign_bytes signs, Rounding, uint32_t bits0,
                                                  uint32_t bits1, uint32_t top) {
  using drawn = std_types::conditional_t<std_types::is_same<Rounding, nearest_even>::value, nearest_even, stochastic>;
  float q[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    uint32_t const factor = random_factor<Rounding>(i % 4, i < 4 ? bits0 : bits1, top);
    if constexpr (std_types::is_same<drawn, nearest_even>::value) {
      q[i] = round_quickly(z[i], nearest_even{}, factor);
    } else {
      q[i] = round_quickly(z[i], stochastic(0), factor);
    }
  }
  return pack_quickly(q, signs);
}

}  // namespace fp4::gpu::detail
