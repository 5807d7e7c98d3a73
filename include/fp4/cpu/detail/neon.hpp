// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neon_amax.hpp"
#include "neon_decode.hpp"
#include "neon_encode.hpp"
#include "neon_hadamard.hpp"
#include "neon_philox.hpp"

#if FP4_HAS_NEON_PATH

FP4_EXACT_BEGIN
namespace fp4::cpu::detail {

/// 64-bit Arm. Every processor has it.
struct neon_backend : portable_backend {
  template <int BlockSize, class In>
  static void block_amax(In const* x, int blocks, tile_scales& scales) noexcept {
    scales.has_nan = neon::block_amax<BlockSize>(x, blocks, scales.amax);
  }

  template <class In>
  static float amax(In const* x, int count) noexcept {
    return neon::amax(x, count);
  }

  template <class Scale, class Tensor>
  static void rounded_scales(Tensor const& tensor, int blocks, tile_scales& scales) noexcept {
    for (int b = 0; b < blocks; b += 4) {
      floats amax, value, factor;
      ints code;
      load(amax, scales.amax + b);
      value = amax;
      tensor.scale_value(value);
      factor = value;
      round_scale<Scale>(factor, code);
      tensor.factor(factor, amax, value);
      store(scales.factor + b, factor);
      uint16x4_t const halves = vmovn_u32(vreinterpretq_u32_s32(code));
      uint8x8_t const bytes = vmovn_u16(vcombine_u16(halves, halves));
      uint32_t const four = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
      std::memcpy(scales.code + b, &four, 4);
    }
  }

  template <class Scale>
  static void decode_factors(block_decoder const& decoder, int blocks, tile_scales& scales) noexcept {
    neon::decode_factors<Scale>(decoder, blocks, scales);
  }

  template <class Format, class Tensor, class Rounding, class In>
  static void convert(Tensor const& tensor, Rounding rounding, random_source random, In const* x, int blocks,
                      tile_scales const& scales, uint8_t* codes) noexcept {
    if constexpr (Tensor::elements == element_rule::own) {
      scalar_backend::convert<Format>(tensor, rounding, random, x, blocks, scales, codes);
    } else if constexpr (Format::storage_bits == 4) {
      int const chunks = blocks * Format::block_size / 16;
      if constexpr (!is_stochastic_v<Rounding>) {
        if (neon::all_below_seven(tensor, blocks, scales)) {
          return convert_nibbles<Format, true>(tensor, rounding, random, x, chunks, scales, codes);
        }
      }
      convert_nibbles<Format, false>(tensor, rounding, random, x, chunks, scales, codes);
    } else {
      convert_bytes<Format>(tensor, rounding, x, blocks, scales, codes);
    }
  }

  template <class Format, class Out>
  static void decode(block_decoder const& decoder, uint8_t const* codes, int blocks, tile_scales const& scales,
                     Out* out, bool streams) noexcept {
    if (!all_finite(scales.factor, Format::has_block_scale ? blocks : 1)) {
      scalar_backend::decode<Format>(decoder, codes, blocks, scales, out, streams);
    } else if constexpr (Format::storage_bits == 8) {
      decode_bytes<Format>(decoder, codes, blocks, scales, out);
    } else if constexpr (std_types::is_same<Out, bfloat16>::value) {
      decode_nibbles_to_bfloat16<Format>(decoder, codes, blocks, scales, out);
    } else {
      decode_nibbles<Format>(decoder, codes, 0, blocks * Format::block_size / 16, scales, out);
    }
  }

  template <class Transform, class In>
  static void transform(Transform const& how, In const* x, int count, float* out) noexcept {
    neon::hadamard_in_registers<Transform::size> const registers(how);
    for (int i = 0; i < count; i += Transform::size) { registers.apply(x + i, out + i); }
  }

 private:
  /// Codes of chunk `chunk` of sixteen elements.
  template <class Format, class Rounding, bool Bounded, class Tensor, class In>
  static FP4_INLINE uint8x16_t encode(Tensor const& tensor, In const* x, int chunk, tile_scales const& scales,
                                      uint8x16_t random) noexcept {
    neon::sixteen_floats values;
    neon::load_sixteen(values, x + chunk * 16);
    float const factor = scales.factor[Format::has_block_scale ? chunk * 16 / Format::block_size : 0];
    return neon::encode_sixteen<typename Format::element, Rounding, Bounded>(tensor, values, factor, random);
  }

