// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../layout/shared_memory.hpp"
#include "relayout.cuh"

namespace fp4::gpu {
namespace detail {

/// What a warp moves at a time, 512 bytes: `rows` rows of `chunks` times 16 bytes. This is for tiles whose chunks
/// stay whole. At least two chunks of a row, so that sectors of 32 bytes are whole on both sides.
template <class Codes>
struct code_unit {
  static constexpr bool transposes = false;
  static constexpr int chunks = Codes::shared::row_bytes < 32 ? 2 : Codes::shared::row_bytes / 16;
  static constexpr int rows = 32 / chunks;

  [[nodiscard]] __device__ __forceinline__ static int row(int lane) { return lane / chunks; }
  [[nodiscard]] __device__ __forceinline__ static int chunk(int lane) { return lane % chunks; }
  /// Where the lane's 16 bytes lie in the tiles.
  [[nodiscard]] __device__ __forceinline__ static int64_t offset(int64_t first_row, int64_t first_chunk, int lane,
                                                                 int64_t cols) {
    return Codes::offset(first_row + row(lane), 32 * (first_chunk + chunk(lane)), cols);
  }
};

/// A tile in fragment order. The registers of a quad's lanes are words of four chunks: of two rows, 8 apart, in the
/// order of the operand.
template <class Fragment>
struct fragment_unit {
  static constexpr bool transposes = true;
  static constexpr int chunks = 2, rows = 16;
  static constexpr bool rows_first = Fragment::rows == 16;  ///< a0 and a1 are of different rows, b0 and b1 of one

  [[nodiscard]] __device__ __forceinline__ static int row(int lane) {
    return lane / 4 + 8 * (rows_first ? lane % 2 : lane % 4 / 2);
  }
  [[nodiscard]] __device__ __forceinline__ static int chunk(int lane) { return rows_first ? lane % 4 / 2 : lane % 2; }
  [[nodiscard]] __device__ __forceinline__ static int64_t offset(int64_t first_row, int64_t first_chunk, int lane,
                                                                 int64_t cols) {
    return fragment_codes_a::tile_offset(first_row / 16, first_chunk / 2, cols) + 16 * lane;
  }
};
template <>
struct code_unit<fragment_codes_a> : fragment_unit<mma_m16n8k64::a> {};
template <>
struct code_unit<fragment_codes_b> : fragment_unit<mma_m16n8k64::b> {};

/// The codes of a matrix in rows and in tiles; RowByte and TileByte are constant on the side that is read.
template <class RowByte, class TileByte>
struct code_sides {
  RowByte* matrix;
  int64_t stride, row_bytes;
  int alignment;  ///< of rows
  int64_t rows, cols;
  TileByte* tiles;
  int64_t padded_rows, padded_chunks;

