// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../choices.hpp"
#include "../layout/pack_checks.hpp"
#include "../layout/scale_words.hpp"
#include "detail/words.hpp"
#include "execution.hpp"

namespace fp4::cpu {
namespace detail {

/// Copies the scales of rows [first, last) from block `first_block`, a multiple of 4, on: four blocks at a time where
/// they lie together on both sides.
template <class From, class To>
void relayout_rows(uint8_t const* from, uint8_t* to, int64_t first, int64_t last, int64_t first_block,
                   int64_t blocks) noexcept {
  for (int64_t row = first; row < last; ++row) {
    int64_t block = first_block;
    for (; block + 4 <= blocks; block += 4) {
      std::memcpy(to + To::offset(row, block, blocks), from + From::offset(row, block, blocks), 4);
    }
    if (block < blocks) {
      std::memcpy(to + To::offset(row, block, blocks), from + From::offset(row, block, blocks),
                  static_cast<size_t>(blocks % 4));
    }
  }
}

/// Tiles whose words are transposed: in memory, the words of rows r, r + Groups, r + 2 * Groups and r + 3 * Groups
/// follow each other.
template <class Layout>
inline constexpr int transposed_groups = 0;
template <>
inline constexpr int transposed_groups<tiled_128x4_scales> = 32;
template <>
inline constexpr int transposed_groups<tiled_32x4_scales> = 8;

/// `count` tiles of 4 * Groups rows side by side, from row-major scales; four rows fill a cache line of a tile. Rows
/// are read from end to end.
template <int Groups, bool Streams>
void relayout_to_tiles(uint8_t const* linear, int64_t blocks, uint8_t* tiles, int64_t count) noexcept {
  for (int64_t r = 0; r < Groups; r += 4) {
    for (int64_t tile = 0; tile < count; tile += 4) {
      if (tile % 16 == 0) {  // short rows: the next four of each group begin before the processor sees a stream
        for (int64_t i = 0; i < 16; ++i) { prefetch(linear + (r + 4 + i % 4 + Groups * (i / 4)) * blocks + tile * 4); }
      }
      four_words v[4][4];
      for (int64_t j = 0; j < 4; ++j) {
        for (int64_t i = 0; i < 4; ++i) { v[j][i] = load_words(linear + (r + j + Groups * i) * blocks + tile * 4); }
        transpose_words(v[j]);
      }
      for (int64_t i = 0; i < 4; ++i) {
        uint8_t* const line = tiles + (tile + i) * 16 * Groups + r * 16;
        for (int64_t j = 0; j < 4; ++j) { store_words<Streams>(line + 16 * j, v[j][i]); }
      }
    }
  }
}

/// 4 * Fours tiles of 4 * Groups rows side by side, to 16 * Fours bytes of their rows.
template <int Groups, int Fours, bool Streams>
void relayout_from_tiles(uint8_t const* tiles, uint8_t* linear, int64_t blocks) noexcept {
  for (int64_t r = 0; r < Groups; ++r) {
    if constexpr (Fours == 4) {  // as much of the next tiles as is read of these
      for (int64_t line = 0; line < 256; line += 64) { prefetch(tiles + 256 * Groups + r * 256 + line); }
    }
    four_words v[Fours][4];
    for (int64_t four = 0; four < Fours; ++four) {
      for (int64_t i = 0; i < 4; ++i) { v[four][i] = load_words(tiles + (four * 4 + i) * 16 * Groups + r * 16); }
      transpose_words(v[four]);
    }
    for (int64_t i = 0; i < 4; ++i) {
      uint8_t* const line = linear + (r + Groups * i) * blocks;
      for (int64_t four = 0; four < Fours; ++four) { store_words<Streams>(line + four * 16, v[four][i]); }
    }
  }
}

/// Rows [first, last), first a multiple of a tile, between row-major and transposed tiles: 16 blocks at a time, and
/// what is left, or has fewer rows, by words.
template <class From, class To, bool Streams>
void relayout_tiles(uint8_t const* from, uint8_t* to, int64_t first, int64_t last, int64_t blocks) noexcept {
  constexpr bool to_tiles = std_types::is_same<From, linear_scales>::value;
  constexpr int groups = to_tiles ? transposed_groups<To> : transposed_groups<From>;
  constexpr int64_t tile_rows = 4 * groups;
  for (int64_t row = first; row < last; row += tile_rows) {
    int64_t const row_end = row + tile_rows < last ? row + tile_rows : last;
    int64_t const whole = row_end == row + tile_rows ? blocks / 16 * 16 : 0;
    if constexpr (to_tiles) {
      relayout_to_tiles<groups, Streams>(from + row * blocks, blocks, to + To::offset(row, 0, blocks), whole / 4);
    } else {
      int64_t block = 0;
      for (; block + 64 <= whole; block += 64) {
        relayout_from_tiles<groups, 4, Streams>(from + From::offset(row, block, blocks), to + row * blocks + block,
                                                blocks);
      }
      for (; block < whole; block += 16) {
        relayout_from_tiles<groups, 1, Streams>(from + From::offset(row, block, blocks), to + row * blocks + block,
                                                blocks);
      }
    }
    for (int64_t r = row; r < row_end; ++r) {
      for (int64_t b = whole; b < blocks; b += 4) {
        size_t const count = static_cast<size_t>(blocks - b < 4 ? blocks - b : 4);
        std::memcpy(to + To::offset(r, b, blocks), from + From::offset(r, b, blocks), count);
      }
    }
  }
}

/// Where each row of a region of 128 begins, from its first one on.
template <class Layout>
struct region_rows {
  int64_t offset[128];
  explicit region_rows(int64_t blocks) noexcept {
    for (int64_t row = 0; row < 128; ++row) { offset[row] = Layout::offset(row, 0, blocks); }
  }
};

/// 128 rows and `words` words of each, between tiles whose fours of words run along different axes. Of each 16 words
/// both sides have four fours. A few tiles at a time, so that what is half read or half written stays in the caches.
template <class From, class To>
void relayout_fours(uint8_t const* from, region_rows<From> const& from_rows, uint8_t* to,
                    region_rows<To> const& to_rows, int64_t words) noexcept {
  using namespace fp4::detail;
  constexpr int other_rows = 0x7F & ~(word_axis<From> | word_axis<To>);
  constexpr int64_t words_at_once = 16;
  for (int64_t first = 0; first < words; first += words_at_once) {
    int64_t const end = first + words_at_once < words ? first + words_at_once : words;
    for (int quad = 0; quad < 8; ++quad) {
      uint8_t const* read[4];
      uint8_t* written[4];
      for (int i = 0; i < 4; ++i) {
        int const row = scattered(quad, other_rows);
        read[i] = from + from_rows.offset[row | scattered(i, word_axis<To>)];
        written[i] = to + to_rows.offset[row | scattered(i, word_axis<From>)];
      }
      for (int64_t word = first; word < end; ++word) {
        four_words v[4];
        for (int i = 0; i < 4; ++i) { v[i] = load_words(read[i] + word * word_step<From>); }
        transpose_words(v);
        for (int i = 0; i < 4; ++i) { store_words<false>(written[i] + word * word_step<To>, v[i]); }
      }
    }
  }
}

/// Rows [first, last), `first` a multiple of 128, between different tiles: whole regions by fours, what is left by
/// words.
template <class From, class To>
void relayout_regions(uint8_t const* from, uint8_t* to, int64_t first, int64_t last, int64_t blocks) noexcept {
  region_rows<From> const from_rows(blocks);
  region_rows<To> const to_rows(blocks);
  int64_t row = first;
  for (; row + 128 <= last; row += 128) {
    relayout_fours<From, To>(from + From::offset(row, 0, blocks), from_rows, to + To::offset(row, 0, blocks), to_rows,
                             blocks / 4);
    relayout_rows<From, To>(from, to, row, row + 128, blocks / 4 * 4, blocks);
  }
  relayout_rows<From, To>(from, to, row, last, 0, blocks);
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
  require(check_relayout<From, To>(from, from_bytes, to, to_bytes, rows, blocks), where);
  require(check(execution), where);
  if (rows == 0 || blocks == 0) { return; }
  int64_t const to_needed = To::bytes(rows, blocks);
  if (to_needed != rows * blocks) { std::memset(to, 0, static_cast<size_t>(to_needed)); }
  bool const streams = to_needed >= detail::streamed_copy_bytes &&
                       detail::is_streamable(to, std_types::is_same<To, linear_scales>::value ? blocks : 0);
  int64_t const tiles = (rows + 127) / 128;
  constexpr bool has_linear =
      std_types::is_same<From, linear_scales>::value || std_types::is_same<To, linear_scales>::value;
  for_each_part(execution, tiles, 1 + 65536 / (128 * blocks), [&](int64_t first, int64_t last) {
    int64_t const last_row = last * 128 < rows ? last * 128 : rows;
    constexpr bool is_pair =
        std_types::is_same<From, linear_scales>::value != std_types::is_same<To, linear_scales>::value;
    if constexpr (is_pair && detail::transposed_groups<From> + detail::transposed_groups < To >> 0) {
      if (streams) {
        detail::relayout_tiles<From, To, true>(from, to, first * 128, last_row, blocks);
        detail::end_word_streams();
      } else {
        detail::relayout_tiles<From, To, false>(from, to, first * 128, last_row, blocks);
      }
    } else if constexpr (has_linear || std_types::is_same<From, To>::value) {
      detail::relayout_rows<From, To>(from, to, first * 128, last_row, 0, blocks);
    } else {
      detail::relayout_regions<From, To>(from, to, first * 128, last_row, blocks);
    }
  });
}

}  // namespace fp4::cpu
