// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How warps share a matrix whose blocks lie along rows. A warp takes blocks_per_warp blocks of a row, then those below
/// them: what depends on the columns alone is found once.

#include "../../layout/quantized_view.hpp"
#include "ptx.cuh"

namespace fp4::gpu::detail {

inline constexpr int warps_per_cta = 8;
inline constexpr int threads_per_cta = 32 * warps_per_cta;
/// Blocks of a row that a thread takes at a time, 32 apart: a warp reads and writes without gaps.
inline constexpr int blocks_per_thread = 4;
inline constexpr int blocks_per_warp = 32 * blocks_per_thread;

/// Where a thread reads and writes in a row of whole, aligned blocks.
template <class Value, class Byte>
struct row_place {
  Value* values;
  Byte* codes;
  Byte* scales;
  uint64_t position = 0;  ///< of random numbers
};

/// From a thread's row to its next. Found on the host: a kernel then adds what lies in the constant bank, instead of
/// holding or computing it.
struct row_step {
  int rows;   ///< from one to the next
  int times;  ///< that each thread takes a row of the matrix; those of the first `remainder` rows take one more
  int remainder;
  int64_t values, codes, scales;  ///< bytes
  uint64_t position;
};

/// Layout::offset, cheap to compute row after row.
template <class Layout>
__device__ __forceinline__ int64_t scale_offset(int64_t row, int64_t block, int64_t blocks) {
  if constexpr (std_types::is_same<Layout, linear_scales>::value) {
    return row * blocks + block;
  } else if constexpr (std_types::is_same<Layout, tiled_32x4_scales>::value) {
    return Layout::offset(row, block, blocks);
  } else {
    constexpr bool tall = std_types::is_same<Layout, tiled_128x4_scales>::value;
    constexpr uint32_t tile_bytes = tall ? 512 : 32, row_bits = tall ? 7 : 3;
    uint32_t const r = static_cast<uint32_t>(row), b = static_cast<uint32_t>(block);
    uint64_t const tiles = static_cast<uint64_t>(blocks + 3) >> 2;
    uint64_t const tile = (static_cast<uint64_t>(row) >> row_bits) * tiles + (static_cast<uint64_t>(block) >> 2);
    uint32_t const inside = (tall ? (r & 31) * 16 + (r >> 5 & 3) * 4 : (r & 7) * 4) + (b & 3);
    return static_cast<int64_t>(tile * tile_bytes + inside);
  }
}

/// The thread's first block in a row.
__device__ __forceinline__ int64_t first_block_of(int warps_across) {
  int const warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  return (int64_t{blockIdx.x} * warps_across + warp % warps_across) * blocks_per_warp + lane;
}

template <class T>
__device__ __forceinline__ T* moved(T* p, int64_t bytes) {
  return reinterpret_cast<T*>(const_cast<char*>(reinterpret_cast<char const*>(p)) + bytes);
}

/// The thread's first row.
template <class Task>
__device__ __forceinline__ int first_row_of(Task const& task) {
  int const warp = static_cast<int>(threadIdx.x) / 32;
  return static_cast<int>(blockIdx.y) * (warps_per_cta / task.warps_across) + warp / task.warps_across;
}
/// How many of its rows are whole and aligned where it reads and writes: all of the matrix, or none.
template <class Task>
__device__ __forceinline__ int quick_rows_of(Task const& task, int64_t first_block) {
  int64_t const end = (first_block - first_block % 32 + blocks_per_warp) * Task::elements;
  if (!task.aligned || end > task.cols()) { return 0; }
  return task.step.times + (first_row_of(task) < task.step.remainder ? 1 : 0);
}

/// The row that follows when all but `left` of those are done.
template <class Task>
__device__ __forceinline__ int64_t row_before_last(Task const& task, int64_t first_block, int left) {
  return first_row_of(task) + int64_t{quick_rows_of(task, first_block) - left} * task.step.rows;
}

/// The thread's blocks in a row, one by one: part.again(row, block) or part.other(row, block). Everything is
/// found anew from `part.hidden()`, so that no register holds it while the quick way runs.
template <bool Again, class Part>
__device__ __forceinline__ void row_with_care(Part const& part, int64_t row) {
  auto const hidden = part.hidden();
  int64_t const block = first_block_of(hidden.task().warps_across);
#pragma unroll 1
  for (int u = 0; u < blocks_per_thread; ++u) {
    if constexpr (Again) {
      hidden.again(row, block + u * 32);
    } else {
      hidden.other(row, block + u * 32);
    }
  }
}

/// Calls part.whole(place) where a warp's blocks are whole and aligned, part.again(row, block) for each of them where
/// that is false, and part.other(row, block) for all other blocks. part.task() has warps_across, step, aligned,
/// elements, cols(), padded_rows.
template <class Part>
__device__ __forceinline__ void for_rows(Part const& part) {
  auto const& task = part.task();
  int64_t const block = first_block_of(task.warps_across);
  if (int left = quick_rows_of(task, block); left > 0) {
    row_step const& step = task.step;
    auto at = part.place_of(first_row_of(task), block);
#pragma unroll 1
    do {
      bool const good = part.whole(at);
      --left;
      if (good) {
        at.values = moved(at.values, step.values);
        at.codes = moved(at.codes, step.codes);
        at.position += step.position;
        at.scales = moved(at.scales, step.scales);
      } else {
        auto const hidden = part.hidden();
        int64_t const next_block = first_block_of(hidden.task().warps_across);
        int64_t const row = row_before_last(hidden.task(), next_block, left);
        row_with_care<true>(part, row - hidden.task().step.rows);
        at = part.place_of(row, next_block);
      }
    } while (left > 0);
  }
  auto const hidden = part.hidden();
  int64_t row = row_before_last(hidden.task(), first_block_of(hidden.task().warps_across), 0);
#pragma unroll 1
  for (; row < hidden.task().padded_rows; row += hidden.task().step.rows) { row_with_care<false>(part, row); }
}

/// Thread blocks: across a row as many as it takes, down the rows no more than keep the device busy. A thread that takes
/// several rows goes on by whole tiles of the scale layout.
inline dim3 grid_of(int64_t blocks, int64_t rows, int warps_across, int multiprocessors, int tile_rows = 1) noexcept {
  int64_t const across = (blocks + warps_across * blocks_per_warp - 1) / (warps_across * blocks_per_warp);
  int const rows_at_once = warps_per_cta / warps_across;
  int64_t const wanted = (rows + rows_at_once - 1) / rows_at_once;
  int64_t const multiple = tile_rows > rows_at_once ? tile_rows / rows_at_once : 1;
  int64_t const enough = (8 * int64_t{multiprocessors} / across / multiple + 1) * multiple;
  return {static_cast<unsigned>(across), static_cast<unsigned>(wanted < enough ? wanted : enough), 1};
}

/// The step of a grid. Strides are in bytes, positions in those of random numbers, both from one row to the next;
/// `scales` is the offset of the scale that many rows down. Rows beyond 2^31 times the grid's do not fit in any memory.
template <class Layout = linear_scales>
row_step step_of(dim3 const& grid, int warps_across, int64_t rows, int64_t values, int64_t codes, int64_t blocks,
                 uint64_t position = 0) noexcept {
  int const by = static_cast<int>(grid.y) * (warps_per_cta / warps_across);
  return {by,         static_cast<int>(rows / by),   static_cast<int>(rows % by),         by * values,
          by * codes, Layout::offset(by, 0, blocks), static_cast<uint64_t>(by) * position};
}

inline int warps_across(int64_t blocks) noexcept {
  int warps = 1;
  while (warps < warps_per_cta && warps * blocks_per_warp < blocks) { warps *= 2; }
  return warps;
}

}  // namespace fp4::gpu::detail
