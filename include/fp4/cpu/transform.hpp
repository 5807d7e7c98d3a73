// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "detail/dispatch.hpp"

FP4_EXACT_BEGIN
namespace fp4::cpu {
namespace detail {

template <class Backend, class In, class Transform>
FP4_NOINLINE void transform_rows(matrix_view<In const> in, Transform const& how, matrix_view<float> out, int64_t first,
                                 int64_t last) noexcept {
  for (int64_t r = first; r < last; ++r) {
    for (int64_t c = 0; c < in.cols; c += tile_elements) {
      int const count = static_cast<int>(in.cols - c < tile_elements ? in.cols - c : tile_elements);
      Backend::transform(how, in.row(r) + c, count, out.row(r) + c);
    }
  }
}

template <class Transform>
FP4_NOINLINE void inverse_rows(matrix_view<float> values, Transform const& how, int64_t first, int64_t last) noexcept {
  for (int64_t r = first; r < last; ++r) {
    for (int64_t c = 0; c < values.cols; c += Transform::size) { how.apply_inverse(values.row(r) + c); }
  }
}

/// Transforms along the columns of `in`.
template <class Backend, class In, class Transform>
FP4_NOINLINE void transform_columns_with(matrix_view<In const> in, Transform const& how,
                                         matrix_view<float> out) noexcept {
  constexpr int n = Transform::size, wide = 32;
  alignas(64) In columns[wide][n];
  alignas(64) float transformed[wide][n];
  for (int64_t r = 0; r < in.rows; r += n) {
    for (int64_t c = 0; c < in.cols; c += wide) {
      int const width = static_cast<int>(in.cols - c < wide ? in.cols - c : wide);
      Backend::transpose(in.row(r) + c, in.stride, n, width, columns[0], n);
      for (int i = 0; i < width; ++i) { Backend::transform(how, columns[i], n, transformed[i]); }
      Backend::transpose(transformed[0], n, width, n, out.row(r) + c, out.stride);
    }
  }
}

template <class In, class Transform>
void transform_columns(matrix_view<In const> in, Transform const& how, matrix_view<float> out, path p) {
  with_backend(p, [&](auto backend) {
    exact_environment const environment;
    transform_columns_with<decltype(backend)>(in, how, out);
  });
}

template <class In>
check_result check_transform(matrix_view<In const> in, matrix_view<float> out, int64_t size) noexcept {
  using namespace fp4::detail;
  if (auto const found = check(in); !found.ok()) { return found; }
  if (auto const found = check(out); !found.ok()) { return found; }
  if (auto const found = check_same_shape(out.rows, out.cols, in.rows, in.cols); !found.ok()) { return found; }
  if (in.cols % size != 0) { return broken(errc::hadamard_size_does_not_divide, as_double(in.cols), as_double(size)); }
  return check_apart(rows_range(out.data, out.rows, out.stride, out.cols),
                     rows_range(in.data, in.rows, in.stride, in.cols));
}

}  // namespace detail

/// Hadamard transform of each row, [rows, cols] -> [rows, cols] fp32, in groups of Transform::size along the row.
/// \throws precondition_error when cols is not a multiple of the size, shapes differ or memory overlaps.
/// \note   Bit-exact on every path and at every thread count.
template <class In, class Transform, class Execution = default_execution>
void transform(matrix_view<In> in, Transform const& how, matrix_view<float> out, Execution execution = {},
               path p = path::automatic) {
  constexpr char const* where = "fp4::cpu::transform";
  using value = std_types::remove_const_t<In>;
  matrix_view<value const> const values = in;
  require(detail::check_transform(values, out, Transform::size), where);
  require(check(execution), where);
  require(check(p), where);
  if (in.size() == 0) { return; }
  detail::with_backend(p, [&](auto backend) {
    fp4::detail::for_each_part(execution, in.rows, 1 + 32768 / in.cols, [&](int64_t first, int64_t last) {
      detail::exact_environment const environment;
      detail::transform_rows<decltype(backend)>(values, how, out, first, last);
    });
  });
}

/// Inverse of transform(), in place.
template <class Transform, class Execution = default_execution>
void inverse_transform(matrix_view<float> values, Transform const& how, Execution execution = {}) {
  constexpr char const* where = "fp4::cpu::inverse_transform";
  require(check(values), where);
  require(check(how, values.cols), where);
  require(check(execution), where);
  if (values.size() == 0) { return; }
  fp4::detail::for_each_part(execution, values.rows, 1 + 32768 / values.cols, [&](int64_t first, int64_t last) {
    detail::exact_environment const environment;
    detail::inverse_rows(values, how, first, last);
  });
}

}  // namespace fp4::cpu
FP4_EXACT_END
