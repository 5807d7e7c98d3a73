// SPDX-License-Identifier: Apache-2.0
// expected: the output view fixes the scale layout
#include <fp4/fp4.hpp>

void quantize(fp4::matrix_view<float const> x, fp4::quantized_view<fp4::nvfp4> q) {
  fp4::quantize(x, q);
#ifdef FP4_BAD
  fp4::quantize(x, q, fp4::tiled_128x4_scales{});
#endif
}
