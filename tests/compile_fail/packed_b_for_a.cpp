// SPDX-License-Identifier: Apache-2.0
// A matrix packed for operand B is none for operand A.
// expected: fp4::fragment_codes_a
#include <fp4/fp4.hpp>

template <class Codes>
using packed = fp4::packed_view<fp4::nvfp4, Codes, fp4::tiled_32x4_scales>;
void load_a(packed<fp4::fragment_codes_a>);

void pass(packed<fp4::fragment_codes_a> a, packed<fp4::fragment_codes_b> b) {
  load_a(a);
#ifdef FP4_BAD
  load_a(b);
#endif
  (void)b;
}
