// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Block amax -> scale code -> what elements are multiplied with.

#include "../../scaling/presets.hpp"
#include "exact_float.cuh"
#include "round.cuh"

namespace fp4::gpu::detail {

/// The nearest scale code of v >= 0 or NaN.
template <class Scale>
__device__ __forceinline__ uint32_t encode_scale(float v) {
  if constexpr (std_types::is_same<Scale, ue4m3>::value) {
#if FP4_DEVICE_E4M3
    return ptx::e4m3(v);
#else
    // As round_carefully, for three bits of mantissa.
    float const a = ptx::min(v, 448.0f);
    uint32_t const magic = (__float_as_uint(ptx::max(a, 0x1p-6f)) >> 23) * 0x00800008u + ((20u << 23) - 968u);
    uint32_t const code = __float_as_uint(ptx::add(a, __uint_as_float(magic))) & 0x7Fu;
    return __float_as_uint(v) > fp4::detail::infinity_bits ? 0x7Fu : code;
#endif
  } else {
    return Scale::from_float(v).bits;
  }
}

template <class Scale>
__device__ __forceinline__ float decode_scale(uint32_t code) {
  if constexpr (std_types::is_same<Scale, ue4m3>::value) {
    float const v = ptx::mul(__uint_as_float(code << 20), 0x1p120f);
    return code == ue4m3::nan_code ? __uint_as_float(0x7FC00000u) : v;
  } else if constexpr (std_types::is_same<Scale, e8m0>::value) {
    return __uint_as_float(code == 0 ? 0x00400000u : code == e8m0::nan_code ? 0x7FC00000u : code << 23);
  } else {
    return Scale{static_cast<uint8_t>(code)}.to_float();
  }
}

/// A block's scale: its code, and what it was rounded from where the rule says so.
struct block_scale {
  uint32_t code;
  float value;
};
template <class Format, class Tensor, class Values>
__device__ __forceinline__ block_scale find_scale(Tensor const& tensor, float amax, Values const& x) {
  using scale = typename Format::scale;
  if constexpr (Tensor::scales == scale_rule::rounded) {
    scale_float v{{amax}};
    tensor.scale_value(v);
    return {encode_scale<scale>(v.value), v.value};
  } else if constexpr (Tensor::scales == scale_rule::computed) {
    return {tensor.scale_for(amax).bits, amax};
  } else if constexpr (Tensor::scales == scale_rule::chosen) {
    return {tensor.choose([&x](int i) { return x.at(i); }, Values::size, amax).bits, amax};
  } else {
    return {0, amax};
  }
}

/// What the elements of a block are multiplied with or divided by.
template <class Format, class Tensor>
__device__ __forceinline__ float factor_of(Tensor const& tensor, block_scale scale, float amax) {
  if constexpr (Tensor::scales == scale_rule::none) {
    return tensor.encode;
  } else {
    exact_float v{decode_scale<typename Format::scale>(scale.code)};
    tensor.factor(v, exact_float{amax}, exact_float{scale.value});
    return v.value;
  }
}

/// A factor times quick_scale(), or NaN where that is not exact: the block then takes the careful way.
__device__ __forceinline__ float quick_factor(float factor) {
  return factor != 0.0f && factor < 0x1p-100f ? __uint_as_float(0x7FC00000u) : ptx::mul(factor, quick_scale());
}

/// Factors computed block by block: a division each.
template <class Format, class Tensor>
struct computed_factors {
  __device__ __forceinline__ float exact(Tensor const& tensor, block_scale scale, float amax) const {
    return factor_of<Format>(tensor, scale, amax);
  }
  __device__ __forceinline__ float quick(Tensor const& tensor, block_scale scale, float amax) const {
    return quick_factor(exact(tensor, scale, amax));
  }
};

/// True where the factor of code 0 depends on the block as well.
template <class Tensor>
inline constexpr bool zero_scale_depends_on_block =
    !std_types::is_base_of<fp4::detail::transformer_engine_multiplier, Tensor>::value;

/// Factors by scale code from a table in shared memory, filled by the thread block. `Quick` says which kind.
template <class Format, class Tensor, bool Quick>
struct tabulated_factors {
  static constexpr int size = Format::scale::magnitude_bits + 1;
  uint32_t table;  ///< its address in shared memory

  __device__ __forceinline__ static void fill(Tensor const& tensor, float* table) {
#pragma unroll 1
    for (int code = static_cast<int>(threadIdx.x); code < size; code += static_cast<int>(blockDim.x)) {
      float const factor = factor_of<Format>(tensor, {static_cast<uint32_t>(code), 1.0f}, 1.0f);
      table[code] = Quick ? quick_factor(factor) : factor;
    }
  }
  __device__ __forceinline__ float exact(Tensor const& tensor, block_scale scale, float amax) const {
    if constexpr (Quick) { return factor_of<Format>(tensor, scale, amax); }
    return look_up(tensor, scale, amax);
  }
  __device__ __forceinline__ float quick(Tensor const& tensor, block_scale scale, float amax) const {
    if constexpr (!Quick) { return quick_factor(factor_of<Format>(tensor, scale, amax)); }
    return look_up(tensor, scale, amax);
  }

 private:
  __device__ __forceinline__ float look_up(Tensor const& tensor, block_scale scale, float amax) const {
    float factor = ptx::load_shared(table + 4 * scale.code);
    if constexpr (zero_scale_depends_on_block<Tensor>) {
      if (scale.code == 0) {
        factor = factor_of<Format>(tensor, scale, amax);
        if constexpr (Quick) { factor = quick_factor(factor); }
      }
    }
    return factor;
  }
};

/// The number that is rounded to an element code.
template <class Tensor>
__device__ __forceinline__ float scaled(Tensor const& tensor, float x, float factor) {
  if constexpr (Tensor::elements == element_rule::multiply) {
    return ptx::mul(x, factor);
  } else if constexpr (Tensor::elements == element_rule::divide) {
    return ptx::div(x, factor);
  } else if constexpr (Tensor::elements == element_rule::divide_to_bfloat16) {
    return bfloat16::from_float(ptx::div(x, factor)).to_float();
  } else {
    static_assert(Tensor::elements == element_rule::divide_twice, "other rules round by themselves");
    return ptx::div(ptx::div(x, tensor.first_divisor), factor);
  }
}

}  // namespace fp4::gpu::detail
