// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_registers.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// Philox4x32-10 at four positions at a time, one in each 64 bits. A number is the low half of its 64 bits; what lies
/// above is ignored by the multiplication, so that halves are never put together again.
///
/// All positions of one object share their upper 32 bits, and all draws seed and stream: half of the first three rounds
/// is then the same everywhere and done here.
class philox_four {
 public:
  FP4_INLINE philox_four(uint64_t seed, uint64_t stream, uint64_t position) noexcept {
    uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    uint32_t const stream_low = static_cast<uint32_t>(stream), stream_high = static_cast<uint32_t>(stream >> 32);
    uint64_t const first = uint64_t{multiplier_1} * stream_low;
    uint32_t const c0 = high(first) ^ static_cast<uint32_t>(position >> 32) ^ key[0];
    first_c2_ = numbers(stream_high ^ key[1]);
    next(key);
    uint64_t const second = uint64_t{multiplier_0} * c0;
    second_c0_ = numbers(static_cast<uint32_t>(first) ^ key[0]);
    second_c2_ = numbers(high(second) ^ key[1]);
    next(key);
    third_c2_ = numbers(static_cast<uint32_t>(second) ^ key[1]);
    __m256i key_0 = numbers(key[0]), key_1 = numbers(key[1]);
    key_0_[0] = key_0;
#pragma GCC unroll 8
    for (int round = 1; round < 8; ++round) {  // sums past 32 bits do no harm
      key_0_[round] = key_0 = _mm256_add_epi64(key_0, numbers(weyl_0));
      key_1_[round] = key_1 = _mm256_add_epi64(key_1, numbers(weyl_1));
    }
  }

  /// Four positions from `first` on, for draw().
  static FP4_INLINE __m256i positions(uint64_t first) noexcept {
    return _mm256_add_epi64(numbers(static_cast<uint32_t>(first)), _mm256_setr_epi64x(0, 1, 2, 3));
  }

  /// The words of the blocks at `position`, word w of the i-th in the low half of the i-th 64 bits. Moves `position`
  /// on.
  FP4_INLINE void draw(__m256i& position, __m256i (&word)[4]) const noexcept {
    __m256i const m0 = numbers(multiplier_0), m1 = numbers(multiplier_1);
    __m256i a = _mm256_mul_epu32(position, m0);
    position = _mm256_add_epi64(position, numbers(4));
    __m256i b = _mm256_mul_epu32(xor_of(high(a), first_c2_), m1);
    __m256i c0 = xor_of(high(b), second_c0_), c1 = b;
    __m256i c2 = xor_of(a, second_c2_);
    a = _mm256_mul_epu32(c0, m0), b = _mm256_mul_epu32(c2, m1);
    c0 = xor_of(xor_of(high(b), c1), key_0_[0]), c1 = b;
    c2 = xor_of(high(a), third_c2_);
    __m256i c3 = a;
#pragma GCC unroll 8
    for (int round = 1; round < 8; ++round) {
      a = _mm256_mul_epu32(c0, m0), b = _mm256_mul_epu32(c2, m1);
      c0 = xor_of(xor_of(high(b), c1), key_0_[round]), c1 = b;
      c2 = xor_of(xor_of(high(a), c3), key_1_[round]), c3 = a;
    }
    word[0] = c0, word[1] = c1, word[2] = c2, word[3] = c3;
  }

 private:
  static constexpr uint32_t multiplier_0 = 0xD2511F53u, multiplier_1 = 0xCD9E8D57u;
  static constexpr uint32_t weyl_0 = 0x9E3779B9u, weyl_1 = 0xBB67AE85u;

  static FP4_INLINE uint32_t high(uint64_t x) noexcept { return static_cast<uint32_t>(x >> 32); }
  static FP4_INLINE __m256i high(__m256i x) noexcept { return _mm256_srli_epi64(x, 32); }
  static FP4_INLINE __m256i numbers(uint32_t x) noexcept { return _mm256_set1_epi64x(static_cast<int64_t>(x)); }
  static FP4_INLINE __m256i xor_of(__m256i a, __m256i b) noexcept { return _mm256_xor_si256(a, b); }
  static FP4_INLINE void next(uint32_t (&key)[2]) noexcept { key[0] += weyl_0, key[1] += weyl_1; }