  /// Four chunks at a time, for which random bits are drawn together. Bounded: all_below_seven.
  template <class Format, bool Bounded, class Tensor, class Rounding, class In>
  static void convert_nibbles(Tensor const& tensor, Rounding, random_source random, In const* x, int chunks,
                              tile_scales const& scales, uint8_t* codes) noexcept {
    neon::random_blocks source(random);
    neon::four_blocks_bits bits{};
    for (int chunk = 0; chunk < chunks; chunk += 4) {
      if constexpr (is_stochastic_v<Rounding>) { bits = source.next(); }
      if (chunk + 4 <= chunks) {
        uint8x16_t const first = encode<Format, Rounding, Bounded>(tensor, x, chunk, scales, bits.block[0]);
        uint8x16_t const second = encode<Format, Rounding, Bounded>(tensor, x, chunk + 1, scales, bits.block[1]);
        neon::store_nibbles(codes + chunk * 8, first, second);
        uint8x16_t const third = encode<Format, Rounding, Bounded>(tensor, x, chunk + 2, scales, bits.block[2]);
        uint8x16_t const fourth = encode<Format, Rounding, Bounded>(tensor, x, chunk + 3, scales, bits.block[3]);
        neon::store_nibbles(codes + chunk * 8 + 16, third, fourth);
      } else {
        for (int i = 0; chunk + i < chunks; ++i) {
          neon::store_nibbles(codes + (chunk + i) * 8,
                              encode<Format, Rounding, Bounded>(tensor, x, chunk + i, scales, bits.block[i]));
        }
      }
    }
  }

  template <class Format, class Tensor, class Rounding, class In>
  static void convert_bytes(Tensor const& tensor, Rounding rounding, In const* x, int blocks, tile_scales const& scales,
                            uint8_t* codes) noexcept {
    int const chunks = blocks * Format::block_size / 16;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      store(codes + chunk * 16, encode<Format, Rounding, false>(tensor, x, chunk, scales, vdupq_n_u8(0)));
    }
    if constexpr (!Format::has_block_scale) {  // any number of elements
      scalar_backend::convert<Format>(tensor, rounding, {}, x + chunks * 16, blocks - chunks * 16, scales,
                                      codes + chunks * 16);
    }
  }

  /// Chunks of sixteen elements from `first` on.
  template <class Format, class Out>
  static void decode_nibbles(block_decoder const& decoder, uint8_t const* codes, int first, int chunks,
                             tile_scales const& scales, Out* out) noexcept {
    bool const divides = decoder.rule == decode_rule::quotient;
    auto const factor = [&scales](int chunk) { return scales.factor[chunk * 16 / Format::block_size]; };
    neon::sixteen_floats values;
    int chunk = first;
    for (; chunk + 2 <= chunks; chunk += 2) {
      uint8x16_t even, odd;
      neon::unpack_thirty_two(even, odd, codes + chunk * 8);
      neon::e2m1_values(values, even);
      neon::scale_and_store(out + chunk * 16, values, factor(chunk), divides, decoder.tensor);
      neon::e2m1_values(values, odd);
      neon::scale_and_store(out + chunk * 16 + 16, values, factor(chunk + 1), divides, decoder.tensor);
    }
    if (chunk < chunks) {
      neon::e2m1_values(values, neon::unpack_sixteen(codes + chunk * 8));
      neon::scale_and_store(out + chunk * 16, values, factor(chunk), divides, decoder.tensor);
    }
  }

  template <class Format>
  static void decode_nibbles_to_bfloat16(block_decoder const& decoder, uint8_t const* codes, int blocks,
                                         tile_scales const& scales, bfloat16* out) noexcept {
    constexpr int chunks_per_block = Format::block_size / 16;
    int block = 0;
    for (; block + 4 <= blocks; block += 4) {
      neon::bfloat16_tables tables;
      int const chunk = block * chunks_per_block;
      if (!tables.prepare(scales.factor + block, decoder.rule == decode_rule::quotient, decoder.tensor)) {
        decode_nibbles<Format>(decoder, codes, chunk, chunk + 4 * chunks_per_block, scales, out);
        continue;
      }
#pragma GCC unroll 4
      for (int i = 0; i < 4 * chunks_per_block; i += 2) {
        uint8x16_t even, odd;
        neon::unpack_thirty_two(even, odd, codes + (chunk + i) * 8);
        tables.decode(out + (chunk + i) * 16, even, i / chunks_per_block);
        tables.decode(out + (chunk + i) * 16 + 16, odd, (i + 1) / chunks_per_block);
      }
    }
    decode_nibbles<Format>(decoder, codes, block * chunks_per_block, blocks * chunks_per_block, scales, out);
  }

  template <class Format, class Out>
  static void decode_bytes(block_decoder const& decoder, uint8_t const* codes, int blocks, tile_scales const& scales,
                           Out* out) noexcept {
    using element = typename Format::element;
    bool const divides = decoder.rule == decode_rule::quotient;
    int const chunks = blocks * Format::block_size / 16;
    if (element::has_nan && neon::any_special<element>(codes, chunks)) {
      return scalar_backend::decode<Format>(decoder, codes, blocks, scales, out, false);
    }
    for (int chunk = 0; chunk < chunks; ++chunk) {
      uint8x16_t code;
      load(code, codes + chunk * 16);
      neon::sixteen_floats values;
      neon::byte_values<element>(values, code);
      float const factor = scales.factor[Format::has_block_scale ? chunk * 16 / Format::block_size : 0];
      neon::scale_and_store(out + chunk * 16, values, factor, divides, decoder.tensor);
    }
    if constexpr (!Format::has_block_scale) {  // any number of elements
      int const done = chunks * 16;
      scalar_backend::decode<Format>(decoder, codes + done, blocks - done, scales, out + done, false);
    }
  }
};

}  // namespace fp4::cpu::detail
FP4_EXACT_END

#endif
