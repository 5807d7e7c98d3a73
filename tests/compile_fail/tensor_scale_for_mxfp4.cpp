// SPDX-License-Identifier: Apache-2.0
// expected: a tensor scale was given, but this format has none
#include <fp4/fp4.hpp>

auto quantize(fp4::matrix_view<float const> x) { return fp4::quantize<fp4::mxfp4>(x); }
#ifdef FP4_BAD
auto quantize_with(fp4::matrix_view<float const> x) {
  return fp4::quantize<fp4::mxfp4>(x, fp4::tensor_scale::from_amax(1.0f));
}
#endif
