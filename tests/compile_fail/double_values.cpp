// SPDX-License-Identifier: Apache-2.0
// expected: values are float, fp4::float16 or fp4::bfloat16
#include <fp4/fp4.hpp>

void quantize(fp4::matrix_view<fp4::bfloat16 const> x, fp4::matrix_view<double const> y,
              fp4::quantized_view<fp4::nvfp4> q, fp4::tensor_scales_view scales) {
  fp4::choices<fp4::transformer_engine> const how;
  fp4::cpu::quantize(x, q, scales, how);
#ifdef FP4_BAD
  fp4::cpu::quantize(y, q, scales, how);
#endif
  (void)y;
}
