// SPDX-License-Identifier: Apache-2.0
// A row of a box with 64-byte swizzle has at most 128 codes.
// expected: require
#include <fp4/fp4.hpp>

constexpr auto good = fp4::tensor_map(0, 128, 512, 256, fp4::swizzle::bytes_64, 128, 128);
#ifdef FP4_BAD
constexpr auto bad = fp4::tensor_map(0, 128, 512, 256, fp4::swizzle::bytes_64, 128, 256);
#endif
