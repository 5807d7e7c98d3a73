// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One element after the other. Every operation of a tile exists here; a faster path replaces what it can.

#include <cstring>

#include "../../choices.hpp"
#include "../../scaling/decode.hpp"

FP4_EXACT_BEGIN
namespace fp4::cpu::detail {

using fp4::detail::as_float;
using fp4::detail::bits_float;
using fp4::detail::float_bits;
using fp4::detail::infinity_bits;
using fp4::detail::magnitude_mask;

/// A tile is at most this many elements of one row: what stays in the first-level cache between two passes.
inline constexpr int tile_elements = 2048;
template <class Format>
inline constexpr int tile_blocks = tile_elements / Format::block_size;
inline constexpr int max_tile_blocks = tile_elements / 16;

/// What is known of the numbers that are rounded to a tile's elements.
enum class number_range : unsigned char {
  unknown,
  below_seven,  ///< in magnitude, so that nearest rounding does not pass e2m1's largest
  finite,
  any,  ///< infinities and NaN among them
};

/// What a tile's blocks are scaled with. A format without block scales has one factor, factor[0].
struct tile_scales {
  alignas(64) float amax[max_tile_blocks];
  alignas(64) float factor[max_tile_blocks];
  alignas(64) uint8_t code[max_tile_blocks];
  bool has_nan = true;                         ///< False where every value is known to be a number.
  number_range range = number_range::unknown;  ///< For backends that look at it.
  int read_ahead = 0;  ///< Bytes from a value to one that will be needed soon: worth a prefetch. 0 if there is none.
  int amax_read_ahead = 0;  ///< The same for the pass that finds amaxes.
};

/// True where rounding is so quick that a tile waits for memory: then the pass that finds amaxes asks for the first
/// half of each 64 values ahead, and the pass that rounds for the second, so that memory works all the time. Elsewhere
/// rounding leaves time enough to ask for everything.
template <element_rule Rule, class Rounding, class In>
inline constexpr bool waits_for_memory =
    Rule == element_rule::multiply&& std_types::is_same<Rounding, nearest_even>::value && sizeof(In) == 4;

/// Where a tile draws its random bits: sixteen elements from `position`, the next from position + 1, ...
struct random_source {
  uint64_t seed = 0;
  uint64_t stream = 0;
  uint64_t position = 0;
};

/// The number that is rounded to an element's code.
template <element_rule Rule, class Tensor>
FP4_INLINE float scaled(Tensor const& tensor, float x, float factor) noexcept {
  if constexpr (Rule == element_rule::multiply) { return x * factor; }
  if constexpr (Rule == element_rule::divide) { return x / factor; }
  if constexpr (Rule == element_rule::divide_to_bfloat16) { return bfloat16::from_float(x / factor).to_float(); }
  if constexpr (Rule == element_rule::divide_twice) { return (x / tensor.first_divisor) / factor; }
}

/// The value of every code of an element or scale format.
template <class Number>
struct value_table {
  float value[1 << Number::width]{};
  constexpr value_table() noexcept {
    for (int code = 0; code < 1 << Number::width; ++code) {
      value[code] = Number{static_cast<uint8_t>(code)}.to_float();
    }
  }
};
template <class Number>
inline constexpr value_table<Number> values_of{};

struct scalar_backend {
  static constexpr bool has_vectors = false;

  /// Largest magnitude of each block, NaN ignored: scales.amax. A backend that notices where there is no NaN clears
  /// scales.has_nan.
  template <int BlockSize, class In>
  static void block_amax(In const* x, int blocks, tile_scales& scales) noexcept {
    for (int b = 0; b < blocks; ++b) { scales.amax[b] = scalar_backend::amax(x + b * BlockSize, BlockSize); }
  }

  /// Largest magnitude of `count` values, NaN ignored.
  template <class In>
  static float amax(In const* x, int count) noexcept {
    uint32_t largest = 0;
    for (int i = 0; i < count; ++i) {
      uint32_t const a = float_bits(as_float(x[i])) & magnitude_mask;
      if (a <= infinity_bits && a > largest) { largest = a; }
    }
    return bits_float(largest);
  }

