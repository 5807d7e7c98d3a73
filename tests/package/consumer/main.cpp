// SPDX-License-Identifier: Apache-2.0
// A user's program of two translation units that both instantiate the library.
#include <cstdio>
#include <vector>

#include <fp4/fp4.hpp>

std::vector<float> round_trip_elsewhere(std::vector<float> const& x, int rows, int cols);

int main() {
  constexpr int rows = 3;
  constexpr int cols = 40;
  std::vector<float> x(rows * cols);
  for (int i = 0; i < rows * cols; ++i) { x[static_cast<std::size_t>(i)] = 0.37f * static_cast<float>(i % 31 - 15); }

  fp4::quantized<fp4::nvfp4> const q = fp4::quantize<fp4::nvfp4>(fp4::matrix_view<float const>{x.data(), rows, cols});
  std::vector<float> const here = fp4::dequantize<float>(q);
  std::vector<float> const there = round_trip_elsewhere(x, rows, cols);
  if (here.size() != x.size() || here != there || here[0] == 0.0f) {
    std::printf("two translation units disagree\n");
    return 1;
  }
  std::printf("fp4 %d.%d.%d: %f -> %f\n", FP4_VERSION_MAJOR, FP4_VERSION_MINOR, FP4_VERSION_PATCH,
              static_cast<double>(x[0]), static_cast<double>(here[0]));
  return 0;
}
