// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fp4/fp4.hpp>
#include <vector>

int main() {
  std::vector<float> x(32);
  for (std::size_t i = 0; i < 32; ++i) { x[i] = 0.37f * static_cast<float>(i) - 5.5f; }

  fp4::matrix_view<float const> const matrix(x.data(), 2, 16);  // 2 rows of 16 columns
  auto const q = fp4::quantize<fp4::nvfp4>(matrix);             // 4-bit codes, one scale for 16 of them
  std::vector<float> const y = fp4::dequantize<float>(q);

  std::printf("%.1f bits per value\n", q.bits_per_value());
  for (std::size_t i = 0; i < 32; ++i) { std::printf("%5.2f -> %5.2f\n", x[i], y[i]); }
}
