// SPDX-License-Identifier: Apache-2.0
// A register holds the scales of two tiles of A, so there are two thread-ids.
// expected: thread-id must be 0 or 1 for A, and 0 to 3 for B
#include <fp4/fp4.hpp>

using scales = fp4::mma_m16n8k64::scales_a<>;

constexpr fp4::scale_selector good = scales::select<1>();
#ifdef FP4_BAD
constexpr fp4::scale_selector bad = scales::select<2>();
#endif
