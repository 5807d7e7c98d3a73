// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The quantizers of the tools that write checkpoints.

#include "serving.hpp"

FP4_EXACT_BEGIN
namespace fp4 {

/// compressed-tensors' global scale: 2688 / max(amax, FLT_MIN), 1 where that is not finite or the amax is infinite.
[[nodiscard]] FP4_HD constexpr float compressed_tensors_encode(tensor_scale scale) noexcept {
  if (scale.made_from() != tensor_scale::source::amax) { return scale.encode(); }
  float amax = scale.stored();
  detail::at_least(amax, detail::float_min_normal);
  float const factor = detail::quotient(scale.range(), amax);
  uint32_t const bits = detail::float_bits(factor);
  if (bits == 0 || bits >= detail::infinity_bits) { return 1.0f; }
  return factor;
}

namespace detail {

struct torchao_tensor {
  static constexpr element_rule elements = element_rule::multiply;
  static constexpr scale_rule scales = scale_rule::rounded;
  float decode;
  float inverse_decode;

  FP4_HD explicit constexpr torchao_tensor(tensor_scale scale) noexcept
      : decode(scale.decode()), inverse_decode(quotient(1.0f, decode)) {}

  template <class F>
  FP4_HD FP4_INLINE void scale_value(F& v) const noexcept {
    v /= 6.0f;
    v /= decode;
    at_least(v, 0.015625f);
    limit(v, 448.0f);
  }
  template <class F>
  FP4_HD FP4_INLINE void factor(F& v, F const& /*amax*/, F const& /*value*/) const noexcept {
    divide_into(v, inverse_decode);
  }
};

struct modelopt_tensor {
  static constexpr element_rule elements = element_rule::divide;
  static constexpr scale_rule scales = scale_rule::rounded;
  float decode;

  FP4_HD explicit constexpr modelopt_tensor(tensor_scale scale) noexcept : decode(scale.decode()) {}

  template <class F>
  FP4_HD FP4_INLINE void scale_value(F& v) const noexcept {
    F divisor;
    fill(divisor, decode);
    divisor *= 6.0f;
    v /= divisor;
    replace_where_at_most(v, v, 0.0f, 1.0f);
    at_least(v, 0.001953125f);
    limit(v, 448.0f);
  }
  template <class F>
  FP4_HD FP4_INLINE void factor(F& v, F const& /*amax*/, F const& /*value*/) const noexcept {
    v *= decode;
  }
};

struct modelopt_static_tensor : modelopt_tensor {
  float amax_sixth;

  FP4_HD explicit constexpr modelopt_static_tensor(tensor_scale scale) noexcept
      : modelopt_tensor(scale), amax_sixth(quotient(scale.amax(), 6.0f)) {}

  template <class F>
  FP4_HD FP4_INLINE void scale_value(F& v) const noexcept {
    v /= 6.0f;
    replace_where_at_most(v, v, 0.0f, 1.0f);
    v *= 448.0f;
    v /= amax_sixth;
    limit(v, 448.0f);
  }
};

template <element_rule Elements>
struct compressed_tensors_tensor {
  static constexpr element_rule elements = Elements;
  static constexpr scale_rule scales = scale_rule::rounded;
  float encode;

  FP4_HD explicit constexpr compressed_tensors_tensor(tensor_scale scale) noexcept
      : encode(compressed_tensors_encode(scale)) {}

  template <class F>
  FP4_HD FP4_INLINE void scale_value(F& v) const noexcept {
    v /= 6.0f;
    v *= encode;
    limit(v, 448.0f);
    replace_where_at_most(v, v, 0x1p-10f, 0.125f);  // what would round to 0
  }
  template <class F>
  FP4_HD FP4_INLINE void factor(F& v, F const& /*amax*/, F const& /*value*/) const noexcept {
    v /= encode;
  }
};

struct jax_tensor {
  static constexpr element_rule elements = element_rule::divide_twice;
  static constexpr scale_rule scales = scale_rule::rounded;
  float first_divisor;

  FP4_HD explicit constexpr jax_tensor(tensor_scale scale) noexcept : first_divisor(scale.decode()) {}

  template <class F>
  FP4_HD FP4_INLINE void scale_value(F& v) const noexcept {
    v /= first_divisor;
    v /= 6.0f;
    limit(v, 448.0f);
  }
  template <class F>
  FP4_HD FP4_INLINE void factor(F& /*v*/, F const& /*amax*/, F const& /*value*/) const noexcept {}
};

}  // namespace detail

/// torchao's inference quantizer: d = amax / 2688, sf = e4m3(clamp((b/6) / d, 2^-6, 448)), code e2m1(x * ((1/d) / sf)).
/// No subnormal scale occurs; a zero block gets 2^-6. Value = q * (sf * d). Source: torchao `nvfp4_tensor.py`.
struct torchao : detail::nvfp4_scaling<detail::torchao_tensor, decode_rule::product> {};

/// ModelOpt, dynamic: d = amax / 2688, sf = e4m3(clamp(b / (6 * d), 2^-9, 448)), 1 for a zero block; code e2m1(x / (sf
/// * d)).
struct modelopt : detail::nvfp4_scaling<detail::modelopt_tensor, decode_rule::product> {};

/// ModelOpt, static: the amax comes from calibration; sf = e4m3(min((b/6) * 448 / (amax/6), 448)), with 1 for b/6 of a
/// zero block; the rest as modelopt.
struct modelopt_static : detail::nvfp4_scaling<detail::modelopt_static_tensor, decode_rule::product> {};

/// compressed-tensors on the CPU: g = 2688 / max(amax, FLT_MIN), sf = e4m3(min(g * (b/6), 448)), 0.125 where that is 0;
/// code e2m1(x / (sf / g)). Value = q * (sf / g).
struct compressed_tensors
    : detail::nvfp4_scaling<detail::compressed_tensors_tensor<element_rule::divide>, decode_rule::ratio> {};

/// compressed-tensors' Triton kernels: as compressed_tensors, with the quotient rounded to bfloat16 before e2m1, which
/// rounds twice: 2.5000041 becomes 2.
struct compressed_tensors_gpu
    : detail::nvfp4_scaling<detail::compressed_tensors_tensor<element_rule::divide_to_bfloat16>, decode_rule::ratio> {};

/// JAX's scaled_dot_general: everything is divided by g = decode first; sf = e4m3(min((b/g) / 6, 448)), code
/// e2m1((x/g) / sf). A zero block divides 0 by 0, which takes code 7 and decodes to zero.
struct jax : detail::nvfp4_scaling<detail::jax_tensor, decode_rule::product> {};

}  // namespace fp4
FP4_EXACT_END
