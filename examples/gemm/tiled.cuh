// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The GEMM of readable.cuh as it is made fast: a block of threads multiplies Rows of A by Columns of B. Steps of
/// k = 64 travel to shared memory by cp.async, Stages - 1 ahead of the one that is multiplied. In fragment order they
/// are copied as they lie, and each lane reads its registers by 16 bytes, without bank conflicts.

#include <cuda_bf16.h>
#include <cuda_pipeline_primitives.h>

#include <stdexcept>
#include <string>

#include "product.cuh"

namespace gemm {

/// How a block divides its part of D among its warps, and where a step lies in shared memory.
template <int Rows, int Columns, int WarpRows, int WarpColumns, int Stages>
struct tiling {
  static_assert(WarpRows % 32 == 0 && WarpColumns % 32 == 0, "a word of scales a lane is of 32 rows");
  static_assert(Rows % WarpRows == 0 && Columns % WarpColumns == 0, "warps divide a block without rest");
  static_assert(Stages >= 2, "one stage is multiplied while the next arrives");
  static constexpr int rows = Rows, columns = Columns, stages = Stages;
  static constexpr int warp_rows = WarpRows, warp_columns = WarpColumns;
  static constexpr int warps_across = Columns / WarpColumns;
  static constexpr int threads = 32 * (Rows / WarpRows) * warps_across;

  // 32 bytes of codes and 4 of scales a row.
  static constexpr int codes_a = 0, codes_b = 32 * Rows;
  static constexpr int scales_a = codes_b + 32 * Columns, scales_b = scales_a + 4 * Rows;
  static constexpr int stage_bytes = scales_b + 4 * Columns;
  static constexpr int shared_bytes = Stages * stage_bytes;
};
using large_tiling = tiling<128, 256, 64, 64, 4>;

/// How the work is divided. No choice changes what is added to what in which order, but for slices.
struct schedule {
  int64_t band = 8;    ///< block rows that are walked together, column by column, while B's rows are in the cache
  int64_t slices = 1;  ///< parts of k that are multiplied side by side, for a D that is too small to busy a device
  float* partial = nullptr;  ///< [slices, m, n] floats in device memory, where there is more than one slice
};

/// 16 bytes of a stage: where thread `chunk` finds them in step `step`, and how far the next step is.
struct chunk_source {
  uint8_t const* from;
  int stride;
};
template <class Tiling>
__device__ chunk_source source_of(product const& p, int chunk, int64_t row, int64_t column, int64_t step) {
  // Past the end of a matrix comes its last tile again; nobody stores what it gives.
  auto const smaller = [](int64_t x, int64_t y) { return x < y ? x : y; };
  auto const codes = [&](auto const& x, int inside, int64_t first_row) -> chunk_source {
    int64_t const tile = smaller(first_row / 16 + inside / 32, (x.rows - 1) / 16);
    return {x.codes + (tile * steps_of(x.cols) + step) * 512 + inside % 32 * 16, 512};
  };
  auto const scales = [&](auto const& x, int inside, int64_t first_row) -> chunk_source {
    int64_t const tile = smaller(first_row / 32 + inside / 8, (x.rows - 1) / 32);
    return {x.scales + (tile * steps_of(x.cols) + step) * 128 + inside % 8 * 16, 128};
  };
  if (chunk < Tiling::codes_b / 16) { return codes(p.a, chunk, row); }
  if (chunk < Tiling::scales_a / 16) { return codes(p.b, chunk - Tiling::codes_b / 16, column); }
  if (chunk < Tiling::scales_b / 16) { return scales(p.a, chunk - Tiling::scales_a / 16, row); }
  return scales(p.b, chunk - Tiling::scales_b / 16, column);
}

/// The sums of a warp, and one step of k.
template <class Tiling>
struct warp_sums {
  static constexpr int down = Tiling::warp_rows / 16, across = Tiling::warp_columns / 8;
  fp4::lane_registers<mma::c> at[down][across] = {};

