// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <fp4/fp4.hpp>

std::vector<float> round_trip_elsewhere(std::vector<float> const& x, int rows, int cols) {
  return fp4::dequantize<float>(fp4::quantize<fp4::nvfp4>(fp4::matrix_view<float const>{x.data(), rows, cols}));
}
