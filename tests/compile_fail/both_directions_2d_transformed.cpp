// SPDX-License-Identifier: Apache-2.0
// expected: 2D blocks with a transform are one direction a call
#include <fp4/fp4.hpp>

void quantize(fp4::matrix_view<float const> x) {
  (void)fp4::quantize_both<fp4::nvfp4>(x, fp4::hadamard<16>{});
#ifdef FP4_BAD
  (void)fp4::quantize_both<fp4::nvfp4>(x, fp4::hadamard<16>{}, fp4::blocks_2d{});
#endif
}
