// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which rows of the input a tile covers, and where the results of those rows lie.

#include "grid.cuh"
#include "side.cuh"

namespace fp4::gpu::detail {

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

  struct memory {};
  template <class Side>
  __device__ __forceinline__ void count_blocks(int64_t, memory&) const {}
  __device__ __forceinline__ matrix_part find(int64_t row) const { return {0, rows, row, end, 0}; }
  template <class Side>
  __device__ __forceinline__ side_frame const& row_frame(Side const& s, matrix_part const&) const {
    return s.whole;
  }
  template <class Side>
  __device__ __forceinline__ side_frame const& column_frame(Side const& s, matrix_part const&, memory const&) const {
    return s.whole;
  }
};

}  // namespace fp4::gpu::detail
