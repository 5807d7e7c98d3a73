// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_amax.hpp"
#include "avx2_near.hpp"
#include "avx2_nearest.hpp"
#include "avx2_scales.hpp"
#include "portable.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
namespace fp4::cpu::detail {

/// x86-64 with AVX2, FMA and F16C.
struct avx2_backend : portable_backend {
  using number_range = avx2::number_range;
  template <number_range Range>
  using constant = std_types::integral_constant<number_range, Range>;

  static constexpr bool notices_nan = true;

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
  static bool block_amax(In const *x, int blocks, float *amax) noexcept {
    return avx2::block_amax<BlockSize>(x, blocks, amax);
  }

  template <class In> static float amax(In const *x, int count) noexcept {
    return avx2::amax(x, count);
  }

  template <class Scale, class Tensor>
  static void rounded_scales(Tensor const &tensor, int blocks,
                             tile_scales &scales) noexcept {
    avx2::rounded_scales<Scale>(tensor, blocks, scales);
  }

  template <class Format, class Tensor, class Rounding, class In>
  static void convert(Tensor const &tensor, Rounding rounding,
                      random_source random, In const *x, int blocks,
                      tile_scales const &scales, uint8_t *codes) noexcept {
    constexpr element_rule rule = Tensor::elements;
    constexpr int size = Format::block_size;
    if constexpr (!std_types::is_same<typename Format::element, e2m1>::value ||
                  rule == element_rule::own) {
      scalar_backend::convert<Format>(tensor, rounding, random, x, blocks,
                                      scales, codes);
    } else if constexpr (std_types::is_same<Rounding, nearest_even>::value) {
      float first_divisor = 1.0f;
      if constexpr (rule == element_rule::divide_twice) {
        first_divisor = tensor.first_divisor;
      }
      int const sixteens = blocks * size / 16;
      auto const convert_in = [&](auto range) {
        avx2::nearest_codes<size, rule, decltype(range)::value>(
            first_divisor, x, sixteens, scales.factor, scales.read_ahead,
            codes);
      };
      switch (avx2::range_of<rule>(first_divisor, blocks, scales)) {
      case number_range::below_seven:
        return convert_in(constant<number_range::below_seven>{});
      case number_range::finite:
        return convert_in(constant<number_range::finite>{});
      default:
        return convert_in(constant<number_range::any>{});
      }
    } else {
      portable_backend::convert<Format>(tensor, rounding, random, x, blocks,
                                        scales, codes);
    }
  }
};

} // namespace fp4::cpu::detail
FP4_EXACT_END

#endif
