// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../choices.hpp"
#include "tensor.hpp"

FP4_EXACT_BEGIN
namespace fp4::reference {
namespace detail {

/// What an element is multiplied by under `amax_over_range`, from an amax. sf is not 0.
inline float factor_from_amax(tensor_factors const& t, float sf) {
  float const per_range = reciprocal(t.range);
  float factor = product(product(sf, t.bounded_amax), per_range);
  if (is_infinite(product(sf, t.bounded_amax))) { factor = product(sf, product(t.bounded_amax, per_range)); }
  if (!is_nan(factor)) { factor = larger(factor, 0x1p-128f); }  // a NaN scale stays NaN
  return factor;
}

/// The value of element q under block scale sf.
inline float decoded(decode_rule rule, tensor_factors const& t, float q, float sf) {
  if (q == 0 || sf == 0) { return negated_if(is_negative(static_cast<double>(q)), 0.0f); }
  bool const from_amax = t.made_from == tensor_scale::source::amax;
  switch (rule) {
    case decode_rule::amax_over_range:
      if (from_amax) { return product(q, factor_from_amax(t, sf)); }
      return product(q, product(sf, t.decode));
    case decode_rule::product: return product(q, product(sf, t.decode));
    case decode_rule::quotient: return quotient(product(q, sf), t.encode);
    case decode_rule::ratio: return product(q, quotient(sf, compressed_tensors_global(t)));
    case decode_rule::block_only: return product(q, sf);
    case decode_rule::tensor_only: break;
  }
  if (from_amax) { return product(q, reciprocal(t.encode)); }
  return product(q, t.decode);
}

}  // namespace detail

/// The definition of dequantization: fp32 in the order of `rule`, then rounded once to T, nearest even.
/// The tensor scales' own range counts.
///
/// \param out the shape of `in`
/// \pre    The process rounds to nearest and keeps subnormals.
/// \throws precondition_error when check(in, scales, out) is not ok; then nothing was written.
template <class T, class Format, class Layout>
void dequantize(quantized_view<Format, Layout, std::uint8_t const> in, tensor_scales_view scales, decode_rule rule,
                matrix_view<T> out) {
  require(check(in, scales, out), "fp4::reference::dequantize");
  for (int64_t r = 0; r < in.rows; ++r) {
    tensor_scale const scale = Format::has_tensor_scale ? scales.of_row(r) : tensor_scale::from_amax(0);
    detail::tensor_factors const t = detail::factors_of(scale, scale.range());
    for (int64_t c = 0; c < in.cols; ++c) {
      uint8_t const* const codes = in.code_row(r);
      int const code = Format::storage_bits == 8 ? codes[c] : c % 2 == 0 ? codes[c / 2] % 16 : codes[c / 2] / 16;
      double const q = detail::value_of<typename Format::element>(code);
      double sf = 1;
      if constexpr (Format::has_block_scale) {
        sf = detail::value_of<typename Format::scale>(in.scales[in.scale_offset(r, c / Format::block_size)]);
      }
      detail::store(detail::decoded(rule, t, static_cast<float>(q), static_cast<float>(sf)), out.row(r)[c]);
    }
  }
}

}  // namespace fp4::reference
FP4_EXACT_END
