// SPDX-License-Identifier: Apache-2.0
#pragma once

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

template <class Format, class Layout>
FP4_NOINLINE rescale_report rescale_rows(quantized_view<Format, Layout> q, double from, double to) noexcept {
  using scale = typename Format::scale;
  rescale_report report;
  for (int64_t row = 0; row < q.rows; ++row) {
    for (int64_t block = 0; block < q.blocks_per_row(); ++block) {
      uint8_t& code = q.scales[q.scale_offset(row, block)];
      double const old_value = static_cast<double>(scale{code}.to_float()) * from;
      if (!(old_value > 0)) { continue; }
      scale const moved = scale::from_float(static_cast<float>(old_value / to));
      double const new_value = static_cast<double>(moved.to_float()) * to;
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
/// how much: each block scale becomes the nearest of scale * from.decode() / to.decode(). \throws precondition_error
/// for a bad view or a bad tensor scale; then nothing was written.
template <class Format, class Layout>
rescale_report rescale(quantized_view<Format, Layout> q, tensor_scale from, tensor_scale to) {
  static_assert(Format::has_block_scale && Format::has_tensor_scale, "only a format with both scales can be rescaled");
  constexpr char const* where = "fp4::cpu::rescale";
  require(fp4::detail::check_quantized(q), where);
  tensor_scale const both[] = {from, to};
  require(fp4::detail::check_tensor_scales({both, 1}, 1), where);
  require(fp4::detail::check_tensor_scales({both + 1, 1}, 1), where);
  detail::exact_environment const environment;
  auto const factor = [](tensor_scale s) {
    return s.made_from() == tensor_scale::source::encode ? 1.0 / static_cast<double>(s.encode())
                                                         : static_cast<double>(s.decode());
  };
  return detail::rescale_rows(q, factor(from), factor(to));
}

}  // namespace fp4::cpu
FP4_EXACT_END
