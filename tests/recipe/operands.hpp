// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The oracle of the operands: fp4::reference with choices that each test writes down itself, not the recipe's table.

#include <fp4/recipe/linear.hpp>
#include <fp4/reference/reference.hpp>

#include "catch.hpp"
#include "support/bits.hpp"
#include "support/buffer.hpp"
#include "support/data.hpp"

namespace test {

/// The three matrices of a layer, as T.
template <class T>
struct layer {
  std::int64_t m, k, n;
  std::vector<T> x, w, dy;

  layer(data_kind kind, std::int64_t m_, std::int64_t k_, std::int64_t n_, std::uint64_t seed)
      : m(m_),
        k(k_),
        n(n_),
        x(as_values<T>(make_data(kind, m, k, seed), k)),
        w(as_values<T>(make_data(kind, n, k, seed + 1), k)),
        dy(as_values<T>(make_data(kind, m, n, seed + 2), n)) {}

  [[nodiscard]] fp4::matrix_view<T const> activation() const { return {x.data(), m, k}; }
  [[nodiscard]] fp4::matrix_view<T const> weight() const { return {w.data(), n, k}; }
  [[nodiscard]] fp4::matrix_view<T const> gradient() const { return {dy.data(), m, n}; }
};

/// Choices in the order of the published table: transform, rounding, block, direction.
template <class Scaling, class Transform = fp4::no_transform, class Rounding = fp4::nearest_even,
          class Shape = fp4::blocks_1d, class Direction = fp4::rowwise>
auto written(Scaling, Direction, Transform transform = {}, Rounding rounding = {}, Shape = {}) {
  return fp4::choices<Scaling, Rounding, Transform, Shape, Direction>{{}, rounding, transform, {}, {}};
}

/// `got` has the bytes, the tensor scale and the decoded values of the reference.
template <class In, class Format, class Layout, class Choices>
void check_operand(fp4::quantized<Format, Layout> const& got, fp4::matrix_view<In const> in, Choices const& how) {
  std::int64_t const rows = Choices::is_columnwise ? in.cols : in.rows;
  std::int64_t const cols = Choices::is_columnwise ? in.rows : in.cols;
  REQUIRE(got.rows() == rows);
  REQUIRE(got.cols() == cols);
  float amax = 0;
  if (Format::has_tensor_scale) {
    amax = fp4::reference::amax(in, how.transform, how.direction);
    CHECK(bits_of(got.tensor_scale().amax()) == bits_of(amax));
  }
  auto const scale = fp4::tensor_scale::from_amax(amax).with_range(how.scaling.template range<Format>());
  fp4::quantized<Format, Layout> wanted(rows, cols, decltype(Choices::scaling)::decoding);
  fp4::reference::quantize(in, wanted.view(), {&scale, 1}, how);
  auto const size = [](auto const& bytes) { return static_cast<std::int64_t>(bytes.size()); };
  CHECK(first_difference(got.scales().data(), wanted.scales().data(), size(wanted.scales()), Format::blocks(cols)) ==
        "");
  CHECK(first_difference(got.codes().data(), wanted.codes().data(), size(wanted.codes()), Format::row_bytes(cols)) ==
        "");
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  fp4::quantized_view<Format, Layout, std::uint8_t const> const codes = std::as_const(wanted).view();
  fp4::reference::dequantize(codes, {&scale, 1}, wanted.decoding(), fp4::matrix_view<float>(values.data(), rows, cols));
  std::vector<float> const decoded = fp4::recipe::decoded<float>(got);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) { wrong += bits_of(values[i]) != bits_of(decoded[i]); }
  CHECK(wrong == 0);
}

}  // namespace test
