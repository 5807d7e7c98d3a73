// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../config.hpp"

namespace fp4 {

/// Four 32-bit words.
struct uint32x4 {
  uint32_t word[4]{};
  FP4_HD FP4_INLINE constexpr uint32_t operator[](int i) const noexcept { return word[i]; }
};

/// Philox4x32-10: random bits as a pure function of a 128-bit counter and a 64-bit key, without state.
/// The same words on every machine. Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
[[nodiscard]] FP4_HD FP4_INLINE constexpr uint32x4 philox4x32(uint32x4 counter, uint32_t key0, uint32_t key1) noexcept {
  for (int round = 0; round < 10; ++round) {
    uint64_t const a = uint64_t{0xD2511F53u} * counter.word[0];
    uint64_t const b = uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {{static_cast<uint32_t>(b >> 32) ^ counter.word[1] ^ key0, static_cast<uint32_t>(b),
                static_cast<uint32_t>(a >> 32) ^ counter.word[3] ^ key1, static_cast<uint32_t>(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// The 128 random bits of one block of 16 elements: word j serves elements 4j to 4j+3.
/// `position` counts blocks in the whole matrix; `stream` separates calls that must not share bits.
[[nodiscard]] FP4_HD FP4_INLINE constexpr uint32x4 block_bits(uint64_t seed, uint64_t stream,
                                                              uint64_t position) noexcept {
  return philox4x32({{static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32),
                      static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)}},
                    static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

}  // namespace fp4
