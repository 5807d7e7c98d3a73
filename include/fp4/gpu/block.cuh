// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One block in a thread's registers -> its scale and codes, and back, to call inside a kernel of one's own.

#include "../choices.hpp"
#include "../layout/quantized_view.hpp"
#include "block_values.cuh"
#include "detail/decode.cuh"
#include "detail/hadamard.cuh"
#include "detail/random.cuh"
#include "detail/scale.cuh"

namespace fp4::gpu {

/// Codes and scale of one block.
template <class Format>
struct block_codes {
  /// Elements that share a scale; without block scales, what is encoded at a time.
  static constexpr int elements = Format::has_block_scale ? Format::block_size : 16;

  uint32_t word[elements * Format::storage_bits / 32];  ///< As in memory: element 0 in the lowest bits of word[0].
  uint32_t scale;                                       ///< The scale's byte.

  /// Clears the codes of elements `count` and after, which do not exist.
  __device__ __forceinline__ void keep(int count) {
    constexpr int per_word = 32 / Format::storage_bits;
#pragma unroll
    for (int i = 0; i < elements / per_word; ++i) {
      int const left = count - i * per_word;
      if (left < per_word) { word[i] &= left > 0 ? (1u << left * Format::storage_bits) - 1 : 0u; }
    }
  }
};

namespace detail {

template <class Format, class Tensor>
inline constexpr bool is_quick_v =
    std_types::is_same<typename Format::element, e2m1>::value&& Tensor::elements == element_rule::multiply;

/// Eight elements by whichever way is right for any number.
template <class Format, class Tensor, class Rounding, class Values>
__device__ __forceinline__ uint32_t encode_8(Tensor const& tensor, Rounding how, Values const& x, int first,
                                             block_scale scale, float factor, uint32_t bits0, uint32_t bits1) {
  float z[8];
  if constexpr (Tensor::elements == element_rule::own) {
    uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      typename Format::scale const code{static_cast<uint8_t>(scale.code)};
      word |= uint32_t{tensor.element(x.at(first + i), code, how, element_bits(i < 4 ? bits0 : bits1, i % 4)).bits}
              << 4 * i;
    }
    return word;
  } else if constexpr (Tensor::elements == element_rule::multiply) {
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
      z[i] = x.at(first + i), z[i + 1] = x.at(first + i + 1);
      ptx::mul_pair(z[i], z[i + 1], factor);
    }
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) { z[i] = scaled(tensor, x.at(first + i), factor); }
  }
  if constexpr (rounds_natively<Rounding>()) {
    return round_natively<Rounding>(z, bits0, bits1);
  } else {
    return round_carefully(z, how, bits0, bits1);
  }
}

/// Four elements of a format that takes a byte each.
template <class Format, class Tensor, class Rounding, class Values>
__device__ __forceinline__ uint32_t encode_4_bytes(Tensor const& tensor, Rounding how, Values const& x, int first,
                                                   float factor) {
  uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    word |= uint32_t{encode<typename Format::element>(scaled(tensor, x.at(first + i), factor), how).bits} << 8 * i;
  }
  return word;
}

/// Scale and codes, right for any number and NaN.
template <class Format, class Tensor, class Factors, class Rounding, class Random, class Values>
__device__ __forceinline__ void quantize_carefully(Tensor const& tensor, Factors const& factors, Rounding how,
                                                   Random const& random, Values const& x, block_codes<Format>& out) {
  float const amax = x.amax();
  block_scale const scale = find_scale<Format>(tensor, amax, x);
  float const factor = factors.exact(tensor, scale, amax);
  out.scale = scale.code;
  if constexpr (Format::storage_bits == 8) {
#pragma unroll
    for (int i = 0; i < block_codes<Format>::elements / 4; ++i) {
      out.word[i] = encode_4_bytes<Format>(tensor, how, x, 4 * i, factor);
    }
  } else {
#pragma unroll
    for (int g = 0; g < block_codes<Format>::elements / 16; ++g) {
      uint32x4 const bits = random(g);
      out.word[2 * g] = encode_8<Format>(tensor, how, x, 16 * g, scale, factor, bits[0], bits[1]);
      out.word[2 * g + 1] = encode_8<Format>(tensor, how, x, 16 * g + 8, scale, factor, bits[2], bits[3]);
    }
  }
}

template <class In, int N>
__device__ __forceinline__ sign_bytes signs_at(block_values<In, N> const& x, int first, float const (&z)[8]) {
  if constexpr (sizeof(In) == 2) {
    uint32_t const* const w = x.word + first / 2;
    return signs_of(w[0], w[1], w[2], w[3]);
  } else {
    return signs_of(z);
  }
}

/// Scaled amaxes from here on, or NaN, need care.
template <class Rounding>
__device__ constexpr float quick_bound() {
  return std_types::is_same<Rounding, nearest_even>::value ? nearest_bound * quick_scale()
                                                           : fp4::detail::bits_float(fp4::detail::infinity_bits);
}

