// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Matrices in the order of mma.sync m16n8k64's fragments, so that a warp loads them without ldmatrix: each lane's
/// operand is one 16-byte load, and 32 lanes read 512 consecutive bytes.
///
///     A, tile of 16 x 64:  lane l at 16 l:  [ a0 ][ a1 ][ a2 ][ a3 ]          one m16
///     B, tile of 16 x 64:  lane l at 16 l:  [ b0 ][ b1 ][ b0'][ b1']          n8, and the next n8
///     scales, 32 x 4:      lane l at  4 l:  the four scales of row l / 4 + 8 (l % 4)
///
/// Tiles follow each other along k first. One word of scales a lane serves two tiles of A (thread-id 0 and 1) or
/// four of B's n8 (thread-id 0 to 3), and both of them with the same bytes.

#include "fragments.hpp"
#include "scale_layout.hpp"

namespace fp4 {

/// An element of a code matrix: the one in the low nibble of a byte.
struct code_position {
  int64_t row;
  int64_t column;
};

namespace detail {

/// A code layout of whole tiles, one after another along columns, then along rows. Tile::offset(row, column) is a byte
/// inside a tile, Tile::position(offset) inverts it.
template <class Tile>
struct tiled_codes {
  static constexpr int tile_rows = Tile::rows;
  static constexpr int tile_columns = Tile::columns;
  static constexpr int tile_bytes = Tile::rows * Tile::columns / 2;
  static constexpr int alignment = 16;  ///< of the first byte, for loads of 16 bytes and bulk copies

  /// Size of [rows, columns] codes, padding to whole tiles included.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t bytes(int64_t rows, int64_t columns) noexcept {
    return round_up_to(rows, tile_rows) * round_up_to(columns, tile_columns) / 2;
  }
  /// Where tile (i, j) begins.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t tile_offset(int64_t i, int64_t j, int64_t columns) noexcept {
    return (i * ((columns + tile_columns - 1) / tile_columns) + j) * tile_bytes;
  }
  /// The byte of element (row, column); even columns are low nibbles.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t offset(int64_t row, int64_t column,
                                                                  int64_t columns) noexcept {
    return tile_offset(row / tile_rows, column / tile_columns, columns) +
           Tile::offset(static_cast<int>(row % tile_rows), static_cast<int>(column % tile_columns));
  }
  /// The element in the low nibble of a byte.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr code_position position(int64_t offset, int64_t columns) noexcept {
    int64_t const tiles = (columns + tile_columns - 1) / tile_columns, tile = offset / tile_bytes;
    tile_position const inside = Tile::position(static_cast<int>(offset % tile_bytes));
    return {tile / tiles * tile_rows + inside.row, tile % tiles * tile_columns + inside.column};
  }
};

/// 16 x 64 codes: 16 / Fragment::rows fragments whose registers lie together for each lane.
template <class Fragment>
struct fragment_tile {
  static constexpr int rows = 16, columns = 64;

  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int offset(int row, int column) noexcept {
    fragment_place const at = Fragment::place(row % Fragment::rows, column);
    return at.lane * 16 + (row / Fragment::rows * Fragment::registers + at.reg) * 4 + at.slot / 2;
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr tile_position position(int offset) noexcept {
    int const word = offset % 16 / 4;
    tile_position const inside = Fragment::position({offset / 16, word % Fragment::registers, offset % 4 * 2});
    return {inside.row + word / Fragment::registers * Fragment::rows, inside.column};
  }
};

}  // namespace detail

/// Codes of A in fragment order: 512 bytes for 16 rows of 64, 16 of them a lane (a0 to a3).
struct fragment_codes_a : detail::tiled_codes<detail::fragment_tile<mma_m16n8k64::a>> {};

/// Codes of B, [n, k], in fragment order: 512 bytes for 16 rows of 64, 16 of them a lane (b0, b1 of rows 0 to 7, then
/// of rows 8 to 15).
struct fragment_codes_b : detail::tiled_codes<detail::fragment_tile<mma_m16n8k64::b>> {};

}  // namespace fp4
