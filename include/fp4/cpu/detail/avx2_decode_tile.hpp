// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "avx2_decode_bfloat16.hpp"
#include "avx2_decode_bytes.hpp"
#include "avx2_decode_scales.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

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

/// Calls work(to, streams) for the values of a tile: with `out` itself, or where that is to be streamed to and does not
/// lie on a register's boundary, with a buffer that is streamed out afterwards.
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

/// Values of whole blocks; false, with nothing written, where a factor is not finite.
template <class Format, class Out>
FP4_NOINLINE bool decode_blocks(block_decoder const& decoder, uint8_t const* codes, int blocks,
                                tile_scales const& scales, Out* out, bool streams) noexcept {
  constexpr int size = Format::block_size;
  int const factors = Format::has_block_scale ? blocks : 1;
  if (scales.range != number_range::finite && !all_finite(scales.factor, factors)) { return false; }
  with_destination(out, blocks * size, streams, [&](Out* to, auto streamed) {
    constexpr bool streaming = decltype(streamed)::value;
    auto const decode = [&](auto division) {
      constexpr bool divides = decltype(division)::value;
      if constexpr (Format::storage_bits == 8) {
        decode_bytes<Format, divides, streaming>(decoder, codes, blocks, scales, to);
      } else if constexpr (std_types::is_same<Out, bfloat16>::value) {
        decode_sixteens_by_tables<size, divides, streaming>(codes, blocks * size / 16, scales.factor, decoder.tensor,
                                                            to);
      } else {
        decode_sixteens<size, divides, streaming>(codes, blocks * size / 16, scales.factor, decoder.tensor, to);
      }
    };
    if (decoder.rule == decode_rule::quotient) {
      decode(std_types::true_type{});
    } else {
      decode(std_types::false_type{});
    }
  });
  return true;
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