/// Scale and codes in software, and the scaled amax: not below quick_bound, with some codes in `out`, for the rare block
/// that needs care: one with a NaN, or with numbers so large, or a tensor scale so extreme, that a short cut does not
/// hold. There is no branch.
template <class Format, class Tensor, class Factors, class Rounding, class Random, class Values>
__device__ __forceinline__ float quantize_quickly(Tensor const& tensor, Factors const& factors, Rounding how,
                                                  Random const& random, Values const& x, block_codes<Format>& out,
                                                  uint32_t top) {
  float const amax = x.template amax<true>();
  block_scale const scale = find_scale<Format>(tensor, amax, x);
  float const factor = factors.quick(tensor, scale, amax);
  out.scale = scale.code;
#pragma unroll
  for (int g = 0; g < block_codes<Format>::elements / 16; ++g) {
    uint32x4 const bits = random(g);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      int const first = 16 * g + 8 * h;
      float z[8];
#pragma unroll
      for (int i = 0; i < 8; i += 2) {
        z[i] = x.at(first + i), z[i + 1] = x.at(first + i + 1);
        ptx::mul_pair(z[i], z[i + 1], factor);
      }
      out.word[2 * g + h] = round_quickly(z, signs_at(x, first, z), how, bits[2 * h], bits[2 * h + 1], top);
    }
  }
  return ptx::mul(amax, factor);
}

/// Writes a block's codes; the last of a row may be cut.
template <class Format>
__device__ __forceinline__ void store_codes_anywhere(uint8_t* to, block_codes<Format> const& codes) {
#pragma unroll
  for (int i = 0; i < block_codes<Format>::elements * Format::storage_bits / 8; ++i) {
    to[i] = static_cast<uint8_t>(codes.word[i / 4] >> i % 4 * 8);
  }
}
template <class Format>
__device__ __forceinline__ void store_codes_aligned(uint8_t* to, block_codes<Format> const& codes) {
#pragma unroll
  for (int i = 0; i < block_codes<Format>::elements * Format::storage_bits / 32; i += 2) {
    reinterpret_cast<uint2*>(to)[i / 2] = {codes.word[i], codes.word[i + 1]};
  }
}

/// True where quantize_quickly is the first to try.
template <class Format, class Tensor, class Rounding>
__device__ constexpr bool has_quick_way() {
  return is_quick_v<Format, Tensor> && Tensor::scales == scale_rule::rounded && !rounds_natively<Rounding>();
}

/// The usual way where it is right: see quantize_quickly.
template <class Format, class Tensor, class Factors, class Rounding, class Random, class Values>
__device__ __forceinline__ bool quantize_usually(Tensor const& tensor, Factors const& factors, Rounding how,
                                                 Random const& random, Values const& x, block_codes<Format>& out,
                                                 uint32_t top = random_top) {
  if constexpr (has_quick_way<Format, Tensor, Rounding>()) {
    return quantize_quickly(tensor, factors, how, random, x, out, top) < quick_bound<Rounding>();
  } else {
    quantize_carefully(tensor, factors, how, random, x, out);
    return true;
  }
}

}  // namespace detail

/// Quantizes the block that a thread holds: the bytes of reference::quantize.
///
/// \param tensor  the scaling's formulas for the tensor, scaling.for_tensor<Format>(scale.with_range(range)). Make it
///                once a kernel, on the host or on the device.
/// \param how     nearest_even or toward_zero
/// \param x       the block's values; what does not exist in memory is 0, and its codes are cleared by out.keep(count)
template <class Format, class Tensor, class Rounding, class In>
[[nodiscard]] __device__ __forceinline__ block_codes<Format> quantize_block(
    Tensor const& tensor, Rounding how, block_values<In, block_codes<Format>::elements> const& x) {
  static_assert(!is_stochastic_v<Rounding>, "stochastic rounding needs the block's position");
  block_codes<Format> out;
  detail::computed_factors<Format, Tensor> const factors;
  if (!detail::quantize_usually(tensor, factors, how, detail::no_random{}, x, out)) {
    detail::quantize_carefully(tensor, factors, how, detail::no_random{}, x, out);
  }
  return out;
}

/// Likewise, with stochastic rounding. `position` counts blocks of 16 in the whole matrix: row * blocks_per_row +
/// block.
template <class Format, class Tensor, class In>
[[nodiscard]] __device__ __forceinline__ block_codes<Format> quantize_block(
    Tensor const& tensor, stochastic how, uint64_t position, block_values<In, block_codes<Format>::elements> const& x) {
  auto const random = [&](int g) { return block_bits(how.seed, how.stream, position + static_cast<uint64_t>(g)); };
  block_codes<Format> out;
  detail::computed_factors<Format, Tensor> const factors;
  if (!detail::quantize_usually(tensor, factors, how, random, x, out)) {
    detail::quantize_carefully(tensor, factors, how, random, x, out);
  }
  return out;
}

