// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which rows of the input a tile covers, and where the results of those rows lie.

#include "side.cuh"

namespace fp4::gpu::detail {

template <class T>
constexpr T larger(T a, T b) noexcept {
  return a > b ? a : b;
}

/// A tile's place: row `row` of a part of the matrix that begins at row `first_row` and has `rows` rows.
struct matrix_part {
  int64_t first_row, rows, row;
  int64_t end;  ///< rows of the part with the padding of its scales
  int64_t group;
};

/// The matrix is one.
struct one_matrix {
  static constexpr bool is_one = true;
  int64_t rows;
  int64_t end;  ///< with the padding of scales

  __device__ __forceinline__ matrix_part find(int64_t row) const { return {0, rows, row, end, 0}; }
  __device__ __forceinline__ side_frame const& row_frame(side_frame const& whole, matrix_part const&) const {
    return whole;
  }
  __device__ __forceinline__ side_frame const& column_frame(side_frame const& whole, matrix_part const&) const {
    return whole;
  }
};

}  // namespace fp4::gpu::detail
