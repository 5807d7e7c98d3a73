// SPDX-License-Identifier: Apache-2.0
// expected: this scaling is not defined for this block format
#include <fp4/fp4.hpp>

void quantize(fp4::matrix_view<float const> x) {
  (void)fp4::quantize<fp4::nvfp4>(x, fp4::exact{});
#ifdef FP4_BAD
  (void)fp4::quantize<fp4::mxfp8_e4m3>(x, fp4::exact{});
#endif
}
