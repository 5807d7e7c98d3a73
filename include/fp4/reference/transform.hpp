// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../choices.hpp"
#include "number.hpp"

FP4_EXACT_BEGIN
namespace fp4::reference {
namespace detail {

/// Sums and differences of partners h apart, for h = 1, 2, 4, ...
inline std::vector<float> hadamard_product(std::vector<float> x) {
  for (size_t h = 1; h < x.size(); h *= 2) {
    std::vector<float> y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      bool const first = i / h % 2 == 0;
      if (first) {
        y[i] = sum(x[i], x[i + h]);
      } else {
        y[i] = sum(x[i - h], negated(x[i]));
      }
    }
    x = y;
  }
  return x;
}

inline std::vector<float> transformed(no_transform const&, std::vector<float> const& x) { return x; }
inline std::vector<float> restored(no_transform const&, std::vector<float> const& x) { return x; }

inline bool is_negated(uint32_t const* signs, size_t i) { return (signs[i / 32] >> i % 32) % 2 == 1; }

template <int N>
std::vector<float> transformed(hadamard<N> const& transform, std::vector<float> x) {
  float const constant = round_to_float(1 / std::sqrt(static_cast<double>(N)));
  for (size_t i = 0; i < x.size(); ++i) { x[i] = product(x[i], negated_if(is_negated(transform.signs, i), constant)); }
  x = hadamard_product(x);
  if (transform.rounds_to_bfloat16) {
    for (float& v : x) { v = round_to_bfloat16(v); }
  }
  return x;
}

template <int N>
std::vector<float> restored(hadamard<N> const& transform, std::vector<float> x) {
  float const constant = round_to_float(1 / std::sqrt(static_cast<double>(N)));
  for (float& v : x) { v = product(v, constant); }
  x = hadamard_product(x);
  for (size_t i = 0; i < x.size(); ++i) { x[i] = negated_if(is_negated(transform.signs, i), x[i]); }
  return x;
}

/// A matrix as fp32, row-major, with `map` applied to each group of `size` elements along the chosen axis.
template <class T, class Map>
std::vector<float> mapped(matrix_view<T const> in, int size, bool along_columns, Map map) {
  auto const at = [&](int64_t r, int64_t c) { return static_cast<size_t>(r * in.cols + c); };
  std::vector<float> x(static_cast<size_t>(in.size()));
  for (int64_t r = 0; r < in.rows; ++r) {
    for (int64_t c = 0; c < in.cols; ++c) { x[at(r, c)] = to_float(in.row(r)[c]); }
  }
  int64_t const lines = along_columns ? in.cols : in.rows;
  int64_t const length = along_columns ? in.rows : in.cols;
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t first = 0; first < length; first += size) {
      auto const place = [&](int i) { return along_columns ? at(first + i, line) : at(line, first + i); };
      std::vector<float> group;
      for (int i = 0; i < size; ++i) { group.push_back(x[place(i)]); }
      group = map(group);
      for (int i = 0; i < size; ++i) { x[place(i)] = group[static_cast<size_t>(i)]; }
    }
  }
  return x;
}

template <class T, class Transform>
std::vector<float> transformed_matrix(matrix_view<T const> in, Transform const& transform, bool along_columns) {
  return mapped(in, Transform::size, along_columns,
                [&](std::vector<float> const& group) { return transformed(transform, group); });
}

inline float largest_magnitude(std::vector<float> const& x) {
  float most = 0;
  for (float const v : x) { most = larger(most, magnitude(v)); }
  return most;
}

template <class T, class Transform, class Map>
void map_rows(matrix_view<T const> in, Transform const& t, matrix_view<float> out, char const* where, Map map) {
  require(check(in), where);
  require(check(out), where);
  require(check(t, in.cols), where);
  check_result shape;
  if (out.rows != in.rows) {
    shape = {errc::shape_mismatch, static_cast<double>(out.rows), static_cast<double>(in.rows)};
  } else if (out.cols != in.cols) {
    shape = {errc::shape_mismatch, static_cast<double>(out.cols), static_cast<double>(in.cols)};
  }
  require(shape, where);
  std::vector<float> const x = mapped(in, Transform::size, false, map);
  for (int64_t r = 0; r < in.rows; ++r) {
    for (int64_t c = 0; c < in.cols; ++c) { out.row(r)[c] = x[static_cast<size_t>(r * in.cols + c)]; }
  }
}

}  // namespace detail

/// Writes the values as they are quantized: each row in groups of Transform::size, after the transform's own
/// rounding. \throws precondition_error when the shapes differ or cols is not a multiple of the size; then
/// nothing was written.
template <class T, class Transform>
void transform(matrix_view<T const> in, Transform const& how, matrix_view<float> out) {
  detail::map_rows(in, how, out, "fp4::reference::transform",
                   [&](std::vector<float> const& group) { return detail::transformed(how, group); });
}

/// The way back along rows; exact up to fp32 rounding. \throws as transform.
template <class T, class Transform>
void inverse_transform(matrix_view<T const> in, Transform const& how, matrix_view<float> out) {
  detail::map_rows(in, how, out, "fp4::reference::inverse_transform",
                   [&](std::vector<float> const& group) { return detail::restored(how, group); });
}

/// The largest magnitude of the values that are quantized along `direction`: after the transform, without
/// NaN. An infinity counts; 0 for an empty matrix. \throws precondition_error as the transform does.
template <class T, class Transform, class Direction>
float amax(matrix_view<T const> in, Transform const& how, Direction) {
  constexpr bool along_columns = std::is_same_v<Direction, columnwise>;
  require(check(in), "fp4::reference::amax");
  require(check(how, along_columns ? in.rows : in.cols), "fp4::reference::amax");
  return detail::largest_magnitude(detail::transformed_matrix(in, how, along_columns));
}

}  // namespace fp4::reference
FP4_EXACT_END
