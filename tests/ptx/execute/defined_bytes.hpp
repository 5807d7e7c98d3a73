// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ptx {

/// Bytes of `value` that are zero, of 8.
inline unsigned zero_bytes(std::uint64_t value) {
  unsigned mask = 0;
  for (int k = 0; k < 8; ++k) { mask |= ((value >> (8 * k)) & 0xFF) == 0 ? 1u << k : 0u; }
  return mask;
}

/// Where a set of bytes comes to lie in a shift by n bits; one that is shifted by a part of a byte touches two.
inline unsigned bytes_shifted_left(unsigned bytes, unsigned n) {
  return n >= 64 ? 0 : bytes << n / 8 | (n % 8 != 0 ? bytes << (n / 8 + 1) : 0);
}
inline unsigned bytes_shifted_right(unsigned bytes, unsigned n) {
  return n >= 64 ? 0 : bytes >> n / 8 | (n % 8 != 0 ? bytes >> (n / 8 + 1) : 0);
}

}  // namespace ptx
