// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where the scale of (row, k-block) lies. Each layout is a type: offset(row, block, blocks) is a pure index
/// function, position(...) inverts it, bytes(rows, blocks) is the size with padding.
/// Padding bytes exist and are written as 0x00.

#include "../config.hpp"

namespace fp4 {

/// Category of a scale layout argument.
struct scale_layout_choice {};

namespace detail {
FP4_HD FP4_INLINE constexpr int64_t round_up_to(int64_t x, int64_t multiple) noexcept {
  return (x + multiple - 1) / multiple * multiple;
}
}  // namespace detail

/// A logical position in a scale matrix.
struct scale_position {
  int64_t row;
  int64_t block;
};

/// Row-major, without padding. The default.
struct linear_scales {
  using choice = scale_layout_choice;
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t bytes(int64_t rows, int64_t blocks) noexcept {
    return rows * blocks;
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t offset(int64_t row, int64_t block, int64_t blocks) noexcept {
    return row * blocks + block;
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr scale_position position(int64_t offset, int64_t blocks) noexcept {
    return {offset / blocks, offset % blocks};
  }
};

/// Tiles of 128 rows by 4 blocks, 512 bytes each, in the order that Blackwell's tensor cores load: cuBLASLt
/// VEC16_UE4M3, CUTLASS Sm1xxBlockScaledConfig, cuDNN F8_128x4. In a tile, row r lies at (r % 32) * 16 + r / 32 * 4.
struct tiled_128x4_scales {
  using choice = scale_layout_choice;
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t bytes(int64_t rows, int64_t blocks) noexcept {
    return detail::round_up_to(rows, 128) * detail::round_up_to(blocks, 4);
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t offset(int64_t row, int64_t block, int64_t blocks) noexcept {
    int64_t const tiles = (blocks + 3) / 4;
    return (row / 128 * tiles + block / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr scale_position position(int64_t offset, int64_t blocks) noexcept {
    int64_t const tiles = (blocks + 3) / 4;
    int64_t const tile = offset / 512, inside = offset % 512;
    return {tile / tiles * 128 + inside % 16 / 4 * 32 + inside / 16, tile % tiles * 4 + inside % 4};
  }
};

/// Tiles of 8 rows by 4 blocks, 32 bytes each: TensorRT-LLM's and FlashInfer's for few rows.
struct tiled_8x4_scales {
  using choice = scale_layout_choice;
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t bytes(int64_t rows, int64_t blocks) noexcept {
    return detail::round_up_to(rows, 8) * detail::round_up_to(blocks, 4);
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t offset(int64_t row, int64_t block, int64_t blocks) noexcept {
    int64_t const tiles = (blocks + 3) / 4;
    return (row / 8 * tiles + block / 4) * 32 + row % 8 * 4 + block % 4;
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr scale_position position(int64_t offset, int64_t blocks) noexcept {
    int64_t const tiles = (blocks + 3) / 4;
    int64_t const tile = offset / 32, inside = offset % 32;
    return {tile / tiles * 8 + inside / 4, tile % tiles * 4 + inside % 4};
  }
};

/// Tiles of 32 rows by 4 blocks, 128 bytes each, in the order of mma.sync m16n8k64's scale fragments, of A and of B
/// alike: a 4-byte word for each lane of a warp. Lane 4 * group + quad has the scales of row group + 8 * quad. Rows
/// [16 i, 16 i + 16) of a tile are read with thread-id i where they are A's, [8 j, 8 j + 8) with thread-id j where
/// they are B's.
struct tiled_32x4_scales {
  using choice = scale_layout_choice;
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t bytes(int64_t rows, int64_t blocks) noexcept {
    return detail::round_up_to(rows, 32) * detail::round_up_to(blocks, 4);
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t offset(int64_t row, int64_t block, int64_t blocks) noexcept {
    int64_t const tiles = (blocks + 3) / 4;
    return (row / 32 * tiles + block / 4) * 128 + row % 8 * 16 + row % 32 / 8 * 4 + block % 4;
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr scale_position position(int64_t offset, int64_t blocks) noexcept {
    int64_t const tiles = (blocks + 3) / 4;
    int64_t const tile = offset / 128, inside = offset % 128;
    return {tile / tiles * 32 + inside % 16 / 4 * 8 + inside / 16, tile % tiles * 4 + inside % 4};
  }
};

}  // namespace fp4
