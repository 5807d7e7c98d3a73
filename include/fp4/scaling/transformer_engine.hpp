// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../format/block_format.hpp"
#include "scaling.hpp"

FP4_EXACT_BEGIN
namespace fp4 {
namespace detail {

/// True for e2m1 elements under a ue4m3 or ue5m3 block scale.
template <class Format>
inline constexpr bool is_nvfp4_family_v =
    std_types::is_same<typename Format::element, e2m1>::value&& Format::has_block_scale&& Format::has_tensor_scale;

template <class Format>
inline constexpr bool is_nvfp4_v = std_types::is_same<Format, nvfp4>::value;

/// The element multiplier of Transformer Engine, min(1 / (sf * (1/S)), FLT_MAX), and its use.
struct transformer_engine_multiplier {
  static constexpr element_rule elements = element_rule::multiply;
  float encode;
  float inverse_encode;

  FP4_HD explicit constexpr transformer_engine_multiplier(tensor_scale scale) noexcept
      : encode(scale.encode()), inverse_encode(quotient(1.0f, encode)) {}

  template <class F>
  FP4_HD FP4_INLINE void factor(F& v, F const& /*amax*/, F const& /*value*/) const noexcept {
    multiply_by(v, inverse_encode);
    divide_into(v, 1.0f);
    limit(v, float_max);
  }
};

enum class sixth_order : unsigned char { with_scale, divide_first, multiply_first };

template <sixth_order Order>
struct transformer_engine_tensor : transformer_engine_multiplier {
  static constexpr scale_rule scales = scale_rule::rounded;
  float encode_sixth;

  FP4_HD explicit constexpr transformer_engine_tensor(tensor_scale scale) noexcept
      : transformer_engine_multiplier(scale), encode_sixth(scaled_by(encode, one_sixth)) {}

  template <class F>
  FP4_HD FP4_INLINE void scale_value(F& v) const noexcept {
    if constexpr (Order == sixth_order::with_scale) {
      multiply_by(v, encode_sixth);
    } else if constexpr (Order == sixth_order::divide_first) {
      v /= 6.0f;
      v *= encode;
    } else {
      v *= one_sixth;
      v *= encode;
    }
    limit(v, float_max);
  }
};

template <sixth_order Order>
struct transformer_engine_scaling {
  using choice = scaling_choice;
  static constexpr decode_rule decoding = decode_rule::amax_over_range;
  template <class Format>
  static constexpr bool supports = is_nvfp4_family_v<Format>;

  template <class Format>
  [[nodiscard]] FP4_HD static constexpr float range() noexcept {
    return Format::element::max_finite * Format::scale::max_finite;
  }
  template <class Format>
  [[nodiscard]] FP4_HD constexpr auto for_tensor(tensor_scale scale) const noexcept {
    return transformer_engine_tensor<Order>(scale);
  }
};

}  // namespace detail

/// The default: Transformer Engine's arithmetic, v2.14 and later, which NVIDIA's training recipe runs.
///   S = min(2688 / amax, FLT_MAX)     sf = e4m3(min(b * (S * (1/6)), FLT_MAX))
///   code = e2m1(x * min(1 / (sf * (1/S)), FLT_MAX))     value = q * ((sf * amax) * (1/2688))
/// A non-zero block whose scale underflows keeps sf = 0 and saturated codes, and decodes to signed zeros.
/// Source: TransformerEngine `core_nvfp4.cuh`. Also for blocks of 32, and for ue5m3 with 6*114688 for 2688.
struct transformer_engine : detail::transformer_engine_scaling<detail::sixth_order::with_scale> {};

/// Transformer Engine v2.8 to v2.13, transposing kernels: sf = e4m3((b / 6) * S). The rest as the default.
struct transformer_engine_v2_13 : detail::transformer_engine_scaling<detail::sixth_order::divide_first> {
  template <class Format>
  static constexpr bool supports = detail::is_nvfp4_v<Format>;
};

/// Transformer Engine v2.8 to v2.13, row-wise kernels: sf = e4m3((b * (1/6)) * S). The rest as the default.
struct transformer_engine_v2_13_rowwise : detail::transformer_engine_scaling<detail::sixth_order::multiply_first> {
  template <class Format>
  static constexpr bool supports = detail::is_nvfp4_v<Format>;
};

/// How four_over_six measures a block's error.
enum class block_error : unsigned char { mean_square, mean_absolute, largest };

namespace detail {

struct four_over_six_tensor : transformer_engine_multiplier {
  static constexpr scale_rule scales = scale_rule::chosen;
  block_error measure;
  float amax;
  float range;

