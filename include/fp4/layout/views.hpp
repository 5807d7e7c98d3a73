// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../format/block_format.hpp"
#include "../format/half.hpp"

namespace fp4 {

/// Rows of a matrix in somebody else's memory: element (r, c) is data[r * stride + c].
template <class T>
struct matrix_view {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;  ///< Elements from one row to the next, at least cols.

  constexpr matrix_view() noexcept = default;
  /// Rows without gaps.
  FP4_HD FP4_INLINE constexpr matrix_view(T* data_, int64_t rows_, int64_t cols_) noexcept
      : matrix_view(data_, rows_, cols_, cols_) {}
  FP4_HD FP4_INLINE constexpr matrix_view(T* data_, int64_t rows_, int64_t cols_, int64_t stride_) noexcept
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
  /// A view of T is a view of T const.
  template <class U, class = typename std_types::enable_if<std_types::is_same<U const, T>::value>::type>
  FP4_HD FP4_INLINE constexpr matrix_view(matrix_view<U> other) noexcept
      : matrix_view(other.data, other.rows, other.cols, other.stride) {}

  [[nodiscard]] FP4_HD FP4_INLINE constexpr T* row(int64_t r) const noexcept { return data + r * stride; }
  [[nodiscard]] FP4_HD FP4_INLINE constexpr int64_t size() const noexcept { return rows * cols; }
};

/// The 4-bit code of element i in packed bytes: even elements in the low nibble.
[[nodiscard]] FP4_HD FP4_INLINE constexpr uint8_t nibble(uint8_t const* packed, int64_t i) noexcept {
  return static_cast<uint8_t>(packed[i / 2] >> (i % 2 * 4) & 0xF);
}

/// Sets the 4-bit code of element i. Not for two threads on one byte.
FP4_HD FP4_INLINE constexpr void set_nibble(uint8_t* packed, int64_t i, uint8_t code) noexcept {
  int const shift = static_cast<int>(i % 2 * 4);
  packed[i / 2] = static_cast<uint8_t>((packed[i / 2] & ~(0xF << shift)) | (code & 0xF) << shift);
}

/// The code of element i of a row of codes, 4-bit or byte-wide as the format stores it.
template <class Format>
[[nodiscard]] FP4_HD FP4_INLINE constexpr typename Format::element element_at(uint8_t const* row, int64_t i) noexcept {
  return {Format::storage_bits == 4 ? nibble(row, i) : row[i]};
}

}  // namespace fp4