  __m256i first_c2_, second_c0_, second_c2_, third_c2_;
  __m256i key_0_[8], key_1_[8];  // key_1_[0] has gone into third_c2_
};

/// Reverses the bits of each byte.
FP4_INLINE __m256i reverse_bytes(__m256i v) noexcept {
  __m256i const nibble = _mm256_set1_epi8(0x0F);
  __m256i const reversed = _mm256_setr_epi8(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15,  //
                                            0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15);
  __m256i const reversed_above = _mm256_slli_epi16(reversed, 4);
  __m256i const low = _mm256_shuffle_epi8(reversed_above, _mm256_and_si256(v, nibble));
  __m256i const high = _mm256_shuffle_epi8(reversed, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
  return _mm256_or_si256(low, high);
}

/// The 16 random bits of each element, one a lane, in the order in which bytes_of_sixteen rounds: first[i] and
/// second[i] for the two registers of the i-th of four blocks.
struct random_lanes {
  __m256i first[4];
  __m256i second[4];
};

/// [a0 b0 a2 b2 ...] from the low halves of a's and b's 64 bits.
FP4_INLINE __m256i pair_low_halves(__m256i a, __m256i b) noexcept {
  return _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xAA);
}

/// Draws for four blocks and maps as element_bits does.
template <class In>
FP4_INLINE void spread_bits(philox_four const& philox, __m256i& position, random_lanes& random) noexcept {
  __m256i word[4];
  philox.draw(position, word);
  constexpr char none = -1;
  if constexpr (std_types::is_same<In, bfloat16>::value) {  // even elements,
                                                            // then odd ones
    __m256i const words_01 = pair_low_halves(word[0], word[1]), words_23 = pair_low_halves(word[2], word[3]);
    // b2 b0 for element 0 of a word, b3 b1 for element 2; of the next word; from reversed bytes r0 r2 and r1 r3.
    __m256i const even_0 = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 2, none, none, 1, 3, none, none, 4, 6, none, none, 5, 7, none, none));
    __m256i const odd_0 = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(2, 0, none, none, 3, 1, none, none, 6, 4, none, none, 7, 5, none, none));
    __m256i const even_1 = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(8, 10, none, none, 9, 11, none, none, 12, 14, none, none, 13, 15, none, none));
    __m256i const odd_1 = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(10, 8, none, none, 11, 9, none, none, 14, 12, none, none, 15, 13, none, none));
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      __m256i const bits = half == 0 ? _mm256_permute2x128_si256(words_01, words_23, 0x20)
                                     : _mm256_permute2x128_si256(words_01, words_23, 0x31);
      __m256i const reversed = reverse_bytes(bits);
      random.first[2 * half] = _mm256_shuffle_epi8(bits, even_0);
      random.first[2 * half + 1] = _mm256_shuffle_epi8(bits, even_1);
      random.second[2 * half] = _mm256_shuffle_epi8(reversed, odd_0);
      random.second[2 * half + 1] = _mm256_shuffle_epi8(reversed, odd_1);
    }
  } else {  // words 0 and 1 make the first eight elements, 2 and 3 the second
    __m256i const words_02 = pair_low_halves(word[0], word[2]), words_13 = pair_low_halves(word[1], word[3]);
    // A word's bytes b0 to b3, then reversed r0 to r3: b2 b0, r0 r2, b3 b1, r1 r3.
    __m256i const order_0 = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 2, none, none, 6, 4, none, none, 1, 3, none, none, 7, 5, none, none));
    __m256i const order_1 = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(8, 10, none, none, 14, 12, none, none, 9, 11, none, none, 15, 13, none, none));
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      __m256i const bits = half == 0 ? _mm256_permute2x128_si256(words_02, words_13, 0x20)
                                     : _mm256_permute2x128_si256(words_02, words_13, 0x31);
      __m256i const reversed = reverse_bytes(bits);
      __m256i const even = _mm256_unpacklo_epi32(bits, reversed), odd = _mm256_unpackhi_epi32(bits, reversed);
      random.first[2 * half] = _mm256_shuffle_epi8(even, order_0);
      random.second[2 * half] = _mm256_shuffle_epi8(even, order_1);
      random.first[2 * half + 1] = _mm256_shuffle_epi8(odd, order_0);
      random.second[2 * half + 1] = _mm256_shuffle_epi8(odd, order_1);
    }
  }
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
