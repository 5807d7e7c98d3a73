// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace test {

inline std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline float float_of(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Written as patterns: under -ffast-math INFINITY and NAN have no meaning.
inline float infinity() { return float_of(0x7F800000u); }
inline float nan() { return float_of(0x7FC00000u); }

}  // namespace test
