// SPDX-License-Identifier: Apache-2.0
// A quantized matrix carries its decode rule.
// expected: everything else is in the quantized matrix
#include <fp4/fp4.hpp>

void decode(fp4::quantized<fp4::nvfp4> const& q) {
  (void)fp4::dequantize<float>(q, fp4::cpu::path::scalar);
#ifdef FP4_BAD
  (void)fp4::dequantize<float>(q, fp4::exact{});
#endif
}
