// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "checkpoints.hpp"
#include "mx.hpp"

FP4_EXACT_BEGIN
namespace fp4 {

/// The way back under one tensor scale: q and a decoded block scale -> value, fp32 in the order of decode_rule.
struct block_decoder {
  decode_rule rule;
  bool from_amax;
  float tensor;     ///< what the block scale meets: a bounded amax, a decode factor, or an encode factor to divide by
  float per_range;  ///< 1 / range

  FP4_HD constexpr block_decoder(decode_rule decoding, tensor_scale scale) noexcept
      : rule(decoding),
        from_amax(scale.made_from() == tensor_scale::source::amax),
        tensor(1.0f),
        per_range(detail::quotient(1.0f, scale.range())) {
    switch (decoding) {
      case decode_rule::amax_over_range:
        tensor = scale.decode();
        if (from_amax) { tensor = scale.bounded_amax(); }
        break;
      case decode_rule::product: tensor = scale.decode(); break;
      case decode_rule::quotient: tensor = scale.encode(); break;
      case decode_rule::ratio: tensor = compressed_tensors_encode(scale); break;
      case decode_rule::block_only: break;
      case decode_rule::tensor_only:
        tensor = scale.decode();
        if (from_amax) { tensor = detail::quotient(1.0f, scale.encode()); }
        break;
    }
  }

  /// v: decoded block scale -> what an element is multiplied with; under `quotient` that product is still to be divided
  /// by `tensor`.
  template <class F>
  FP4_HD FP4_INLINE constexpr void factor(F& v) const noexcept {
    F const sf = v;
    switch (rule) {
      case decode_rule::amax_over_range:
        if (from_amax) {
          amax_factor(v);
        } else {
          v *= tensor;
        }
        break;
      case decode_rule::product: v *= tensor; break;
      case decode_rule::ratio: v /= tensor; break;
      case decode_rule::tensor_only: detail::fill(v, tensor); return;
      default: return;
    }
    detail::replace_where_at_most(v, sf, 0.0f, 0.0f);  // also where the tensor's factor is infinite
  }

  /// The value of element q under `block_factor` = factor(sf). A zero q, and every q under sf = 0, is a zero with q's
  /// sign, even where the factor is infinite.
  [[nodiscard]] FP4_HD constexpr float value(float q, float block_factor) const noexcept {
    uint32_t const sign = detail::float_bits(q) & 0x80000000u;
    if (q == 0.0f || block_factor == 0.0f) { return detail::bits_float(sign); }
    float const scaled = q * block_factor;
    if (rule == decode_rule::quotient) { return scaled / tensor; }
    return scaled;
  }

 private:
  template <class F>
  FP4_HD FP4_INLINE constexpr void amax_factor(F& v) const noexcept {
    F const direct = v * tensor;
    F const careful = v * (tensor * per_range);
    v = direct * per_range;
    detail::replace_where_above(v, direct, detail::float_max, careful);
    F const scaled = v;
    detail::fill(v, 0x1p-64f * 0x1p-64f);
    detail::replace_where_above(v, scaled, 0x1p-64f * 0x1p-64f, scaled);  // a NaN scale stays NaN
  }
};

}  // namespace fp4
FP4_EXACT_END
