// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../config.hpp"

namespace fp4::gpu::detail {

/// Transposes 8 x 8 nibbles: nibble j of word i becomes nibble i of word j. By halves, bytes, nibbles.
__device__ __forceinline__ void transpose_nibbles(uint32_t (&w)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    uint32_t const a = w[i], b = w[i + 4];
    w[i] = __byte_perm(a, b, 0x5410);
    w[i + 4] = __byte_perm(a, b, 0x7632);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if ((i & 2) != 0) { continue; }
    uint32_t const a = w[i], b = w[i + 2];
    w[i] = __byte_perm(a, b, 0x6240);
    w[i + 2] = __byte_perm(a, b, 0x7351);
  }
#pragma unroll
  for (int i = 0; i < 8; i += 2) {
    uint32_t const a = w[i], b = w[i + 1];
    w[i] = (a & 0x0F0F0F0Fu) | (b << 4 & 0xF0F0F0F0u);
    w[i + 1] = (a >> 4 & 0x0F0F0F0Fu) | (b & 0xF0F0F0F0u);
  }
}

}  // namespace fp4::gpu::detail
