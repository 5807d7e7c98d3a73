// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "../choices.hpp"
#include "../scaling/decode.hpp"
#include "detail/environment.hpp"

FP4_EXACT_BEGIN
namespace fp4::cpu {

/// What moving block scales under another tensor scale did.
struct rescale_report {
  int64_t changed_values = 0;     ///< blocks whose scale is no longer exactly the value it was
  int64_t saturated = 0;          ///< blocks whose scale did not fit and was held at the largest
  int64_t underflowed = 0;        ///< blocks whose non-zero scale became 0
  double max_relative_error = 0;  ///< largest |new - old| / old of a block's scale times tensor scale
};

namespace detail {

/// What block scales are multiplied with under a tensor scale, as an exact quotient of fp32 numbers.
struct exact_factor {
  double numerator = 1;
  double divisor = 1;

  explicit exact_factor(tensor_scale scale) noexcept {
    switch (scale.made_from()) {
      case tensor_scale::source::encode: divisor = static_cast<double>(scale.stored()); break;
      case tensor_scale::source::decode: numerator = static_cast<double>(scale.stored()); break;
      case tensor_scale::source::amax:
        if (scale.stored() > 0) {
          numerator = static_cast<double>(scale.bounded_amax());
          divisor = static_cast<double>(scale.range());
        }
    }
  }
};

template <class Scale>
double value_of_code(uint8_t code) noexcept {
  return static_cast<double>(Scale{code}.to_float());
}

/// The scale nearest to numerator / divisor, ties to the even code. They have at most 52 and 48 bits, so that a
/// midpoint (5 bits) times the divisor is exact, and no comparison rounds.
template <class Scale>
Scale nearest_scale(double numerator, double divisor) noexcept {
  auto const belongs_above = [&](int code) {
    auto const lower = static_cast<uint8_t>(code), upper = static_cast<uint8_t>(code + 1);
    double const midpoint = (value_of_code<Scale>(lower) + value_of_code<Scale>(upper)) / 2 * divisor;
    return code % 2 == 0 ? numerator > midpoint : numerator >= midpoint;
  };
  Scale scale = Scale::from_float(static_cast<float>(numerator / divisor));  // at most one code away
  while (scale.bits < Scale::max_code && belongs_above(scale.bits)) { ++scale.bits; }
  while (scale.bits > 0 && !belongs_above(scale.bits - 1)) { --scale.bits; }
  return scale;
}

template <class Format, class Layout>
FP4_NOINLINE rescale_report rescale_rows(quantized_view<Format, Layout> q, tensor_scale from,
                                         tensor_scale to) noexcept {
  using scale = typename Format::scale;
  exact_factor const old_factor(from), new_factor(to);
  double const old_unit = old_factor.numerator * new_factor.divisor;
  double const new_unit = new_factor.numerator * old_factor.divisor;
  rescale_report report;
  for (int64_t row = 0; row < q.rows; ++row) {
    for (int64_t block = 0; block < q.blocks_per_row(); ++block) {
      uint8_t& code = q.scales[q.scale_offset(row, block)];
      code &= scale::magnitude_bits;
      if (code == 0 || scale{code}.is_nan()) { continue; }
      double const old_value = value_of_code<scale>(code) * old_unit;
      scale const moved = nearest_scale<scale>(old_value, new_unit);
      double const new_value = value_of_code<scale>(moved.bits) * new_unit;
      double const error = (new_value > old_value ? new_value - old_value : old_value - new_value) / old_value;
      report.changed_values += new_value != old_value;
      report.saturated += moved.bits == scale::max_code && new_value < old_value;
      report.underflowed += moved.bits == 0;
      report.max_relative_error = report.max_relative_error < error ? error : report.max_relative_error;
      code = moved.bits;
    }
  }
  return report;
}

}  // namespace detail

/// Re-encodes the block scales of `q`, quantized under tensor scale `from`, for tensor scale `to`: what merging tensors
/// with different scales (fused projections) takes. Codes stay. It loses accuracy, so it is its own call and reports
/// how much: each block scale becomes the one nearest to the real scale * from / to, ties to the even code, where a
/// tensor scale counts as A' / range, g or 1 / E, whichever it was made from. NaN and zero scales stay. \throws
/// precondition_error for a bad view, a bad tensor scale or an infinite amax; then nothing was written.
template <class Format, class Layout>
rescale_report rescale(quantized_view<Format, Layout> q, tensor_scale from, tensor_scale to) {
  static_assert(Format::has_block_scale && Format::has_tensor_scale, "only a format with both scales can be rescaled");
  constexpr char const* where = "fp4::cpu::rescale";
  require(fp4::detail::check_quantized(q), where);
  for (tensor_scale const scale : {from, to}) {
    require(fp4::detail::check_tensor_scales({&scale, 1}, 1), where);
    if (fp4::detail::float_bits(scale.stored()) == fp4::detail::infinity_bits) {
      require(
          {errc::bad_tensor_scale, static_cast<double>(scale.stored()), static_cast<double>(fp4::detail::float_max)},
          where);
    }
  }
  detail::exact_environment const environment;
  return detail::rescale_rows(q, from, to);
}

}  // namespace fp4::cpu
FP4_EXACT_END
