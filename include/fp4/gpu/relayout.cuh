// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../layout/pack_checks.hpp"
#include "../layout/scale_words.hpp"
#include "detail/chunks.cuh"

namespace fp4::gpu {
namespace detail {

using fp4::detail::scattered;
using fp4::detail::word_axis;

/// One side of a relayout.
template <class Layout, class Byte>
struct scale_side {
  static constexpr bool is_linear = std_types::is_same<Layout, linear_scales>::value;
  static constexpr int row_step = is_linear ? 0 : word_axis<Layout> & -word_axis<Layout>;
  /// Bytes to the next eight words of a row.
  static constexpr int region_step = 8 * fp4::detail::word_step<Layout>;
  Byte* bytes;
  int64_t rows, padded_rows, blocks;
  int alignment;

  scale_side(Byte* bytes_, int64_t rows_, int64_t blocks_) noexcept
      : bytes(bytes_),
        rows(rows_),
        padded_rows(Layout::bytes(rows_, 4) / 4),
        blocks(blocks_),
        alignment(chunk_alignment(bytes_, is_linear ? blocks_ : 16)) {}

  [[nodiscard]] __device__ __forceinline__ Byte* at(int64_t row, int64_t word) const {
    return bytes + Layout::offset(row, 4 * word, blocks);
  }
  /// How many of the 16 bytes at (row, word) exist.
  [[nodiscard]] __device__ __forceinline__ int count(int64_t row, int64_t word) const {
    int64_t const left = blocks - 4 * word;
    if (row >= padded_rows || left <= 0) { return 0; }
    return is_linear && left < 16 ? static_cast<int>(left) : 16;
  }
  /// The 16 bytes that begin with (row, word). What is not there, and padding, is 0.
  [[nodiscard]] __device__ __forceinline__ uint4 load(int64_t row, int64_t word) const {
    uint4 v = load_chunk(at(row, word), count(row, word), alignment);
    if constexpr (!is_linear) {
      int64_t const left = blocks - 4 * word;
      int const bits = left < 4 ? static_cast<int>(left) * 8 : 32;
      v.x = lowest_bits(v.x, row < rows ? bits : 0);
      v.y = lowest_bits(v.y, row + row_step < rows ? bits : 0);
      v.z = lowest_bits(v.z, row + 2 * row_step < rows ? bits : 0);
      v.w = lowest_bits(v.w, row + 3 * row_step < rows ? bits : 0);
    }
    return v;
  }
  __device__ __forceinline__ void store(int64_t row, int64_t word, uint4 v) const {
    store_chunk(at(row, word), v, count(row, word), alignment);
  }
};

/// The words of one lane: from a base in the region, those of quad lane t lie t steps along the other side's axis, so
/// that a transposition among the quad turns what is read into what is written.
template <class From, class To>
struct relayout_lanes {
  static constexpr bool transposes = word_axis<From> != word_axis<To>;
  static constexpr int from = word_axis<From>;
  /// Between equal layouts any other axis will do.
  static constexpr int to = transposes ? word_axis<To> : from == 0x180 ? 0x003 : 0x180;
  /// What comes first among the quads of a warp fills sectors of 32 bytes: 8 words of a row, then neighbouring rows.
  static constexpr int first = (from | to) & 0x180 ? 0x200 : 0;
  static constexpr int others = 0x3FF & ~(from | to | first);