  __device__ void add(uint8_t const* stage, int first_row, int first_column, int lane) {
    fp4::lane_registers<mma::a> a[down];
    fp4::lane_registers<mma::scales_a<>> scales_a[down / 2];
    fp4::lane_registers<mma::scales_b<>> scales_b[across / 4];
#pragma unroll
    for (int i = 0; i < down; ++i) {
      a[i] = load<fp4::lane_registers<mma::a>>(stage + Tiling::codes_a + 32 * first_row + 512 * i + 16 * lane);
    }
#pragma unroll
    for (int i = 0; i < down / 2; ++i) {
      scales_a[i].reg[0] = load<std::uint32_t>(stage + Tiling::scales_a + 4 * first_row + 128 * i + 4 * lane);
    }
#pragma unroll
    for (int j = 0; j < across / 4; ++j) {
      scales_b[j].reg[0] = load<std::uint32_t>(stage + Tiling::scales_b + 4 * first_column + 128 * j + 4 * lane);
    }
#pragma unroll
    for (int j = 0; j < across; j += 2) {
      auto const b = load<lane_pair_b>(stage + Tiling::codes_b + 32 * first_column + 256 * j + 16 * lane);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int i = 0; i < down; ++i) {
          auto& sum = at[i][j + half];
          sum = fp4::gpu::mma_m16n8k64(a[i], b.half[half], sum, scales_a[i / 2], {i % 2}, scales_b[j / 4],
                                       {(j + half) % 4});
        }
      }
    }
  }
};

/// Two neighbours of a row, of which the second may not be there.
__device__ inline void store(bfloat16* to, float x, float y, bool both, bool by_word) {
  __nv_bfloat162 const pair = __floats2bfloat162_rn(x, y);
  if (both && by_word) {
    *reinterpret_cast<__nv_bfloat162*>(to) = pair;
  } else {
    *reinterpret_cast<__nv_bfloat16*>(to) = pair.x;
    if (both) { reinterpret_cast<__nv_bfloat16*>(to)[1] = pair.y; }
  }
}
__device__ inline void store(float* to, float x, float y, bool both, bool) {
  to[0] = x;
  if (both) { to[1] = y; }
}

/// Writes a warp's sums, times alpha, where `out` [rows, columns] has elements; `row` and `column` are its first.
template <class Tiling, class T>
__device__ void write(warp_sums<Tiling> const& sums, float alpha, fp4::matrix_view<T> out, int64_t row, int64_t column,
                      int lane) {
  bool const by_word = reinterpret_cast<std::uintptr_t>(out.data) % 4 == 0 && out.stride % 2 == 0;
#pragma unroll
  for (int i = 0; i < sums.down; ++i) {
#pragma unroll
    for (int reg = 0; reg < mma::c::registers; reg += 2) {
      fp4::tile_position const at = mma::c::position({lane, reg, 0});
      int64_t const r = row + 16 * i + at.row, left = out.cols - column - at.column;
      if (r >= out.rows) { continue; }
      T* const to = out.row(r) + column + at.column;
#pragma unroll
      for (int j = 0; j < sums.across; ++j) {
        float const x = sums.at[i][j].reg[reg] * alpha, y = sums.at[i][j].reg[reg + 1] * alpha;
        if (8 * j < left) { store(to + 8 * j, x, y, 8 * j + 1 < left, by_word); }
      }
    }
  }
}

/// Block `index` of D, band by band.
struct block_of_d {
  int64_t row, column;
};
template <class Tiling>
__device__ block_of_d block_at(fp4::matrix_view<bfloat16> d, int64_t band, int64_t index) {
  int64_t const down = (d.rows + Tiling::rows - 1) / Tiling::rows;
  int64_t const across = (d.cols + Tiling::columns - 1) / Tiling::columns;
  int64_t const first = index / (band * across) * band, height = first + band < down ? band : down - first;
  int64_t const inside = index % (band * across);
  return {(first + inside % height) * Tiling::rows, inside / height * Tiling::columns};
}

