// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "quantize.cuh"

namespace fp4::gpu {

/// One of the two results of quantize_both_async.
template <class Format, class Layout, class Choices, class Scale = scale_argument>
struct operand {
  quantized_view<Format, Layout> out;  ///< codes and scales in device memory
  Scale scale;                         ///< of what is quantized: after the transform, if there is one
  Choices how;                         ///< scaling, rounding, transform and direction
  random_argument random{};

  operand(quantized_view<Format, Layout> out_, Scale scale_, Choices const& how_, random_argument random_ = {}) noexcept
      : out(out_), scale(scale_), how(how_), random(random_) {}
};
template <class Format, class Layout, class Choices>
operand(quantized_view<Format, Layout>, tensor_scale, Choices const&, random_argument = {})
    -> operand<Format, Layout, Choices>;
template <class Format, class Layout, class Choices>
operand(quantized_view<Format, Layout>, row_scales, Choices const&, random_argument = {})
    -> operand<Format, Layout, Choices, row_scales>;

/// Quantizes a matrix along its rows and down its columns: two operands of a training step. Each result has the bytes
/// that quantize_async writes for it alone.
///
/// \param in      values in device memory, [rows, cols], any row stride, any alignment. Fastest where rows begin at
///                multiples of 16 bytes and codes at multiples of 8.
/// \param along_rows    [rows, cols]; its choices are row-wise.
/// \param down_columns  [cols, rows]; its choices are column-wise. The two have choices, scales and layouts of their
///                      own.
/// \throws precondition_error before anything is enqueued; gpu::error when the launch is refused.
/// \note   One pass: each value is read once. Only where transforms are so long that a tile of both does not fit into
///         shared memory (256 along rows, or 128 both ways of float) is the input read twice.
template <class In, class Format, class Layout, class Choices, class Scale, class Format2, class Layout2,
          class Choices2, class Scale2>
void quantize_both_async(matrix_view<In> in, operand<Format, Layout, Choices, Scale> const& along_rows,
                         operand<Format2, Layout2, Choices2, Scale2> const& down_columns, stream_argument stream = {}) {
  constexpr char const* where = "fp4::gpu::quantize_both_async";
  using value = std_types::remove_const_t<In>;
  static_assert(is_value_v<value>, "values are float, fp4::float16 or fp4::bfloat16");
  static_assert(!Choices::is_columnwise && Choices2::is_columnwise, "row-wise choices first, column-wise ones second");
  static_assert(!Choices::is_2d && !Choices2::is_2d,
                "2D blocks have one scale and one rounding for both: the overload "
                "with two views");
  require(detail::check_call(in, along_rows.out, along_rows.scale, along_rows.how), where);
  require(detail::check_call(in, down_columns.out, down_columns.scale, down_columns.how), where);
  require(detail::check_apart(along_rows.out, down_columns.out), where);
  if (in.size() == 0) { return; }
  auto const a = detail::make_side_of(along_rows.out, Format::blocks(in.cols), along_rows.scale, along_rows.how,
                                      along_rows.random);
  auto const b = detail::make_side_of(down_columns.out, Format2::blocks(in.rows), down_columns.scale, down_columns.how,
                                      down_columns.random);
  if constexpr (detail::tile_shape<value, decltype(a), decltype(b)>::fits) {
    detail::launch_tiles<value>(in, a, b, detail::most_thread_blocks(detail::multiprocessors(where)), stream, where);
  } else {
    quantize_async(in, along_rows.out, along_rows.scale, along_rows.how, stream, along_rows.random);
    quantize_async(in, down_columns.out, down_columns.scale, down_columns.how, stream, down_columns.random);
  }
}

/// Quantizes a matrix in 16 x 16 blocks, for use along its rows and down its columns: a weight and its transpose that
/// decode to the same values. The bytes of quantize_async with blocks_2d, row-wise and column-wise.
///
/// \param out     [rows, cols] of the result along rows.
/// \param turned  [cols, rows] of the result down columns.
/// \param how     choices with blocks_2d, row-wise, without a transform. Random numbers are drawn once.
/// \note   As the other overload. One pass.
template <class In, class Format, class Layout, class TurnedLayout, class Scaling, class Rounding>
void quantize_both_async(matrix_view<In> in, quantized_view<Format, Layout> out,
                         quantized_view<Format, TurnedLayout> turned, scale_argument scale,
                         choices<Scaling, Rounding, no_transform, blocks_2d, rowwise> const& how,
                         stream_argument stream = {}, random_argument random = {}) {
  constexpr char const* where = "fp4::gpu::quantize_both_async";
  using value = std_types::remove_const_t<In>;
  static_assert(is_value_v<value>, "values are float, fp4::float16 or fp4::bfloat16");
  choices<Scaling, Rounding, no_transform, blocks_2d, columnwise> const down{how.scaling, how.rounding, {}, {}, {}};
  require(detail::check_call(in, out, scale, how), where);
  require(detail::check_call(in, turned, scale, down), where);
  require(detail::check_apart(out, turned), where);
  if (in.size() == 0) { return; }
  int64_t const most = detail::most_thread_blocks(detail::multiprocessors(where));
  detail::launch_squares<value>(in, out, turned, scale, how, random, most, stream, where);
}

}  // namespace fp4::gpu
