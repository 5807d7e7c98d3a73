// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "../choices.hpp"
#include "execution.hpp"

namespace fp4::cpu {
namespace detail {

/// Copies the scales of rows [first, last), four blocks at a time where they lie together on both sides.
template <class From, class To>
void relayout_rows(uint8_t const* from, uint8_t* to, int64_t first, int64_t last, int64_t blocks) noexcept {
  for (int64_t row = first; row < last; ++row) {
    int64_t block = 0;
    for (; block + 4 <= blocks; block += 4) {
      std::memcpy(to + To::offset(row, block, blocks), from + From::offset(row, block, blocks), 4);
    }
    for (; block < blocks; ++block) { to[To::offset(row, block, blocks)] = from[From::offset(row, block, blocks)]; }
  }
}

/// Groups of four tiles of 128 x 4 side by side, 16 blocks of 128 rows each: rows r, r + 32, r + 64 and r + 96 are
/// neighbours in a tile. `ToTiles` says which way.
template <bool ToTiles, int Groups, class Linear, class Tiles>
void relayout_tile_groups(Linear* linear, int64_t blocks, Tiles* tiles) noexcept {
  for (int64_t r = 0; r < 32; ++r) {
    for (int64_t group = 0; group < Groups; ++group) {
      auto* const rows = linear + r * blocks + group * 16;
      auto* const four_tiles = tiles + group * 2048 + r * 16;
      uint32_t word[4][4];
      for (int64_t i = 0; i < 4; ++i) {
        std::memcpy(word[i], ToTiles ? rows + 32 * i * blocks : four_tiles + i * 512, 16);
      }
      for (int64_t i = 0; i < 4; ++i) {
        uint32_t const across[4] = {word[0][i], word[1][i], word[2][i], word[3][i]};
        if constexpr (ToTiles) {
          std::memcpy(four_tiles + i * 512, across, 16);
        } else {
          std::memcpy(rows + 32 * i * blocks, across, 16);
        }
      }
    }
  }
}

/// Rows [first, last), first a multiple of 128, between row-major and 128x4 tiles: a cache line of each row at a time,
/// then 16 blocks, and what is left, or has fewer rows, by words.
template <class From, class To>
void relayout_tiles(uint8_t const* from, uint8_t* to, int64_t first, int64_t last, int64_t blocks) noexcept {
  constexpr bool to_tiles = std_types::is_same<From, linear_scales>::value;
  constexpr int line = 64;
  for (int64_t row = first; row < last; row += 128) {
    int64_t const row_end = row + 128 < last ? row + 128 : last;
    int64_t block = 0;
    auto const whole_groups = [&](auto groups) {
      constexpr int width = 16 * decltype(groups)::value;
      for (; row_end == row + 128 && block + width <= blocks; block += width) {
        uint8_t const* const source = from + From::offset(row, block, blocks);
        uint8_t* const target = to + To::offset(row, block, blocks);
        if constexpr (to_tiles) {
          relayout_tile_groups<true, decltype(groups)::value>(source, blocks, target);
        } else {
          relayout_tile_groups<false, decltype(groups)::value>(target, blocks, source);
        }
      }
    };
    whole_groups(std_types::integral_constant<int, line / 16>{});
    whole_groups(std_types::integral_constant<int, 1>{});
    for (int64_t r = row; r < row_end; ++r) {
      for (int64_t b = block; b < blocks; b += 4) {
        size_t const count = static_cast<size_t>(blocks - b < 4 ? blocks - b : 4);
        std::memcpy(to + To::offset(r, b, blocks), from + From::offset(r, b, blocks), count);
      }
    }
  }
}

}  // namespace detail

/// Copies block scales from one layout to another, [rows, blocks] logical; padding of `to` is written as 0x00.
/// \param from  at least From::bytes(rows, blocks) bytes; `from_bytes` is what is there.
/// \param to    at least To::bytes(rows, blocks) bytes; `to_bytes` is what is there.
/// \throws precondition_error when a buffer is null, too small or overlaps the other; then nothing was written.
template <class From, class To, class Execution = default_execution>
void relayout_scales(uint8_t const* from, int64_t from_bytes, uint8_t* to, int64_t to_bytes, int64_t rows,
                     int64_t blocks, Execution execution = {}) {
  using namespace fp4::detail;
  constexpr char const* where = "fp4::cpu::relayout_scales";
  require(check_size(rows, blocks), where);
  require(check_extent(rows, blocks), where);
  int64_t const from_needed = From::bytes(rows, blocks), to_needed = To::bytes(rows, blocks);
  if (from_bytes < from_needed) {
    require(broken(errc::scale_buffer_too_small, as_double(from_bytes), as_double(from_needed)), where);
  }
  if (to_bytes < to_needed) {
    require(broken(errc::scale_buffer_too_small, as_double(to_bytes), as_double(to_needed)), where);
  }
  require(check(execution), where);
  if (rows == 0 || blocks == 0) { return; }
  if (from == nullptr || to == nullptr) { require(broken(errc::null_data, 0, as_double(rows)), where); }
  require(check_apart(rows_range(to, 1, 0, to_needed), rows_range(from, 1, 0, from_needed)), where);
  if (to_needed != rows * blocks) { std::memset(to, 0, static_cast<size_t>(to_needed)); }
  int64_t const tiles = (rows + 127) / 128;
  for_each_part(execution, tiles, 1 + 65536 / (128 * blocks), [&](int64_t first, int64_t last) {
    int64_t const last_row = last * 128 < rows ? last * 128 : rows;
    constexpr bool is_pair =
        std_types::is_same<From, linear_scales>::value != std_types::is_same<To, linear_scales>::value;
    constexpr bool has_tiles =
        std_types::is_same<From, tiled_128x4_scales>::value || std_types::is_same<To, tiled_128x4_scales>::value;
    if constexpr (is_pair && has_tiles) {
      detail::relayout_tiles<From, To>(from, to, first * 128, last_row, blocks);
    } else {
      detail::relayout_rows<From, To>(from, to, first * 128, last_row, blocks);
    }
  });
}

}  // namespace fp4::cpu
