// SPDX-License-Identifier: Apache-2.0
// CASES G6: a missing tensor scale is not 1; a view of codes alone cannot be decoded.
// expected: no matching function for call to
#include <fp4/fp4.hpp>

void decode(fp4::quantized_view<fp4::nvfp4> q, fp4::matrix_view<float> out, fp4::tensor_scales_view scales) {
  fp4::cpu::dequantize(q, scales, fp4::transformer_engine::decoding, out);
#ifdef FP4_BAD
  fp4::cpu::dequantize(q, fp4::transformer_engine::decoding, out);
#endif
}
