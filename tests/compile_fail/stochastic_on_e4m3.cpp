// SPDX-License-Identifier: Apache-2.0
// expected: stochastic rounding is defined for e2m1 elements alone
#include <fp4/fp4.hpp>

void quantize(fp4::matrix_view<float const> x) {
  (void)fp4::quantize<fp4::mxfp4>(x, fp4::stochastic{1});
#ifdef FP4_BAD
  (void)fp4::quantize<fp4::mxfp8_e4m3>(x, fp4::stochastic{1});
#endif
}
