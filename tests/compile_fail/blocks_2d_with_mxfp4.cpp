// SPDX-License-Identifier: Apache-2.0
// expected: 2D blocks are 16 x 16
#include <fp4/fp4.hpp>

void quantize(fp4::matrix_view<float const> x) {
  (void)fp4::quantize<fp4::nvfp4>(x, fp4::blocks_2d{});
#ifdef FP4_BAD
  (void)fp4::quantize<fp4::mxfp4>(x, fp4::blocks_2d{});
#endif
}