  /// Codes of a row from chunk `chunk` on.
  [[nodiscard]] __device__ __forceinline__ int codes_left(int64_t chunk) const {
    int64_t const left = cols - 32 * chunk;
    return left < 32 ? static_cast<int>(left < 0 ? 0 : left) : 32;
  }
  /// Codes past the last column are 0.
  [[nodiscard]] __device__ __forceinline__ static uint4 cut(uint4 v, int codes) {
    if (codes < 32) {
      v = {lowest_bits(v.x, 4 * codes), lowest_bits(v.y, 4 * codes - 32), lowest_bits(v.z, 4 * codes - 64),
           lowest_bits(v.w, 4 * codes - 96)};
    }
    return v;
  }
  [[nodiscard]] __device__ __forceinline__ uint4 load_row(int64_t row, int64_t chunk) const {
    int const codes = row < rows ? codes_left(chunk) : 0;
    return cut(load_chunk(matrix + row * stride + 16 * chunk, (codes + 1) / 2, alignment), codes);
  }
  __device__ __forceinline__ void store_row(int64_t row, int64_t chunk, uint4 v) const {
    int64_t const bytes = row_bytes - 16 * chunk;
    if (row >= rows || bytes <= 0) { return; }
    store_chunk(matrix + row * stride + 16 * chunk, cut(v, codes_left(chunk)),
                bytes < 16 ? static_cast<int>(bytes) : 16, alignment);
  }
};

inline constexpr int units_a_warp = 4;  ///< side by side

/// Each warp takes units_a_warp units of a row of units.
template <bool ToTiles, class Codes, class Sides>
__global__ void __launch_bounds__(32 * warp_grid::warps) move_codes(Sides const sides, warp_grid const grid) {
  using unit = code_unit<Codes>;
  constexpr int row_step = 16 * unit::chunks;             // from unit to unit, in rows
  constexpr int tile_step = Codes::tile_rows * row_step;  // and in tiles, which follow each other along k
  int const lane = static_cast<int>(threadIdx.x) % 32;
  grid.each([&](int64_t unit_row, int64_t group) {
    int64_t const first_row = unit_row * unit::rows, first_chunk = group * (units_a_warp * unit::chunks);
    int64_t const row = first_row + unit::row(lane), chunk = first_chunk + unit::chunk(lane);
    auto* const in_rows = sides.matrix + row * sides.stride + 16 * chunk;
    auto* const in_tiles = sides.tiles + unit::offset(first_row, first_chunk, lane, sides.cols);
    bool const whole = sides.alignment == 16 && first_row + unit::rows <= sides.rows &&
                       32 * (first_chunk + units_a_warp * unit::chunks) <= sides.cols;
    if (whole) {
      uint4 v[units_a_warp];
#pragma unroll
      for (int u = 0; u < units_a_warp; ++u) {
        v[u] = ptx::load_16(ToTiles ? in_rows + u * row_step : in_tiles + u * tile_step);
      }
#pragma unroll
      for (int u = 0; u < units_a_warp; ++u) {
        if constexpr (unit::transposes) { v[u] = transposed_in_quad(v[u]); }
        if constexpr (ToTiles) {
          *reinterpret_cast<uint4*>(in_tiles + u * tile_step) = v[u];
        } else {
          *reinterpret_cast<uint4*>(in_rows + u * row_step) = v[u];
        }
      }
      return;
    }
#pragma unroll 1
    for (int u = 0; u < units_a_warp; ++u) {
      int64_t const at = chunk + u * unit::chunks;
      bool const exists = row < sides.padded_rows && at < sides.padded_chunks;
      uint4 v{};
      if constexpr (ToTiles) {
        v = sides.load_row(row, at);
      } else if (exists) {
        v = ptx::load_16(in_tiles + u * tile_step);
      }
      if constexpr (unit::transposes) { v = transposed_in_quad(v); }
      if constexpr (!ToTiles) {
        sides.store_row(row, at, v);
      } else if (exists) {
        *reinterpret_cast<uint4*>(in_tiles + u * tile_step) = v;
      }
    }
  });
}

/// Enqueues what was checked before: codes, then scales.
template <bool ToTiles, class Rows, class Tiles>
void enqueue_move(Rows const& rows, Tiles const& tiles, stream_argument stream, char const* where) {
  if (rows.rows == 0 || rows.cols == 0) { return; }
  using codes = typename Tiles::code_layout;
  using unit = code_unit<codes>;
  int64_t const padded_rows = fp4::detail::round_up_to(rows.rows, codes::tile_rows);
  int64_t const padded_chunks = fp4::detail::round_up_to(rows.cols, codes::tile_columns) / 32;
  using sides = code_sides<std_types::remove_reference_t<decltype(*rows.codes)>,
                           std_types::remove_reference_t<decltype(*tiles.codes)>>;
  sides const both{rows.codes,
                   rows.code_stride,
                   Rows::format::row_bytes(rows.cols),
                   chunk_alignment(rows.codes, rows.code_stride),
                   rows.rows,
                   rows.cols,
                   tiles.codes,
                   padded_rows,
                   padded_chunks};
  constexpr int group = units_a_warp * unit::chunks;
  warp_grid const grid((padded_rows + unit::rows - 1) / unit::rows, (padded_chunks + group - 1) / group);
  move_codes<ToTiles, codes><<<grid.blocks(), 32 * warp_grid::warps, 0, stream.get()>>>(both, grid);
  check(cudaGetLastError(), where);
  using row_scales = typename Rows::scale_layout;
  using tile_scales = typename Tiles::scale_layout;
  if constexpr (ToTiles) {
    enqueue_relayout<row_scales, tile_scales>(rows.scales, tiles.scales, rows.rows, rows.blocks_per_row(), stream,
                                              where);
  } else {
    enqueue_relayout<tile_scales, row_scales>(tiles.scales, rows.scales, rows.rows, rows.blocks_per_row(), stream,
                                              where);
  }
}

}  // namespace detail

/// Brings a quantized matrix into the order of a tensor-core instruction on the device, codes and scales together:
/// the bytes of cpu::pack.
///
/// \param from  codes in rows and scales in any layout, [rows, cols], in device memory; for B that is [n, k].
/// \param to    the same shape in device memory: fragment_codes_a, fragment_codes_b or tcgen05_codes, with any scale
///              layout. Padding to whole tiles is written as 0, codes and scales.
/// \throws precondition_error when check_pack(from, to) finds anything, before anything is enqueued; gpu::error when a
///         launch is refused.
/// \note   Two kernels; each byte is read once and written once, in whole sectors where rows of codes begin at
///         multiples of 32 bytes and scales as relayout_scales_async says. Any alignment of `from` works. No
///         allocation, no synchronisation, no shared memory.
template <class Format, class From, class Byte, class Codes, class To>
void pack_async(quantized_view<Format, From, Byte> from, packed_view<Format, Codes, To> to,
                stream_argument stream = {}) {
  constexpr char const* where = "fp4::gpu::pack_async";
  require(check_pack(from, to), where);
  detail::enqueue_move<true>(quantized_view<Format, From, uint8_t const>(from), to, stream, where);
}

/// The way back, as cpu::unpack: codes in rows of Format::row_bytes(cols) bytes whose padding is 0, scales in any
/// layout. \throws as pack_async, with check_unpack.
template <class Format, class Codes, class From, class Byte, class To>
void unpack_async(packed_view<Format, Codes, From, Byte> from, quantized_view<Format, To> to,
                  stream_argument stream = {}) {
  constexpr char const* where = "fp4::gpu::unpack_async";
  require(check_unpack(from, to), where);
  detail::enqueue_move<false>(to, packed_view<Format, Codes, From, uint8_t const>(from), stream, where);
}

}  // namespace fp4::gpu
