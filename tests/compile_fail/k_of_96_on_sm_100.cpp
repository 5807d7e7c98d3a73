// SPDX-License-Identifier: Apache-2.0
// A descriptor of constants is checked by the compiler: what would throw is no constant.
// expected: require
#include <fp4/fp4.hpp>

constexpr fp4::mxf4nvf4_instruction of_k(int k, fp4::tcgen05_target target) {
  fp4::mxf4nvf4_instruction i;
  i.k = k, i.target = target;
  return i;
}
constexpr auto good = fp4::instruction_descriptor(of_k(96, fp4::tcgen05_target::sm_103));
#ifdef FP4_BAD
constexpr auto bad = fp4::instruction_descriptor(of_k(96, fp4::tcgen05_target::sm_100));
#endif