/// A transform as a kernel takes it: kernel_transform<hadamard<16>> turn(hadamard<16>{}), made on the host.
template <class Transform>
using kernel_transform = detail::transform_task<Transform>;

/// Transforms the block that a thread holds: what quantize_block takes next. Where the transform is longer than the
/// block, neighbouring lanes hold the blocks of one group, and all of them call this together.
template <class Transform, class In, int N>
[[nodiscard]] __device__ __forceinline__ auto transform_block(kernel_transform<Transform> const& how,
                                                              block_values<In, N> const& x) {
  return detail::transformed(how, x);
}

/// The way back: the bytes of reference::dequantize.
///
/// \param decoder  block_decoder(scaling.decoding, scale.with_range(range)), made once a kernel, on the host or on the
///                 device.
template <class Out, class Format>
[[nodiscard]] __device__ __forceinline__ block_values<Out, block_codes<Format>::elements> dequantize_block(
    block_decoder const& decoder, block_codes<Format> const& codes) {
  static_assert(std_types::is_same<typename Format::element, e2m1>::value, "codes of e2m1");
  constexpr int elements = block_codes<Format>::elements, words = elements / static_cast<int>(4 / sizeof(Out));
  block_values<Out, elements> x;
  float const factor = detail::decode_factor<Format>(decoder, codes.scale);
  float const quick = detail::quick_decode_factor<Out>(decoder, factor);
  if (quick < __uint_as_float(fp4::detail::infinity_bits)) {
#pragma unroll
    for (int g = 0; g < elements / 16; ++g) {
      auto const part = detail::decode_16<Out>({codes.word[2 * g], codes.word[2 * g + 1]}, quick);
#pragma unroll
      for (int i = 0; i < words * 16 / elements; ++i) { x.word[g * words * 16 / elements + i] = part.word[i]; }
    }
  } else {
    Out value[elements];
#pragma unroll
    for (int i = 0; i < elements; ++i) {
      float const q = e2m1{static_cast<uint8_t>(codes.word[i / 8] >> i % 8 * 4 & 0xF)}.to_float();
      value[i] = detail::decode_carefully<Out>(decoder, q, factor);
    }
    x = block_values<Out, elements>::of(value);
  }
  return x;
}

/// Stores a block of a row: its codes, of which the last block of a row may have fewer, and its scale, wherever the
/// layout has it. Blocks beyond the matrix are left out.
template <class Format, class Layout>
__device__ __forceinline__ void store_block(quantized_view<Format, Layout> const& out, int64_t row, int64_t block,
                                            block_codes<Format> codes) {
  constexpr int elements = block_codes<Format>::elements, bytes = elements * Format::storage_bits / 8;
  int64_t const left = out.cols - block * elements;
  if (row >= out.rows || left <= 0) { return; }
  uint8_t* const to = out.code_row(row) + block * bytes;
  if (left >= elements && reinterpret_cast<size_t>(to) % 8 == 0) {
    detail::store_codes_aligned(to, codes);
  } else {
    int const count = left < elements ? static_cast<int>(left) : elements;
    codes.keep(count);
    if constexpr (Format::has_block_scale) {
      detail::store_codes_anywhere(to, codes);
    } else {  // a row ends with its last value
#pragma unroll
      for (int i = 0; i < bytes; ++i) {
        if (i < count) { to[i] = static_cast<uint8_t>(codes.word[i / 4] >> i % 4 * 8); }
      }
    }
  }
  if constexpr (Format::has_block_scale) {
    out.scales[out.scale_offset(row, block)] = static_cast<uint8_t>(codes.scale);
  }
}

/// Loads what store_block stored, zeros beyond the matrix.
template <class Format, class Layout, class Byte>
[[nodiscard]] __device__ __forceinline__ block_codes<Format> load_block(quantized_view<Format, Layout, Byte> const& in,
                                                                        int64_t row, int64_t block) {
  constexpr int bytes = block_codes<Format>::elements * Format::storage_bits / 8;
  block_codes<Format> codes{};
  int64_t const left = Format::row_bytes(in.cols) - block * bytes;
  if (row >= in.rows || left <= 0) { return codes; }
  Byte const* const from = in.code_row(row) + block * bytes;
#pragma unroll
  for (int i = 0; i < bytes; ++i) {
    if (i < left) { codes.word[i / 4] |= uint32_t{from[i]} << i % 4 * 8; }
  }
  if constexpr (Format::has_block_scale) { codes.scale = in.scales[in.scale_offset(row, block)]; }
  return codes;
}

/// Writes the zeros of a tiled layout's padding: thread `i` of `count` that share the work.
template <class Format, class Layout>
__device__ __forceinline__ void clear_scale_padding(quantized_view<Format, Layout> const& out, int64_t i,
                                                    int64_t count) {
  for (; i < out.scale_bytes_needed(); i += count) {
    auto const at = Layout::position(i, out.blocks_per_row());
    if (at.row >= out.rows || at.block >= out.blocks_per_row()) { out.scales[i] = 0; }
  }
}

}  // namespace fp4::gpu
