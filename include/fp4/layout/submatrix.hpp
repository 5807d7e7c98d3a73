// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "check.hpp"

FP4_EXACT_BEGIN
namespace fp4 {
namespace detail {

/// Rows and blocks that a scale layout keeps together.
template <class Layout>
struct scale_tile {
  static constexpr int64_t rows = 1, blocks = 1;
};
template <>
struct scale_tile<tiled_128x4_scales> {
  static constexpr int64_t rows = 128, blocks = 4;
};
template <>
struct scale_tile<tiled_8x4_scales> {
  static constexpr int64_t rows = 8, blocks = 4;
};
template <>
struct scale_tile<tiled_32x4_scales> {
  static constexpr int64_t rows = 32, blocks = 4;
};

/// [first, first + count) of `size` must begin and end at multiples of `unit`, or end where everything ends.
constexpr check_result check_part(int64_t first, int64_t count, int64_t size, int64_t unit) noexcept {
  if (first < 0 || count < 0 || first > size || count > size - first) {
    double const last = as_double(first) + as_double(count);
    return broken(errc::submatrix_out_of_range, first < 0 ? as_double(first) : last, as_double(size));
  }
  int64_t const last = first + count;
  if (first % unit != 0) { return broken(errc::misaligned_submatrix, as_double(first), as_double(unit)); }
  if (last % unit != 0 && last != size) { return broken(errc::misaligned_submatrix, as_double(last), as_double(unit)); }
  return {};
}

}  // namespace detail

/// Every precondition of submatrix(whole, row, col, rows, cols).
template <class Format, class Layout, class Byte>
check_result check(quantized_view<Format, Layout, Byte> whole, int64_t row, int64_t col, int64_t rows,
                   int64_t cols) noexcept {
  using namespace detail;
  using tile = scale_tile<std_types::conditional_t<Format::has_block_scale, Layout, linear_scales>>;
  constexpr int64_t columns = tile::blocks * Format::block_size;
  if (auto const found = check_quantized(whole); !found.ok()) { return found; }
  if (auto const found = check_part(row, rows, whole.rows, tile::rows); !found.ok()) { return found; }
  if (auto const found = check_part(col, cols, whole.cols, columns); !found.ok()) { return found; }
  if (Format::has_block_scale && rows > tile::rows && cols != whole.cols) {
    return broken(errc::misaligned_submatrix, as_double(cols), as_double(whole.cols));
  }
  return {};
}

/// The part [rows, cols] of `whole` that begins at (row, col), in the same memory: for reading and, since it shares no
/// byte with the rest, for writing. It begins and ends with blocks and with tiles of the scale layout (or where `whole`
/// ends). Scales of a part lie as the layout says only if it has whole rows, or no more rows than a tile. Per-row
/// tensor scales of the part begin at those of `row`; a 16 x 16 block is cut unless `row` and `rows` are multiples
/// of 16. \throws precondition_error naming the offset and the multiple that it must be.
template <class Format, class Layout, class Byte>
[[nodiscard]] quantized_view<Format, Layout, Byte> submatrix(quantized_view<Format, Layout, Byte> whole, int64_t row,
                                                             int64_t col, int64_t rows, int64_t cols) {
  require(check(whole, row, col, rows, cols), "fp4::submatrix");
  auto part = whole;
  part.rows = rows, part.cols = cols;
  if (rows == 0 || cols == 0) { return part; }
  part.codes = whole.code_row(row) + Format::row_bytes(col);
  if (Format::has_block_scale) {
    int64_t const offset = whole.scale_offset(row, col / Format::block_size);
    part.scales += offset, part.scale_bytes -= offset;
  }
  return part;
}

}  // namespace fp4
FP4_EXACT_END
