// SPDX-License-Identifier: Apache-2.0
// Two scales take 16 bits, which begin at byte 0 or 2.
// expected: byte-id must be 0 for 4X, 0 or 2 for 2X, and 0 to 3 for 1X
#include <fp4/fp4.hpp>

using scales = fp4::mma_m16n8k64::scales_b<fp4::scale_vector::x2>;

constexpr fp4::scale_selector good = scales::select<3, 2>();
#ifdef FP4_BAD
constexpr fp4::scale_selector bad = scales::select<3, 1>();
#endif
