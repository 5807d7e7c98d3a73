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

}  // namespace ptx
