// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The six operands of a linear layer's three products under a recipe, on the CPU.
///
///     using namespace fp4::recipe;
///     auto const x = operands_of<te_nvfp4, matrix::activation>(activations);       // in the forward pass
///     auto const w = operands_of<te_nvfp4, matrix::weight>(weights);
///     // Y = x.rowwise * w.rowwise^T
///     auto const dy = operands_of<te_nvfp4, matrix::gradient>(gradients, {seed, step});  // in the backward pass
///     // dX = dy.rowwise * w.columnwise^T, dW = dy.columnwise * x.columnwise^T
///
/// or all at once with linear_operands. `decoded<float>(x.rowwise)` is what a product without 4-bit hardware multiplies.

#include "../cpu/both.hpp"
#include "../cpu/dequantize.hpp"
#include "../quantized.hpp"
#include "choices.hpp"

namespace fp4::recipe {

/// An operand of number::bf16: values [rows, cols] without gaps, the transpose where it is column-wise.
struct bfloat16_matrix {
  int64_t row_count = 0;
  int64_t col_count = 0;
  std::vector<bfloat16> values;

  [[nodiscard]] int64_t rows() const noexcept { return row_count; }
  [[nodiscard]] int64_t cols() const noexcept { return col_count; }
};

/// What one matrix becomes: each a quantized<Format, ScaleLayout>, or a bfloat16_matrix.
template <class Rowwise, class Columnwise>
struct operands {
  Rowwise rowwise;
  Columnwise columnwise;  ///< [cols, rows]: the transpose
};

/// What the layer's three matrices become.
template <class Activation, class Weight, class Gradient>
struct layer_operands {
  Activation activation;
  Weight weight;
  Gradient gradient;
};

/// Largest magnitudes of what is quantized; across devices they are all-reduced with max, and nothing else is.
using amaxes = cpu::both_amaxes;

namespace detail {

using fp4::detail::as_double;
using fp4::detail::broken;

template <table const& Recipe, matrix Matrix, class Direction>
inline constexpr bool is_quantized_v = row<Recipe, Matrix, Direction>().format != number::bf16;

/// The transform of an operand, none where it is not quantized.
template <table const& Recipe, matrix Matrix, class Direction>
constexpr auto transform_for() noexcept {
  constexpr operand how = row<Recipe, Matrix, Direction>();
  return transform_of<how.hadamard>(how.to_bfloat16);
}

template <class In>
bfloat16_matrix as_bfloat16(matrix_view<In> in, bool transposed) {
  bfloat16_matrix result{transposed ? in.cols : in.rows, transposed ? in.rows : in.cols, {}};
  result.values.resize(static_cast<size_t>(in.size()));
  for (int64_t r = 0; r < in.rows; ++r) {
    for (int64_t c = 0; c < in.cols; ++c) {
      int64_t const to = transposed ? c * in.rows + r : r * in.cols + c;
      result.values[static_cast<size_t>(to)] = bfloat16::from_float(fp4::detail::as_float(in.row(r)[c]));
    }
  }
  return result;
}

/// One operand while it is made: its memory, its tensor scale, its choices.
template <table const& Recipe, matrix Matrix, class Direction, class ScaleLayout>
struct maker {
  static constexpr bool is_columnwise = std_types::is_same<Direction, columnwise>::value;
  using format = typename format_of<row<Recipe, Matrix, Direction>().format>::type;
  using chosen = decltype(choices_of<Recipe, Matrix, Direction>(draw{}, place{}));

  quantized<format, ScaleLayout> result;
  chosen how;

