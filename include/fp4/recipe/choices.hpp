// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// From a row of the table to the library's choices.

#include "table.hpp"

namespace fp4::recipe {

/// Which draw of random numbers a call makes. Results are a pure function of (seed, call, matrix, direction, position):
/// calls that must be independent (steps, layers) differ in `seed` or `call`.
struct draw {
  uint64_t seed = 0;
  uint64_t call = 0;  ///< Below 2^61.
};

/// Where the matrix lies in the whole one, when it is a part: a shard then gives the bytes of the whole. Parts begin at
/// multiples of 16, and of the block and the Hadamard size.
struct place {
  int64_t first_row = 0;
  int64_t first_col = 0;
  int64_t whole_rows = 0;  ///< 0 means that this matrix is whole.
  int64_t whole_cols = 0;
};

namespace detail {

/// The block format and its scaling.
template <number Number>
struct format_of;
template <>
struct format_of<number::nvfp4> {
  using type = nvfp4;
  using scaling = transformer_engine;
};
template <>
struct format_of<number::mxfp8_e4m3> {
  using type = mxfp8_e4m3;
  using scaling = mx_ceil;
};
template <>
struct format_of<number::mxfp8_e5m2> {
  using type = mxfp8_e5m2;
  using scaling = mx_ceil;
};
template <>
struct format_of<number::fp8_e4m3> {
  using type = fp8_e4m3;
  using scaling = tensor_amax;
};
template <>
struct format_of<number::fp8_e5m2> {
  using type = fp8_e5m2;
  using scaling = tensor_amax;
};

/// The row of a table for one matrix and direction.
template <table const& Recipe, matrix Matrix, class Direction>
constexpr operand row() noexcept {
  both_operands const& both = Recipe.of(Matrix);
  return std_types::is_same<Direction, columnwise>::value ? both.columnwise : both.rowwise;
}

template <int Size>
constexpr auto transform_of(bool to_bfloat16) noexcept {
  if constexpr (Size == 0) {
    return no_transform{};
  } else {
    return to_bfloat16 ? fp4::hadamard<Size>().to_bfloat16() : fp4::hadamard<Size>();
  }
}

/// Rows and columns as the random positions count them: in the transposed matrix for column-wise 1D blocks.
template <class Format, bool Transposed>
constexpr fp4::stochastic placed(fp4::stochastic rounding, place const& where) noexcept {
  if (where.whole_rows == 0 && where.whole_cols == 0) { return rounding; }
  if (Transposed) {
    return rounding.at(where.first_col, where.first_row / Format::block_size, Format::blocks(where.whole_rows));
  }
  return rounding.at(where.first_row, where.first_col / Format::block_size, Format::blocks(where.whole_cols));
}

/// The choices of one operand that is quantized.
template <table const& Recipe, matrix Matrix, class Direction>
constexpr auto choices_of(draw const& random, place const& where) noexcept {
  constexpr operand how = row<Recipe, Matrix, Direction>();
  using found = format_of<how.format>;
  using shape = std_types::conditional_t<how.is_2d, blocks_2d, blocks_1d>;
  using transform = decltype(transform_of<how.hadamard>(how.to_bfloat16));
  transform const transforms = transform_of<how.hadamard>(how.to_bfloat16);
  if constexpr (how.is_stochastic) {
    constexpr bool transposed = std_types::is_same<Direction, columnwise>::value && !how.is_2d;
    fp4::stochastic const rounding(random.seed, 4 * random.call + static_cast<uint64_t>(Matrix));
    return choices<typename found::scaling, fp4::stochastic, transform, shape, Direction>{
        {}, placed<typename found::type, transposed>(rounding, where), transforms, {}, {}};
  } else {
    return choices<typename found::scaling, nearest_even, transform, shape, Direction>{{}, {}, transforms, {}, {}};
  }
}

}  // namespace detail
}  // namespace fp4::recipe
