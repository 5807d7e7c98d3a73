// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// 16 bytes a lane: loaded, stored, cut, and transposed among the four lanes of a quad. No shared memory is needed to
/// change layouts then, and no bank conflicts are possible.

#include "../error.cuh"
#include "ptx.cuh"

namespace fp4::gpu::detail {

/// The widest of 16, 4 and 1 bytes that addresses `p` and every multiple of `stride` further on are multiples of.
inline int chunk_alignment(void const* p, int64_t stride) noexcept {
  return is_aligned(p, stride, 16) ? 16 : is_aligned(p, stride, 4) ? 4 : 1;
}

/// `count` bytes, at most 16, and zeros.
__device__ __forceinline__ uint4 load_chunk(uint8_t const* p, int count, int alignment) {
  if (count == 16 && alignment == 16) { return ptx::load_16(p); }
  uint4 v{};
  if (count == 16 && alignment == 4) {
    uint32_t const* const words = reinterpret_cast<uint32_t const*>(p);
    return {__ldg(words), __ldg(words + 1), __ldg(words + 2), __ldg(words + 3)};
  }
#pragma unroll 1
  for (int i = count - 1; i >= 0; --i) {
    v.w = __funnelshift_l(v.z, v.w, 8), v.z = __funnelshift_l(v.y, v.z, 8), v.y = __funnelshift_l(v.x, v.y, 8);
    v.x = v.x << 8 | __ldg(p + i);
  }
  return v;
}

/// The first `count` bytes, at most 16.
__device__ __forceinline__ void store_chunk(uint8_t* p, uint4 v, int count, int alignment) {
  if (count == 16 && alignment == 16) {
    *reinterpret_cast<uint4*>(p) = v;
  } else if (count == 16 && alignment == 4) {
    uint32_t* const words = reinterpret_cast<uint32_t*>(p);
    words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
  } else {
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      p[i] = static_cast<uint8_t>(v.x);
      v.x = __funnelshift_r(v.x, v.y, 8), v.y = __funnelshift_r(v.y, v.z, 8), v.z = __funnelshift_r(v.z, v.w, 8);
      v.w >>= 8;
    }
  }
}

/// The lowest `count` bits of a word; 32 or more keep it, 0 or fewer clear it.
__device__ __forceinline__ uint32_t lowest_bits(uint32_t word, int count) {
  return count >= 32 ? word : count <= 0 ? 0 : word & ((1u << count) - 1);
}

/// Word j of lane i becomes word i of lane j, in each quad. The whole warp calls it.
__device__ __forceinline__ uint4 transposed_in_quad(uint4 v) {
  constexpr unsigned whole_warp = 0xFFFFFFFF;
  bool const odd = (threadIdx.x & 1) != 0, upper = (threadIdx.x & 2) != 0;
  uint32_t const xy = __shfl_xor_sync(whole_warp, odd ? v.x : v.y, 1);
  uint32_t const zw = __shfl_xor_sync(whole_warp, odd ? v.z : v.w, 1);
  (odd ? v.x : v.y) = xy, (odd ? v.z : v.w) = zw;
  uint32_t const xz = __shfl_xor_sync(whole_warp, upper ? v.x : v.z, 2);
  uint32_t const yw = __shfl_xor_sync(whole_warp, upper ? v.y : v.w, 2);
  (upper ? v.x : v.z) = xz, (upper ? v.y : v.w) = yw;
  return v;
}

/// How warps share [rows, columns] of what each of them takes at a time: a block's warps lie side by side, and below
/// each other where that would leave some without work; blocks go on down the rows.
struct warp_grid {
  int64_t rows, columns;
  int across = 1;  ///< warps of a block side by side

  static constexpr int warps = 8;
  warp_grid(int64_t rows_, int64_t columns_) noexcept : rows(rows_), columns(columns_) {
    while (across < warps && across < columns) { across *= 2; }
  }
  [[nodiscard]] dim3 blocks() const noexcept {
    int64_t const down = (rows + warps / across - 1) / (warps / across);
    return {static_cast<unsigned>((columns + across - 1) / across), static_cast<unsigned>(down < 65535 ? down : 65535)};
  }
  /// Calls body(row, column) for each item of the calling warp.
  template <class Body>
  __device__ __forceinline__ void each(Body const& body) const {
    int const warp = static_cast<int>(threadIdx.x) / 32;
    int64_t const column = int64_t{blockIdx.x} * across + warp % across;
    if (column >= columns) { return; }
    int const down = warps / across;
    for (int64_t row = int64_t{blockIdx.y} * down + warp / across; row < rows; row += int64_t{gridDim.y} * down) {
      body(row, column);
    }
  }
};

}  // namespace fp4::gpu::detail
