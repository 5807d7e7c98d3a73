// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_registers.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

/// Values of eight codes of an unsigned scale format, NaN for NaN codes.
template <class Scale>
FP4_INLINE __m256 decode_scales(__m256i codes) noexcept {
  __m256i const nan = all(0x7FC00000u);
  if constexpr (Scale::has_zero) {
    constexpr int m = Scale::mantissa_bits;
    codes = _mm256_and_si256(codes, all(uint32_t{Scale::magnitude_bits}));
    __m256i const at_place = _mm256_slli_epi32(codes, 23 - m);
    __m256i const normal = _mm256_add_epi32(at_place, all(static_cast<uint32_t>(127 - Scale::bias) << 23));
    // The mantissa below the smallest normal's leading one, minus that one.
    __m256i const min_normal = all(static_cast<uint32_t>(128 - Scale::bias) << 23);
    __m256 const subnormal = as_floats(_mm256_or_si256(at_place, min_normal)) - as_floats(min_normal);
    __m256i const is_subnormal = _mm256_cmpgt_epi32(all(1u << m), codes);
    __m256i const value = _mm256_blendv_epi8(normal, as_ints(subnormal), is_subnormal);
    return as_floats(_mm256_blendv_epi8(value, nan, _mm256_cmpeq_epi32(codes, all(uint32_t{Scale::nan_code}))));
  } else {
    static_assert(std_types::is_same<Scale, e8m0>::value, "powers of two");
    __m256i const value = _mm256_max_epi32(_mm256_slli_epi32(codes, 23), all(0x00400000u));  // 2^-127 is subnormal
    return as_floats(_mm256_blendv_epi8(value, nan, _mm256_cmpeq_epi32(codes, all(0xFFu))));
  }
}

/// The largest of `count` scale codes, as magnitudes.
template <class Scale>
FP4_INLINE uint8_t largest_code(uint8_t const* codes, int count) noexcept {
  alignas(32) uint8_t last[32]{};
  __m256i const magnitudes_only = _mm256_set1_epi8(static_cast<char>(Scale::magnitude_bits));
  __m256i largest = _mm256_setzero_si256();
  int i = 0;
  for (; i + 32 <= count; i += 32) {
    largest = _mm256_max_epu8(largest, _mm256_and_si256(load_ints(codes + i), magnitudes_only));
  }
  if (i < count) {
    std::memcpy(last, codes + i, static_cast<size_t>(count - i));
    largest = _mm256_max_epu8(largest, _mm256_and_si256(load_ints(last), magnitudes_only));
  }
  __m128i v = _mm_max_epu8(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
  v = _mm_max_epu8(v, _mm_srli_epi16(v, 8));
  // The least of inverted words, whose upper bytes are made equal.
  v = _mm_minpos_epu16(_mm_xor_si128(_mm_and_si128(v, _mm_set1_epi16(0xFF)), _mm_set1_epi16(0xFF)));
  return static_cast<uint8_t>(~_mm_cvtsi128_si32(v));
}

/// Two factors whose product with a decoded scale, one after the other, is block_decoder::factor of it.
struct plain_factors {
  bool exist;
  float first, second;

  /// They exist where no product of an ordinary scale can come near the ends of fp32's range.
  explicit plain_factors(block_decoder const& decoder) noexcept : exist(false), first(1.0f), second(1.0f) {
    bool const ordinary = decoder.tensor > 1e-25f && decoder.tensor < 1e25f;
    switch (decoder.rule) {
      case decode_rule::amax_over_range:
        exist = ordinary, first = decoder.tensor;
        if (decoder.from_amax) { second = decoder.per_range; }
        break;
      case decode_rule::product: exist = ordinary, first = decoder.tensor; break;
      case decode_rule::quotient:
      case decode_rule::block_only: exist = true; break;
      default: break;
    }
  }
};

/// scalar_backend::decode_factors, and whether all are known to be finite. Reads and writes to a multiple of
/// 8 blocks.
template <class Scale>
FP4_NOINLINE void decode_factors(block_decoder const& decoder_of_caller, int blocks, tile_scales& scales) noexcept {
  if constexpr (Scale::has_zero && Scale::mantissa_bits == 3) {
    // A code moved to fp16's place is the scale times 2^(bias - 15), unless fp16 has an infinity there.
    constexpr int fp16_codes = (31 << 3) - 1, most = Scale::max_code < fp16_codes ? Scale::max_code : fp16_codes;
    plain_factors const plain(decoder_of_caller);
    if (plain.exist && largest_code<Scale>(scales.code, blocks) <= most) {
      __m256 const first = all(plain.first * static_cast<float>(1 << (15 - Scale::bias))), second = all(plain.second);
      for (int b = 0; b < blocks; b += 8) {
        __m128i const bytes = _mm_loadl_epi64(reinterpret_cast<__m128i const*>(scales.code + b));
        __m128i const codes = _mm_and_si128(_mm_cvtepu8_epi16(bytes), _mm_set1_epi16(Scale::magnitude_bits));
        _mm256_store_ps(scales.factor + b, _mm256_cvtph_ps(_mm_slli_epi16(codes, 7)) * first * second);
      }
      scales.range = number_range::finite;
      return;
    }
  }
  block_decoder const decoder = decoder_of_caller;
  for (int b = 0; b < blocks; b += 8) {
    __m128i const bytes = _mm_loadl_epi64(reinterpret_cast<__m128i const*>(scales.code + b));
    lanes<8>::floats factor = decode_scales<Scale>(_mm256_cvtepu8_epi32(bytes));
    decoder.factor(factor);
    store(scales.factor + b, factor);
  }
  scales.range = number_range::unknown;
}

/// True where none of `count` factors is infinite or NaN.
FP4_INLINE bool all_finite(float const* factors, int count) noexcept {
  __m256i largest = _mm256_setzero_si256();
  int i = 0;
  for (; i + 8 <= count; i += 8) { largest = _mm256_max_epi32(largest, magnitude(_mm256_loadu_ps(factors + i))); }
  __m256i const past = _mm256_cmpgt_epi32(largest, all(infinity_bits - 1));
  bool finite = _mm256_testz_si256(past, past) != 0;
  for (; i < count; ++i) { finite = finite && (float_bits(factors[i]) & magnitude_mask) < infinity_bits; }
  return finite;
}

/// A register to memory that nobody will read soon, or to the caches.
template <bool Streams>
FP4_INLINE void store_values(void* to, __m256i v) noexcept {
  if constexpr (Streams) {
    _mm256_stream_si256(static_cast<__m256i*>(to), v);
  } else {
    store_ints(to, v);
  }
}

/// Eight floats rounded to bfloat16 (none is NaN), in the upper half of each lane.
FP4_INLINE __m256i bfloat16_above(__m256 v) noexcept {
  __m256i const bits = as_ints(v);
  __m256i const odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), all(1u));
  return _mm256_add_epi32(_mm256_add_epi32(bits, all(0x7FFFu)), odd);
}

