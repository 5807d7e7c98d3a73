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
};
/// To the place some rows further down, in elements and bytes. (Scales of a tiled layout are found row by row.)
struct row_distance {
  int64_t values, codes, scales;
};

/// Layout::offset, cheap to compute row after row.
template <class Layout>
__device__ __forceinline__ int64_t scale_offset(int64_t row, int64_t block, int64_t blocks) {
  if constexpr (std_types::is_same<Layout, linear_scales>::value) {
    return row * blocks + block;
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

/// Calls part.whole(place, row) where a warp's blocks are whole and aligned, and part.other(row, block) for what that
/// leaves and for all other blocks. `task` has warps_across, aligned, elements, cols(), rows(), padded_rows.
template <class Task, class Part>
__device__ __forceinline__ void for_rows(Task const& task, Part const& part, int64_t block) {
  int const warp = static_cast<int>(threadIdx.x) / 32;
  int const rows_at_once = warps_per_cta / task.warps_across;
  int64_t const step = int64_t{gridDim.y} * rows_at_once;
  int64_t row = int64_t{blockIdx.y} * rows_at_once + warp / task.warps_across;
  auto const others = [&](unsigned left) {
#pragma unroll 1
    for (int u = 0; u < blocks_per_thread; ++u) {
      if ((left >> u & 1) != 0) { part.other(row, block + u * 32); }
    }
  };
  int64_t const end = (block - block % 32 + blocks_per_warp) * Task::elements;
  if (task.aligned && end <= task.cols() && row < task.rows()) {
    auto at = part.place_of(row);
    row_distance by = part.distance_of(step);
    ptx::keep_in_register(by.values);
    ptx::keep_in_register(by.codes);
    if constexpr (Part::is_linear) { ptx::keep_in_register(by.scales); }
    do {
      unsigned const left = part.whole(at, row);
      if (left != 0) { others(left); }
      row += step;
      at.values += by.values;
      at.codes += by.codes;
      if constexpr (Part::is_linear) {
        at.scales += by.scales;
      } else {
        part.find_scales(at, row);
      }
    } while (row < task.rows());
  }
  for (; row < task.padded_rows; row += step) { others((1u << blocks_per_thread) - 1); }
}

/// Thread blocks: across a row as many as it takes, down the rows no more than keep the device busy.
inline dim3 grid_of(int64_t blocks, int64_t rows, int warps_across, int multiprocessors) noexcept {
  int64_t const across = (blocks + warps_across * blocks_per_warp - 1) / (warps_across * blocks_per_warp);
  int const rows_at_once = warps_per_cta / warps_across;
  int64_t const wanted = (rows + rows_at_once - 1) / rows_at_once;
  int64_t const enough = 1 + int64_t{8} * multiprocessors / across;
  int64_t const down = wanted < enough ? wanted : enough;
  return {static_cast<unsigned>(across), static_cast<unsigned>(down < 65535 ? down : 65535), 1};
}

inline int warps_across(int64_t blocks) noexcept {
  int warps = 1;
  while (warps < warps_per_cta && warps * blocks_per_warp < blocks) { warps *= 2; }
  return warps;
}

}  // namespace fp4::gpu::detail
