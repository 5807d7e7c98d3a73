// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Codes of sixteen elements, two registers of 64 * code, become 8 bytes. The order of the lanes on the way depends on
/// the input type: bfloat16 is taken apart into even and odd elements, the others into first and second eight.

#include "avx2_registers.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// 256 * byte in each lane, a byte being two codes, the even element's below. `round.codes<Unit, i>(v)` gives Unit *
/// code of the values in the i-th of two registers.
template <class In, class Rounder>
FP4_INLINE __m256i bytes_of_sixteen(In const* x, Rounder const& round) noexcept {
  if constexpr (std_types::is_same<In, bfloat16>::value) {
    __m256i const pairs = load_ints(x);
    __m256i const even = round.template codes<256, 0>(as_floats(_mm256_slli_epi32(pairs, 16)));
    __m256i const odd = round.template codes<4096, 1>(as_floats(_mm256_and_si256(pairs, all(0xFFFF0000u))));
    return _mm256_add_epi32(even, odd);
  } else {
    __m256i const first = round.template codes<64, 0>(load_eight(x));
    __m256i const second = round.template codes<64, 1>(load_eight(x + 8));
    // Words: elements 0 to 3 and 8 to 11 in the lower half, the others in the upper one.
    return _mm256_madd_epi16(_mm256_packs_epi32(first, second), all(0x00400004u));
  }
}

/// Where byte i of an eight lies in 8 lanes of bytes_of_sixteen.
template <class In>
FP4_INLINE constexpr int lane_of_byte(int i) noexcept {
  return std_types::is_same<In, bfloat16>::value ? i : (i & 1) + (i & 4) / 2 + (i & 2) * 2;
}

/// 32 bytes from four results of bytes_of_sixteen, in order.
template <class In>
FP4_INLINE __m256i pack_bytes(__m256i const (&bytes)[4]) noexcept {
  // Each half holds a half of every input: bytes of 0 and 1 alternate, then those of 2 and 3.
  __m256i const even = _mm256_packus_epi32(bytes[0], bytes[2]), odd = _mm256_packus_epi32(bytes[1], bytes[3]);
  __m256i const alternating = _mm256_or_si256(_mm256_srli_epi16(even, 8), odd);
  __m256i const gathered = _mm256_permute4x64_epi64(alternating, 0xD8);
  constexpr bool in_order = std_types::is_same<In, bfloat16>::value;
  __m256i const order =
      _mm256_broadcastsi128_si256(in_order ? _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)
                                           : _mm_setr_epi8(0, 2, 8, 10, 4, 6, 12, 14, 1, 3, 9, 11, 5, 7, 13, 15));
  return _mm256_shuffle_epi8(gathered, order);
}

/// The 8 bytes of one result of bytes_of_sixteen.
template <class In>
FP4_INLINE void store_eight_bytes(uint8_t* to, __m256i bytes) noexcept {
  __m256i const same[4] = {bytes, bytes, bytes, bytes};
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(pack_bytes<In>(same)));
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