/// Sixteen finite values, already scaled, from two registers.
template <bool Streams, class Out>
FP4_INLINE void store_sixteen(Out* out, __m256 first, __m256 second) noexcept {
  if constexpr (std_types::is_same<Out, float>::value) {
    store_values<Streams>(out, as_ints(first));
    store_values<Streams>(out + 8, as_ints(second));
  } else if constexpr (std_types::is_same<Out, float16>::value) {
    __m128i const low = _mm256_cvtps_ph(first, _MM_FROUND_TO_NEAREST_INT);
    __m128i const high = _mm256_cvtps_ph(second, _MM_FROUND_TO_NEAREST_INT);
    store_values<Streams>(out, _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1));
  } else {
    __m256i const low = _mm256_srli_epi32(bfloat16_above(first), 16);
    __m256i const high = _mm256_srli_epi32(bfloat16_above(second), 16);
    store_values<Streams>(out, _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xD8));
  }
}

/// The bfloat16 patterns of 32 e2m1 codes, 16 bytes. A register holds sixteen; its 64-bit quarters are
/// elements 0 to 3, 8 to 11, 4 to 7 and 12 to 15.
FP4_INLINE void decode_e2m1(uint8_t const* codes, __m256i (&patterns)[2]) noexcept {
  constexpr char none = -1;
  __m256i const spread = _mm256_setr_epi8(0, none, 1, none, 4, none, 5, none, 8, none, 9, none, 12, none, 13, none,  //
                                          2, none, 3, none, 6, none, 7, none, 10, none, 11, none, 14, none, 15, none);
  // 0 .5 1 1.5 2 3 4 6 and their negatives.
  __m256i const high = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 0x3F, 0x3F, 0x3F, 0x40, 0x40, 0x40, 0x40, static_cast<char>(0x80), static_cast<char>(0xBF),
                    static_cast<char>(0xBF), static_cast<char>(0xBF), static_cast<char>(0xC0), static_cast<char>(0xC0),
                    static_cast<char>(0xC0), static_cast<char>(0xC0)));
  __m256i const low = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 0, static_cast<char>(0x80), static_cast<char>(0xC0), 0, 0x40, static_cast<char>(0x80),
                    static_cast<char>(0xC0), 0, 0, static_cast<char>(0x80), static_cast<char>(0xC0), 0, 0x40,
                    static_cast<char>(0x80), static_cast<char>(0xC0)));
  __m256i const bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<__m128i const*>(codes)));
  __m256i const words = _mm256_shuffle_epi8(bytes, spread);
  __m256i const nibbles = _mm256_and_si256(_mm256_or_si256(words, _mm256_slli_epi16(words, 4)), _mm256_set1_epi8(0x0F));
  __m256i const upper = _mm256_shuffle_epi8(high, nibbles), lower = _mm256_shuffle_epi8(low, nibbles);
  patterns[0] = _mm256_unpacklo_epi8(lower, upper);
  patterns[1] = _mm256_unpackhi_epi8(lower, upper);
}

