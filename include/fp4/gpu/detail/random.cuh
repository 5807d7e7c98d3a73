// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../random/philox.hpp"
#include "ptx.cuh"

namespace fp4::gpu::detail {

/// The keys of Philox's ten rounds in shared memory, two rounds in 16 bytes: one load in place of four additions. The
/// first three have taken up what the stream contributes to rounds 0 and 1.
struct round_keys {
  static constexpr int size = 20;
  uint32_t address;

  __device__ __forceinline__ static void fill(uint64_t seed, uint64_t stream, uint32_t* keys) {
    if (threadIdx.x < size) {
      uint32_t const round = threadIdx.x / 2;
      uint64_t const b = ptx::mul_wide(0xCD9E8D57u, static_cast<uint32_t>(stream));
      uint32_t key = threadIdx.x % 2 == 0 ? static_cast<uint32_t>(seed) + round * 0x9E3779B9u
                                          : static_cast<uint32_t>(seed >> 32) + round * 0xBB67AE85u;
      if (threadIdx.x == 0) { key ^= static_cast<uint32_t>(b >> 32); }
      if (threadIdx.x == 1) { key ^= static_cast<uint32_t>(stream >> 32); }
      if (threadIdx.x == 2) { key ^= static_cast<uint32_t>(b); }
      keys[threadIdx.x] = key;
    }
  }
  /// Of rounds 2 * pair and 2 * pair + 1.
  __device__ __forceinline__ uint4 of(int pair) const { return ptx::load_shared_16(address + 16 * pair); }
};

/// The random words of N blocks whose positions lie `step` apart: block_bits of each.
template <int N>
struct random_words {
  uint32x4 word[N];

  /// With the keys of a round made once for all.
  __device__ __forceinline__ random_words(uint64_t seed, uint64_t stream, uint64_t position, uint32_t step) {
    uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
#pragma unroll
    for (int i = 0; i < N; ++i) { begin(i, stream, position + static_cast<uint64_t>(i) * step); }
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      ptx::keep_in_register(key0);
      ptx::keep_in_register(key1);
      all(key0, key1);
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
  }
  /// With keys from shared memory. The positions have the same upper words: `carries` is false.
  __device__ __forceinline__ random_words(round_keys keys, uint64_t position, uint32_t step) {
    uint4 const first = keys.of(0);
    uint64_t const a1 = ptx::mul_wide(0xD2511F53u, static_cast<uint32_t>(position >> 32) ^ first.x);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      uint64_t const a = ptx::mul_wide(0xD2511F53u, static_cast<uint32_t>(position) + static_cast<uint32_t>(i) * step);
      uint64_t const b1 = ptx::mul_wide(0xCD9E8D57u, static_cast<uint32_t>(a >> 32) ^ first.y);
      word[i] = {{static_cast<uint32_t>(b1 >> 32) ^ first.z, static_cast<uint32_t>(b1),
                  static_cast<uint32_t>(a1 >> 32) ^ static_cast<uint32_t>(a) ^ first.w, static_cast<uint32_t>(a1)}};
    }
#pragma unroll
    for (int pair = 1; pair < 5; ++pair) {
      uint4 const key = keys.of(pair);
      all(key.x, key.y);
      all(key.z, key.w);
    }
  }
  __device__ __forceinline__ static bool carries(uint64_t position, uint32_t step) {
    return static_cast<uint32_t>(position) > 0u - N * step;
  }

  __device__ __forceinline__ uint32x4 operator()(int i) const { return word[i]; }

 private:
  __device__ __forceinline__ void begin(int i, uint64_t stream, uint64_t position) {
    word[i] = {{static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32), static_cast<uint32_t>(stream),
                static_cast<uint32_t>(stream >> 32)}};
  }
  /// One round of each.
  __device__ __forceinline__ void all(uint32_t key0, uint32_t key1) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      uint32x4& c = word[i];
      uint64_t const a = ptx::mul_wide(0xD2511F53u, c.word[0]);
      uint64_t const b = ptx::mul_wide(0xCD9E8D57u, c.word[2]);
      c = {{static_cast<uint32_t>(b >> 32) ^ c.word[1] ^ key0, static_cast<uint32_t>(b),
            static_cast<uint32_t>(a >> 32) ^ c.word[3] ^ key1, static_cast<uint32_t>(a)}};
    }
  }
};

/// Where no random words are asked for.
struct no_random {
  __device__ __forceinline__ uint32x4 operator()(int) const { return {}; }
};

}  // namespace fp4::gpu::detail
