// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../random/philox.hpp"
#include "ptx.cuh"

namespace fp4::gpu::detail {

/// The random words of N blocks whose positions lie `step` apart: block_bits of each, with the keys of a round made
/// once for all.
template <int N>
struct random_words {
  uint32x4 word[N];

  __device__ __forceinline__ random_words(uint64_t seed, uint64_t stream, uint64_t position, uint32_t step) {
    uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      uint64_t const p = position + static_cast<uint64_t>(i) * step;
      word[i] = {{static_cast<uint32_t>(p), static_cast<uint32_t>(p >> 32), static_cast<uint32_t>(stream),
                  static_cast<uint32_t>(stream >> 32)}};
    }
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      ptx::keep_in_register(key0);
      ptx::keep_in_register(key1);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        uint32x4& c = word[i];
        uint64_t const a = uint64_t{0xD2511F53u} * c.word[0];
        uint64_t const b = uint64_t{0xCD9E8D57u} * c.word[2];
        c = {{static_cast<uint32_t>(b >> 32) ^ c.word[1] ^ key0, static_cast<uint32_t>(b),
              static_cast<uint32_t>(a >> 32) ^ c.word[3] ^ key1, static_cast<uint32_t>(a)}};
      }
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
  }

  __device__ __forceinline__ uint32x4 operator()(int i) const { return word[i]; }
};

/// Where no random words are asked for.
struct no_random {
  __device__ __forceinline__ uint32x4 operator()(int) const { return {}; }
};

}  // namespace fp4::gpu::detail