/// Sixteen values from a register of decode_e2m1's.
template <bool Divides, bool Streams, class Out>
FP4_INLINE void scale_sixteen(__m256i patterns, __m256 factor, __m256 divisor, Out* out) noexcept {
  __m256i const zero = _mm256_setzero_si256();
  __m256 first = as_floats(_mm256_unpacklo_epi16(zero, patterns)) * factor;
  __m256 second = as_floats(_mm256_unpackhi_epi16(zero, patterns)) * factor;
  if constexpr (Divides) { first = first / divisor, second = second / divisor; }
  store_sixteen<Streams>(out, first, second);
}

/// `sixteens` times sixteen values of e2m1 codes under finite factors.
template <int BlockSize, bool Divides, bool Streams, class Out>
FP4_NOINLINE void decode_sixteens(uint8_t const* codes, int sixteens, float const* factors, float divisor,
                                  Out* out) noexcept {
  __m256 const by = all(divisor);
  for (; sixteens >= 4; sixteens -= 4) {
    for (int i = 0; i < 4; i += 2) {
      __m256i patterns[2];
      decode_e2m1(codes + i * 8, patterns);
      for (int j = i; j < i + 2; ++j) {
        __m256 const factor = _mm256_broadcast_ss(factors + j * 16 / BlockSize);
        scale_sixteen<Divides, Streams>(patterns[j - i], factor, by, out + j * 16);
      }
    }
    codes += 32, factors += 64 / BlockSize, out += 64;
  }
  for (int i = 0; i < sixteens; ++i) {
    __m256i patterns[2];
    uint8_t last[16]{};
    std::memcpy(last, codes + i * 8, 8);
    decode_e2m1(last, patterns);
    scale_sixteen<Divides, Streams>(patterns[0], _mm256_broadcast_ss(factors + i * 16 / BlockSize), by, out + i * 16);
  }
}

/// Copies `bytes` from a buffer of whole registers around the caches; the ends of `to` may lie anywhere.
FP4_NOINLINE inline void stream_copy(void* to, void const* from, size_t bytes) noexcept {
  char* out = static_cast<char*>(to);
  char const* in = static_cast<char const*>(from);
  size_t const head = (32 - reinterpret_cast<size_t>(out) % 32) % 32;
  size_t const first = head < bytes ? head : bytes;
  std::memcpy(out, in, first);
  out += first, in += first, bytes -= first;
  for (; bytes >= 32; bytes -= 32, out += 32, in += 32) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(out), load_ints(in));
  }
  std::memcpy(out, in, bytes);
}

/// Calls work(to, streams) for the values of a tile: with `out` itself, or where that is to be streamed to
/// and does not lie on a register's boundary, with a buffer that is streamed out afterwards.
template <class Out, class Work>
FP4_INLINE void with_destination(Out* out, int count, bool streams, Work const& work) noexcept {
  if (!streams) {
    work(out, std_types::false_type{});
  } else if (reinterpret_cast<size_t>(out) % 32 == 0) {
    work(out, std_types::true_type{});
  } else {
    alignas(64) Out buffer[tile_elements];
    work(buffer, std_types::false_type{});
    stream_copy(out, buffer, static_cast<size_t>(count) * sizeof(Out));
  }
}

/// Values of whole blocks of e2m1 codes; false, with nothing written, where a factor is not finite.
template <int BlockSize, class Out>
FP4_NOINLINE bool decode_blocks(block_decoder const& decoder, uint8_t const* codes, int blocks,
                                tile_scales const& scales, Out* out, bool streams) noexcept {
  if (scales.range != number_range::finite && !all_finite(scales.factor, blocks)) { return false; }
  int const sixteens = blocks * BlockSize / 16;
  with_destination(out, sixteens * 16, streams, [&](Out* to, auto streamed) {
    constexpr bool streaming = decltype(streamed)::value;
    if (decoder.rule == decode_rule::quotient) {
      decode_sixteens<BlockSize, true, streaming>(codes, sixteens, scales.factor, decoder.tensor, to);
    } else {
      decode_sixteens<BlockSize, false, streaming>(codes, sixteens, scales.factor, 1.0f, to);
    }
  });
  return true;
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
