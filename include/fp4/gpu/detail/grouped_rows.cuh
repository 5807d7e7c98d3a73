// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Groups of rows whose number only the device knows, as parts of a matrix in tiles.cuh.

#include "../row_groups.cuh"
#include "launch_tiles.cuh"

namespace fp4::gpu::detail {

/// Tiles do not cross groups: group g begins at row aligned_start(offset, g, alignment) of the rows that are dealt with.
struct grouped_rows {
  static constexpr bool is_one = false;
  row_groups groups;
  int64_t alignment;  ///< a power of two: a multiple of tiles, of scale tiles and of four blocks
  int64_t end;        ///< behind the last tile, whatever the groups

  struct memory {
    unsigned long long before, all;  ///< blocks of the groups before this one, and of all groups
  };

  __device__ __forceinline__ int64_t start_of(int64_t group) const {
    return aligned_start(groups.offset(group), group, alignment);
  }
  __device__ __forceinline__ matrix_part find(int64_t row) const {
    int64_t low = 0, high = groups.count();  // the last group that begins at `row` or before
    while (high - low > 1) {
      int64_t const middle = (low + high) / 2;
      (start_of(middle) <= row ? low : high) = middle;
    }
    int64_t const first = groups.offset(low), rows = groups.offset(low + 1) - first, local = row - start_of(low);
    int64_t const padded = (rows + alignment - 1) / alignment * alignment;
    return {first, rows, local, local < 0 ? local : padded, low};  // rows may lie before the first group
  }

  /// Ends with a barrier.
  template <class Side>
  __device__ __forceinline__ void count_blocks(int64_t group, memory& counted) const {
    if (threadIdx.x == 0) { counted.before = counted.all = 0; }
    __syncthreads();
    unsigned long long before = 0, all = 0;
#pragma unroll 1
    for (int64_t g = threadIdx.x; g < groups.count(); g += threads_per_cta) {
      auto const blocks = static_cast<unsigned long long>(
          (groups.offset(g + 1) - groups.offset(g) + Side::elements - 1) / Side::elements);
      all += blocks;
      if (g < group) { before += blocks; }
    }
    if (all != 0) { atomicAdd(&counted.all, all); }
    if (before != 0) { atomicAdd(&counted.before, before); }
    __syncthreads();
  }

  template <class Side>
  __device__ __forceinline__ side_frame row_frame(Side const& s, matrix_part const& part) const {
    side_frame frame = s.whole;
    if constexpr (Side::has_codes) {
      frame.codes += part.first_row * frame.code_stride;
      frame.scales += frame.order.offset(aligned_start(part.first_row, part.group, frame.order.padded_rows(1)), 0);
      frame.rows = part.rows;
      frame.first_row = part.first_row;
    }
    return frame;
  }
  template <class Side>
  __device__ __forceinline__ side_frame column_frame(Side const& s, matrix_part const& part,
                                                     memory const& counted) const {
    side_frame frame = s.whole;
    if constexpr (Side::has_codes) {
      int64_t const before = static_cast<int64_t>(counted.before);
      frame.blocks = (part.rows + Side::elements - 1) / Side::elements;
      frame.codes += before * Side::code_bytes;
      frame.scales +=
          frame.order.padded_rows(frame.rows) * aligned_start(before, part.group, frame.order.padded_blocks(1));
      frame.order = frame.order.with_blocks(frame.blocks);
      frame.cols = part.rows;
      frame.first_block = before;
      if (frame.random_row == 0) { frame.random_row = counted.all * Side::groups; }
    }
    return frame;
  }
};

}  // namespace fp4::gpu::detail
