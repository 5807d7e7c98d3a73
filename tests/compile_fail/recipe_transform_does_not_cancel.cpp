// SPDX-License-Identifier: Apache-2.0
// expected: gradient and activation must have the same Hadamard transform
#include <fp4/recipe/linear.hpp>

namespace recipe = fp4::recipe;

constexpr recipe::table changed() {
  auto own = recipe::te_nvfp4;
#ifdef FP4_BAD
  own.activation.columnwise = own.activation.columnwise.transformed(0);
#endif
  return own;
}
constexpr recipe::table own = changed();

void quantize(fp4::matrix_view<float const> x) { (void)recipe::operands_of<own, recipe::matrix::activation>(x); }
