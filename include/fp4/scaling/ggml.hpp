// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transformer_engine.hpp"

FP4_EXACT_BEGIN
namespace fp4 {
namespace detail {

struct ggml_tensor {
  static constexpr element_rule elements = element_rule::own;
  static constexpr scale_rule scales = scale_rule::computed;

  /// b/6 rounded half up; subnormals are capped at 7, and what reaches 256 becomes 448.
  [[nodiscard]] FP4_HD ue4m3 scale_for(float block_amax) const noexcept {
    float const value = quotient(block_amax, 6.0f);
    uint32_t const bits = float_bits(value);
    if (!(value > 0.0f)) { return {0}; }
    if (value < 0.015625f) {
      float const steps = product(value, 512.0f) + 0.5f;
      uint32_t const code = static_cast<uint32_t>(steps);
      return {static_cast<uint8_t>(code < 7 ? code : 7)};
    }
    uint32_t const code = ((bits + 0x80000u) >> 20) - (120u << 3);
    return {static_cast<uint8_t>(code < 0x78 ? code : 0x7E)};
  }

  /// The code whose value times sf lies nearest to x, the smaller magnitude on a tie; zeros and NaN become +0.
  [[nodiscard]] FP4_HD e2m1 element(float x, ue4m3 scale, nearest_even, uint32_t) const noexcept {
    float const sf = scale.to_float();
    float const magnitude = bits_float(float_bits(x) & magnitude_mask);
    uint8_t best = 0;
    float least = magnitude;
    for (uint8_t code = 1; code < 8; ++code) {
      float const difference = e2m1{code}.to_float() * sf - magnitude;
      float const error = bits_float(float_bits(difference) & magnitude_mask);
      if (error < least) { best = code, least = error; }
    }
    return {static_cast<uint8_t>(best != 0 && float_bits(x) > magnitude_mask ? best | 8 : best)};
  }

  template <class F>
  FP4_HD FP4_INLINE void factor(F& v, F const& /*amax*/, F const& /*value*/) const noexcept {
    fill(v, 0.0f);  // elements need the scale itself
  }
};

}  // namespace detail

/// ggml's quantize_row_nvfp4_ref: no tensor scale; sf = b/6 rounded half up (subnormals capped at 7, 256 and more
/// become 448); elements nearest by distance, ties to the smaller; -0 and NaN become +0. Nearest rounding alone. Value
/// = q * sf.
struct ggml {
  using choice = scaling_choice;
  static constexpr decode_rule decoding = decode_rule::block_only;
  template <class Format>
  static constexpr bool supports = detail::is_nvfp4_v<Format>;
  template <class Format>
  [[nodiscard]] FP4_HD static constexpr float range() noexcept {
    return 2688.0f;
  }
  template <class Format>
  [[nodiscard]] FP4_HD constexpr auto for_tensor(tensor_scale) const noexcept {
    return detail::ggml_tensor();
  }
};

}  // namespace fp4
FP4_EXACT_END
