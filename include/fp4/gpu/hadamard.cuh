// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "detail/values_side.cuh"

namespace fp4::gpu {
namespace detail {

template <class Turn, class In, class Transform, class Out, class Direction>
void launch_transform(matrix_view<In> in, Transform const& how, matrix_view<Out> out, Direction, stream_argument stream,
                      char const* where) {
  using value = std_types::remove_const_t<In>;
  constexpr bool is_down = std_types::is_same<Direction, columnwise>::value;
  static_assert(is_value_v<value> && is_value_v<Out>, "values are float, fp4::float16 or fp4::bfloat16");
  require(fp4::check(in), where);
  require(fp4::check(out), where);
  require(fp4::detail::check_same_shape(out.rows, out.cols, in.rows, in.cols), where);
  require(fp4::check(how, is_down ? in.rows : in.cols), where);
  require(fp4::detail::check_apart(fp4::detail::rows_range(out.data, out.rows, out.stride, out.cols),
                                   fp4::detail::rows_range(in.data, in.rows, in.stride, in.cols)),
          where);
  if (in.size() == 0) { return; }
  using side = values_side<Out, Turn, Transform::size>;
  side const result{out, Turn(how), is_aligned(out.data, out.stride * static_cast<int64_t>(sizeof(Out)), 16)};
  int64_t const most = most_thread_blocks(multiprocessors(where));
  if constexpr (is_down) {
    launch_tiles<value>(in, no_side{}, result, most, stream, where);
  } else {
    launch_tiles<value>(in, result, no_side{}, most, stream, where);
  }
}

}  // namespace detail

/// Hadamard transform of each row, or of each column, in groups of Transform::size: [rows, cols] -> [rows, cols].
/// cpu::transform, for results of any type: its fp32 numbers, rounded to nearest even. Which NaN a NaN becomes is the
/// device's affair.
///
/// \param in   values in device memory, any row stride, any alignment.
/// \param out  likewise; it must not overlap `in`.
/// \throws precondition_error before anything is enqueued; gpu::error when the launch is refused.
/// \note   One pass. Where the result is only quantized, quantize_async does both.
template <class In, class Transform, class Out, class Direction = rowwise>
void transform_async(matrix_view<In> in, Transform const& how, matrix_view<Out> out, stream_argument stream = {},
                     Direction direction = {}) {
  detail::launch_transform<detail::transform_task<Transform>>(in, how, out, direction, stream,
                                                              "fp4::gpu::transform_async");
}

/// The way back: cpu::inverse_transform, out of place, along rows or columns.
template <class In, class Transform, class Out, class Direction = rowwise>
void inverse_transform_async(matrix_view<In> in, Transform const& how, matrix_view<Out> out,
                             stream_argument stream = {}, Direction direction = {}) {
  detail::launch_transform<detail::inverse_task<Transform>>(in, how, out, direction, stream,
                                                            "fp4::gpu::inverse_transform_async");
}

}  // namespace fp4::gpu
