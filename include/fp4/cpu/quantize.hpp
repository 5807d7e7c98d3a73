// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <vector>

#include "detail/dispatch.hpp"
#include "detail/quantize_job.hpp"
#include "transform.hpp"

namespace fp4::cpu {
namespace detail {

/// Padding exists where the layout takes more bytes than there are scales.
template <class Format, class Layout>
void clear_padding(quantized_view<Format, Layout> out) noexcept {
  if (Format::has_block_scale && out.scale_bytes_needed() > out.rows * out.blocks_per_row()) {
    std::memset(out.scales, 0, static_cast<size_t>(out.scale_bytes_needed()));
  }
}

template <class In, class Format, class Layout, class Choices, class Execution>
void quantize_checked(matrix_view<In const> in, quantized_view<Format, Layout> out, tensor_scales_view scales,
                      Choices const& how, Execution execution, path p) {
  clear_padding(out);
  with_backend(p, [&](auto backend) {
    quantize_job<decltype(backend), In, Format, Layout, Choices> job(in, out, scales, how);
    int64_t const unit_values = job.unit_values() > 0 ? job.unit_values() : 1;
    fp4::detail::for_each_part(execution, job.units(), 1 + 32768 / unit_values, [&](int64_t first, int64_t last) {
      exact_environment const environment;
      job.run(first, last);
    });
  });
}

}  // namespace detail

/// Quantizes a matrix into caller's memory.
///
/// \param in      values, [rows, cols], any row stride.
/// \param out     codes and block scales of the result, fully overwritten, padding included; [rows, cols], or
///                [cols, rows] column-wise.
/// \param scales  one tensor scale, or one a row of the result. (Formats without one ignore it.)
/// \param how     transform, scaling, rounding, block shape and direction.
/// \throws precondition_error when check(in, out, scales, how) finds anything; then nothing was written.
/// \note   Bit-exact: the bytes of reference::quantize, on every path, at every thread count, under every compiler flag
///         and floating-point mode. Scales round to nearest even as their scaling says, elements as the rounding says.
/// \note   Cost: one pass over the input, no allocation; 2D column-wise with a transform makes an fp32 copy.
template <class In, class Format, class Layout, class... Options, class Execution = default_execution>
void quantize(matrix_view<In> in, quantized_view<Format, Layout> out, tensor_scales_view scales,
              choices<Options...> const& how, Execution execution = {}, path p = path::automatic) {
  constexpr char const* where = "fp4::cpu::quantize";
  using chosen = choices<Options...>;
  using value = std_types::remove_const_t<In>;
  static_assert(is_value_v<value>, "values are float, fp4::float16 or fp4::bfloat16");
  require(check(in, out, scales, how), where);
  require(check(execution), where);
  require(check(p), where);
  matrix_view<value const> const values = in;
  if constexpr (chosen::is_2d && chosen::is_columnwise && is_transformed_v<decltype(chosen::transform)>) {
    // The transform runs along the rows of `in`, the blocks are those of the matrix as given.
    std::vector<float> transformed(static_cast<size_t>(in.size()));
    matrix_view<float> const copy(transformed.data(), in.rows, in.cols);
    detail::transform_columns(values, how.transform, copy, p);
    choices<decltype(chosen::scaling), decltype(chosen::rounding), no_transform, blocks_2d, columnwise> const rest{
        how.scaling, how.rounding, {}, {}, {}};
    detail::quantize_checked(matrix_view<float const>(copy), out, scales, rest, execution, p);
  } else {
    detail::quantize_checked(values, out, scales, how, execution, p);
  }
}

}  // namespace fp4::cpu
