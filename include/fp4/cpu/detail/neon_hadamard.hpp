// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neon_values.hpp"

#if FP4_HAS_NEON_PATH

FP4_EXACT_BEGIN
namespace fp4::cpu::detail::neon {

/// Stages 1 and 2 of a Hadamard transform, inside a register. A product with 1 or -1 is exact, so one fused
/// operation rounds as the sum or the difference does.
FP4_INLINE float32x4_t butterflies_within(float32x4_t v) noexcept {
  float32x4_t const alternating = {1.0f, -1.0f, 1.0f, -1.0f}, halves = {1.0f, 1.0f, -1.0f, -1.0f};
  v = vfmaq_f32(vrev64q_f32(v), v, alternating);
  return vfmaq_f32(vextq_f32(v, v, 2), v, halves);
}

/// Stages of distance Distance, 2 * Distance, ... over registers, as long as there are partners.
template <int Distance, int Count>
FP4_INLINE void butterflies_across(float32x4_t (&v)[Count]) noexcept {
  if constexpr (Distance < Count) {
#pragma GCC unroll 8
    for (int i = 0; i < Count / 2; ++i) {
      int const first = i / Distance * 2 * Distance + i % Distance;
      float32x4_t const a = v[first], b = v[first + Distance];
      v[first] = a + b;
      v[first + Distance] = a - b;
    }
    butterflies_across<2 * Distance>(v);
  }
}

/// x rounded to bfloat16 and back; NaN stays NaN.
FP4_INLINE float32x4_t as_bfloat16(float32x4_t x) noexcept {
  uint32x4_t const bits = bits_of(x);
  uint32x4_t const is_nan = vcgtq_u32(vandq_u32(bits, vdupq_n_u32(magnitude_mask)), vdupq_n_u32(infinity_bits));
  return vbslq_f32(is_nan, x, floats_of(vandq_u32(round_to_bfloat16(bits), vdupq_n_u32(0xFFFF0000u))));
}

template <int Size>
class hadamard_in_registers {
  static constexpr int in_registers = Size < 64 ? Size : 64;  ///< values that go through their stages without memory
  static constexpr int groups = Size / in_registers;

 public:
  explicit FP4_INLINE hadamard_in_registers(hadamard<Size> const& how) noexcept : rounds_(how.rounds_to_bfloat16) {
    int32x4_t const top = {31, 30, 29, 28};  // shifts that bring bits 0 to 3 to the place of a float's sign
    for (int i = 0; i < Size; i += 4) {
      uint32x4_t const word = vdupq_n_u32(how.signs[i / 32]);
      store(signs_ + i, vandq_u32(vshlq_u32(word, vsubq_s32(top, vdupq_n_s32(i % 32))), vdupq_n_u32(sign_mask)));
    }
  }

  /// Transforms Size values.
  template <class In>
  FP4_INLINE void apply(In const* x, float* out) const noexcept {
    for (int g = 0; g < groups; ++g) {
      float32x4_t v[in_registers / 4];
#pragma GCC unroll 8
      for (int i = 0; i < in_registers / 4; i += 2) {
        int const at = g * in_registers + 4 * i;
        load_eight(v[i], v[i + 1], x + at);
        v[i] = butterflies_within(signed_product(v[i], at));
        v[i + 1] = butterflies_within(signed_product(v[i + 1], at + 4));
      }
      butterflies_across<1>(v);
#pragma GCC unroll 16
      for (int i = 0; i < in_registers / 4; ++i) {
        store(out + g * in_registers + 4 * i, groups == 1 && rounds_ ? as_bfloat16(v[i]) : v[i]);
      }
    }
    if constexpr (groups > 1) { across_groups(out); }
  }

 private:
  /// The sign is flipped after the product: an integer operation between it and the first sum, which could be
  /// fused.
  FP4_INLINE float32x4_t signed_product(float32x4_t x, int at) const noexcept {
    uint32x4_t sign;
    load(sign, signs_ + at);
    return floats_of(veorq_u32(bits_of(x * vdupq_n_f32(fp4::detail::hadamard_scale(Size))), sign));
  }

  FP4_INLINE void across_groups(float* out) const noexcept {
    for (int i = 0; i < in_registers; i += 4) {
      float32x4_t v[groups];
#pragma GCC unroll 4
      for (int g = 0; g < groups; ++g) { load(v[g], out + g * in_registers + i); }
      butterflies_across<1>(v);
#pragma GCC unroll 4
      for (int g = 0; g < groups; ++g) { store(out + g * in_registers + i, rounds_ ? as_bfloat16(v[g]) : v[g]); }
    }
  }

  alignas(16) uint32_t signs_[Size];
  bool rounds_;
};

}  // namespace fp4::cpu::detail::neon
FP4_EXACT_END

#endif
