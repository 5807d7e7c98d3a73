// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../layout/pack_checks.hpp"
#include "detail/tiles.hpp"
#include "relayout.hpp"

namespace fp4::cpu {
namespace detail {

/// The codes of a matrix, [rows, cols], and the same in tiles.
template <bool ToTiles, class Codes>
struct code_move {
  using row_byte = typename tile_direction<ToTiles>::row_byte;
  using tile_byte = typename tile_direction<ToTiles>::tile_byte;

  row_byte* matrix;
  int64_t stride;     ///< bytes from row to row
  int64_t row_bytes;  ///< bytes of a row: those that exist, or that are to be written
  int64_t rows;
  int64_t cols;
  tile_byte* tiles;

  /// Rows of tiles [first, last). Tiles are written from end to end, row of units after row. They are read by columns of
  /// units, so that the next ones lie behind those just read, and not a tile further on.
  template <bool Streams>
  void run(int64_t first, int64_t last) const noexcept {
    constexpr int64_t wide_columns = 2 * wide::parts * wide::part_bytes;
    int64_t const columns_end = fp4::detail::round_up_to(cols, Codes::tile_columns);
    for (int64_t tile = first * Codes::tile_rows; tile < last * Codes::tile_rows; tile += Codes::tile_rows) {
      int64_t const rows_end = tile + Codes::tile_rows;
      if constexpr (ToTiles) {
        for (int64_t row = tile; row < rows_end; row += wide::rows) {
          for (int64_t column = 0; column < columns_end; column += wide_columns) {
            move_wide<Streams>(row, column, columns_end);
          }
        }
      } else {
        for (int64_t column = 0; column < columns_end; column += wide_columns) {
          for (int64_t row = tile; row < rows_end; row += wide::rows) { move_wide<Streams>(row, column, columns_end); }
        }
      }
    }
  }

 private:
  using wide = typename code_units<Codes>::wide;
  using narrow = typename code_units<Codes>::narrow;

