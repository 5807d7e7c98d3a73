// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The quantizers of serving engines. They take "SFScale" = S = 2688/amax from the caller and differ in where the
/// multiplier is 0. R() is the GPU's approximate reciprocal there and the correctly rounded one here.

#include "transformer_engine.hpp"

FP4_EXACT_BEGIN
namespace fp4 {
namespace detail {

enum class zero_multiplier : unsigned char { unrounded_scale_is_zero, scale_is_zero, amax_is_zero };

template <zero_multiplier Rule>
struct serving_tensor {
  static constexpr element_rule elements = element_rule::multiply;
  static constexpr scale_rule scales = scale_rule::rounded;
  float encode;
  float inverse_encode;

  FP4_HD explicit constexpr serving_tensor(tensor_scale scale) noexcept
      : encode(scale.encode()), inverse_encode(quotient(1.0f, encode)) {}

  template <class F>
  FP4_HD FP4_INLINE void scale_value(F& v) const noexcept {
    v *= one_sixth;
    v *= encode;
  }
  template <class F>
  FP4_HD FP4_INLINE void factor(F& v, F const& amax, F const& value) const noexcept {
    F const scale = v;
    v *= inverse_encode;
    divide_into(v, 1.0f);
    if constexpr (Rule == zero_multiplier::unrounded_scale_is_zero) { replace_where_at_most(v, value, 0.0f, 0.0f); }
    if constexpr (Rule == zero_multiplier::scale_is_zero) { replace_where_at_most(v, scale, 0.0f, 0.0f); }
    if constexpr (Rule == zero_multiplier::amax_is_zero) { replace_where_at_most(v, amax, 0.0f, 0.0f); }
  }
};

template <class Tensor, decode_rule Decoding>
struct nvfp4_scaling {
  using choice = scaling_choice;
  static constexpr decode_rule decoding = Decoding;
  template <class Format>
  static constexpr bool supports = is_nvfp4_v<Format>;
  template <class Format>
  [[nodiscard]] FP4_HD static constexpr float range() noexcept {
    return 2688.0f;
  }
  template <class Format>
  [[nodiscard]] FP4_HD constexpr auto for_tensor(tensor_scale scale) const noexcept {
    return Tensor(scale);
  }
};

struct vllm_emulation_tensor : serving_tensor<zero_multiplier::scale_is_zero> {
  using serving_tensor::serving_tensor;
  template <class F>
  FP4_HD FP4_INLINE void scale_value(F& v) const noexcept {
    serving_tensor::scale_value(v);
    limit(v, 448.0f);
  }
};

}  // namespace detail

/// TensorRT-LLM: sf = e4m3(S * (b * R(6))), multiplier R(sf * R(S)), 0 where the scale before rounding is 0.
/// Value = (q * sf) / S.
struct trtllm : detail::nvfp4_scaling<detail::serving_tensor<detail::zero_multiplier::unrounded_scale_is_zero>,
                                      decode_rule::quotient> {};

/// vLLM, SGLang and FlashInfer's DSL kernels: as trtllm, but 0 where the rounded scale is 0.
struct vllm
    : detail::nvfp4_scaling<detail::serving_tensor<detail::zero_multiplier::scale_is_zero>, decode_rule::quotient> {};

/// FlashInfer's CUDA kernels: as trtllm, but 0 only where the block is 0. A block whose scale underflows gets an
/// infinite multiplier: its non-zero elements saturate, its zeros become code 7; all decode to zero.
struct flashinfer
    : detail::nvfp4_scaling<detail::serving_tensor<detail::zero_multiplier::amax_is_zero>, decode_rule::quotient> {};

/// vLLM's emulation in PyTorch: sf = e4m3(min(S * (b * (1/6)), 448)), multiplier 1 / (sf * (1/S)) with 1/0 = 0.
/// Value = q * (sf * decode).
struct vllm_emulation : detail::nvfp4_scaling<detail::vllm_emulation_tensor, decode_rule::product> {};

}  // namespace fp4
FP4_EXACT_END
