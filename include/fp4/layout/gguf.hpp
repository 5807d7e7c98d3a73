// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "views.hpp"

FP4_EXACT_BEGIN
namespace fp4 {

/// GGUF's NVFP4 block: 4 scale bytes, then 32 code bytes for 64 values. Inside each 16 values byte j holds elements j
/// (low nibble) and j + 8. There is no tensor scale. Source: ggml `block_nvfp4`.
struct gguf_nvfp4_block {
  static constexpr int values = 64;
  static constexpr int bytes = 36;

  /// Where the scale of values [16i, 16i + 16) lies, i in 0 to 3.
  [[nodiscard]] FP4_HD static constexpr int scale_offset(int i) noexcept { return i; }
  /// The byte of value k, 0 to 63.
  [[nodiscard]] FP4_HD static constexpr int code_offset(int k) noexcept { return 4 + k / 16 * 8 + k % 8; }
  /// True where value k is the high nibble of its byte.
  [[nodiscard]] FP4_HD static constexpr bool is_high(int k) noexcept { return k % 16 >= 8; }

  /// Packs 64 row-major codes (32 bytes, even elements low) and their 4 scales.
  FP4_HD static constexpr void pack(uint8_t const* codes, uint8_t const* scales, uint8_t* block) noexcept {
    for (int i = 0; i < bytes; ++i) { block[i] = 0; }
    for (int i = 0; i < 4; ++i) { block[scale_offset(i)] = scales[i]; }
    for (int k = 0; k < values; ++k) {
      int const shifted = nibble(codes, k) << (is_high(k) ? 4 : 0);
      block[code_offset(k)] = static_cast<uint8_t>(block[code_offset(k)] | shifted);
    }
  }

  /// The way back.
  FP4_HD static constexpr void unpack(uint8_t const* block, uint8_t* codes, uint8_t* scales) noexcept {
    for (int i = 0; i < 4; ++i) { scales[i] = block[scale_offset(i)]; }
    for (int k = 0; k < values; ++k) {
      set_nibble(codes, k, static_cast<uint8_t>(block[code_offset(k)] >> (is_high(k) ? 4 : 0) & 0xF));
    }
  }
};

}  // namespace fp4
FP4_EXACT_END
