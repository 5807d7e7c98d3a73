// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "near.hpp"
#include "scalar.hpp"

FP4_EXACT_BEGIN
namespace fp4::cpu::detail {

/// Finds the scale codes and factors of blocks from their amaxes. `values(b)` gives the values of block b as a function
/// of the element index, `count` of them: a scaling that chooses by error looks at them.
template <class Backend, class Format, class Tensor, class Values>
void find_scales(Tensor const& tensor, int blocks, int count, Values const& values, tile_scales& scales) noexcept {
  using scale = typename Format::scale;
  if constexpr (Tensor::scales == scale_rule::rounded) {
    Backend::template rounded_scales<scale>(tensor, blocks, scales);
  } else if constexpr (Backend::has_vectors && std_types::is_same<Tensor, fp4::detail::exact_tensor>::value) {
    Backend::exact_scales(tensor, blocks, scales);
  } else if constexpr (Backend::has_vectors && std_types::is_same<Tensor, fp4::detail::four_over_six_tensor>::value) {
    Backend::four_over_six_scales(tensor, values, blocks, count, scales);
  } else {
    for (int b = 0; b < blocks; ++b) {
      float const amax = scales.amax[b];
      scale code;
      if constexpr (Backend::has_vectors && std_types::is_same<Tensor, fp4::detail::search_tensor>::value) {
        code = Backend::search(tensor, values(b), count, amax);
      } else if constexpr (Tensor::scales == scale_rule::chosen) {
        code = tensor.choose(values(b), count, amax);
      } else {
        code = tensor.scale_for(amax);
      }
      float factor = code.to_float();
      tensor.factor(factor, amax, amax);
      scales.code[b] = code.bits;
      scales.factor[b] = factor;
    }
  }
}

/// True where `exact` goes by way of near_multiplier.
template <class Backend, class Tensor, class Rounding>
inline constexpr bool is_nearly_exact_v = Backend::has_vectors&&
    std_types::is_same<Tensor, fp4::detail::exact_tensor>::value&& std_types::is_same<Rounding, nearest_even>::value;

/// Codes of whole blocks, by the backend's convert or by a way around a slow scaling.
template <class Backend, class Format, class Tensor, class Rounding, class In>
void find_codes(Tensor const& tensor, Rounding rounding, random_source random, In const* x, int blocks,
                tile_scales const& scales, uint8_t* codes) noexcept {
  if constexpr (is_nearly_exact_v<Backend, Tensor, Rounding>) {
    exact_codes<Backend, Format>(tensor, x, blocks, scales, codes);
  } else {
    Backend::template convert<Format>(tensor, rounding, random, x, blocks, scales, codes);
  }
}

/// Quantizes whole blocks of one row in three passes over cached values: amaxes, scales, codes.
template <class Backend, class Format, class Tensor, class Rounding, class In>
FP4_NOINLINE void quantize_tile(Tensor const& tensor, Rounding rounding, random_source random, In const* x, int blocks,
                                tile_scales& scales, uint8_t* codes) noexcept {
  constexpr int size = Format::block_size;
  if constexpr (Tensor::scales == scale_rule::none) {
    scales.factor[0] = tensor.encode;
  } else {
    constexpr element_rule rule =
        is_nearly_exact_v<Backend, Tensor, Rounding> ? element_rule::multiply : Tensor::elements;
    scales.amax_read_ahead = waits_for_memory<rule, Rounding, In> ? scales.read_ahead : 0;
    Backend::template block_amax<size>(x, blocks, scales);
    find_scales<Backend, Format>(
        tensor, blocks, size, [x](int b) { return [x, b](int i) { return as_float(x[b * size + i]); }; }, scales);
  }
  find_codes<Backend, Format>(tensor, rounding, random, x, blocks, scales, codes);
}

}  // namespace fp4::cpu::detail
FP4_EXACT_END
