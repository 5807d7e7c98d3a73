// SPDX-License-Identifier: Apache-2.0
// What the operands are for: three products near the exact ones, in which transforms cancel and stochastic rounding
// averages out.
#include <array>
#include <cmath>

#include "operands.hpp"

using namespace fp4;
namespace recipe = fp4::recipe;

namespace {

/// [rows, cols] values in double.
struct dense {
  std::int64_t rows, cols;
  std::vector<double> values;

  [[nodiscard]] double at(std::int64_t r, std::int64_t c) const {
    return values[static_cast<std::size_t>(r * cols + c)];
  }
};

dense dense_of(matrix_view<float const> m, bool transposed = false) {
  dense d{transposed ? m.cols : m.rows, transposed ? m.rows : m.cols, {}};
  for (std::int64_t r = 0; r < d.rows; ++r) {
    for (std::int64_t c = 0; c < d.cols; ++c) {
      d.values.push_back(static_cast<double>(transposed ? m.row(c)[r] : m.row(r)[c]));
    }
  }
  return d;
}

template <class Operand>
dense dense_of(Operand const& operand) {
  auto const decoded = recipe::decoded<float>(operand);
  return {operand.rows(), operand.cols(), std::vector<double>(decoded.begin(), decoded.end())};
}

/// a * b^T
dense product(dense const& a, dense const& b) {
  REQUIRE(a.cols == b.cols);
  dense y{a.rows, b.rows, {}};
  for (std::int64_t r = 0; r < y.rows; ++r) {
    for (std::int64_t c = 0; c < y.cols; ++c) {
      double sum = 0;
      for (std::int64_t i = 0; i < a.cols; ++i) { sum += a.at(r, i) * b.at(c, i); }
      y.values.push_back(sum);
    }
  }
  return y;
}

double relative_error(dense const& got, dense const& wanted) {
  double noise = 0, signal = 0;
  REQUIRE(got.values.size() == wanted.values.size());
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    noise += (got.values[i] - wanted.values[i]) * (got.values[i] - wanted.values[i]);
    signal += wanted.values[i] * wanted.values[i];
  }
  return std::sqrt(noise / signal);
}

test::layer<float> const layer(test::data_kind::normal, 128, 96, 64, 11);
dense const x = dense_of(layer.activation()), w = dense_of(layer.weight()), dy = dense_of(layer.gradient());
dense const xt = dense_of(layer.activation(), true), wt = dense_of(layer.weight(), true),
            dyt = dense_of(layer.gradient(), true);

/// `m` with each value held within 6 times its block's scale, as every rounding does: the maximum of a block whose scale
/// rounded down is clipped, and no number of draws brings that back.
dense clipped(dense m, quantized<nvfp4> const& q) {
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (std::int64_t c = 0; c < m.cols; ++c) {
      ue4m3 const scale{q.scales()[static_cast<std::size_t>(q.view().scale_offset(r, c / 16))]};
      double const most = 6 * static_cast<double>(scale.to_float()) * static_cast<double>(q.tensor_scale().decode());
      double& value = m.values[static_cast<std::size_t>(r * m.cols + c)];
      value = std::max(-most, std::min(value, most));
    }
  }
  return m;
}

/// Errors of forward, data gradient and weight gradient.
template <recipe::table const& Recipe>
std::array<double, 3> errors() {
  auto const six = recipe::linear_operands<Recipe>(layer.activation(), layer.weight(), layer.gradient(), {3, 4});
  return {relative_error(product(dense_of(six.activation.rowwise), dense_of(six.weight.rowwise)), product(x, w)),
          relative_error(product(dense_of(six.gradient.rowwise), dense_of(six.weight.columnwise)), product(dy, wt)),
          relative_error(product(dense_of(six.gradient.columnwise), dense_of(six.activation.columnwise)),
                         product(dyt, xt))};
}

}  // namespace

