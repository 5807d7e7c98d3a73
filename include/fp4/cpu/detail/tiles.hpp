// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../layout/shared_memory.hpp"
#include "words.hpp"

/// \file
/// One unit of a code matrix, between its rows and the tiles of a layout: `rows` rows of `parts` times `part_bytes`
/// bytes. Each part lies together in the tiles, at Unit::offset(row, column, columns). Whole cache lines are written at
/// a time, in the order of memory.

namespace fp4::cpu::detail {

/// Rows and tiles as they are read and written in one direction.
template <bool ToTiles>
struct tile_direction {
  using row_byte = typename std_types::conditional<ToTiles, uint8_t const, uint8_t>::type;
  using tile_byte = typename std_types::conditional<ToTiles, uint8_t, uint8_t const>::type;
};

/// 16 rows of tiles in fragment order. Each register of a lane is a word; those of four lanes, 64 bytes, are four times
/// 16 bytes of two rows, transposed.
template <class Codes, int Parts>
struct fragment_unit {
  static constexpr bool is_a = std_types::is_same<Codes, fragment_codes_a>::value;
  static constexpr int rows = 16;
  static constexpr int parts = Parts;
  static constexpr int part_bytes = 32;

  static int64_t offset(int64_t row, int64_t column, int64_t columns) noexcept {
    return Codes::tile_offset(row / 16, column / 64, columns);
  }

  template <bool ToTiles, bool Streams>
  static void move(typename tile_direction<ToTiles>::row_byte* matrix, int64_t stride,
                   typename tile_direction<ToTiles>::tile_byte* const (&tile)[Parts]) noexcept {
    for (int64_t group = 0; group < 8; ++group) {
      auto* const row = matrix + group * stride;
      four_words v[Parts][4];
      for (int part = 0; part < Parts; ++part) {
        for (int i = 0; i < 4; ++i) {
          v[part][i] =
              load_words(ToTiles ? row + in_rows(i, stride) + part * part_bytes : tile[part] + group * 64 + 16 * i);
        }
        transpose_words(v[part]);
      }
      if constexpr (ToTiles) {
        for (int part = 0; part < Parts; ++part) {
          for (int i = 0; i < 4; ++i) { store_words<Streams>(tile[part] + group * 64 + 16 * i, v[part][i]); }
        }
      } else {
        for (int half_of_rows = 0; half_of_rows < 2; ++half_of_rows) {
          for (int part = 0; part < Parts; ++part) {
            for (int half_of_k = 0; half_of_k < 2; ++half_of_k) {
              int const i = is_a ? half_of_k * 2 + half_of_rows : half_of_rows * 2 + half_of_k;
              store_words<Streams>(row + in_rows(i, stride) + part * part_bytes, v[part][i]);
            }
          }
        }
      }
    }
  }

 private:
  /// Where the words of register i begin: 8 rows or 16 bytes further on, in the order of the operand.
  static int64_t in_rows(int i, int64_t stride) noexcept {
    return (is_a ? i % 2 : i / 2) * 8 * stride + (is_a ? i / 2 : i % 2) * 16;
  }
};

/// Atoms of K-major shared memory side by side: 8 rows, whose chunks of 16 bytes stay whole.
template <class Codes, int Parts>
struct atom_unit {
  using map = typename Codes::shared;
  static constexpr int rows = map::atom_rows;
  static constexpr int parts = Parts;
  static constexpr int part_bytes = map::row_bytes;

  static int64_t offset(int64_t row, int64_t column, int64_t columns) noexcept {
    return Codes::offset(row, column, columns);
  }

  template <bool ToTiles, bool Streams>
  static void move(typename tile_direction<ToTiles>::row_byte* matrix, int64_t stride,
                   typename tile_direction<ToTiles>::tile_byte* const (&tile)[Parts]) noexcept {
    auto const move_row = [&](int part, int64_t row) {
      for (int64_t chunk = 0; chunk < part_bytes; chunk += 16) {
        auto* const in_rows = matrix + row * stride + part * part_bytes + chunk;
        auto* const in_tile = tile[part] + map::swizzled(row * part_bytes + chunk);
        if constexpr (ToTiles) {
          store_words<Streams>(in_tile, load_words(in_rows));
        } else {
          store_words<Streams>(in_rows, load_words(in_tile));
        }
      }
    };
    if constexpr (ToTiles) {
      for (int part = 0; part < Parts; ++part) {
        for (int64_t row = 0; row < rows; ++row) { move_row(part, row); }
      }
    } else {
      for (int64_t row = 0; row < rows; ++row) {
        for (int part = 0; part < Parts; ++part) { move_row(part, row); }
      }
    }
  }
};

/// The units of a layout: `wide` for the inside of a matrix, two cache lines of each row, and `narrow` for its
/// end.
template <class Codes>
struct code_units {
  static constexpr int row_bytes = Codes::shared::row_bytes;
  using wide = atom_unit<Codes, (row_bytes < 128 ? 128 / row_bytes : 1)>;
  using narrow = atom_unit<Codes, 1>;
};
template <>
struct code_units<fragment_codes_a> {
  using wide = fragment_unit<fragment_codes_a, 2>;
  using narrow = fragment_unit<fragment_codes_a, 1>;
};
template <>
struct code_units<fragment_codes_b> {
  using wide = fragment_unit<fragment_codes_b, 2>;
  using narrow = fragment_unit<fragment_codes_b, 1>;
};

}  // namespace fp4::cpu::detail
