// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cub/block/block_reduce.cuh>

#include "../choices.hpp"
#include "block_values.cuh"
#include "detail/amax_side.cuh"
#include "detail/hadamard.cuh"
#include "detail/rows.cuh"
#include "error.cuh"

namespace fp4::gpu {
namespace detail {

template <class In, class Transform>
struct amax_task {
  using value = In;
  static constexpr int elements = 16;
  matrix_view<In const> in;
  float* out;
  int64_t blocks, padded_rows;
  int warps_across;
  row_step step;
  bool aligned;
  transform_task<Transform> turn;

  __host__ __device__ int64_t rows() const { return in.rows; }
  __host__ __device__ int64_t cols() const { return in.cols; }
};

template <class Task>
class amax_part {
  using In = typename Task::value;
  using values = block_values<In, 16>;

 public:
  using place = row_place<In const, uint8_t const>;

  __device__ __forceinline__ amax_part(Task const& task, float& largest) : task_(task), largest_(largest) {}
  __device__ __forceinline__ Task const& task() const { return task_; }
  __device__ __forceinline__ amax_part hidden() const { return {ptx::hidden(task_), largest_}; }

  __device__ __forceinline__ place place_of(int64_t row, int64_t block) const {
    return {task_.in.row(row) + block * 16, nullptr, nullptr};
  }

  __device__ __forceinline__ bool whole(place const& at) const {
#pragma unroll
    for (int u = 0; u < blocks_per_thread; ++u) { take(values::load_aligned(at.values + u * 32 * 16)); }
    return true;
  }
  __device__ __forceinline__ void again(int64_t, int64_t) const {}
  __device__ __forceinline__ void other(int64_t row, int64_t block) const {
    int64_t const left = task_.in.cols - block * 16;
    if (left <= 0) { return; }
    take(values::load(task_.in.row(row) + block * 16, left < 16 ? static_cast<int>(left) : 16));
  }

 private:
  __device__ __forceinline__ void take(values const& x) const {
    largest_ = ptx::max(largest_, transformed(task_.turn, x).amax());
  }

