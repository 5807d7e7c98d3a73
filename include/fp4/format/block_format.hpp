// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types.hpp"

namespace fp4 {

/// Stands where a format has no scale a block.
struct no_scale {};

/// How values are grouped: elements of one type, one scale for `BlockSize` consecutive elements.
/// Value of an element = element * block scale * tensor scale, where the format has them.
template <class Element, class Scale, int BlockSize>
struct block_format {
  using element = Element;
  using scale = Scale;
  static constexpr int block_size = BlockSize;
  static constexpr bool has_block_scale = !std_types::is_same<Scale, no_scale>::value;
  /// True where an fp32 scale a tensor multiplies the block scale (or stands alone).
  static constexpr bool has_tensor_scale = !std_types::is_same<Scale, e8m0>::value;
  /// Bits an element takes in memory: 4-bit codes are packed two a byte, wider ones take a byte each.
  static constexpr int storage_bits = Element::width <= 4 ? 4 : 8;

  /// Blocks of a row of `columns` elements; the last may be partly padding.
  FP4_HD FP4_INLINE static constexpr int64_t blocks(int64_t columns) noexcept {
    return columns / BlockSize + (columns % BlockSize > 0);
  }
  /// Bytes of a row of codes, padded to whole blocks.
  FP4_HD FP4_INLINE static constexpr int64_t row_bytes(int64_t columns) noexcept {
    return static_cast<int64_t>(static_cast<uint64_t>(blocks(columns)) * (BlockSize * storage_bits / 8));
  }
};

/// NVFP4: e2m1 in blocks of 16, a ue4m3 scale a block, an fp32 scale a tensor.
using nvfp4 = block_format<e2m1, ue4m3, 16>;
/// NVFP4 with blocks of 32, and with the wider block scale.
using nvfp4_block32 = block_format<e2m1, ue4m3, 32>;
using nvfp4_ue5m3 = block_format<e2m1, ue5m3, 16>;

/// OCP microscaling formats: blocks of 32 with a power-of-two scale.
using mxfp4 = block_format<e2m1, e8m0, 32>;
using mxfp6_e2m3 = block_format<e2m3, e8m0, 32>;
using mxfp6_e3m2 = block_format<e3m2, e8m0, 32>;
using mxfp8_e4m3 = block_format<e4m3, e8m0, 32>;
using mxfp8_e5m2 = block_format<e5m2, e8m0, 32>;

/// FP8 with one fp32 scale a tensor.
using fp8_e4m3 = block_format<e4m3, no_scale, 1>;
using fp8_e5m2 = block_format<e5m2, no_scale, 1>;

}  // namespace fp4
