// SPDX-License-Identifier: Apache-2.0
// CASES G1: a number is an amax, an encode factor or a decode factor, and says which.
// expected: an argument is no choice
#include <fp4/fp4.hpp>

void quantize(fp4::matrix_view<float const> x) {
  (void)fp4::quantize<fp4::nvfp4>(x, fp4::tensor_scale::from_amax(6.0f));
#ifdef FP4_BAD
  (void)fp4::quantize<fp4::nvfp4>(x, 6.0f);
#endif
}
