// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "detail/launch_tiles.cuh"
#include "detail/quantize_rows.cuh"
#include "error.cuh"

namespace fp4::gpu {
namespace detail {

template <class Layout>
constexpr int64_t padded_rows(int64_t rows) noexcept {
  return Layout::bytes(rows, 4) / 4;  // four blocks are a whole tile in every layout
}
template <class Layout>
constexpr int64_t padded_blocks(int64_t blocks) noexcept {
  return Layout::bytes(1, blocks) / Layout::bytes(1, 1) * (Layout::bytes(1, 1) == 1 ? 1 : 4);
}

/// Enqueues the kernel of blocks along rows, with as many thread blocks as so many multiprocessors need.
template <class In, class Format, class Layout, class Choices>
void launch_rows(matrix_view<In const> in, quantized_view<Format, Layout> out, scale_argument scale, Choices const& how,
                 random_argument random, int multiprocessors, stream_argument stream, char const* where) {
  using scaling = decltype(Choices::scaling);
  using transform = decltype(Choices::transform);
  using task = rows_task<Format, Layout, In, scaling, decltype(Choices::rounding), transform>;
  tensor_scale const known = (Format::has_tensor_scale ? scale.on_host() : tensor_scale::from_amax(0.0f))
                                 .with_range(how.scaling.template range<Format>());
  if (!Format::has_tensor_scale) { scale = known; }
  int64_t const blocks = (in.cols + task::elements - 1) / task::elements;
  uint64_t random_row = 0;
  if constexpr (is_stochastic_v<decltype(Choices::rounding)>) {
    int64_t const whole = how.rounding.blocks_per_row > 0 ? how.rounding.blocks_per_row : blocks;
    random_row = static_cast<uint64_t>(whole) * (task::elements / 16);
  }
  bool const aligned = is_aligned(in.data, in.stride * static_cast<int64_t>(sizeof(In)), 16) &&
                       is_aligned(out.codes, out.code_stride, 8);
  int64_t const all_blocks = Format::has_block_scale ? padded_blocks<Layout>(blocks) : blocks;
  int64_t const all_rows = Format::has_block_scale ? padded_rows<Layout>(in.rows) : in.rows;
  int const across = warps_across(blocks);
  dim3 const grid = grid_of(all_blocks, all_rows, across, multiprocessors, static_cast<int>(padded_rows<Layout>(1)));
  task const work{in,
                  out,
                  blocks,
                  all_blocks,
                  all_rows,
                  across,
                  step_of<Layout>(grid, across, in.rows, in.stride * static_cast<int64_t>(sizeof(In)), out.code_stride,
                                  blocks, random_row),
                  aligned,
                  how.scaling.template for_tensor<Format>(known),
                  scale,
                  how.scaling,
                  how.rounding,
                  random,
                  random_row,
                  transform_task<transform>(how.transform)};
  quantize_rows<task><<<grid, threads_per_cta, 0, stream.get()>>>(work);
  check(cudaGetLastError(), where);
}

}  // namespace detail

/// Quantizes a matrix on the device: the bytes of reference::quantize.
///
/// \param in      values in device memory, [rows, cols], any row stride, any alignment. Fastest where rows begin at
///                multiples of 16 bytes and codes at multiples of 8.
/// \param out     codes and block scales in device memory, fully overwritten, padding included.
/// \param scale   a tensor_scale, or scale_argument::from_amax(pointer) and the like: read when the kernel runs.
/// \param how     scaling, rounding, transform and direction.
/// \param stream  where the kernel is enqueued. No allocation, no synchronisation: it can be captured in a graph.
/// \param random  seed and stream of stochastic rounding, if they lie in device memory.
/// \throws precondition_error before anything is enqueued; gpu::error when the launch is refused.
/// \note   Bit-exact on every device, for every launch shape, under every compiler flag. One pass: each value is read
///         once.
template <class In, class Format, class Layout, class... Options>
void quantize_async(matrix_view<In> in, quantized_view<Format, Layout> out, scale_argument scale,
                    choices<Options...> const& how, stream_argument stream = {}, random_argument random = {}) {
  constexpr char const* where = "fp4::gpu::quantize_async";
  using chosen = choices<Options...>;
  using value = std_types::remove_const_t<In>;
  static_assert(is_value_v<value>, "values are float, fp4::float16 or fp4::bfloat16");
  static_assert(!chosen::is_2d || !chosen::is_columnwise || !is_transformed_v<decltype(chosen::transform)>,
                "2D blocks column-wise with a transform: transform the columns first, then quantize without");
  require(detail::check_call(in, out, scale, how), where);
  if (in.size() == 0) { return; }
  int64_t const most = detail::most_thread_blocks(detail::multiprocessors(where));
  if constexpr (chosen::is_2d) {
    auto const absent = quantized_view<Format, Layout>(nullptr, nullptr, 0, in.rows, in.cols);
    auto const row_out = chosen::is_columnwise ? absent : out, turned = chosen::is_columnwise ? out : absent;
    detail::launch_squares<value>(in, row_out, turned, scale, how, random, most, stream, where);
  } else if constexpr (chosen::is_columnwise) {
    auto const result = detail::make_side<false>(out, Format::blocks(in.rows), scale, how, random);
    detail::launch_tiles<value>(in, detail::no_side{}, result, most, stream, where);
  } else {
    detail::launch_rows<value>(in, out, scale, how, random, detail::multiprocessors(where), stream, where);
  }
}

/// Likewise, with a tensor scale of its own for each row of the result: for each row of `in`, or column-wise for each
/// column. Not for 2D blocks.
template <class In, class Format, class Layout, class... Options>
void quantize_async(matrix_view<In> in, quantized_view<Format, Layout> out, row_scales scales,
                    choices<Options...> const& how, stream_argument stream = {}, random_argument random = {}) {
  constexpr char const* where = "fp4::gpu::quantize_async";
  using value = std_types::remove_const_t<In>;
  static_assert(is_value_v<value>, "values are float, fp4::float16 or fp4::bfloat16");
  require(detail::check_call(in, out, scales, how), where);
  if (in.size() == 0) { return; }
  int64_t const most = detail::most_thread_blocks(detail::multiprocessors(where));
  auto const result = detail::make_side_of(out, Format::blocks(out.cols), scales, how, random);
  if constexpr (choices<Options...>::is_columnwise) {
    detail::launch_tiles<value>(in, detail::no_side{}, result, most, stream, where);
  } else {
    detail::launch_tiles<value>(in, result, detail::no_side{}, most, stream, where);
  }
}

}  // namespace fp4::gpu
