// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// From values to element codes, four lanes at a time.

#include "neon_values.hpp"

#if FP4_HAS_NEON_PATH

FP4_EXACT_BEGIN
namespace fp4::cpu::detail::neon {

/// The numbers that are rounded, but for the rule's own rounding.
template <element_rule Rule, class Tensor>
FP4_INLINE float32x4_t scaled(Tensor const& tensor, float32x4_t x, float32x4_t factor) noexcept {
  if constexpr (Rule == element_rule::multiply) {
    return x * factor;
  } else {
    if constexpr (Rule == element_rule::divide_twice) { x = x / vdupq_n_f32(tensor.first_divisor); }
    return x / factor;
  }
}

/// True where no number of a tile reaches 7 and none is NaN: then e2m1 codes, not drawn, saturate by
/// themselves.
template <class Tensor>
FP4_INLINE bool all_below_seven(Tensor const& tensor, int blocks, tile_scales const& scales) noexcept {
  if (scales.has_nan) { return false; }
  uint32x4_t largest = vdupq_n_u32(0);  // a NaN, of 0 times infinity, is larger than every number
  int b = 0;
  for (; b + 4 <= blocks; b += 4) {
    float32x4_t amax, factor;
    load(amax, scales.amax + b);
    load(factor, scales.factor + b);
    largest = vmaxq_u32(largest, bits_of(scaled<Tensor::elements>(tensor, amax, factor)));
  }
  for (; b < blocks; ++b) {
    float32x4_t const amax = vdupq_n_f32(scales.amax[b]), factor = vdupq_n_f32(scales.factor[b]);
    largest = vmaxq_u32(largest, bits_of(scaled<Tensor::elements>(tensor, amax, factor)));
  }
  constexpr float bound = Tensor::elements == element_rule::divide_to_bfloat16 ? 6.984375f : 7.0f;  // 7 on rounding
  return vmaxvq_u32(largest) < float_bits(bound);
}

/// z bounded by the largest element. NaN becomes +max_finite: FMINNM prefers the number to a quiet NaN, and z
/// is a product or a quotient, so never a signalling one.
template <class Element>
FP4_INLINE float32x4_t bounded(float32x4_t z) noexcept {
  return vmaxnmq_f32(vminnmq_f32(z, vdupq_n_f32(Element::max_finite)), vdupq_n_f32(-Element::max_finite));
}

template <class Element>
inline constexpr uint32_t min_normal_exponent_v = static_cast<uint32_t>(128 - Element::bias);

/// The power of two of |z|, but at least that of the smallest normal, as fp32 bits. Elements are spaced by
/// 2^-mantissa_bits of it around z.
template <class Element>
FP4_INLINE uint32x4_t binade(float32x4_t z) noexcept {
  int32x4_t const exponent = vandq_s32(vreinterpretq_s32_f32(z), vdupq_n_s32(static_cast<int32_t>(infinity_bits)));
  return vreinterpretq_u32_s32(vmaxq_s32(exponent, vdupq_n_s32(min_normal_exponent_v<Element> << 23)));
}

/// Nearest even, in the low byte of each lane: the whole code for elements of 4 bits, else the code without
/// its sign.
///
/// r = z + sign(z) * E * K, E the binade and K about 2^(23 - m), rounds once: the last mantissa bit of r is
/// the spacing of the elements. So the low mantissa bits of r count spacings, and its exponent counts binades
/// of 2^m codes:
///
///     |r|                   = [ 127 + e + 23 - m | ... count + c ]     c from what K exceeds 2^(23 - m) by
///     |r| + (|r| >> 23 - m) = [ ...              | ... count + (e << m) + constant ]
///
/// c is even, so that ties stay where they are, and makes the constant 0 modulo 256. For elements of 4 bits
/// the top four bits of r, the sign and 100 since the exponent is 149 to 151, are added as the code's sign
/// and a constant.
template <class Element>
FP4_INLINE uint32x4_t round_nearest(float32x4_t z) noexcept {
  constexpr int m = Element::mantissa_bits;
  constexpr uint32_t added = ((min_normal_exponent_v<Element> + 23 - m) << m) + (Element::width == 4 ? 4 : 0);
  constexpr uint32_t c = 256 - added % 256;
  static_assert(c % (1u << m) == 0 && c % 2 == 0, "K is a float, and c even");
  constexpr float k = static_cast<float>((1u << (23 - m)) + (c >> m));
  float32x4_t const signed_binade = vbslq_f32(vdupq_n_u32(sign_mask), z, floats_of(binade<Element>(z)));
  uint32x4_t r = bits_of(vfmaq_f32(z, signed_binade, vdupq_n_f32(k)));
  r = vsraq_n_u32(r, r, 23 - m);
  if constexpr (Element::width == 4) { r = vsraq_n_u32(r, r, 28); }
  return r;
}

/// |z| in spacings of its binade, times 2^FractionBits, toward zero. The product is exact.
template <class Element, int FractionBits>
FP4_INLINE int32x4_t signed_steps(float32x4_t z, uint32x4_t exponent) noexcept {
  constexpr uint32_t to_steps = (254u + Element::mantissa_bits + FractionBits) << 23;
  return vcvtq_s32_f32(vmulq_f32(z, floats_of(vsubq_u32(vdupq_n_u32(to_steps), exponent))));
}

/// Toward zero, in the low byte of each lane: the code without its sign, plus toward_zero_excess.
template <class Element>
FP4_INLINE uint32x4_t round_toward_zero(float32x4_t z) noexcept {
  uint32x4_t const exponent = binade<Element>(z);
  int32x4_t const base = vreinterpretq_s32_u32(vshrq_n_u32(exponent, 23 - Element::mantissa_bits));
  return vreinterpretq_u32_s32(vabaq_s32(base, signed_steps<Element, 0>(z, exponent), vdupq_n_s32(0)));
}
template <class Element>
inline constexpr uint8_t toward_zero_excess =
    static_cast<uint8_t>(min_normal_exponent_v<Element> << Element::mantissa_bits);

/// element_bits of the four elements that the i-th word serves, one a lane.
FP4_INLINE uint32x4_t element_bits_of_word(uint8x16_t words, int i) noexcept {
  constexpr uint8_t none = 0x80,
                    mirrored = 16;  // the index of no byte, and of the first byte with its bits reversed
  alignas(16) static constexpr uint8_t first_word[16] = {0, 2, none, none, mirrored + 2, mirrored + 0, none, none,
                                                         1, 3, none, none, mirrored + 3, mirrored + 1, none, none};
  uint8x16_t const index = vaddq_u8(vld1q_u8(first_word), vdupq_n_u8(static_cast<uint8_t>(4 * i)));
  return vreinterpretq_u32_u8(vqtbl2q_u8({{words, vrbitq_u8(words)}}, index));
}

/// round_stochastic of an e2m1, in the third byte of each lane: the code without its sign, plus
/// stochastic_excess.
FP4_INLINE uint32x4_t round_stochastically(float32x4_t z, uint32x4_t random16) noexcept {
  uint32x4_t const exponent = binade<e2m1>(z);
  int32x4_t const steps =
      vabaq_s32(vreinterpretq_s32_u32(random16), signed_steps<e2m1, 16>(z, exponent), vdupq_n_s32(0));
  return vsraq_n_u32(vreinterpretq_u32_s32(steps), exponent, 23 - 17);
}
inline constexpr uint8_t stochastic_excess = toward_zero_excess<e2m1>;

/// Codes of sixteen values. Stochastic rounding spends the bytes `random`, those of block_bits, on them.
/// Bounded says that they saturate by themselves.
template <class Element, class Rounding, bool Bounded, class Tensor>
FP4_INLINE uint8x16_t encode_sixteen(Tensor const& tensor, sixteen_floats const& x, float factor,
                                     uint8x16_t random) noexcept {
  sixteen_floats z;
  uint32x4_t code[4], is_nan[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    float32x4_t const unbounded = scaled<Tensor::elements>(tensor, x.part[i], vdupq_n_f32(factor));
    z.part[i] = Bounded ? unbounded : bounded<Element>(unbounded);
    if constexpr (Tensor::elements == element_rule::divide_to_bfloat16) {
      z.part[i] = floats_of(vandq_u32(round_to_bfloat16(bits_of(z.part[i])), vdupq_n_u32(0xFFFF0000u)));
    }
    if constexpr (is_stochastic_v<Rounding>) {
      code[i] = round_stochastically(z.part[i], element_bits_of_word(random, i));
    } else if constexpr (std_types::is_same<Rounding, nearest_even>::value) {
      code[i] = round_nearest<Element>(z.part[i]);
    } else {
      code[i] = round_toward_zero<Element>(z.part[i]);
    }
    if constexpr (Element::has_nan) {
      is_nan[i] = vcgtq_u32(vandq_u32(bits_of(unbounded), vdupq_n_u32(magnitude_mask)), vdupq_n_u32(infinity_bits));
    }
  }
  uint8x16_t codes;
  if constexpr (is_stochastic_v<Rounding>) {
    codes = vsubq_u8(third_bytes(code), vdupq_n_u8(stochastic_excess));
  } else {
    codes = low_bytes(code);
    if constexpr (std_types::is_same<Rounding, toward_zero>::value) {
      codes = vsubq_u8(codes, vdupq_n_u8(toward_zero_excess<Element>));
    }
  }
  if constexpr (Element::width != 4 || !std_types::is_same<Rounding, nearest_even>::value) {
    codes = vsliq_n_u8(codes, sign_bits(z), Element::width - 1);
  }
  if constexpr (Element::has_nan) { codes = vbslq_u8(low_bytes(is_nan), vdupq_n_u8(Element::nan_code), codes); }
  return codes;
}

}  // namespace fp4::cpu::detail::neon
FP4_EXACT_END

#endif
