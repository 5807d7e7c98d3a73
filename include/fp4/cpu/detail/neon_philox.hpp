// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neon_values.hpp"

#if FP4_HAS_NEON_PATH

namespace fp4::cpu::detail::neon {

/// The 64-bit products of each lane and `factor`, as their low and high halves.
FP4_INLINE void multiply(uint32x4_t& low, uint32x4_t& high, uint32x4_t x, uint32_t factor) noexcept {
  uint32x4_t const f = vdupq_n_u32(factor);
  uint32x4_t const first = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(x), vget_low_u32(f)));
  uint32x4_t const second = vreinterpretq_u32_u64(vmull_high_u32(x, f));
  low = vuzp1q_u32(first, second);
  high = vuzp2q_u32(first, second);
}

/// Random bytes of four blocks, each in the order of block_bits.
struct four_blocks_bits {
  uint8x16_t block[4];
};

/// block_bits of four positions at a time, under one seed and stream.
class random_blocks {
 public:
  explicit FP4_INLINE random_blocks(random_source const& source) noexcept
      : stream_(source.stream), position_(source.position) {
    uint32_t key0 = static_cast<uint32_t>(source.seed), key1 = static_cast<uint32_t>(source.seed >> 32);
    for (int round = 0; round < rounds; ++round) {
      key0_[round] = vdupq_n_u32(key0);
      key1_[round] = vdupq_n_u32(key1);
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
  }

  /// The bits of the next four positions.
  FP4_INLINE four_blocks_bits next() noexcept {
    uint64x2_t const one_two = vaddq_u64(vdupq_n_u64(position_), vcombine_u64(vcreate_u64(0), vcreate_u64(1)));
    uint32x4_t const first = vreinterpretq_u32_u64(one_two);
    uint32x4_t const second = vreinterpretq_u32_u64(vaddq_u64(one_two, vdupq_n_u64(2)));
    position_ += 4;
    // Lane i of w[j] is word j of position i.
    uint32x4_t w[4] = {vuzp1q_u32(first, second), vuzp2q_u32(first, second),
                       vdupq_n_u32(static_cast<uint32_t>(stream_)), vdupq_n_u32(static_cast<uint32_t>(stream_ >> 32))};
#pragma GCC unroll 10
    for (int round = 0; round < rounds; ++round) {  // as philox4x32
      uint32x4_t low0, high0, low2, high2;
      multiply(low0, high0, w[0], 0xD2511F53u);
      multiply(low2, high2, w[2], 0xCD9E8D57u);
      w[0] = veorq_u32(veorq_u32(w[1], key0_[round]), high2);
      w[1] = low2;
      w[2] = veorq_u32(veorq_u32(w[3], key1_[round]), high0);
      w[3] = low0;
    }
    return transposed(w);
  }

 private:
  static constexpr int rounds = 10;

  static FP4_INLINE four_blocks_bits transposed(uint32x4_t const (&w)[4]) noexcept {
    uint64x2_t const even01 = vreinterpretq_u64_u32(vtrn1q_u32(w[0], w[1]));  // words 0 and 1 of blocks 0 and 2
    uint64x2_t const odd01 = vreinterpretq_u64_u32(vtrn2q_u32(w[0], w[1]));
    uint64x2_t const even23 = vreinterpretq_u64_u32(vtrn1q_u32(w[2], w[3]));
    uint64x2_t const odd23 = vreinterpretq_u64_u32(vtrn2q_u32(w[2], w[3]));
    return {{vreinterpretq_u8_u64(vtrn1q_u64(even01, even23)), vreinterpretq_u8_u64(vtrn1q_u64(odd01, odd23)),
             vreinterpretq_u8_u64(vtrn2q_u64(even01, even23)), vreinterpretq_u8_u64(vtrn2q_u64(odd01, odd23))}};
  }

  uint32x4_t key0_[rounds], key1_[rounds];
  uint64_t stream_, position_;
};

}  // namespace fp4::cpu::detail::neon

#endif