  /// Scale codes and factors of blocks whose scale is the rounded scale_value of their amax.
  template <class Scale, class Tensor>
  static void rounded_scales(Tensor const& tensor, int blocks, tile_scales& scales) noexcept {
    for (int b = 0; b < blocks; ++b) {
      float const amax = scales.amax[b];
      float value = amax;
      tensor.scale_value(value);
      Scale const scale = Scale::from_float(value);
      float factor = scale.to_float();
      tensor.factor(factor, amax, value);
      scales.code[b] = scale.bits;
      scales.factor[b] = factor;
    }
  }

  /// Codes of whole blocks.
  template <class Format, class Tensor, class Rounding, class In>
  static void convert(Tensor const& tensor, Rounding rounding, random_source random, In const* x, int blocks,
                      tile_scales const& scales, uint8_t* codes) noexcept {
    int const elements = blocks * Format::block_size;
    for (int first = 0; first < elements; first += 16) {
      int const count = elements - first < 16 ? elements - first : 16;  // 16 but for formats without blocks
      int const b = Format::has_block_scale ? first / Format::block_size : 0;
      uint32x4 bits{};
      if constexpr (is_stochastic_v<Rounding>) {
        bits = block_bits(random.seed, random.stream, random.position + static_cast<uint64_t>(first / 16));
      }
      uint8_t code[16];
      for (int i = 0; i < count; ++i) {
        code[i] = element<Format>(tensor, rounding, as_float(x[first + i]), scales, b,
                                  is_stochastic_v<Rounding> ? element_bits(bits[i / 4], i % 4) : 0u);
      }
      if constexpr (Format::storage_bits == 8) {
        std::memcpy(codes + first, code, static_cast<size_t>(count));
      } else {
        for (int i = 0; i < 8; ++i) { codes[first / 2 + i] = static_cast<uint8_t>(code[2 * i] | code[2 * i + 1] << 4); }
      }
    }
  }

  /// What the elements of each block are multiplied with, from scale codes.
  template <class Scale>
  static void decode_factors(block_decoder const& decoder, int blocks, tile_scales& scales) noexcept {
    for (int b = 0; b < blocks; ++b) {
      scales.factor[b] = values_of<Scale>.value[scales.code[b] & Scale::magnitude_bits];
      decoder.factor(scales.factor[b]);
    }
  }

  /// Values of whole blocks. `streams` asks for stores that pass the caches by, where a path has them.
  template <class Format, class Out>
  static void decode(block_decoder const& decoder, uint8_t const* codes, int blocks, tile_scales const& scales,
                     Out* out, bool /*streams*/) noexcept {
    using element = typename Format::element;
    int const elements = blocks * Format::block_size;
    for (int i = 0; i < elements; ++i) {
      float const factor = scales.factor[Format::has_block_scale ? i / Format::block_size : 0];
      int const code = element_at<Format>(codes, i).bits & ((1 << element::width) - 1);  // a byte may hold more
      out[i] = fp4::detail::from_float_to<Out>(decoder.value(values_of<element>.value[code], factor));
    }
  }

  /// Makes values that `decode` streamed visible to other threads.
  static void end_streams() noexcept {}

  /// out[c * out_stride + r] = x[r * stride + c].
  template <class In>
  static void transpose(In const* x, int64_t stride, int rows, int cols, In* out, int64_t out_stride) noexcept {
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) { out[c * out_stride + r] = x[r * stride + c]; }
    }
  }

  /// Transforms `count` values, a multiple of the transform's size.
  template <class Transform, class In>
  static void transform(Transform const& how, In const* x, int count, float* out) noexcept {
    for (int i = 0; i < count; ++i) { out[i] = as_float(x[i]); }
    for (int i = 0; i < count; i += Transform::size) { how.apply(out + i); }
  }

 private:
  template <class Format, class Tensor, class Rounding>
  static uint8_t element(Tensor const& tensor, Rounding rounding, float x, tile_scales const& scales, int block,
                         uint32_t random16) noexcept {
    if constexpr (Tensor::elements == element_rule::own) {
      return tensor.element(x, typename Format::scale{scales.code[block]}, rounding, random16).bits;
    } else {
      float const z = scaled<Tensor::elements>(tensor, x, scales.factor[block]);
      if constexpr (is_stochastic_v<Rounding>) {
        return round_stochastic(z, random16).bits;
      } else {
        return encode<typename Format::element>(z, rounding).bits;
      }
    }
  }
};

}  // namespace fp4::cpu::detail
FP4_EXACT_END
