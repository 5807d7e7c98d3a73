// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// From a row of the table to the library's choices.

#include "../layout/submatrix.hpp"
#include "table.hpp"

namespace fp4::recipe {

/// Which draw of random numbers a call makes. Results are a pure function of (seed, call, matrix, direction, position):
/// calls that must be independent (steps, layers) differ in `seed` or `call`.
struct draw {
  uint64_t seed = 0;
  uint64_t call = 0;  ///< Below 2^61.
};

/// Where the matrix lies in the whole one, when it is a part: a shard then gives the bytes of the whole. Parts begin at
/// multiples of part_unit, and end there or where the whole ends.
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

/// The draw of one operand. Positions count in the transposed matrix for column-wise 1D blocks.
template <class Format, bool Transposed>
constexpr fp4::stochastic rounding_of(matrix which, draw const& random, place const& where) noexcept {
  fp4::stochastic const whole(random.seed, 4 * random.call + static_cast<uint64_t>(which));
  if (where.whole_rows == 0 && where.whole_cols == 0) { return whole; }
  if (Transposed) {
    return whole.at(where.first_col, where.first_row / Format::block_size, Format::blocks(where.whole_rows));
  }
  return whole.at(where.first_row, where.first_col / Format::block_size, Format::blocks(where.whole_cols));
}

/// The choices of an operand of `Number`, with a transform, shape and direction.
template <number Number, bool IsStochastic, class Transform, class Shape, class Direction>
constexpr auto bundle(Transform const& transform, matrix which, draw const& random, place const& where) noexcept {
  using format = typename format_of<Number>::type;
  using scaling = typename format_of<Number>::scaling;
  if constexpr (IsStochastic) {
    constexpr bool transposed =
        std_types::is_same<Direction, columnwise>::value && std_types::is_same<Shape, blocks_1d>::value;
    return choices<scaling, fp4::stochastic, Transform, Shape, Direction>{
        {}, rounding_of<format, transposed>(which, random, where), transform, {}, {}};
  } else {
    return choices<scaling, nearest_even, Transform, Shape, Direction>{{}, {}, transform, {}, {}};
  }
}

/// The choices of one operand of a recipe that is quantized.
template <table const& Recipe, matrix Matrix, class Direction>
constexpr auto choices_of(draw const& random, place const& where) noexcept {
  constexpr operand how = row<Recipe, Matrix, Direction>();
  auto const transform = transform_of<how.hadamard>(how.to_bfloat16);
  return bundle<how.format, how.is_stochastic, std_types::remove_const_t<decltype(transform)>,
                std_types::conditional_t<how.is_2d, blocks_2d, blocks_1d>, Direction>(transform, Matrix, random, where);
}

}  // namespace detail

/// Parts of a matrix that becomes this operand begin at multiples of this many rows and columns.
[[nodiscard]] constexpr int64_t part_unit(operand const& how) noexcept {
  bool const has_blocks_of_32 = how.format == number::mxfp8_e4m3 || how.format == number::mxfp8_e5m2;
  int const block = has_blocks_of_32 ? 32 : 16;
  return how.hadamard > block ? how.hadamard : block;
}

/// The preconditions of a draw and a place for a matrix of [rows, cols] that becomes `how`.
[[nodiscard]] inline check_result check(draw const& random, place const& where, int64_t rows, int64_t cols,
                                        operand const& how) noexcept {
  if (random.call >> 61 != 0) {
    return fp4::detail::broken(errc::bad_random_position, static_cast<double>(random.call), 0x1p61);
  }
  if (where.whole_rows == 0 && where.whole_cols == 0) { return {}; }
  int64_t const unit = part_unit(how);
  if (auto const found = fp4::detail::check_part(where.first_row, rows, where.whole_rows, unit); !found.ok()) {
    return found;
  }
  return fp4::detail::check_part(where.first_col, cols, where.whole_cols, unit);
}

}  // namespace fp4::recipe