  /// A wide unit, or what there is of it.
  template <bool Streams>
  void move_wide(int64_t row, int64_t column, int64_t columns_end) const noexcept {
    constexpr int64_t narrow_columns = 2 * narrow::part_bytes, wide_columns = wide::parts * narrow_columns;
    if (row + wide::rows <= rows && column + wide_columns <= cols) {
      tile_byte* parts[wide::parts];
      for (int i = 0; i < wide::parts; ++i) { parts[i] = tiles + wide::offset(row, column + i * narrow_columns, cols); }
      wide::template move<ToTiles, Streams>(matrix + row * stride + column / 2, stride, parts);
      return;
    }
    for (int i = 0; i < wide::parts && column + i * narrow_columns < columns_end; ++i) {
      move_edge<narrow>(row, column + i * narrow_columns);
    }
  }
  /// A unit that is partly padding, by way of a buffer: padding becomes 0 in both directions.
  template <class Unit>
  void move_edge(int64_t row, int64_t column) const noexcept {
    uint8_t buffer[Unit::rows * Unit::part_bytes] = {};
    int64_t const rows_left = rows - row < Unit::rows ? rows - row : Unit::rows;
    tile_byte* const part[1] = {tiles + Unit::offset(row, column, cols)};
    if constexpr (ToTiles) {
      for (int64_t r = 0; r < rows_left; ++r) {
        copy_codes(buffer + r * Unit::part_bytes, row + r, column, Unit::part_bytes);
      }
      Unit::template move<true, false>(buffer, Unit::part_bytes, part);
    } else {
      int64_t const bytes_left = row_bytes - column / 2 < Unit::part_bytes ? row_bytes - column / 2 : Unit::part_bytes;
      if (bytes_left <= 0 || rows_left <= 0) { return; }
      Unit::template move<false, false>(buffer, Unit::part_bytes, part);
      for (int64_t r = 0; r < rows_left; ++r) {
        uint8_t* const to = matrix + (row + r) * stride + column / 2;
        std::memcpy(to, buffer + r * Unit::part_bytes, static_cast<size_t>(bytes_left));
        clear_from(to, cols - column, bytes_left);
      }
    }
  }
  /// The codes of a row from `column` on that exist.
  void copy_codes(uint8_t* to, int64_t row, int64_t column, int64_t most) const noexcept {
    int64_t const there = (cols - column + 1) / 2 < most ? (cols - column + 1) / 2 : most;
    if (there <= 0) { return; }
    std::memcpy(to, matrix + row * stride + column / 2, static_cast<size_t>(there));
    clear_from(to, cols - column, there);
  }
  /// Codes from number `count` on become 0.
  static void clear_from(uint8_t* codes, int64_t count, int64_t bytes) noexcept {
    if (count >= 2 * bytes) { return; }
    if (count < 0) { count = 0; }
    if (count % 2 != 0) { codes[count / 2] = static_cast<uint8_t>(codes[count / 2] & 0xF); }
    int64_t const first = (count + 1) / 2;
    std::memset(codes + first, 0, static_cast<size_t>(bytes - first));
  }
};

template <bool ToTiles, class Codes, class Execution>
void move_codes(code_move<ToTiles, Codes> const& move, bool streams, Execution execution) {
  int64_t const units = (move.rows + Codes::tile_rows - 1) / Codes::tile_rows;
  fp4::detail::for_each_part(execution, units, 1 + 65536 / (Codes::tile_rows * move.cols),
                             [&](int64_t first, int64_t last) {
                               if (streams) {
                                 move.template run<true>(first, last);
                                 end_word_streams();
                               } else {
                                 move.template run<false>(first, last);
                               }
                             });
}

}  // namespace detail

using fp4::check_pack;
using fp4::check_unpack;

/// Brings a quantized matrix into the order of a tensor-core instruction, codes and scales together: weights, once.
///
/// \param from  codes in rows and scales in any layout, [rows, cols]; for B that is [n, k].
/// \param to    the same shape; padding to whole tiles is written as 0, codes and scales.
/// \throws precondition_error when check_pack(from, to) finds anything; then nothing was written.
/// \note   Moves words and changes none: unpack gives the same bytes back. Near the speed of memcpy. What lies in
///         `from` past its columns is not looked at.
template <class Format, class From, class Byte, class Codes, class To, class Execution = default_execution>
void pack(quantized_view<Format, From, Byte> from, packed_view<Format, Codes, To> to, Execution execution = {}) {
  constexpr char const* where = "fp4::cpu::pack";
  require(check_pack(from, to), where);
  require(check(execution), where);
  if (from.rows == 0 || from.cols == 0) { return; }
  detail::code_move<true, Codes> const move{from.codes, from.code_stride, Format::row_bytes(from.cols),
                                            from.rows,  from.cols,        to.codes};
  detail::move_codes(move, to.code_bytes_needed() >= detail::streamed_copy_bytes, execution);
  relayout_scales<From, To>(from.scales, from.scale_bytes, to.scales, to.scale_bytes, from.rows, from.blocks_per_row(),
                            execution);
}

/// The way back: codes in rows of Format::row_bytes(cols) bytes whose padding is 0, scales in any layout.
/// \throws precondition_error when check_unpack(from, to) finds anything; then nothing was written.
template <class Format, class Codes, class From, class Byte, class To, class Execution = default_execution>
void unpack(packed_view<Format, Codes, From, Byte> from, quantized_view<Format, To> to, Execution execution = {}) {
  constexpr char const* where = "fp4::cpu::unpack";
  require(check_unpack(from, to), where);
  require(check(execution), where);
  if (to.rows == 0 || to.cols == 0) { return; }
  detail::code_move<false, Codes> const move{to.codes, to.code_stride, Format::row_bytes(to.cols),
                                             to.rows,  to.cols,        from.codes};
  bool const streams =
      to.code_bytes_needed() >= detail::streamed_copy_bytes && detail::is_streamable(to.codes, to.code_stride);
  detail::move_codes(move, streams, execution);
  relayout_scales<From, To>(from.scales, from.scale_bytes, to.scales, to.scale_bytes, to.rows, to.blocks_per_row(),
                            execution);
}

}  // namespace fp4::cpu
