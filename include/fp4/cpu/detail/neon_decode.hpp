// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// From codes to values. Factors are finite here, so that a zero element decodes to a zero with its sign.

#include "neon_values.hpp"

#if FP4_HAS_NEON_PATH

FP4_EXACT_BEGIN
namespace fp4::cpu::detail::neon {

/// The values of four scale codes, one a lane.
template <class Scale>
FP4_INLINE void decode_scales(lanes<4>::floats& v, uint32x4_t code) noexcept {
  if constexpr (Scale::has_zero) {
    // At fp32's place a code is its value times 2^(bias - 127), also where it is subnormal.
    v = floats_of(vshlq_n_u32(code, 23 - Scale::mantissa_bits));
    v *= bits_float(static_cast<uint32_t>(254 - Scale::bias) << 23);
  } else {
    v = floats_of(vmaxq_u32(vshlq_n_u32(code, 23), vdupq_n_u32(0x00400000u)));  // code 0 is 2^-127
  }
  uint32x4_t const is_nan = vceqq_u32(code, vdupq_n_u32(Scale::nan_code));
  v = vbslq_f32(is_nan, floats_of(vdupq_n_u32(0x7FC00000u)), v);
}

/// scalar_backend::decode_factors; computes on past `blocks` to a multiple of four.
template <class Scale>
FP4_INLINE void decode_factors(block_decoder const& decoder, int blocks, tile_scales& scales) noexcept {
  for (int b = 0; b < blocks; b += 4) {
    uint32_t four;
    std::memcpy(&four, scales.code + b, 4);
    four &= 0x01010101u * Scale::magnitude_bits;
    uint16x8_t const halves = vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four)));
    lanes<4>::floats v;
    decode_scales<Scale>(v, vmovl_u16(vget_low_u16(halves)));
    decoder.factor(v);
    store(scales.factor + b, v);
  }
}

/// Sixteen or thirty-two packed codes, one a byte in memory order.
FP4_INLINE uint8x16_t unpack_sixteen(uint8_t const* from) noexcept {
  uint8x8_t packed;
  load(packed, from);
  return vzip1q_u8(vcombine_u8(vand_u8(packed, vdup_n_u8(0xF)), packed), vcombine_u8(vshr_n_u8(packed, 4), packed));
}
FP4_INLINE void unpack_thirty_two(uint8x16_t& first, uint8x16_t& second, uint8_t const* from) noexcept {
  uint8x16_t packed;
  load(packed, from);
  uint8x16_t const even = vandq_u8(packed, vdupq_n_u8(0xF)), odd = vshrq_n_u8(packed, 4);
  first = vzip1q_u8(even, odd);
  second = vzip2q_u8(even, odd);
}

/// The bytes of bfloat16 patterns that an e2m1 code looks up.
struct e2m1_bytes {
  uint8_t low[16]{}, high[16]{};
  constexpr e2m1_bytes() noexcept {
    for (int code = 0; code < 16; ++code) {
      uint32_t const bits = float_bits(e2m1{static_cast<uint8_t>(code)}.to_float());
      low[code] = static_cast<uint8_t>(bits >> 16 & 0xFF);
      high[code] = static_cast<uint8_t>(bits >> 24);
    }
  }
};
inline constexpr e2m1_bytes bytes_of_e2m1{};

/// Sixteen bfloat16 patterns from tables of their low and high bytes.
FP4_INLINE void look_up(uint16x8_t& first, uint16x8_t& second, uint8x16_t low, uint8x16_t high,
                        uint8x16_t code) noexcept {
  uint8x16_t const l = vqtbl1q_u8(low, code), h = vqtbl1q_u8(high, code);
  first = vreinterpretq_u16_u8(vzip1q_u8(l, h));
  second = vreinterpretq_u16_u8(vzip2q_u8(l, h));
}

FP4_INLINE void e2m1_values(sixteen_floats& values, uint8x16_t code) noexcept {
  uint16x8_t first, second;
  look_up(first, second, vld1q_u8(bytes_of_e2m1.low), vld1q_u8(bytes_of_e2m1.high), code);
  widen<bfloat16>(values.part[0], values.part[1], first);
  widen<bfloat16>(values.part[2], values.part[3], second);
}

/// True where one of the codes in chunks of sixteen bytes is an infinity or NaN.
template <class Element>
FP4_INLINE bool any_special(uint8_t const* codes, int chunks) noexcept {
  uint8x16_t largest = vdupq_n_u8(0);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    uint8x16_t code;
    load(code, codes + chunk * 16);
    largest = vmaxq_u8(largest, vandq_u8(code, vdupq_n_u8(Element::magnitude_bits)));
  }
  return vmaxvq_u8(largest) > Element::max_code;
}