  Task const& task_;
  float& largest_;
};

struct larger_bits {
  __device__ __forceinline__ unsigned operator()(unsigned a, unsigned b) const { return a > b ? a : b; }
};

template <class Task>
__global__ void __launch_bounds__(threads_per_cta) find_amax(Task const __grid_constant__ task) {
  using reduce = cub::BlockReduce<unsigned, threads_per_cta>;
  __shared__ typename reduce::TempStorage storage;
  float largest = 0.0f;
  for_rows(amax_part<Task>(task, largest));
  // Bits of numbers that are not negative order as the numbers do.
  unsigned const found = reduce(storage).Reduce(__float_as_uint(largest), larger_bits{});
  if (threadIdx.x == 0 && found != 0) { atomicMax(reinterpret_cast<unsigned*>(task.out), found); }
}

}  // namespace detail

namespace detail {

/// The preconditions of an amax along `direction`.
template <class In, class Transform>
void require_amax(matrix_view<In> in, float* amax, int64_t count, Transform const& how, bool down_columns,
                  char const* where) {
  require(fp4::check(in), where);
  require(fp4::check(how, down_columns ? in.rows : in.cols), where);
  if (amax == nullptr && count > 0) { require(fp4::detail::broken(errc::null_data, 0, 1), where); }
}

/// The same; then its memory is cleared.
template <class In, class Transform>
void begin_amax(matrix_view<In> in, float* amax, int64_t count, Transform const& how, bool down_columns,
                stream_argument stream, char const* where) {
  require_amax(in, amax, count, how, down_columns, where);
  if (count == 0) { return; }
  check(cudaMemsetAsync(amax, 0, static_cast<size_t>(count) * sizeof(float), stream.get()), where);
}

/// Enqueues the kernel of largest magnitudes along rows, without gaps between what a warp reads.
template <class In, class Transform>
void launch_amax(matrix_view<In const> in, float* amax, Transform const& how, stream_argument stream,
                 char const* where) {
  int64_t const blocks = (in.cols + 15) / 16;
  int const across = warps_across(blocks);
  bool const aligned = is_aligned(in.data, in.stride * static_cast<int64_t>(sizeof(In)), 16);
  dim3 const grid = grid_of(blocks, in.rows, across, multiprocessors(where));
  using task = amax_task<In, Transform>;
  task const work{in,      amax,
                  blocks,  in.rows,
                  across,  step_of(grid, across, in.rows, in.stride * static_cast<int64_t>(sizeof(In)), 0, 0),
                  aligned, transform_task<Transform>(how)};
  find_amax<task><<<grid, threads_per_cta, 0, stream.get()>>>(work);
  check(cudaGetLastError(), where);
}

}  // namespace detail

/// The largest magnitude of the values that quantizing a matrix along `direction` would scale: after the transform, NaN
/// ignored, infinity counted, 0 for an empty one: cpu::amax.
///
/// \param in      values in device memory, [rows, cols], any row stride, any alignment.
/// \param amax    one float in device memory, for scale_argument::from_amax.
/// \throws precondition_error before anything is enqueued; gpu::error when CUDA refuses.
/// \note   One more read of the input, beside that of quantize_async. Where the last step's amax, or a calibrated one,
///         will do, pass that instead. No allocation, no synchronisation.
template <class In, class Transform = no_transform, class Direction = rowwise>
void amax_async(matrix_view<In> in, float* amax, stream_argument stream = {}, Transform const& how = {},
                Direction = {}) {
  constexpr char const* where = "fp4::gpu::amax_async";
  using value = std_types::remove_const_t<In>;
  constexpr bool is_down = std_types::is_same<Direction, columnwise>::value;
  detail::begin_amax(in, amax, 1, how, is_down, stream, where);
  if (in.size() == 0) { return; }
  if constexpr (is_down && is_transformed_v<Transform>) {
    int64_t const most = detail::most_thread_blocks(detail::multiprocessors(where));
    detail::launch_tiles<value>(in, detail::no_side{}, detail::make_amax_side<false>(amax, how, in.cols, in.rows), most,
                                stream, where);
  } else {
    detail::launch_amax<value>(in, amax, how, stream, where);
  }
}

/// Both amaxes that quantize_both_async needs, in one read of the input: along rows after `row_how`, down columns after
/// `column_how`. As amax_async.
template <class In, class RowTransform, class ColTransform>
void amax_both_async(matrix_view<In> in, float* along_rows, RowTransform const& row_how, float* down_columns,
                     ColTransform const& column_how, stream_argument stream = {}) {
  constexpr char const* where = "fp4::gpu::amax_both_async";
  using value = std_types::remove_const_t<In>;
  using row_side = detail::amax_side<RowTransform, false>;
  using col_side = detail::amax_side<ColTransform, false>;
  detail::require_amax(in, down_columns, 1, column_how, true, where);
  if (along_rows == down_columns) { require(fp4::detail::broken(errc::overlapping_output, 0, 0), where); }
  detail::begin_amax(in, along_rows, 1, row_how, false, stream, where);
  detail::begin_amax(in, down_columns, 1, column_how, true, stream, where);
  if (in.size() == 0) { return; }
  if constexpr (detail::tile_shape<value, row_side, col_side>::fits) {
    detail::launch_tiles<value>(in, detail::make_amax_side<false>(along_rows, row_how, in.rows, in.cols),
                                detail::make_amax_side<false>(down_columns, column_how, in.cols, in.rows),
                                detail::most_thread_blocks(detail::multiprocessors(where)), stream, where);
  } else {
    amax_async(in, along_rows, stream, row_how);
    amax_async(in, down_columns, stream, column_how, columnwise{});
  }
}

/// The amax of each row of the result of quantizing `in` along `direction`: of its rows, or of its columns.
/// \param amaxes  one float a row of the result in device memory, for row_scales::from_amax. \note As amax_async.
template <class In, class Transform = no_transform, class Direction = rowwise>
void row_amaxes_async(matrix_view<In> in, float* amaxes, stream_argument stream = {}, Transform const& how = {},
                      Direction = {}) {
  constexpr char const* where = "fp4::gpu::row_amaxes_async";
  using value = std_types::remove_const_t<In>;
  constexpr bool is_down = std_types::is_same<Direction, columnwise>::value;
  detail::begin_amax(in, amaxes, is_down ? in.cols : in.rows, how, is_down, stream, where);
  if (in.size() == 0) { return; }
  int64_t const most = detail::most_thread_blocks(detail::multiprocessors(where));
  if constexpr (is_down) {
    detail::launch_tiles<value>(in, detail::no_side{}, detail::make_amax_side<true>(amaxes, how, in.cols, in.rows),
                                most, stream, where);
  } else {
    detail::launch_tiles<value>(in, detail::make_amax_side<true>(amaxes, how, in.rows, in.cols), detail::no_side{},
                                most, stream, where);
  }
}

}  // namespace fp4::gpu
