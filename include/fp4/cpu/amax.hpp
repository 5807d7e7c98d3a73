// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "transform.hpp"

FP4_EXACT_BEGIN
namespace fp4::cpu {
namespace detail {

/// Largest magnitude of a row, NaN ignored, after the transform.
template <class Backend, class In, class Transform>
float row_amax(In const* x, int64_t count, Transform const& how) noexcept {
  float largest = 0.0f;
  for (int64_t c = 0; c < count; c += tile_elements) {
    int const n = static_cast<int>(count - c < tile_elements ? count - c : tile_elements);
    float found;
    if constexpr (is_transformed_v<Transform>) {
      alignas(64) float transformed[tile_elements];
      Backend::transform(how, x + c, n, transformed);
      found = Backend::amax(transformed, n);
    } else {
      found = Backend::amax(x + c, n);
    }
    if (largest < found) { largest = found; }
  }
  return largest;
}

/// amax[r] of rows [first, last).
template <class Backend, class In, class Transform>
FP4_NOINLINE void row_amaxes(matrix_view<In const> in, Transform const& how, int64_t first, int64_t last,
                             float* amax) noexcept {
  for (int64_t r = first; r < last; ++r) { amax[r] = row_amax<Backend>(in.row(r), in.cols, how); }
}

/// amax[c] of columns [first, last).
template <class Backend, class In, class Transform>
FP4_NOINLINE void column_amaxes(matrix_view<In const> in, Transform const& how, int64_t first, int64_t last,
                                float* amax) noexcept {
  constexpr int wide = 32, tall = 256;
  alignas(64) In columns[wide][tall];
  for (int64_t c = first; c < last; c += wide) {
    int const width = static_cast<int>(last - c < wide ? last - c : wide);
    for (int i = 0; i < width; ++i) { amax[c + i] = 0.0f; }
    for (int64_t r = 0; r < in.rows; r += tall) {
      int const height = static_cast<int>(in.rows - r < tall ? in.rows - r : tall);
      Backend::transpose(in.row(r) + c, in.stride, height, width, columns[0], tall);
      for (int i = 0; i < width; ++i) {
        float const found = row_amax<Backend>(columns[i], height, how);
        if (amax[c + i] < found) { amax[c + i] = found; }
      }
    }
  }
}

template <class In, class Transform, class Direction, class Execution>
std::vector<float> amaxes_checked(matrix_view<In const> in, Transform const& how, Direction, Execution execution,
                                  path p) {
  constexpr bool by_column = std_types::is_same<Direction, columnwise>::value;
  int64_t const count = by_column ? in.cols : in.rows, length = by_column ? in.rows : in.cols;
  std::vector<float> amax(static_cast<size_t>(count), 0.0f);
  if (in.size() == 0) { return amax; }
  with_backend(p, [&](auto backend) {
    fp4::detail::for_each_part(execution, count, 1 + 32768 / length, [&](int64_t first, int64_t last) {
      exact_environment const environment;
      if constexpr (by_column) {
        column_amaxes<decltype(backend)>(in, how, first, last, amax.data());
      } else {
        row_amaxes<decltype(backend)>(in, how, first, last, amax.data());
      }
    });
  });
  return amax;
}

}  // namespace detail

/// Largest magnitude of each row of the result of quantizing `in`: of its rows, or of its columns for `columnwise`,
/// after the transform. NaN is ignored, infinity counts; an empty row has 0. \throws precondition_error for a bad view,
/// or an axis that is not a multiple of the transform's size.
template <class In, class Transform = no_transform, class Direction = rowwise, class Execution = default_execution>
[[nodiscard]] std::vector<float> row_amaxes(matrix_view<In> in, Transform const& how = {}, Direction direction = {},
                                            Execution execution = {}, path p = path::automatic) {
  constexpr char const* where = "fp4::cpu::row_amaxes";
  matrix_view<std_types::remove_const_t<In> const> const values = in;
  require(check(values), where);
  require(check(how, std_types::is_same<Direction, columnwise>::value ? in.rows : in.cols), where);
  require(check(execution), where);
  require(check(p), where);
  return detail::amaxes_checked(values, how, direction, execution, p);
}

/// Largest magnitude of all values that quantizing `in` would scale: after the transform, NaN ignored, infinity counts.
/// \throws precondition_error as row_amaxes.
template <class In, class Transform = no_transform, class Direction = rowwise, class Execution = default_execution>
[[nodiscard]] float amax(matrix_view<In> in, Transform const& how = {}, Direction direction = {},
                         Execution execution = {}, path p = path::automatic) {
  require(check(in), "fp4::cpu::amax");
  if (in.size() == 0) { return 0.0f; }
  matrix_view<In> flat = in;
  if constexpr (!is_transformed_v<Transform>) {  // rows without gaps in pieces of a size that threads can share
    constexpr int64_t piece = 8192;
    if (in.stride == in.cols && in.data != nullptr && in.rows > 0 && in.size() % piece == 0) {
      flat = {in.data, in.size() / piece, piece};
    }
  }
  float largest = 0.0f;
  using fp4::rowwise;
  auto const amaxes = [&] {
    if constexpr (is_transformed_v<Transform>) {
      return row_amaxes(flat, how, direction, execution, p);
    } else {
      return row_amaxes(flat, how, rowwise{}, execution, p);
    }
  }();
  for (float const a : amaxes) {
    if (largest < a) { largest = a; }
  }
  return largest;
}

}  // namespace fp4::cpu
FP4_EXACT_END