TEST_CASE("products are as near as the formats allow") {
  // Operands of N(0,1) lose about .095 (nearest), .11 (2D), .135 (stochastic), .026 (e4m3), .05 (e5m2), .0017 (bf16).
  struct bounds {
    std::array<double, 3> errors;
    double least, most;
  };
  bounds const all[] = {{errors<recipe::te_nvfp4>(), 0.12, 0.21},
                        {errors<recipe::te_nvfp4_no_rht>(), 0.12, 0.21},
                        {errors<recipe::fp8>(), 0.02, 0.08},
                        {errors<recipe::mxfp8>(), 0.02, 0.06},
                        {errors<recipe::bf16>(), 0.001, 0.004}};
  for (auto const& b : all) {
    for (double const error : b.errors) {
      CHECK(error > b.least);
      CHECK(error < b.most);
    }
  }
}

TEST_CASE("weights decode to the same values both ways") {
  auto const both = recipe::operands_of<recipe::te_nvfp4, recipe::matrix::weight>(layer.weight());
  auto const by_row = recipe::decoded<float>(both.rowwise);
  matrix_view<float const> const view(by_row.data(), both.rowwise.rows(), both.rowwise.cols());
  CHECK(dense_of(both.columnwise).values == dense_of(view, true).values);
}

TEST_CASE("gradients average out over calls, and only over calls") {
  constexpr int draws = 256;
  auto const weight = recipe::operands_of<recipe::te_nvfp4, recipe::matrix::weight>(layer.weight());
  auto const any = recipe::operands_of<recipe::te_nvfp4, recipe::matrix::gradient>(layer.gradient());
  dense const expected = product(clipped(dy, any.rowwise), dense_of(weight.columnwise));  // the weight's rounding stays
  dense mean{dy.rows, dy.cols, std::vector<double>(dy.values.size(), 0)};
  double one = 0;
  for (std::uint64_t call = 0; call < draws; ++call) {
    auto const g = recipe::operands_of<recipe::te_nvfp4, recipe::matrix::gradient>(layer.gradient(), {5, call});
    dense const values = dense_of(g.rowwise);
    for (std::size_t i = 0; i < mean.values.size(); ++i) { mean.values[i] += values.values[i] / draws; }
    if (call == 0) { one = relative_error(product(values, dense_of(weight.columnwise)), expected); }
  }
  double const averaged = relative_error(product(mean, dense_of(weight.columnwise)), expected);
  CHECK(averaged < one / std::sqrt(draws) * 1.3);
  CHECK(averaged > one / std::sqrt(draws) / 1.3);  // draws are independent, not the same or worse
}

TEST_CASE("the matrices of a layer and their directions draw independently") {
  auto same = [](auto const& a, auto const& b) { return a.codes() == b.codes(); };
  auto const a = recipe::operands_of<recipe::te_nvfp4, recipe::matrix::gradient>(layer.gradient(), {5, 6});
  auto const again = recipe::operands_of<recipe::te_nvfp4, recipe::matrix::gradient>(layer.gradient(), {5, 6});
  CHECK(same(a.rowwise, again.rowwise));
  CHECK(same(a.columnwise, again.columnwise));
  for (recipe::draw const other : {recipe::draw{5, 7}, recipe::draw{6, 6}}) {
    auto const b = recipe::operands_of<recipe::te_nvfp4, recipe::matrix::gradient>(layer.gradient(), other);
    CHECK(!same(a.rowwise, b.rowwise));
    CHECK(!same(a.columnwise, b.columnwise));
  }
  // A symmetric matrix: row-wise and column-wise differ in their draw alone.
  std::vector<float> ones(64 * 64, 0.7f);
  ones[0] = 6;
  auto const symmetric = recipe::operands_of<recipe::te_nvfp4_no_rht, recipe::matrix::gradient>(
      matrix_view<float const>(ones.data(), 64, 64), {5, 6});
  CHECK(!same(symmetric.rowwise, symmetric.columnwise));
}
