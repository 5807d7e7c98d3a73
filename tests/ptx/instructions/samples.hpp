// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Integers that tests of bit instructions are made of: ends, signs, patterns; and amounts on both sides of each width.

#include "instructions/program.hpp"

namespace ptx::test {

inline column const samples32{0,          1,          0x80000000, 0xFFFFFFFF, 0x7FFFFFFF,
                              0x12345678, 0xFEDCBA98, 0x00FF00FF, 0xF0F0F0F0, 0x80000001,
                              0x55555555, 0xAAAAAAAA, 0x0000FFFF, 0xFFFF0000, 0x00010000};
inline column const samples64{0,
                              1,
                              word{1} << 63,
                              ~word{0},
                              ~word{0} >> 1,
                              0x0123'4567'89AB'CDEF,
                              0xFEDC'BA98'7654'3210,
                              0xFFFF'FFFF'0000'0000,
                              0x0000'0000'FFFF'FFFF};
inline column const amounts{0, 1, 7, 8, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 0x100, 0x80000000, 0xFFFFFFFF};

inline word low_bits(word count) { return count >= 64 ? ~word{0} : (word{1} << count) - 1; }
inline std::uint32_t low32(word a) { return static_cast<std::uint32_t>(a); }

}  // namespace ptx::test
