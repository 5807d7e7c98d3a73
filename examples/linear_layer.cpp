// SPDX-License-Identifier: Apache-2.0
// The three products of one linear layer under each training recipe, and how far each is from fp64:
//   g++ -std=c++17 -O3 -fopenmp -Iinclude examples/linear_layer.cpp -o linear_layer && ./linear_layer

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fp4/fp4.hpp>
#include <string>
#include <vector>

#include "io/table.hpp"

namespace {

namespace recipe = fp4::recipe;

/// [rows, cols] numbers.
struct dense {
  std::int64_t rows;
  std::int64_t cols;
  std::vector<float> values;

  [[nodiscard]] fp4::matrix_view<float const> view() const { return {values.data(), rows, cols}; }
};

/// The same numbers on every machine: sums of twelve 16-bit pieces of Philox words are nearly normal.
float normal(std::uint32_t matrix, std::int64_t i) {
  std::int32_t sum = 0;
  for (std::uint32_t word = 0; word < 2; ++word) {
    fp4::uint32x4 const bits = fp4::philox4x32({{static_cast<std::uint32_t>(i), word, matrix, 0}}, 2026, 0);
    for (int j = 0; j < 3; ++j) { sum += static_cast<std::int32_t>((bits[j] & 0xffff) + (bits[j] >> 16)); }
  }
  return static_cast<float>(2 * sum - 12 * 0xffff) / 0x20000;
}

/// Normal numbers; one column in 64 is `outlier` times larger, as activations and gradients have them.
dense made(std::uint32_t matrix, std::int64_t rows, std::int64_t cols, float size, float outlier) {
  dense m{rows, cols, {}};
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    m.values.push_back(size * normal(matrix, i) * (i % cols % 64 == 17 ? outlier : 1.0f));
  }
  return m;
}

dense transposed(dense const& m) {
  dense t{m.cols, m.rows, std::vector<float>(m.values.size())};
  for (std::int64_t i = 0; i < m.rows * m.cols; ++i) {
    t.values[static_cast<std::size_t>(i % m.cols * m.rows + i / m.cols)] = m.values[static_cast<std::size_t>(i)];
  }
  return t;
}

template <class Operand>
dense decoded(Operand const& operand) {
  return {operand.rows(), operand.cols(), recipe::decoded<float>(operand)};
}

/// a * b^T in fp64.
std::vector<double> product(dense const& a, dense const& b) {
  std::vector<double> y;
  for (std::int64_t r = 0; r < a.rows; ++r) {
    for (std::int64_t c = 0; c < b.rows; ++c) {
      double sum = 0;
      for (std::int64_t i = 0; i < a.cols; ++i) {
        sum += static_cast<double>(a.view().row(r)[i]) * static_cast<double>(b.view().row(c)[i]);
      }
      y.push_back(sum);
    }
  }
  return y;
}

/// |got - exact| / |exact|, in percent.
std::string error(std::vector<double> const& got, std::vector<double> const& exact) {
  double noise = 0, signal = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    noise += (got[i] - exact[i]) * (got[i] - exact[i]);
    signal += exact[i] * exact[i];
  }
  return io::fixed(100 * std::sqrt(noise / signal), 3) + " %";
}

struct layer {
  dense x, w, dy;
  std::vector<double> y, dx, dw;

  layer(std::int64_t m, std::int64_t k, std::int64_t n)
      : x(made(0, m, k, 1.0f, 20.0f)),
        w(made(1, n, k, 0.02f, 1.0f)),
        dy(made(2, m, n, 1e-4f, 20.0f)),
        y(product(x, w)),
        dx(product(dy, transposed(w))),
        dw(product(transposed(dy), transposed(x))) {}
};

template <recipe::table const& Recipe>
void row(io::table const& table, layer const& exact) {
  auto const six = recipe::linear_operands<Recipe>(exact.x.view(), exact.w.view(), exact.dy.view(), {/*seed=*/1});
  auto const times = [](auto const& a, auto const& b) { return product(decoded(a), decoded(b)); };
  table.print_row({Recipe.name, error(times(six.activation.rowwise, six.weight.rowwise), exact.y),
                   error(times(six.gradient.rowwise, six.weight.columnwise), exact.dx),
                   error(times(six.gradient.columnwise, six.activation.columnwise), exact.dw)});
}

/// The default recipe with its gradients rounded to nearest: a recipe of one's own.
constexpr recipe::table nearest_gradients() {
  recipe::table own = recipe::te_nvfp4;
  own.name = "te_nvfp4, nearest";
  own.gradient = {own.gradient.rowwise.stochastic(false), own.gradient.columnwise.stochastic(false)};
  return own;
}
constexpr recipe::table own = nearest_gradients();

}  // namespace

int main() {
  layer const exact(256, 320, 192);
  std::puts("X [256, 320], W [192, 320], dY [256, 192]; 1 column in 64 of X and dY is 20 times larger\n");
  io::table const table({{"", "recipe", 17},
                         {"forward", "Y = X W^T"},
                         {"data gradient", "dX = dY W"},
                         {"weight gradient", "dW = dY^T X"}});
  table.print_header();
  row<recipe::bf16>(table, exact);
  row<recipe::mxfp8>(table, exact);
  row<recipe::fp8>(table, exact);
  row<recipe::te_nvfp4>(table, exact);
  row<recipe::te_nvfp4_no_rht>(table, exact);
  row<own>(table, exact);
  std::puts(R"(
Each entry is |product of the decoded operands - exact| / |exact|, all sums in fp64. Nearest
gradients err less here, but in the same direction step after step; stochastic ones average out over steps.)");
}
