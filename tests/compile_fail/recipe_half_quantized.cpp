// SPDX-License-Identifier: Apache-2.0
// expected: both operands of a matrix are quantized, or neither is
#include <fp4/recipe/linear.hpp>

namespace recipe = fp4::recipe;

constexpr recipe::table changed() {
  auto own = recipe::te_nvfp4_no_rht;
#ifdef FP4_BAD
  own.activation.columnwise = recipe::operand{};
#endif
  return own;
}
constexpr recipe::table own = changed();

void quantize(fp4::matrix_view<float const> x) { (void)recipe::operands_of<own, recipe::matrix::activation>(x); }
