// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../layout/scale_layout.hpp"

namespace fp4::gpu::detail {

/// Rows of a layout's tile; 1 for row-major.
template <class Layout>
constexpr int64_t tile_rows() noexcept {
  return Layout::bytes(1, 4) / 4;  // four blocks are a whole tile in every layout
}

/// A scale layout as numbers: one kernel serves them all. offset() is Layout::offset.
struct scale_order {
  int64_t row_tile_bytes;     ///< from one row of tiles to the next
  int64_t next_row;           ///< from an even row to the next
  int64_t next_32_rows;       ///< from one of the first 32 rows of 128 to that 32 further down, and so on
  uint32_t block_tile_bytes;  ///< from one tile to the next beside it
  uint32_t row_bits, low_mask, low_shift, high_shift, high_mask;

  template <class Layout>
  [[nodiscard]] static constexpr scale_order of(int64_t blocks) noexcept {
    constexpr uint32_t rows = static_cast<uint32_t>(tile_rows<Layout>());
    constexpr uint32_t low_rows = rows > 8 ? rows / 4 : rows;  // those that are equally far from each other
    scale_order order{};
    order.block_tile_bytes = 4 * rows;
    for (order.row_bits = 0; 1u << order.row_bits < rows;) { ++order.row_bits; }
    for (order.high_shift = 0; 1u << order.high_shift < low_rows;) { ++order.high_shift; }
    order.low_mask = low_rows - 1;
    order.low_shift = rows > 8 ? 4 : 2;
    order.high_mask = rows > 8 ? 3 : 0;
    return order.with_blocks(blocks);
  }

  /// The same layout with another number of blocks a row.
  [[nodiscard]] __host__ __device__ constexpr scale_order with_blocks(int64_t blocks) const noexcept {
    scale_order order = *this;
    order.row_tile_bytes = is_linear() ? blocks : (blocks + 3) / 4 * block_tile_bytes;
    order.next_row = is_linear() ? blocks : int64_t{1} << low_shift;
    order.next_32_rows = order.offset(32, 0);
    return order;
  }

  [[nodiscard]] __host__ __device__ constexpr bool is_linear() const noexcept { return row_bits == 0; }
  /// Rows and blocks that have a slot, padding included.
  [[nodiscard]] __host__ __device__ constexpr int64_t padded_rows(int64_t rows) const noexcept {
    return ((rows + (int64_t{1} << row_bits) - 1) >> row_bits) << row_bits;
  }
  [[nodiscard]] __host__ __device__ constexpr int64_t padded_blocks(int64_t blocks) const noexcept {
    return is_linear() ? blocks : (blocks + 3) / 4 * 4;
  }

  [[nodiscard]] __host__ __device__ __forceinline__ constexpr int64_t offset(int64_t row,
                                                                             int64_t block) const noexcept {
    uint32_t const r = static_cast<uint32_t>(row), b = static_cast<uint32_t>(block);
    uint32_t const inside = ((r & low_mask) << low_shift) + ((r >> high_shift & high_mask) << 2) + (b & 3);
    return (row >> row_bits) * row_tile_bytes + (block >> 2) * block_tile_bytes + inside;
  }
};

}  // namespace fp4::gpu::detail
