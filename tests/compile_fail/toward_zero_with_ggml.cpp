// SPDX-License-Identifier: Apache-2.0
// expected: ggml's quantizer rounds to nearest alone
#include <fp4/fp4.hpp>

void quantize(fp4::matrix_view<float const> x) {
  (void)fp4::quantize<fp4::nvfp4>(x, fp4::toward_zero{});
#ifdef FP4_BAD
  (void)fp4::quantize<fp4::nvfp4>(x, fp4::toward_zero{}, fp4::ggml{});
#endif
}
