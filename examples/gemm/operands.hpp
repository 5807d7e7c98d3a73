// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Numbers to multiply, and how far a product is from the exact one.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fp4/fp4.hpp>
#include <fp4/reference/mma.hpp>
#include <random>
#include <vector>

namespace gemm {

/// Normal numbers.
inline std::vector<float> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) { x = normal(generator); }
  return values;
}

/// A matrix of normal numbers, quantized to NVFP4.
template <class ScaleLayout = fp4::linear_scales>
fp4::quantized<fp4::nvfp4, ScaleLayout> random_operand(std::int64_t rows, std::int64_t cols, unsigned seed) {
  std::vector<float> const values = random_values(rows * cols, seed);
  return fp4::quantize<fp4::nvfp4>(fp4::matrix_view<float const>(values.data(), rows, cols), ScaleLayout{});
}

/// Prints how far `d`, [m, n], is from A B^T, computed in fp64. True where every element is within one unit in the last
/// place of bfloat16, beside what fp32 sums may lose.
template <class Layout>
bool report(char const* what, fp4::quantized<fp4::nvfp4, Layout> const& a, fp4::quantized<fp4::nvfp4, Layout> const& b,
            std::vector<fp4::bfloat16> const& d) {
  std::vector<float> exact(d.size());
  float const alpha = a.tensor_scale().decode() * b.tensor_scale().decode();
  fp4::reference::matmul(a.view(), b.view(), alpha, fp4::matrix_view<float>(exact.data(), a.rows(), b.rows()));
  double norm = 0;
  for (float const x : exact) { norm += static_cast<double>(x) * x; }
  double const typical = std::sqrt(norm / static_cast<double>(exact.size()));
  double worst = 0;
  std::size_t outside = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    double const error = std::fabs(static_cast<double>(d[i].to_float()) - exact[i]);
    worst = std::fmax(worst, error / typical);
    outside += !(error <= 0x1p-8 * std::fabs(exact[i]) + 0x1p-16 * typical);
  }
  std::printf("%s: %zu results, largest error %.2e of a typical one, %zu further off than bfloat16 is wide\n", what,
              d.size(), worst, outside);
  return outside == 0;
}

}  // namespace gemm
