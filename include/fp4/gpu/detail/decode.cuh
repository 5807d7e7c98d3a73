// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Codes and a scale -> values: what scaling/decode.hpp says, on a device.

#include "../../scaling/decode.hpp"
#include "../block_values.cuh"
#include "scale.cuh"

namespace fp4::gpu::detail {

/// True where the values of a block's codes are looked up: two bytes each, and no instruction for e2m1.
template <class Out>
__device__ constexpr bool decodes_by_table() {
  return sizeof(Out) == 2 && !FP4_DEVICE_E2M1;
}

/// What the quick way finds an e2m1 code to be: its value times this.
template <class Out>
__device__ constexpr float unpacked_scale() {
  if (decodes_by_table<Out>()) { return 1.0f; }
#if FP4_DEVICE_E2M1
  return 1.0f;
#elif FP4_DEVICE_E4M3
  return 0x1p-6f;
#else
  return 0x1p-14f;
#endif
}

/// Eight e2m1 codes, element 0 in the lowest nibble -> their values times unpacked_scale<float>().
__device__ __forceinline__ void unpack_8(uint32_t w, float (&q)[8]) {
  uint32_t half2[4];
#if FP4_DEVICE_E2M1
  ptx::from_e2m1_x8(w, half2);
  constexpr int low[4] = {0, 2, 4, 6}, high[4] = {1, 3, 5, 7};
#elif FP4_DEVICE_E4M3
  uint32_t const even = (w << 2 & 0x1C1C1C1Cu) | (w << 4 & 0x80808080u);
  uint32_t const odd = (w >> 2 & 0x1C1C1C1Cu) | (w & 0x80808080u);
  uint32_t a[2], b[2];
  ptx::from_e4m3_x4(even, a);
  ptx::from_e4m3_x4(odd, b);
  half2[0] = a[0], half2[1] = a[1], half2[2] = b[0], half2[3] = b[1];
  constexpr int low[4] = {0, 4, 1, 5}, high[4] = {2, 6, 3, 7};
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    uint32_t const top = w << 4 * (3 - i);
    half2[i] = (top & 0x80008000u) | (top >> 3 & 0x0E000E00u);
  }
  constexpr int low[4] = {0, 1, 2, 3}, high[4] = {4, 5, 6, 7};
#endif
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    q[low[i]] = ptx::half_of<false>(float16{}, half2[i]);
    q[high[i]] = ptx::half_of<true>(float16{}, half2[i]);
  }
}

/// The values that a block's codes stand for: of the magnitudes 0, .5, 1, ... 6 times its factor the low and the high
/// bytes.
template <class Out>
struct value_table {
  uint32_t low[2], high[2];

  __device__ __forceinline__ explicit value_table(float factor) {
    auto const times = [factor](float q) { return ptx::mul(q, factor); };
    uint32_t const pair[4] = {ptx::pack(Out{}, 0.0f, times(0.5f)), ptx::pack(Out{}, factor, times(1.5f)),
                              ptx::pack(Out{}, times(2.0f), times(3.0f)), ptx::pack(Out{}, times(4.0f), times(6.0f))};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      low[i] = ptx::permute(pair[2 * i], pair[2 * i + 1], 0x6420);
      high[i] = ptx::permute(pair[2 * i], pair[2 * i + 1], 0x7531);
    }
  }

  /// Eight codes to four words of two values.
  __device__ __forceinline__ void look_up(uint32_t codes, uint32_t* words) const {
    uint32_t const even = codes << 4;  // signs of even codes on top of bytes; those of odd ones are there already
    uint32_t const magnitudes = codes & 0x77777777u;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      uint32_t const which = magnitudes >> 16 * h;
      uint32_t const signs = ptx::permute(even, codes, h == 0 ? 0xD9C8 : 0xFBEA);
      uint32_t const a = ptx::permute(low[0], low[1], which);
      uint32_t const b = ptx::permute(high[0], high[1], which) | (signs & 0x80808080u);
      words[2 * h] = ptx::permute(a, b, 0x5140);
      words[2 * h + 1] = ptx::permute(a, b, 0x7362);
    }
  }
};

/// Sixteen e2m1 codes times a factor that is a number: their values, where a product is all that there is to them.
template <class Out>
__device__ __forceinline__ block_values<Out, 16> decode_16(uint2 codes, float factor) {
  if constexpr (decodes_by_table<Out>()) {
    block_values<Out, 16> x;
    value_table<Out> const table(factor);
    table.look_up(codes.x, x.word);
    table.look_up(codes.y, x.word + 4);
    return x;
  } else {
    float v[16];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float q[8];
      unpack_8(h == 0 ? codes.x : codes.y, q);
#pragma unroll
      for (int i = 0; i < 8; i += 2) {
        ptx::mul_pair(q[i], q[i + 1], factor);
        v[8 * h + i] = q[i], v[8 * h + i + 1] = q[i + 1];
      }
    }
    return block_values<Out, 16>::from(v);
  }
}

/// What a block's elements are multiplied with.
template <class Format>
__device__ __forceinline__ float decode_factor(block_decoder const& decoder, uint32_t code) {
  exact_float v{1.0f};
  if constexpr (Format::has_block_scale) {
    v.value = decode_scale<typename Format::scale>(code & Format::scale::magnitude_bits);
  }
  decoder.factor(v);
  return v.value;
}

/// That over unpacked_scale<Out>(), or NaN where a product is not all that there is to a value.
template <class Out>
__device__ __forceinline__ float quick_decode_factor(block_decoder const& decoder, float factor) {
  float const scaled = ptx::mul(factor, 1.0f / unpacked_scale<Out>());
  bool const holds = decoder.rule != decode_rule::quotient && scaled < __uint_as_float(fp4::detail::infinity_bits);
  return holds ? scaled : __uint_as_float(0x7FC00000u);
}

/// One value, any factor.
template <class Out>
__device__ __forceinline__ Out decode_carefully(block_decoder const& decoder, float q, float factor) {
  uint32_t const sign = __float_as_uint(q) & 0x80000000u;
  float v = __uint_as_float(sign);
  if (__float_as_uint(q) != sign && (__float_as_uint(factor) & fp4::detail::magnitude_mask) != 0) {
    v = ptx::mul(q, factor);
    if (decoder.rule == decode_rule::quotient) { v = ptx::div(v, decoder.tensor); }
    bool const is_nan = (__float_as_uint(v) & fp4::detail::magnitude_mask) > fp4::detail::infinity_bits;
    bool const was_nan = (__float_as_uint(q) & fp4::detail::magnitude_mask) > fp4::detail::infinity_bits;
    if (is_nan) { v = was_nan ? q : __uint_as_float(0x7FC00000u); }  // a device's NaN has other bits
  }
  return fp4::detail::from_float_to<Out>(v);
}

}  // namespace fp4::gpu::detail