  maker(int64_t rows, int64_t cols, float amax, draw const& random, place const& where)
      : result(is_columnwise ? cols : rows, is_columnwise ? rows : cols, decltype(chosen::scaling)::decoding),
        how(choices_of<Recipe, Matrix, Direction>(random, where)) {
    result.set_tensor_scales({tensor_scale::from_amax(amax).with_range(how.scaling.template range<format>())});
  }
  [[nodiscard]] auto target() {
    return cpu::quantization<format, ScaleLayout, chosen>{result.view(), result.tensor_scales_view(), how};
  }
};

}  // namespace detail

/// The amaxes that operands_with takes: one pass over the matrix, none where the recipe's formats have no tensor scale.
/// \throws precondition_error for a bad view, or an axis that is not a multiple of its Hadamard size.
template <table const& Recipe, matrix Matrix, class In, class Execution = default_execution>
[[nodiscard]] amaxes amaxes_of(matrix_view<In> in, Execution execution = {}, cpu::path p = cpu::path::automatic) {
  constexpr auto needs = [](operand const& how) {
    return how.format == number::nvfp4 || how.format == number::fp8_e4m3 || how.format == number::fp8_e5m2;
  };
  constexpr both_operands how = Recipe.of(Matrix);
  if constexpr (!needs(how.rowwise) && !needs(how.columnwise)) {
    require(check(in), "fp4::recipe::amaxes_of");
    return {};
  } else {
    return cpu::amax_both(in, detail::transform_for<Recipe, Matrix, rowwise>(),
                          detail::transform_for<Recipe, Matrix, columnwise>(), execution, p);
  }
}

/// Both operands of one matrix of a layer, with amaxes from amaxes_of (all-reduced, where devices share the matrix): one
/// pass over it.
///
/// \param in      [M, K], [N, K] or [M, N] values of an activation, a weight or a gradient.
/// \param random  the draw of stochastic rounding, where the recipe asks for it. The three matrices of a layer draw
///                independently under one {seed, call}, and so do the two directions.
/// \param where   the place of `in` in the matrix of all devices, for random positions; a shard gives the whole's bytes.
/// \throws precondition_error naming the value and the rule: a bad view, a length that is not a multiple of the Hadamard
///         size, a place that begins inside a block, an amax that is negative or NaN.
/// \note   Bytes, rounding and cost are those of cpu::quantize; see docs/recipe.md.
template <table const& Recipe, matrix Matrix, class ScaleLayout = linear_scales, class In,
          class Execution = default_execution>
[[nodiscard]] auto operands_with(matrix_view<In> in, amaxes const& largest, draw const& random = {},
                                 place const& where = {}, Execution execution = {},
                                 cpu::path p = cpu::path::automatic) {
  constexpr char const* name = "fp4::recipe::operands_with";
  detail::require_meaningful<Recipe>();
  require(check(in), name);
  require(check(random, where, in.rows, in.cols, Recipe.of(Matrix).rowwise), name);
  require(check(random, where, in.rows, in.cols, Recipe.of(Matrix).columnwise), name);
  constexpr bool by_row = detail::is_quantized_v<Recipe, Matrix, rowwise>;
  constexpr bool by_column = detail::is_quantized_v<Recipe, Matrix, columnwise>;
  static_assert(by_row == by_column, "both operands of a matrix are quantized, or neither is");
  if constexpr (by_row) {
    detail::maker<Recipe, Matrix, rowwise, ScaleLayout> one(in.rows, in.cols, largest.rowwise, random, where);
    detail::maker<Recipe, Matrix, columnwise, ScaleLayout> other(in.rows, in.cols, largest.columnwise, random, where);
    cpu::quantize_both(in, one.target(), other.target(), execution, p);
    return operands<decltype(one.result), decltype(other.result)>{std::move(one.result), std::move(other.result)};
  } else {
    return operands<bfloat16_matrix, bfloat16_matrix>{detail::as_bfloat16(in, false), detail::as_bfloat16(in, true)};
  }
}

/// operands_with the amaxes of `in` itself, which is the whole matrix: one amax pass and one quantize pass.
template <table const& Recipe, matrix Matrix, class ScaleLayout = linear_scales, class In,
          class Execution = default_execution>
[[nodiscard]] auto operands_of(matrix_view<In> in, draw const& random = {}, Execution execution = {},
                               cpu::path p = cpu::path::automatic) {
  return operands_with<Recipe, Matrix, ScaleLayout>(in, amaxes_of<Recipe, Matrix>(in, execution, p), random, place{},
                                                    execution, p);
}

/// All six operands of a layer.
/// \param x, w, dy  activation [M, K], weight [N, K], gradient [M, N].
/// \throws precondition_error as operands_of, or when the shapes do not belong to one layer.
template <table const& Recipe, class ScaleLayout = linear_scales, class X, class W, class Dy,
          class Execution = default_execution>
[[nodiscard]] auto linear_operands(matrix_view<X> x, matrix_view<W> w, matrix_view<Dy> dy, draw const& random = {},
                                   Execution execution = {}, cpu::path p = cpu::path::automatic) {
  constexpr char const* name = "fp4::recipe::linear_operands";
  int64_t const pairs[][2] = {{w.cols, x.cols}, {dy.rows, x.rows}, {dy.cols, w.rows}};
  for (auto const& [got, wanted] : pairs) {
    if (got != wanted) {
      require(detail::broken(errc::bad_layer_shape, detail::as_double(got), detail::as_double(wanted)), name);
    }
  }
  auto activation = operands_of<Recipe, matrix::activation, ScaleLayout>(x, random, execution, p);
  auto weight = operands_of<Recipe, matrix::weight, ScaleLayout>(w, random, execution, p);
  auto gradient = operands_of<Recipe, matrix::gradient, ScaleLayout>(dy, random, execution, p);
  return layer_operands<decltype(activation), decltype(weight), decltype(gradient)>{
      std::move(activation), std::move(weight), std::move(gradient)};
}

/// The values that an operand stands for, [rows, cols] of it, row-major. Transformed operands stay transformed: their
/// product is that of the originals. T is float, float16 or bfloat16.
template <class T, class Format, class ScaleLayout, class Execution = default_execution>
[[nodiscard]] std::vector<T> decoded(quantized<Format, ScaleLayout> const& q, Execution execution = {},
                                     cpu::path p = cpu::path::automatic) {
  std::vector<T> values(static_cast<size_t>(q.rows() * q.cols()));
  cpu::dequantize(q.view(), q.tensor_scales_view(), q.decoding(), matrix_view<T>(values.data(), q.rows(), q.cols()),
                  execution, p);
  return values;
}
template <class T>
[[nodiscard]] std::vector<T> decoded(bfloat16_matrix const& m) {
  std::vector<T> values(m.values.size());
  for (size_t i = 0; i < values.size(); ++i) { values[i] = fp4::detail::from_float_to<T>(m.values[i].to_float()); }
  return values;
}

}  // namespace fp4::recipe
