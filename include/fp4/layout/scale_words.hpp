// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How scale layouts differ, in words of four scales: what separates any two of them is a transposition of 4 x 4.

#include "scale_layout.hpp"

namespace fp4::detail {

/// A word is the scales of four consecutive blocks of a row. In every layout four words lie together, 16 bytes: of
/// four consecutive words of a row, or of rows a fixed distance apart. A number of 10 bits names a word in a region of
/// 128 rows (bits 0 to 6) by 8 words (bits 7 to 9): this is where its position along the four is.
template <class Layout>
inline constexpr int word_axis = 0;
template <>
inline constexpr int word_axis<linear_scales> = 0x180;
template <>
inline constexpr int word_axis<tiled_8x4_scales> = 0x003;
template <>
inline constexpr int word_axis<tiled_32x4_scales> = 0x018;
template <>
inline constexpr int word_axis<tiled_128x4_scales> = 0x060;

/// Bytes to the next word of a row, in a tile of its own or, in a linear layout, at once.
template <class Layout>
inline constexpr int word_step = static_cast<int>(Layout::offset(0, 4, 8));

/// The bits of `value`, from the lowest on, at the places that are set in `mask`.
FP4_HD FP4_INLINE constexpr int scattered(int value, int mask) noexcept {
  int result = 0, bit = 0;
#if FP4_DEVICE_CODE
#pragma unroll
#endif
  for (int place = 1; place < 1024; place *= 2) {
    if ((mask & place) == 0) { continue; }
    if ((value >> bit & 1) != 0) { result |= place; }
    ++bit;
  }
  return result;
}

}  // namespace fp4::detail
