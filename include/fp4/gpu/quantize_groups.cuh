// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "amax.cuh"
#include "detail/grouped_rows.cuh"
#include "quantize_both.cuh"

namespace fp4::gpu {
namespace detail {

/// The preconditions of a grouped result that the host can know.
template <class In, class Format, class Layout, class Choices, class Scale>
check_result check_group_call(matrix_view<In> in, row_groups groups,
                              operand<Format, Layout, Choices, Scale> const& one) noexcept {
  using namespace fp4::detail;
  using layout = grouped_layout<Format, Layout>;
  static_assert(!Choices::is_2d, "groups have blocks along rows or down columns");
  static_assert(!Choices::is_columnwise || std_types::is_same<Scale, scale_argument>::value,
                "column-wise, a group has one tensor scale");
  if (groups.count() < 0) { return broken(errc::negative_size, as_double(groups.count()), 0); }
  if (groups.is_null()) { return broken(errc::null_data, 0, as_double(groups.count())); }
  auto out = one.out;
  if constexpr (Choices::is_columnwise) {
    if (out.cols < layout::turned_cols(in.rows, groups.count())) {
      return broken(errc::shape_mismatch, as_double(out.cols), as_double(layout::turned_cols(in.rows, groups.count())));
    }
    if (out.code_stride < Format::row_bytes(out.cols)) {
      return broken(errc::code_stride_too_small, as_double(out.code_stride), as_double(Format::row_bytes(out.cols)));
    }
    out.cols = in.rows;
  }
  int64_t const needed = Choices::is_columnwise ? layout::turned_scale_bytes(in.rows, in.cols, groups.count())
                                                : layout::scale_bytes(in.rows, in.cols, groups.count());
  if (out.scale_bytes < needed) {
    return broken(errc::scale_buffer_too_small, as_double(out.scale_bytes), as_double(needed));
  }
  return check_call(in, out, one.scale, one.how);
}

/// The side of a grouped result. Column-wise, the device counts the blocks that random positions are made of.
template <class In, class Format, class Layout, class Choices, class Scale>
auto make_group_side(matrix_view<In> in, operand<Format, Layout, Choices, Scale> const& one) {
  return make_side_of(one.out, Choices::is_columnwise ? 0 : Format::blocks(in.cols), one.scale, one.how, one.random);
}

/// Enqueues the kernel of groups.
template <class In, class Row, class Col>
void launch_groups(matrix_view<In const> in, row_groups groups, Row const& rowwise, Col const& columnwise,
                   int64_t most_blocks, stream_argument stream, char const* where) {
  using shape = typename tiles_task<In, Row, Col, grouped_rows>::shape;
  int64_t const alignment = larger<int64_t>(larger(128, shape::rows), 4 * Col::elements);
  int64_t const end = aligned_start(in.rows, groups.count(), alignment);
  int64_t const cols = larger(extent_along_rows(rowwise).cols, extent_down_columns(columnwise).cols);
  launch_parts(in, rowwise, columnwise, grouped_rows{groups, alignment, end}, cols, most_blocks, stream, where);
}

}  // namespace detail

/// Quantizes groups of rows in one launch, each as a matrix of its own: along its rows or, for column-wise choices, down
/// its columns. Each has the bytes of quantize_async, in the places that grouped_layout names; stochastic rounding
/// counts rows in the whole matrix, and column-wise blocks over all groups.
///
/// \param in      values in device memory, [rows, cols]: as many rows as there is room for.
/// \param groups  which rows belong together; read when the kernel runs.
/// \param one     codes and scales, [rows, cols] or, column-wise, [cols, turned_cols]; a tensor scale in device memory is
///                one float a group, row_scales are one a row of `in`. Each group's codes and scales are written with
///                their padding, what lies between groups is not. Column-wise with a transform, each group has a multiple
///                of its size as rows.
/// \throws precondition_error before anything is enqueued; gpu::error when the launch is refused. What the groups hold
///         nobody can check before.
/// \note   One pass, no allocation, no synchronisation: it can be captured in a graph and replayed with other groups.
template <class In, class Format, class Layout, class Choices, class Scale>
void quantize_groups_async(matrix_view<In> in, row_groups groups, operand<Format, Layout, Choices, Scale> const& one,
                           stream_argument stream = {}) {
  constexpr char const* where = "fp4::gpu::quantize_groups_async";
  using value = std_types::remove_const_t<In>;
  static_assert(is_value_v<value>, "values are float, fp4::float16 or fp4::bfloat16");
  require(detail::check_group_call(in, groups, one), where);
  if (in.size() == 0 || groups.count() == 0) { return; }
  int64_t const most = detail::most_thread_blocks(detail::multiprocessors(where));
  auto const side = detail::make_group_side(in, one);
  if constexpr (Choices::is_columnwise) {
    detail::launch_groups<value>(in, groups, detail::no_side{}, side, most, stream, where);
  } else {
    detail::launch_groups<value>(in, groups, side, detail::no_side{}, most, stream, where);
  }
}

/// Both directions of each group in one pass: quantize_both_async of groups.
template <class In, class Format, class Layout, class Choices, class Scale, class Format2, class Layout2,
          class Choices2, class Scale2>
void quantize_groups_both_async(matrix_view<In> in, row_groups groups,
                                operand<Format, Layout, Choices, Scale> const& along_rows,
                                operand<Format2, Layout2, Choices2, Scale2> const& down_columns,
                                stream_argument stream = {}) {
  constexpr char const* where = "fp4::gpu::quantize_groups_both_async";
  using value = std_types::remove_const_t<In>;
  static_assert(is_value_v<value>, "values are float, fp4::float16 or fp4::bfloat16");
  static_assert(!Choices::is_columnwise && Choices2::is_columnwise, "row-wise choices first, column-wise ones second");
  require(detail::check_group_call(in, groups, along_rows), where);
  require(detail::check_group_call(in, groups, down_columns), where);
  require(detail::check_apart(along_rows.out, down_columns.out), where);
  if (in.size() == 0 || groups.count() == 0) { return; }
  auto const a = detail::make_group_side(in, along_rows);
  auto const b = detail::make_group_side(in, down_columns);
  if constexpr (detail::tile_shape<value, decltype(a), decltype(b)>::fits) {
    int64_t const most = detail::most_thread_blocks(detail::multiprocessors(where));
    detail::launch_groups<value>(in, groups, a, b, most, stream, where);
  } else {
    quantize_groups_async(in, groups, along_rows, stream);
    quantize_groups_async(in, groups, down_columns, stream);
  }
}

/// The amax of each group, along `direction` after the transform: one float a group in device memory, for
/// scale_argument::from_amax. As amax_async.
template <class In, class Transform = no_transform, class Direction = rowwise>
void group_amaxes_async(matrix_view<In> in, row_groups groups, float* amaxes, stream_argument stream = {},
                        Transform const& how = {}, Direction = {}) {
  constexpr char const* where = "fp4::gpu::group_amaxes_async";
  using value = std_types::remove_const_t<In>;
  constexpr bool is_down = std_types::is_same<Direction, columnwise>::value;
  if (groups.count() < 0) {
    require(fp4::detail::broken(errc::negative_size, fp4::detail::as_double(groups.count()), 0), where);
  }
  if (groups.is_null()) { require(fp4::detail::broken(errc::null_data, 0, 1), where); }
  detail::begin_amax(in, amaxes, groups.count(), how, is_down, stream, where);
  if (in.size() == 0 || groups.count() == 0) { return; }
  int64_t const most = detail::most_thread_blocks(detail::multiprocessors(where));
  if constexpr (is_down && is_transformed_v<Transform>) {
    auto const side = detail::make_amax_side<false>(amaxes, how, in.cols, in.rows);
    detail::launch_groups<value>(in, groups, detail::no_side{}, side, most, stream, where);
  } else {
    auto const side = detail::make_amax_side<false>(amaxes, how, in.rows, in.cols);
    detail::launch_groups<value>(in, groups, side, detail::no_side{}, most, stream, where);
  }
}

}  // namespace fp4::gpu