  [[nodiscard]] __device__ __forceinline__ static int base(int quad) {
    return first == 0 ? scattered(quad, others) : (quad & 1) * first | scattered(quad >> 1, others);
  }
};

inline constexpr int regions_a_warp = 4;  ///< side by side

/// Each warp takes an eighth of regions_a_warp regions.
template <class From, class To>
__global__ void __launch_bounds__(32 * warp_grid::warps)
    relayout_regions(scale_side<From, uint8_t const> const from, scale_side<To, uint8_t> const to,
                     warp_grid const grid) {
  using lanes = relayout_lanes<From, To>;
  constexpr int from_step = scale_side<From, uint8_t const>::region_step;
  constexpr int to_step = scale_side<To, uint8_t>::region_step;
  int const lane = static_cast<int>(threadIdx.x) % 32;
  grid.each([&](int64_t region_row, int64_t column) {
    int const base = lanes::base(static_cast<int>(column % 8) * 8 + lane / 4);
    int const read = base | scattered(lane % 4, lanes::to);
    int const written = lanes::transposes ? base | scattered(lane % 4, lanes::from) : read;
    int64_t const row = region_row * 128, word = column / 8 * (8 * regions_a_warp);
    int64_t const read_row = row + read % 128, read_word = word + read / 128;
    int64_t const written_row = row + written % 128, written_word = word + written / 128;
    bool const whole = from.alignment == 16 && to.alignment == 16 && row + 128 <= from.rows &&
                       4 * (word + 8 * regions_a_warp) <= from.blocks;
    if (whole) {
      uint8_t const* const source = from.at(read_row, read_word);
      uint8_t* const target = to.at(written_row, written_word);
      uint4 v[regions_a_warp];
#pragma unroll
      for (int u = 0; u < regions_a_warp; ++u) { v[u] = ptx::load_16(source + u * from_step); }
#pragma unroll
      for (int u = 0; u < regions_a_warp; ++u) {
        if constexpr (lanes::transposes) { v[u] = transposed_in_quad(v[u]); }
        *reinterpret_cast<uint4*>(target + u * to_step) = v[u];
      }
      return;
    }
#pragma unroll 1
    for (int u = 0; u < regions_a_warp; ++u) {
      uint4 v = from.load(read_row, read_word + 8 * u);
      if constexpr (lanes::transposes) { v = transposed_in_quad(v); }
      to.store(written_row, written_word + 8 * u, v);
    }
  });
}

/// Enqueues a relayout of what was checked before.
template <class From, class To>
void enqueue_relayout(uint8_t const* from, uint8_t* to, int64_t rows, int64_t blocks, stream_argument stream,
                      char const* where) {
  if (rows == 0 || blocks == 0) { return; }
  constexpr int blocks_a_warp = 32 * regions_a_warp;
  warp_grid const grid((rows + 127) / 128, (blocks + blocks_a_warp - 1) / blocks_a_warp * 8);
  relayout_regions<From, To><<<grid.blocks(), 32 * warp_grid::warps, 0, stream.get()>>>(
      scale_side<From, uint8_t const>(from, rows, blocks), scale_side<To, uint8_t>(to, rows, blocks), grid);
  check(cudaGetLastError(), where);
}

}  // namespace detail

/// Copies block scales from one layout to another on the device, [rows, blocks] logical: the bytes of
/// cpu::relayout_scales. Linear, 128x4, 8x4 and 32x4, in any pair; padding of `to` is written as 0x00.
///
/// \param from  at least From::bytes(rows, blocks) bytes of device memory; `from_bytes` is what is there.
/// \param to    at least To::bytes(rows, blocks) bytes of device memory; `to_bytes` is what is there.
/// \throws precondition_error when a buffer is null, too small or overlaps the other, before anything is enqueued;
///         gpu::error when the launch is refused.
/// \note   One pass: reads and writes sectors whole where both begin at multiples of 32 bytes and blocks is a multiple
///         of 32. Any alignment works, down to single bytes. No allocation, no synchronisation, no shared memory.
template <class From, class To>
void relayout_scales_async(uint8_t const* from, int64_t from_bytes, uint8_t* to, int64_t to_bytes, int64_t rows,
                           int64_t blocks, stream_argument stream = {}) {
  constexpr char const* where = "fp4::gpu::relayout_scales_async";
  require(check_relayout<From, To>(from, from_bytes, to, to_bytes, rows, blocks), where);
  detail::enqueue_relayout<From, To>(from, to, rows, blocks, stream, where);
}

}  // namespace fp4::gpu
