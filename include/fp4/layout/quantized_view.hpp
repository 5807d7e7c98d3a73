// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scale_layout.hpp"
#include "views.hpp"

namespace fp4 {

/// A quantized matrix in somebody else's memory. Byte is uint8_t, or uint8_t const for reading.
///
/// rows, cols  the shape of the quantized matrix (of the transpose, where it was quantized column-wise)
/// codes       rows of Format::row_bytes(cols) bytes, `code_stride` bytes apart
/// scales      at least scale_bytes_needed() bytes in ScaleLayout; none for formats without block scales
template <class Format, class ScaleLayout = linear_scales, class Byte = uint8_t>
struct quantized_view {
  using format = Format;
  using scale_layout = ScaleLayout;

  Byte* codes = nullptr;
  Byte* scales = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t code_stride = 0;
  int64_t scale_bytes = 0;  ///< Size of the memory behind `scales`.

  constexpr quantized_view() noexcept = default;
  /// Rows of codes without gaps.
  FP4_HD FP4_INLINE constexpr quantized_view(Byte* codes_, Byte* scales_, int64_t scale_bytes_, int64_t rows_,
                                             int64_t cols_) noexcept
      : codes(codes_),
        scales(scales_),
        rows(rows_),
        cols(cols_),
        code_stride(Format::row_bytes(cols_)),
        scale_bytes(scale_bytes_) {}
  /// A view for writing is a view for reading.
  template <class U, class = typename std_types::enable_if<std_types::is_same<U const, Byte>::value>::type>
  FP4_HD FP4_INLINE constexpr quantized_view(quantized_view<Format, ScaleLayout, U> other) noexcept
      : codes(other.codes),
        scales(other.scales),
        rows(other.rows),
        cols(other.cols),
        code_stride(other.code_stride),
        scale_bytes(other.scale_bytes) {}

  [[nodiscard]] FP4_HD FP4_INLINE constexpr Byte* code_row(int64_t r) const noexcept { return codes + r * code_stride; }
  [[nodiscard]] FP4_HD FP4_INLINE constexpr int64_t blocks_per_row() const noexcept { return Format::blocks(cols); }
  [[nodiscard]] FP4_HD FP4_INLINE constexpr int64_t code_bytes_needed() const noexcept {
    return rows * Format::row_bytes(cols);
  }
  [[nodiscard]] FP4_HD FP4_INLINE constexpr int64_t scale_bytes_needed() const noexcept {
    return Format::has_block_scale ? ScaleLayout::bytes(rows, blocks_per_row()) : 0;
  }
  [[nodiscard]] FP4_HD FP4_INLINE constexpr int64_t scale_offset(int64_t row, int64_t block) const noexcept {
    return ScaleLayout::offset(row, block, blocks_per_row());
  }
};

}  // namespace fp4
