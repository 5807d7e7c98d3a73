// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A GEMM to read: a warp multiplies 16 rows of A by 16 rows of B, from global memory, one instruction after another.
/// The source is written once for two kinds of warps: the device's, and the model's (model.hpp), whose 32 lanes are
/// an array on the host.

#include "product.cuh"

namespace gemm {

/// A warp of the device: each thread is a lane, and has its own registers.
struct device_warp {
  template <class Fragment>
  using registers = fp4::lane_registers<Fragment>;

  template <class Body>
  static __device__ void each_lane(Body const& body) {
    body(static_cast<int>(threadIdx.x % 32));
  }
  template <class Fragment>
  static __host__ __device__ fp4::lane_registers<Fragment>& at(registers<Fragment>& held, int) {
    return held;
  }
  static __device__ registers<mma::c> multiply(registers<mma::a> const& a, registers<mma::b> const& b,
                                               registers<mma::c> const& c, registers<mma::scales_a<>> const& scales_a,
                                               fp4::scale_selector of_a, registers<mma::scales_b<>> const& scales_b,
                                               fp4::scale_selector of_b) {
    return fp4::gpu::mma_m16n8k64(a, b, c, scales_a, of_a, scales_b, of_b);
  }
};

/// D[16 i .. 16 i + 15, 16 j .. 16 j + 15], as far as D goes.
#pragma nv_exec_check_disable
template <class Warp>
__host__ __device__ void multiply_tile(operand_a a, operand_b b, float alpha, fp4::matrix_view<bfloat16> d, int64_t i,
                                       int64_t j) {
  typename Warp::template registers<mma::c> sum[2] = {};  // of 8 columns each
  for (int64_t step = 0; step < steps_of(a.cols); ++step) {
    typename Warp::template registers<mma::a> of_a;
    typename Warp::template registers<mma::b> of_b[2];
    typename Warp::template registers<mma::scales_a<>> scales_a;
    typename Warp::template registers<mma::scales_b<>> scales_b;
    uint8_t const* const tile_a = a.codes + fp4::fragment_codes_a::tile_offset(i, step, a.cols);
    uint8_t const* const tile_b = b.codes + fp4::fragment_codes_b::tile_offset(j, step, b.cols);
    // One word a lane has the scales of 32 rows: of two tiles.
    int64_t const blocks = a.blocks_per_row();
    uint8_t const* const rows_a = a.scales + fp4::tiled_32x4_scales::offset(i / 2 * 32, 4 * step, blocks);
    uint8_t const* const rows_b = b.scales + fp4::tiled_32x4_scales::offset(j / 2 * 32, 4 * step, blocks);
    Warp::each_lane([&](int lane) {
      Warp::at(of_a, lane) = load<fp4::lane_registers<mma::a>>(tile_a + 16 * lane);
      auto const pair = load<lane_pair_b>(tile_b + 16 * lane);
      Warp::at(of_b[0], lane) = pair.half[0];
      Warp::at(of_b[1], lane) = pair.half[1];
      Warp::at(scales_a, lane).reg[0] = load<std::uint32_t>(rows_a + 4 * lane);
      Warp::at(scales_b, lane).reg[0] = load<std::uint32_t>(rows_b + 4 * lane);
    });
    for (int half = 0; half < 2; ++half) {
      fp4::scale_selector const lanes_a{static_cast<int>(i % 2)}, lanes_b{static_cast<int>(j % 2) * 2 + half};
      sum[half] = Warp::multiply(of_a, of_b[half], sum[half], scales_a, lanes_a, scales_b, lanes_b);
    }
  }
  Warp::each_lane([&](int lane) {
    for (int half = 0; half < 2; ++half) {
      for (int reg = 0; reg < mma::c::registers; ++reg) {
        fp4::tile_position const at = mma::c::position({lane, reg, 0});
        int64_t const row = 16 * i + at.row, column = 16 * j + 8 * half + at.column;
        if (row < d.rows && column < d.cols) {
          d.row(row)[column] = bfloat16::from_float(Warp::at(sum[half], lane).reg[reg] * alpha);
        }
      }
    }
  });
}

inline constexpr int readable_warps = 4;  ///< in a block

/// A warp for each tile of D, row by row.
static __global__ void __launch_bounds__(32 * readable_warps) multiply_tiles(product const p) {
  int64_t const across = (p.d.cols + 15) / 16, tile = int64_t{blockIdx.x} * readable_warps + threadIdx.x / 32;
  if (tile >= (p.d.rows + 15) / 16 * across) { return; }
  multiply_tile<device_warp>(p.a, p.b, p.alpha(), p.d, tile / across, tile % across);
}

/// Enqueues a product. \throws fp4::precondition_error before, or fp4::gpu::error.
inline void multiply_readable_async(product const& p, fp4::gpu::stream_argument stream = {}) {
  constexpr char const* where = "multiply_readable_async";
  fp4::require(check(p), where);
  if (p.d.size() == 0) { return; }
  int64_t const tiles = (p.d.rows + 15) / 16 * ((p.d.cols + 15) / 16);
  multiply_tiles<<<static_cast<unsigned>((tiles + readable_warps - 1) / readable_warps), 32 * readable_warps, 0,
                   stream.get()>>>(p);
  if (cudaError_t const code = cudaGetLastError(); code != cudaSuccess) { throw fp4::gpu::error(code, where); }
}

}  // namespace gemm
