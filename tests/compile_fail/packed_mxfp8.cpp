// SPDX-License-Identifier: Apache-2.0
// Codes of 8 bits have no packed tensor-core layout here.
// expected: tensor-core layouts are for packed 4-bit codes with block scales
#include <fp4/fp4.hpp>

template <class Format>
using packed = fp4::packed_view<Format, fp4::fragment_codes_a, fp4::tiled_32x4_scales>;

constexpr packed<fp4::mxfp4> good;
#ifdef FP4_BAD
constexpr packed<fp4::mxfp8_e4m3> bad;
#endif
