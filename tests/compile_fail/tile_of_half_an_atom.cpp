// SPDX-License-Identifier: Apache-2.0
// With 128-byte swizzle an atom is 256 codes wide.
// expected: a tile has whole atoms along k
#include <fp4/fp4.hpp>

using good = fp4::tcgen05_codes<fp4::swizzle::bytes_128, 128, 256>;
static_assert(good::tile_bytes == 16384, "");
#ifdef FP4_BAD
using bad = fp4::tcgen05_codes<fp4::swizzle::bytes_128, 128, 128>;
static_assert(bad::tile_bytes == 8192, "");
#endif
