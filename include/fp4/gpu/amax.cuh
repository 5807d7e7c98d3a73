// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cub/block/block_reduce.cuh>

#include "../choices.hpp"
#include "block_values.cuh"
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
  static constexpr bool is_linear = true;
  using place = row_place<In const, uint8_t const>;

  __device__ __forceinline__ amax_part(Task const& task, float& largest, int64_t block)
      : task_(task), largest_(largest), block_(block) {}

  __device__ __forceinline__ place place_of(int64_t row) const {
    return {task_.in.row(row) + block_ * 16, nullptr, nullptr};
  }
  __device__ __forceinline__ row_distance distance_of(int64_t rows) const { return {rows * task_.in.stride, 0, 0}; }

  __device__ __forceinline__ unsigned whole(place const& at, int64_t) const {
#pragma unroll
    for (int u = 0; u < blocks_per_thread; ++u) { take(values::load_aligned(at.values + u * 32 * 16)); }
    return 0;
  }
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
  int64_t block_;
};

struct larger_bits {
  __device__ __forceinline__ unsigned operator()(unsigned a, unsigned b) const { return a > b ? a : b; }
};

template <class Task>
__global__ void __launch_bounds__(threads_per_cta) find_amax(Task const __grid_constant__ task) {
  using reduce = cub::BlockReduce<unsigned, threads_per_cta>;
  __shared__ typename reduce::TempStorage storage;
  float largest = 0.0f;
  int64_t const block = first_block_of(task.warps_across);
  for_rows(task, amax_part<Task>(task, largest, block), block);
  // Bits of numbers that are not negative order as the numbers do.
  unsigned const found = reduce(storage).Reduce(__float_as_uint(largest), larger_bits{});
  if (threadIdx.x == 0 && found != 0) { atomicMax(reinterpret_cast<unsigned*>(task.out), found); }
}

}  // namespace detail

/// The largest magnitude of a matrix, after the transform, NaN ignored, infinity counted, 0 for an empty one:
/// cpu::amax.
///
/// \param in      values in device memory, [rows, cols], any row stride, any alignment.
/// \param amax    one float in device memory, for scale_argument::from_amax.
/// \throws precondition_error before anything is enqueued; gpu::error when CUDA refuses.
/// \note   One more read of the input, beside that of quantize_async. Where the last step's amax, or a calibrated one,
///         will do, pass that instead. No allocation, no synchronisation.
template <class In, class Transform = no_transform>
void amax_async(matrix_view<In> in, float* amax, stream_argument stream = {}, Transform const& how = {}) {
  constexpr char const* where = "fp4::gpu::amax_async";
  using value = std_types::remove_const_t<In>;
  require(check(in), where);
  require(check(how, in.cols), where);
  if (amax == nullptr) { require(fp4::detail::broken(errc::null_data, 0, 1), where); }
  detail::check(cudaMemsetAsync(amax, 0, sizeof(float), stream.get()), where);
  if (in.size() == 0) { return; }
  int64_t const blocks = (in.cols + 15) / 16;
  int const across = detail::warps_across(blocks);
  bool const aligned = detail::is_aligned(in.data, in.stride * static_cast<int64_t>(sizeof(value)), 16);
  dim3 const grid = detail::grid_of(blocks, in.rows, across, detail::multiprocessors(where));
  using task = detail::amax_task<value, Transform>;
  task const work{in, amax, blocks, in.rows, across, aligned, detail::transform_task<Transform>(how)};
  detail::find_amax<task><<<grid, detail::threads_per_cta, 0, stream.get()>>>(work);
  detail::check(cudaGetLastError(), where);
}

}  // namespace fp4::gpu