/// A block of threads for each block of D and slice of k (blockIdx.y).
template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads, 1) multiply_blocks(product const p, schedule const how) {
  extern __shared__ __align__(128) uint8_t shared[];
  block_of_d const part = block_at<Tiling>(p.d, how.band, blockIdx.x);
  int64_t const steps = steps_of(p.a.cols);
  int64_t const first = steps * blockIdx.y / how.slices, last = steps * (blockIdx.y + 1) / how.slices;

  constexpr int chunks = Tiling::stage_bytes / 16, chunks_a_thread = (chunks + Tiling::threads - 1) / Tiling::threads;
  int const thread = static_cast<int>(threadIdx.x);
  chunk_source source[chunks_a_thread];
#pragma unroll
  for (int u = 0; u < chunks_a_thread; ++u) {
    source[u] = source_of<Tiling>(p, (thread + u * Tiling::threads) % chunks, part.row, part.column, first);
  }
  auto const fetch = [&](int64_t step) {  // the next one
    if (step < last) {
      uint8_t* const stage = shared + (step - first) % Tiling::stages * Tiling::stage_bytes;
#pragma unroll
      for (int u = 0; u < chunks_a_thread; ++u) {
        int const chunk = thread + u * Tiling::threads;
        if (chunk < chunks) { __pipeline_memcpy_async(stage + 16 * chunk, source[u].from, 16); }
        source[u].from += source[u].stride;
      }
    }
    __pipeline_commit();  // an empty group where there is no step, so that groups and steps keep pace
  };

  int const warp = thread / 32, lane = thread % 32;
  int const first_row = warp / Tiling::warps_across * Tiling::warp_rows;
  int const first_column = warp % Tiling::warps_across * Tiling::warp_columns;
  warp_sums<Tiling> sums;
  for (int s = 0; s < Tiling::stages - 1; ++s) { fetch(first + s); }
  for (int64_t step = first; step < last; ++step) {
    __pipeline_wait_prior(Tiling::stages - 2);  // this thread's part of the step is there,
    __syncthreads();                            // and everybody's; and all are done with the stage before
    fetch(step + Tiling::stages - 1);
    sums.add(shared + (step - first) % Tiling::stages * Tiling::stage_bytes, first_row, first_column, lane);
  }

  if (how.slices == 1) {
    write(sums, p.alpha(), p.d, part.row + first_row, part.column + first_column, lane);
  } else {
    fp4::matrix_view<float> const out(how.partial + blockIdx.y * p.d.size(), p.d.rows, p.d.cols);
    write(sums, 1.0f, out, part.row + first_row, part.column + first_column, lane);
  }
}

/// Adds the slices in their order.
static __global__ void add_slices(product const p, schedule const how) {
  int64_t const index = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (index >= p.d.size()) { return; }
  float sum = 0;
  for (int64_t slice = 0; slice < how.slices; ++slice) { sum += how.partial[slice * p.d.size() + index]; }
  p.d.row(index / p.d.cols)[index % p.d.cols] = bfloat16::from_float(sum * p.alpha());
}

/// Enqueues a product. \throws fp4::precondition_error before, or fp4::gpu::error.
template <class Tiling = large_tiling>
void multiply_tiled_async(product const& p, schedule const& how = {}, fp4::gpu::stream_argument stream = {}) {
  constexpr char const* where = "multiply_tiled_async";
  auto const check_cuda = [&](cudaError_t code) {
    if (code != cudaSuccess) { throw fp4::gpu::error(code, where); }
  };
  fp4::require(check(p), where);
  if (how.band < 1 || how.slices < 1 || how.slices > 65535) {
    throw std::invalid_argument(std::string(where) + ": a band must have rows, and slices must be 1 to 65535 (got " +
                                std::to_string(how.band) + ", " + std::to_string(how.slices) + ")");
  }
  if (how.slices > 1 && how.partial == nullptr) { fp4::require({fp4::errc::null_data, 0, 1}, where); }
  if (p.d.size() == 0) { return; }
  int64_t const down = (p.d.rows + Tiling::rows - 1) / Tiling::rows;
  int64_t const across = (p.d.cols + Tiling::columns - 1) / Tiling::columns;
  check_cuda(
      cudaFuncSetAttribute(multiply_blocks<Tiling>, cudaFuncAttributeMaxDynamicSharedMemorySize, Tiling::shared_bytes));
  dim3 const grid(static_cast<unsigned>(down * across), static_cast<unsigned>(how.slices));
  multiply_blocks<Tiling><<<grid, Tiling::threads, Tiling::shared_bytes, stream.get()>>>(p, how);
  check_cuda(cudaGetLastError());
  if (how.slices > 1) {
    add_slices<<<static_cast<unsigned>((p.d.size() + 255) / 256), 256, 0, stream.get()>>>(p, how);
    check_cuda(cudaGetLastError());
  }
}

}  // namespace gemm