  FP4_HD constexpr four_over_six_tensor(tensor_scale scale, block_error measure_) noexcept
      : transformer_engine_multiplier(scale), measure(measure_), amax(scale.amax()), range(scale.range()) {}

  template <class Values>
  [[nodiscard]] FP4_HD ue4m3 choose(Values const& x, int count, float block_amax) const noexcept {
    float const base = scaled_by(quotient(block_amax, 6.0f), encode);
    ue4m3 const to_4 = ue4m3::from_float(scaled_by(base, 1.5f));
    ue4m3 const to_6 = ue4m3::from_float(base);
    return widen(error_of(x, count, to_4)) < widen(error_of(x, count, to_6)) ? to_4 : to_6;
  }

 private:
  template <class Values>
  FP4_HD float error_of(Values const& x, int count, ue4m3 scale) const noexcept {
    float const sf = scale.to_float();
    float multiplier = sf;
    factor(multiplier, multiplier, multiplier);
    float sum = 0.0f;
    for (int i = 0; i < count; ++i) {
      float const value = x(i);
      float const q = e2m1::from_float(scaled_by(value, multiplier)).to_float();
      float const decoded = quotient(scaled_by(scaled_by(q, sf), amax), range);
      float const error = difference_of(decoded, value);
      float const magnitude = bits_float(float_bits(error) & magnitude_mask);
      if (measure == block_error::largest) {
        uint32_t const a = float_bits(magnitude), most = float_bits(sum);  // as integers, so that NaN is the largest
        if (a > most) { sum = magnitude; }
      } else if (measure == block_error::mean_absolute) {
        sum = sum_of(sum, magnitude);
      } else {
        sum = sum_of(sum, product(error, error));
      }
    }
    return sum;
  }
};

}  // namespace detail

/// "Four over six": a block may aim its largest value at 4 instead of 6, whichever errs less; a tie takes 6.
///   S from 6 * scale_max (256 by default, 448 as option); base = (b / 6) * S
///   sf = e4m3(min(1.5 * base, 448)) or e4m3(min(base, 448)); error of an element ((q * sf) * amax) / range - x,
///   summed in fp32 from element 0 on. The rest as the default, with range = 6 * scale_max.
/// Source: TransformerEngine `quantize_4over6_nvfp4.cuh`; Cook et al., "Four Over Six".
struct four_over_six {
  using choice = scaling_choice;
  static constexpr decode_rule decoding = decode_rule::amax_over_range;
  template <class Format>
  static constexpr bool supports = detail::is_nvfp4_v<Format>;

  block_error measure = block_error::mean_square;
  bool full_scale_range = false;  ///< true: scale_max 448

  explicit constexpr four_over_six(block_error m = block_error::mean_square, bool full_range = false) noexcept
      : measure(m), full_scale_range(full_range) {}

  template <class Format>
  [[nodiscard]] FP4_HD constexpr float range() const noexcept {
    return full_scale_range ? 2688.0f : 1536.0f;
  }
  template <class Format>
  [[nodiscard]] FP4_HD constexpr auto for_tensor(tensor_scale scale) const noexcept {
    return detail::four_over_six_tensor(scale, measure);
  }
};

}  // namespace fp4
FP4_EXACT_END
