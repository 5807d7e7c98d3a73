// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../config.hpp"

namespace fp4 {

/// Category of a block shape argument, and of a direction argument.
struct block_shape_choice {};
struct direction_choice {};

/// One scale for block_size consecutive elements of a row. The default.
struct blocks_1d {
  using choice = block_shape_choice;
};

/// One scale for 16 x 16 elements, stored as sixteen equal 1 x 16 scales: a matrix and its transpose then decode to the
/// same values. NVFP4 with blocks of 16. Scales are chosen and codes rounded once, on the matrix as given.
struct blocks_2d {
  using choice = block_shape_choice;
};

/// Blocks along rows: the contraction axis is the column index. The default.
struct rowwise {
  using choice = direction_choice;
};

/// Blocks along columns: the result is that of the transposed matrix, [cols, rows], packed along its own rows.
struct columnwise {
  using choice = direction_choice;
};

}  // namespace fp4
