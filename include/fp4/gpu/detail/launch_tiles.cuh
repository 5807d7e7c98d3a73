// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Host side of kernels with results along rows, down columns or both.

#include "../../choices.hpp"
#include "../error.cuh"
#include "grid.cuh"
#include "quantize_squares.cuh"
#include "tiles.cuh"

namespace fp4::gpu::detail {

/// The preconditions: those of every quantizer, and that a scale in device memory is not null.
template <class In, class Format, class Layout, class Choices>
check_result check_call(matrix_view<In> in, quantized_view<Format, Layout> out, scale_argument const& scale,
                        Choices const& how) noexcept {
  tensor_scale const known = scale.on_host();
  if (auto const found = fp4::check(in, out, tensor_scales_view{&known, 1}, how); !found.ok()) { return found; }
  if (Format::has_tensor_scale && scale.is_null()) { return fp4::detail::broken(errc::null_data, 0, 1); }
  return {};
}

/// Two results must not share memory.
template <class A, class B>
check_result check_apart(A const& a, B const& b) noexcept {
  using namespace fp4::detail;
  address_range const of_a[] = {rows_range(a.codes, a.rows, a.code_stride, A::format::row_bytes(a.cols)),
                                rows_range(a.scales, 1, 0, a.scale_bytes_needed())};
  address_range const of_b[] = {rows_range(b.codes, b.rows, b.code_stride, B::format::row_bytes(b.cols)),
                                rows_range(b.scales, 1, 0, b.scale_bytes_needed())};
  for (auto const x : of_a) {
    for (auto const y : of_b) {
      if (auto const found = fp4::detail::check_apart(x, y); !found.ok()) { return found; }
    }
  }
  return {};
}

/// Likewise for a scale a row of the result.
template <class In, class Format, class Layout, class Choices>
check_result check_call(matrix_view<In> in, quantized_view<Format, Layout> out, row_scales const& scales,
                        Choices const& how) noexcept {
  static_assert(Format::has_tensor_scale, "this format has no tensor scale");
  static_assert(!Choices::is_2d, "2D blocks have one tensor scale for the whole tensor");
  return check_call(in, out, scales.first(), how);
}

/// What a kernel is told of the result `out`. `row_blocks` are blocks in a row of the matrix that random numbers are
/// counted in, where the caller names no larger one.
template <bool PerRow, class Format, class Layout, class Choices>
auto make_side(quantized_view<Format, Layout> out, int64_t row_blocks, scale_argument scale, Choices const& how,
               random_argument random) {
  using made = side<Format, decltype(how.scaling), decltype(how.rounding), decltype(how.transform), PerRow>;
  tensor_scale const known = (Format::has_tensor_scale ? scale.on_host() : tensor_scale::from_amax(0.0f))
                                 .with_range(how.scaling.template range<Format>());
  if (!Format::has_tensor_scale) { scale = known; }
  int64_t const blocks = (out.cols + made::elements - 1) / made::elements;
  uint64_t random_row = 0;
  if constexpr (is_stochastic_v<decltype(how.rounding)>) {
    random_row = static_cast<uint64_t>(how.rounding.blocks_per_row > 0 ? how.rounding.blocks_per_row : row_blocks) *
                 made::groups;
  }
  side_frame const whole{
      out.codes, out.scales, out.code_stride, out.rows, out.cols, blocks, scale_order::of<Layout>(blocks), random_row,
      0,         0};
  return made{whole,
              is_aligned(out.codes, out.code_stride, 8),
              how.scaling.template for_tensor<Format>(known),
              scale,
              how.scaling,
              how.rounding,
              random,
              transform_task<decltype(how.transform)>(how.transform)};
}

template <class Format, class Layout, class Choices>
auto make_side_of(quantized_view<Format, Layout> out, int64_t row_blocks, scale_argument scale, Choices const& how,
                  random_argument random) {
  return make_side<false>(out, row_blocks, scale, how, random);
}
template <class Format, class Layout, class Choices>
auto make_side_of(quantized_view<Format, Layout> out, int64_t row_blocks, row_scales scales, Choices const& how,
                  random_argument random) {
  return make_side<true>(out, row_blocks, scales.first(), how, random);
}

/// Rows and columns of the input that a result covers, with the padding of its scales.
struct extent {
  int64_t rows, cols;
};
template <class Side>
extent extent_along_rows(Side const& s) noexcept {
  if (!Side::format::has_block_scale) { return {s.whole.rows, s.whole.cols}; }
  return {s.whole.order.padded_rows(s.whole.rows), s.whole.order.padded_blocks(s.whole.blocks) * Side::elements};
}
inline extent extent_along_rows(no_side const&) noexcept { return {0, 0}; }
template <class Side>
extent extent_down_columns(Side const& s) noexcept {
  extent const turned = extent_along_rows(s);
  return {turned.cols, turned.rows};
}

/// Enqueues the kernel of a matrix in parts. `cols` are columns with the padding of scales.
template <class In, class Row, class Col, class Parts>
void launch_parts(matrix_view<In const> in, Row const& rowwise, Col const& columnwise, Parts const& parts, int64_t cols,
                  int64_t most_blocks, stream_argument stream, char const* where) {
  using task = tiles_task<In, Row, Col, Parts>;
  using shape = typename task::shape;
  static_assert(shape::fits, "a tile of these transforms is larger than shared memory");
  int64_t const across = (cols + shape::cols - 1) / shape::cols, down = (parts.end + shape::rows - 1) / shape::rows;
  bool const aligned = is_aligned(in.data, in.stride * static_cast<int64_t>(sizeof(In)), 16);
  task const work{in, aligned, rowwise, columnwise, parts};
  run_tiles<task><<<grid_of_tiles(across, down, most_blocks), threads_per_cta, 0, stream.get()>>>(work);
  check(cudaGetLastError(), where);
}

/// Enqueues the kernel of one matrix. The number of thread blocks does not change the bytes.
template <class In, class Row, class Col>
void launch_tiles(matrix_view<In const> in, Row const& rowwise, Col const& columnwise, int64_t most_blocks,
                  stream_argument stream, char const* where) {
  extent const a = extent_along_rows(rowwise), b = extent_down_columns(columnwise);
  launch_parts(in, rowwise, columnwise, one_matrix{in.rows, larger(a.rows, b.rows)}, larger(a.cols, b.cols),
               most_blocks, stream, where);
}

/// Enqueues the kernel of 16 x 16 blocks. A view with null codes is a result that is not asked for.
template <class In, class Format, class Layout, class TurnedLayout, class Choices>
void launch_squares(matrix_view<In const> in, quantized_view<Format, Layout> out,
                    quantized_view<Format, TurnedLayout> turned, scale_argument scale, Choices const& how,
                    random_argument random, int64_t most_blocks, stream_argument stream, char const* where) {
  auto const rowwise = make_side<false>(out, Format::blocks(in.cols), scale, how, random);
  using task = squares_task<In, std_types::remove_const_t<decltype(rowwise)>>;
  int64_t const blocks = Format::blocks(in.rows);
  side_frame const columnwise{turned.codes,
                              turned.scales,
                              turned.code_stride,
                              in.cols,
                              in.rows,
                              blocks,
                              scale_order::of<TurnedLayout>(blocks),
                              0,
                              0,
                              0};
  extent const a = out.codes != nullptr ? extent_along_rows(rowwise) : extent{0, 0};
  extent const b = turned.codes != nullptr
                       ? extent{columnwise.order.padded_blocks(blocks) * 16, columnwise.order.padded_rows(in.cols)}
                       : extent{0, 0};
  int64_t const rows = larger(a.rows, b.rows), cols = larger(a.cols, b.cols);
  bool const aligned = is_aligned(in.data, in.stride * static_cast<int64_t>(sizeof(In)), 16);
  task const work{in, aligned, rowwise, columnwise, is_aligned(turned.codes, turned.code_stride, 4), rows};
  dim3 const grid =
      grid_of_tiles((cols + task::cols - 1) / task::cols, (rows + task::rows - 1) / task::rows, most_blocks);
  quantize_squares<task><<<grid, threads_per_cta, 0, stream.get()>>>(work);
  check(cudaGetLastError(), where);
}

}  // namespace fp4::gpu::detail
