// SPDX-License-Identifier: Apache-2.0
// expected: stochastic rounding is defined for e2m1 elements alone
#include <fp4/recipe/linear.hpp>

namespace recipe = fp4::recipe;

constexpr recipe::table changed() {
  auto own = recipe::fp8;
#ifdef FP4_BAD
  own.gradient.rowwise = own.gradient.rowwise.stochastic();
#endif
  return own;
}
constexpr recipe::table own = changed();

void quantize(fp4::matrix_view<float const> dy) { (void)recipe::operands_of<own, recipe::matrix::gradient>(dy); }
