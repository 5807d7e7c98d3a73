// SPDX-License-Identifier: Apache-2.0
// A buffer in one scale layout is no buffer in another.
// expected: fp4::tiled_128x4_scales
#include <fp4/fp4.hpp>

using tiled = fp4::quantized_view<fp4::nvfp4, fp4::tiled_128x4_scales>;
using linear = fp4::quantized_view<fp4::nvfp4>;
void consume(tiled);

void pass(tiled q, linear p) {
  consume(q);
#ifdef FP4_BAD
  consume(p);
#endif
  (void)p;
}
