// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Values and bytes in NEON registers. Arithmetic on sums is written so that no exact product is needed:
/// clang's -ffp-contract=fast would fuse an inexact one into the sum, since it also looks into intrinsics.

#include "portable.hpp"

#if FP4_HAS_NEON_PATH

#include <arm_neon.h>

FP4_EXACT_BEGIN
namespace fp4::cpu::detail::neon {

inline constexpr uint32_t sign_mask = 0x80000000u;

FP4_INLINE uint32x4_t bits_of(float32x4_t v) noexcept { return vreinterpretq_u32_f32(v); }
FP4_INLINE float32x4_t floats_of(uint32x4_t bits) noexcept { return vreinterpretq_f32_u32(bits); }

/// Sixteen values in memory order.
struct sixteen_floats {
  float32x4_t part[4];
};

/// Eight 16-bit patterns of In as floats: exact.
template <class In>
FP4_INLINE void widen(float32x4_t& low, float32x4_t& high, uint16x8_t bits) noexcept {
  if constexpr (std_types::is_same<In, bfloat16>::value) {
    low = vreinterpretq_f32_u16(vzip1q_u16(vdupq_n_u16(0), bits));
    high = vreinterpretq_f32_u16(vzip2q_u16(vdupq_n_u16(0), bits));
  } else {
    float16x8_t const halves = vreinterpretq_f16_u16(bits);
    low = vcvt_f32_f16(vget_low_f16(halves));
    high = vcvt_high_f32_f16(halves);
  }
}

template <class In>
FP4_INLINE void load_eight(float32x4_t& low, float32x4_t& high, In const* x) noexcept {
  if constexpr (std_types::is_same<In, float>::value) {
    load(low, x);
    load(high, x + 4);
  } else {
    uint16x8_t bits;
    load(bits, x);
    widen<In>(low, high, bits);
  }
}

template <class In>
FP4_INLINE void load_sixteen(sixteen_floats& values, In const* x) noexcept {
  load_eight(values.part[0], values.part[1], x);
  load_eight(values.part[2], values.part[3], x + 8);
}

/// fp32 patterns of numbers, not NaN, rounded to bfloat16: nearest, ties to even, in the high half of each
/// lane; the low half is rubbish.
FP4_INLINE uint32x4_t round_to_bfloat16(uint32x4_t bits) noexcept {
  uint32x4_t const odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  return vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7FFF)), odd);
}

template <class T>
FP4_INLINE void store_patterns(T* to, uint16x8_t bits) noexcept {
  static_assert(sizeof(T) == 2, "T is its 16-bit pattern");
  store(static_cast<void*>(to), bits);
}

/// Stores eight numbers, not NaN, as T, rounded to nearest even.
template <class T>
FP4_INLINE void store_eight(T* to, float32x4_t low, float32x4_t high) noexcept {
  if constexpr (std_types::is_same<T, float>::value) {
    store(to, low);
    store(to + 4, high);
  } else if constexpr (std_types::is_same<T, bfloat16>::value) {
    store_patterns(to, vuzp2q_u16(vreinterpretq_u16_u32(round_to_bfloat16(bits_of(low))),
                                  vreinterpretq_u16_u32(round_to_bfloat16(bits_of(high)))));
  } else {
    store_patterns(to, vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(low), high)));
  }
}

/// The low bytes of sixteen lanes.
FP4_INLINE uint8x16_t low_bytes(uint32x4_t const (&lane)[4]) noexcept {
  uint16x8_t const first = vuzp1q_u16(vreinterpretq_u16_u32(lane[0]), vreinterpretq_u16_u32(lane[1]));
  uint16x8_t const second = vuzp1q_u16(vreinterpretq_u16_u32(lane[2]), vreinterpretq_u16_u32(lane[3]));
  return vuzp1q_u8(vreinterpretq_u8_u16(first), vreinterpretq_u8_u16(second));
}

/// The low bytes of the high halves of sixteen lanes.
FP4_INLINE uint8x16_t third_bytes(uint32x4_t const (&lane)[4]) noexcept {
  uint16x8_t const first = vuzp2q_u16(vreinterpretq_u16_u32(lane[0]), vreinterpretq_u16_u32(lane[1]));
  uint16x8_t const second = vuzp2q_u16(vreinterpretq_u16_u32(lane[2]), vreinterpretq_u16_u32(lane[3]));
  return vuzp1q_u8(vreinterpretq_u8_u16(first), vreinterpretq_u8_u16(second));
}

/// 1 where a lane is negative or -0, else 0.
FP4_INLINE uint8x16_t sign_bits(sixteen_floats const& z) noexcept {
  uint16x8_t const first = vuzp2q_u16(vreinterpretq_u16_f32(z.part[0]), vreinterpretq_u16_f32(z.part[1]));
  uint16x8_t const second = vuzp2q_u16(vreinterpretq_u16_f32(z.part[2]), vreinterpretq_u16_f32(z.part[3]));
  return vshrq_n_u8(vuzp2q_u8(vreinterpretq_u8_u16(first), vreinterpretq_u8_u16(second)), 7);
}

/// Joins each pair of 4-bit codes, held one a byte, in the low byte of its 16 bits.
FP4_INLINE uint16x8_t join_nibbles(uint8x16_t codes) noexcept {
  uint16x8_t const pairs = vreinterpretq_u16_u8(codes);
  return vsraq_n_u16(pairs, pairs, 4);
}

/// Sixteen 4-bit codes to eight bytes.
FP4_INLINE void store_nibbles(uint8_t* to, uint8x16_t codes) noexcept { store(to, vmovn_u16(join_nibbles(codes))); }

/// Thirty-two 4-bit codes to sixteen bytes.
FP4_INLINE void store_nibbles(uint8_t* to, uint8x16_t first, uint8x16_t second) noexcept {
  store(to, vuzp1q_u8(vreinterpretq_u8_u16(join_nibbles(first)), vreinterpretq_u8_u16(join_nibbles(second))));
}

}  // namespace fp4::cpu::detail::neon
FP4_EXACT_END

#endif
