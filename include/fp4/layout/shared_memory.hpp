// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Packed 4-bit operands of tcgen05.mma in shared memory, K-major. Memory is made of atoms of 8 rows; the swizzle says
/// how long a row of an atom is, and moves its 16-byte chunks between banks:
///
///     swizzle   row of an atom     atom     16-byte chunk c of row r lies at chunk
///     none      16 B =  32 codes   128 B    c
///     32 B      32 B =  64 codes   256 B    c ^ (r / 4)
///     64 B      64 B = 128 codes   512 B    c ^ (r / 2)
///     128 B    128 B = 256 codes  1024 B    c ^ r
///
/// The same pattern as TMA's CU_TENSOR_MAP_SWIZZLE_*. Source: CUTLASS UMMA::Layout_K_{INTER,SW32,SW64,SW128}_Atom.

#include "fragment_order.hpp"

namespace fp4 {

/// The swizzles of K-major shared memory; the value is the length of an atom's row in bytes.
enum class swizzle { none = 16, bytes_32 = 32, bytes_64 = 64, bytes_128 = 128 };

/// A tile of packed 4-bit codes, [rows, columns], in shared memory. Atoms follow each other along rows first, then
/// along k, as CuTe's tile_to_shape lays them. Sizes round up to whole atoms.
template <swizzle Mode>
struct k_major_shared {
  static constexpr swizzle mode = Mode;
  static constexpr int row_bytes = static_cast<int>(Mode);
  static constexpr int atom_rows = 8;
  static constexpr int atom_columns = 2 * row_bytes;
  static constexpr int atom_bytes = atom_rows * row_bytes;
  /// Of the tile's address: the swizzle acts on address bits, so that an atom begins at a multiple of its size.
  static constexpr int alignment = Mode == swizzle::none ? 16 : atom_bytes;
  /// From one group of 8 rows to the next: the descriptor's stride byte offset.
  static constexpr int row_group_stride = atom_bytes;

  /// From one atom to the next along k. Without swizzle it is the descriptor's leading byte offset.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t atom_stride(int64_t rows) noexcept {
    return detail::round_up_to(rows, atom_rows) * row_bytes;
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t bytes(int64_t rows, int64_t columns) noexcept {
    return detail::round_up_to(rows, atom_rows) * detail::round_up_to(columns, atom_columns) / 2;
  }
  /// The byte of element (row, column) of a tile of `rows` rows; even columns are low nibbles.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t offset(int64_t row, int64_t column, int64_t rows) noexcept {
    int64_t const inside = row % atom_rows * row_bytes + column / 2 % row_bytes;
    return column / atom_columns * atom_stride(rows) + row / atom_rows * atom_bytes + swizzled(inside);
  }
  /// The element in the low nibble of a byte.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr code_position position(int64_t offset, int64_t rows) noexcept {
    int64_t const inside = swizzled(offset % atom_bytes), column_of_atoms = atom_stride(rows);
    return {offset % column_of_atoms / atom_bytes * atom_rows + inside / row_bytes,
            offset / column_of_atoms * atom_columns + inside % row_bytes * 2};
  }
  /// Exchanges the 16-byte chunks of an atom: bits 4 to 6 of an offset in it ^= bits 7 to 9. Its own inverse.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int64_t swizzled(int64_t inside) noexcept {
    return inside ^ (inside / 128 * 16);
  }
};

namespace detail {

/// One tile of shared memory as a tile of a matrix.
template <swizzle Mode, int Rows, int Columns>
struct shared_tile {
  using map = k_major_shared<Mode>;
  static_assert(Rows > 0 && Rows % map::atom_rows == 0, "a tile has whole groups of 8 rows");
  static_assert(Columns > 0 && Columns % map::atom_columns == 0, "a tile has whole atoms along k");
  static constexpr int rows = Rows, columns = Columns;

  [[nodiscard]] FP4_HD FP4_INLINE static constexpr int offset(int row, int column) noexcept {
    return static_cast<int>(map::offset(row, column, Rows));
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr tile_position position(int offset) noexcept {
    code_position const at = map::position(offset, Rows);
    return {static_cast<int>(at.row), static_cast<int>(at.column)};
  }
};

}  // namespace detail

/// A matrix of codes as tcgen05's tiles: Rows x Columns codes each, byte for byte what shared memory holds, so that a
/// plain bulk copy brings one there (to an address that is a multiple of shared::alignment). Tiles follow each other
/// along k first. Its scales are tiled_128x4_scales, of which tcgen05.cp reads 512 bytes for 128 rows and k = 64.
template <swizzle Mode = swizzle::bytes_128, int Rows = 128, int Columns = 2 * static_cast<int>(Mode)>
struct tcgen05_codes : detail::tiled_codes<detail::shared_tile<Mode, Rows, Columns>> {
  using shared = k_major_shared<Mode>;
};

}  // namespace fp4