/// Values of sixteen codes of a byte each, none of them an infinity or NaN.
template <class Element>
FP4_INLINE void byte_values(sixteen_floats& values, uint8x16_t code) noexcept {
  // The sign comes to bit 31, the rest to fp32's place: the value times 2^(bias - 127), also where it is
  // subnormal.
  code = vshlq_n_u8(code, 8 - Element::width);
  uint8x16_t const zero = vdupq_n_u8(0);
  uint16x8_t const half[2] = {vreinterpretq_u16_u8(vzip1q_u8(zero, code)), vreinterpretq_u16_u8(vzip2q_u8(zero, code))};
  constexpr uint32_t kept = sign_mask | static_cast<uint32_t>(Element::magnitude_bits) << (23 - Element::mantissa_bits);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    uint16x8_t const top =
        i % 2 == 0 ? vzip1q_u16(vdupq_n_u16(0), half[i / 2]) : vzip2q_u16(vdupq_n_u16(0), half[i / 2]);
    int32x4_t const spread = vshrq_n_s32(vreinterpretq_s32_u16(top), 8 - Element::exponent_bits);
    float32x4_t const scaled = floats_of(vandq_u32(vreinterpretq_u32_s32(spread), vdupq_n_u32(kept)));
    values.part[i] = scaled * vdupq_n_f32(bits_float(static_cast<uint32_t>(254 - Element::bias) << 23));
  }
}

/// Multiplies with a block's factor, divides by the tensor's under decode_rule::quotient, and stores.
template <class Out>
FP4_INLINE void scale_and_store(Out* out, sixteen_floats const& values, float factor, bool divides,
                                float divisor) noexcept {
  float32x4_t v[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) { v[i] = values.part[i] * vdupq_n_f32(factor); }
  if (divides) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) { v[i] = v[i] / vdupq_n_f32(divisor); }
  }
  store_eight(out, v[0], v[1]);
  store_eight(out + 8, v[2], v[3]);
}

/// bfloat16 values of e2m1 blocks without arithmetic on elements. Their magnitudes have the significands 1
/// and 1.5 alone, so two rounded products a block, f and 1.5 f, give the eight values but for the exponent.
class bfloat16_tables {
 public:
  /// Tables of four blocks. False where a value could leave the normal numbers on its way, or where a factor
  /// is zero.
  FP4_INLINE bool prepare(float const* factor, bool divides, float divisor) noexcept {
    float32x4_t f, one_and_half;
    load(f, factor);
    bool safe = all_in_range(f);
    one_and_half = f * vdupq_n_f32(1.5f);
    if (divides) {
      f = f / vdupq_n_f32(divisor);
      one_and_half = one_and_half / vdupq_n_f32(divisor);
      safe = safe && all_in_range(f);
    }
    products_ = vsriq_n_u32(round_to_bfloat16(bits_of(one_and_half)), round_to_bfloat16(bits_of(f)), 16);
    return safe;
  }

  /// Sixteen values of block `i` of the four.
  FP4_INLINE void decode(bfloat16* out, uint8x16_t code, int i) const noexcept {
    // Low halves of a product pair hold f, high halves 1.5 f. Entry 0 looks up no byte.
    alignas(16) static constexpr uint8_t pair[16] = {0x80, 0x80, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
    alignas(16) static constexpr int16_t exponents[8] = {0, -0x80, 0, 0, 0x80, 0x80, 0x100, 0x100};
    uint8x16_t const index = vaddq_u8(vld1q_u8(pair), vdupq_n_u8(static_cast<uint8_t>(4 * i)));
    uint16x8_t const positive = vaddq_u16(vreinterpretq_u16_u8(vqtbl1q_u8(vreinterpretq_u8_u32(products_), index)),
                                          vreinterpretq_u16_s16(vld1q_s16(exponents)));
    uint16x8_t const negative = veorq_u16(positive, vdupq_n_u16(0x8000));
    uint8x16_t const p = vreinterpretq_u8_u16(positive), n = vreinterpretq_u8_u16(negative);
    uint16x8_t first, second;
    look_up(first, second, vuzp1q_u8(p, n), vuzp2q_u8(p, n), code);
    store_patterns(out, first);
    store_patterns(out + 8, second);
  }

 private:
  static FP4_INLINE bool all_in_range(float32x4_t f) noexcept {
    constexpr uint32_t least = 7u << 23, most = 247u << 23;  // 2^-120 and 2^120
    uint32x4_t const bits = bits_of(f);
    return vminvq_u32(bits) >= least && vmaxvq_u32(bits) <= most;
  }

  uint32x4_t products_;
};

}  // namespace fp4::cpu::detail::neon
FP4_EXACT_END

#endif
