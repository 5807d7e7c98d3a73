// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_amax.hpp"
#include "avx2_decode_tile.hpp"
#include "avx2_hadamard.hpp"
#include "avx2_near.hpp"
#include "avx2_scales.hpp"
#include "avx2_stochastic.hpp"
#include "avx2_transpose.hpp"
#include "portable.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
namespace fp4::cpu::detail {

/// x86-64 with AVX2, FMA and F16C.
struct avx2_backend : portable_backend {
  template <number_range Range>
  using constant = std_types::integral_constant<number_range, Range>;

  static void exact_scales(fp4::detail::exact_tensor const& tensor, int blocks, tile_scales& scales) noexcept {
    avx2::exact_scales(tensor, blocks, scales);
  }
  template <class Values>
  static ue4m3 search(fp4::detail::search_tensor const& tensor, Values const& x, int count, float amax) noexcept {
    return avx2::search(tensor, x, count, amax);
  }
  template <class Values>
  static void four_over_six_scales(fp4::detail::four_over_six_tensor const& tensor, Values const& values, int blocks,
                                   int count, tile_scales& scales) noexcept {
    avx2::four_over_six_scales(tensor, values, blocks, count, scales);
  }

  template <int BlockSize, class In>
  static void block_amax(In const* x, int blocks, tile_scales& scales) noexcept {
    scales.has_nan = avx2::block_amax<BlockSize>(x, blocks, scales.amax_read_ahead, scales.amax);
  }

  template <class In>
  static float amax(In const* x, int count) noexcept {
    return avx2::amax(x, count);
  }

  template <class Transform, class In>
  static void transform(Transform const& how, In const* x, int count, float* out) noexcept {
    avx2::transform(how, x, count, out);
  }

  template <class In>
  static void transpose(In const* x, int64_t stride, int rows, int cols, In* out, int64_t out_stride) noexcept {
    avx2::transpose(x, stride, rows, cols, out, out_stride);
  }

  template <class Scale, class Tensor>
  static void rounded_scales(Tensor const& tensor, int blocks, tile_scales& scales) noexcept {
    avx2::rounded_scales<Scale>(tensor, blocks, scales);
  }

  template <class Format, class Tensor, class Rounding, class In>
  static void convert(Tensor const& tensor, Rounding rounding, random_source random, In const* x, int blocks,
                      tile_scales const& scales, uint8_t* codes) noexcept {
    constexpr element_rule rule = Tensor::elements;
    constexpr int size = Format::block_size;
    if constexpr (!std_types::is_same<typename Format::element, e2m1>::value || rule == element_rule::own) {
      portable_backend::convert<Format>(tensor, rounding, random, x, blocks, scales, codes);
    } else {
      float const first_divisor = avx2::first_divisor_of(tensor);
      int const sixteens = blocks * size / 16;
      if constexpr (is_stochastic_v<Rounding>) {
        if (static_cast<uint32_t>(random.position) > UINT32_MAX - max_tile_blocks) {
          return portable_backend::convert<Format>(tensor, rounding, random, x, blocks, scales, codes);
        }
      }
      auto const convert_in = [&](auto range) {
        constexpr number_range known = decltype(range)::value;
        if constexpr (std_types::is_same<Rounding, nearest_even>::value) {
          avx2::nearest_codes<size, rule, known>(first_divisor, x, sixteens, scales.factor, scales.read_ahead, codes);
        } else {
          constexpr number_range used = known == number_range::any ? known : number_range::finite;
          avx2::stochastic_codes<size, rule, used, is_stochastic_v<Rounding>>(first_divisor, random, x, sixteens,
                                                                              scales.factor, scales.read_ahead, codes);
        }
      };
      switch (scales.range == number_range::unknown ? avx2::range_of(tensor, blocks, scales) : scales.range) {
        case number_range::below_seven: return convert_in(constant<number_range::below_seven>{});
        case number_range::finite: return convert_in(constant<number_range::finite>{});
        default: return convert_in(constant<number_range::any>{});
      }
    }
  }

  template <class Scale>
  static void decode_factors(block_decoder const& decoder, int blocks, tile_scales& scales) noexcept {
    avx2::decode_factors<Scale>(decoder, blocks, scales);
  }

  template <class Format, class Out>
  static void decode(block_decoder const& decoder, uint8_t const* codes, int blocks, tile_scales const& scales,
                     Out* out, bool streams) noexcept {
    if (!avx2::decode_blocks<Format>(decoder, codes, blocks, scales, out, streams)) {
      scalar_backend::decode<Format>(decoder, codes, blocks, scales, out, streams);
    }
  }

  static void end_streams() noexcept { _mm_sfence(); }
};

}  // namespace fp4::cpu::detail
FP4_EXACT_END

#endif
