// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Block scales of tcgen05.mma in tensor memory (512 columns x 128 lanes of 32 bits), and the copy that brings them
/// there. The scales of one row's four consecutive blocks share a word; 32 rows lie in 32 lanes, and each quarter of
/// the lanes holds the same.
/// Source: PTX ISA 9.7.16, tcgen05.cp and tcgen05.mma with block scaling; CUTLASS UMMA::tmem_sf_frg.

#include "fragments.hpp"
#include "scale_layout.hpp"

namespace fp4 {

/// A byte of tensor memory; columns count from the start of an allocation.
struct tensor_memory_place {
  int lane;    ///< 0 to 127
  int column;  ///< word of the lane
  int byte;    ///< 0 to 3

  /// The address of its word, as tcgen05 instructions take it.
  [[nodiscard]] FP4_HD FP4_INLINE constexpr uint32_t address() const noexcept {
    return static_cast<uint32_t>(lane) << 16 | static_cast<uint32_t>(column);
  }
};

/// Scales of [rows, blocks] in tensor memory, `Vector` blocks for each k = 64: x4 for NVFP4's blocks of 16, x2 for
/// blocks of 32. Rows round up to 128, also for B (n = 192 takes 256).
template <scale_vector Vector>
struct tensor_memory_scales {
  static constexpr int replicas = 4;
  static constexpr int blocks_per_step = static_cast<int>(Vector);

  /// Columns that the words of four blocks take.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int column_stride(int rows) noexcept {
    return (rows + 127) / 128 * 4;
  }
  /// Columns to allocate.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int columns(int rows, int blocks) noexcept {
    return (blocks + 3) / 4 * column_stride(rows);
  }
  /// Where the scale of (row, block) lies; replica 0 to 3 is one of its copies.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr tensor_memory_place place(int row, int block, int replica,
                                                                             int rows) noexcept {
    return {row % 32 + 32 * replica, block / 4 * column_stride(rows) + row / 32, block % 4};
  }
  /// The row and block of a byte, from any of the copies.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr scale_position position(tensor_memory_place at, int rows) noexcept {
    return {at.column % column_stride(rows) * 32 + at.lane % 32, at.column / column_stride(rows) * 4 + at.byte};
  }
  /// What the step of k in [64 * step, 64 * step + 64) is given: the first column of its scales ...
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int first_column(int step, int rows) noexcept {
    return step * blocks_per_step / 4 * column_stride(rows);
  }
  /// ... and the scale id of the instruction descriptor, the first byte in their words.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int scale_id(int step) noexcept {
    return step * blocks_per_step % 4;
  }
};

/// `tcgen05.cp.32x128b.warpx4` with a source of 512 consecutive bytes in shared memory (no swizzle, rows of 16 bytes,
/// stride byte offset 128): 32 rows of 16 bytes go to 4 columns of 32 lanes, and to the other three quarters too. One
/// 512-byte tile of tiled_128x4_scales is one copy.
struct tcgen05_scale_copy {
  static constexpr int bytes = 512;
  static constexpr int alignment = 16;
  static constexpr int replicas = 4;
  static constexpr int columns = 4;

  /// Where source byte `offset` arrives; columns count from the copy's target.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr tensor_memory_place place(int offset, int replica) noexcept {
    return {offset / 16 + 32 * replica, offset % 16 / 4, offset % 4};
  }
  /// The source byte of a place.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int offset(tensor_memory_place at) noexcept {
    return at.lane % 32 * 16 + at.column * 4 + at.byte;
  }
};

}  // namespace fp4
