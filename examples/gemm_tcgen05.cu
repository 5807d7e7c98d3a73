// SPDX-License-Identifier: Apache-2.0
// NVFP4 by tcgen05, for data-centre Blackwell (B200, B300): D = A B^T, a block of threads for each 128 x 128 of D.
//   nvcc -std=c++17 -Iinclude -gencode arch=compute_100a,code=sm_100a examples/gemm_tcgen05.cu -o gemm_tcgen05
// (-arch=sm_100a makes code for plain sm_100 as well, which lacks tcgen05.)
// It shows what meets what: packed tiles -> shared memory -> descriptors, scale tiles -> tcgen05.cp -> tensor memory,
// tcgen05.mma, and the way out. A fast kernel would let copies (by TMA) run ahead of products.
#include <fp4/gpu/arguments.cuh>
#include <fp4/gpu/pack.cuh>
#include <fp4/layout/descriptor_checks.hpp>

#include "device.cuh"
#include "gemm/operands.hpp"
#include "gemm/tcgen05.cuh"

namespace {

constexpr int side = 128;              // of a block of D
constexpr int depth = 256, steps = 4;  // codes of a row of an atom, which four instructions of k = 64 read
constexpr int tile_bytes = side * depth / 2, scale_tile_bytes = fp4::tcgen05_scale_copy::bytes;

using shared_map = fp4::k_major_shared<fp4::swizzle::bytes_128>;
using codes = fp4::tcgen05_codes<fp4::swizzle::bytes_128, side, depth>;
using operand = fp4::packed_view<fp4::nvfp4, codes, fp4::tiled_128x4_scales, std::uint8_t const>;
using scale_map = fp4::tensor_memory_scales<fp4::scale_vector::x4>;

/// Tensor memory: D, then the scales of A and of B.
constexpr int columns_d = side, columns_a = scale_map::columns(side, 4 * steps), columns_b = columns_a;
constexpr int columns = 256;
static_assert(columns_d + columns_a + columns_b <= columns, "a power of two that holds all of them");

/// What the tensor core reads from shared memory.
struct stage {
  std::uint8_t a[tile_bytes], b[tile_bytes];  // at multiples of 1024, as the swizzle wants
  std::uint8_t scales_a[steps * scale_tile_bytes], scales_b[steps * scale_tile_bytes];
};
static_assert(tile_bytes % shared_map::alignment == 0, "");

constexpr std::uint32_t instruction = [] {
  fp4::mxf4nvf4_instruction i;
  i.m = side, i.n = side;
  return fp4::instruction_descriptor(i);  // refused here, if the hardware would not take it
}();

struct product {
  operand a, b;
  fp4::gpu::scale_argument scale_a, scale_b;
  fp4::matrix_view<fp4::bfloat16> d;
};

/// `bytes` bytes, of which `there` exist, by all threads; the others become 0.
__device__ void copy(std::uint8_t* to, std::uint8_t const* from, std::int64_t bytes, std::int64_t there) {
  for (int i = 16 * static_cast<int>(threadIdx.x); i < bytes; i += 16 * static_cast<int>(blockDim.x)) {
    *reinterpret_cast<uint4*>(to + i) = i < there ? *reinterpret_cast<uint4 const*>(from + i) : uint4{};
  }
}
/// Tile (row, chunk) of an operand, and the scales of its four steps.
__device__ void copy(std::uint8_t* to_codes, std::uint8_t* to_scales, operand const& x, std::int64_t row,
                     std::int64_t chunk) {
  copy(to_codes, x.codes + codes::tile_offset(row, chunk, x.cols), tile_bytes, tile_bytes);
  std::int64_t const blocks = x.blocks_per_row(), left = (blocks + 3) / 4 - steps * chunk;
  copy(to_scales, x.scales + fp4::tiled_128x4_scales::offset(side * row, 4 * steps * chunk, blocks),
       steps * scale_tile_bytes, left * scale_tile_bytes);
}

__global__ void __launch_bounds__(128) multiply(product const p) {
  extern __shared__ __align__(1024) std::uint8_t memory[];
  stage& shared = *reinterpret_cast<stage*>(memory);
  __shared__ std::uint64_t done;
  __shared__ std::uint32_t allocated;
  int const thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  if (warp == 0) { tcgen05::allocate(&allocated, columns); }
  if (thread == 0) { tcgen05::make_barrier(&done); }
  tcgen05::fence_before_sync();
  __syncthreads();
  tcgen05::fence_after_sync();
  std::uint32_t const d = allocated, scales_a = d + columns_d, scales_b = scales_a + columns_a;

  std::int64_t const chunks = (p.a.cols + depth - 1) / depth;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    copy(shared.a, shared.scales_a, p.a, blockIdx.y, chunk);
    copy(shared.b, shared.scales_b, p.b, blockIdx.x, chunk);
    tcgen05::show_shared_to_tensor_core();
    __syncthreads();
    if (thread == 0) {
      tcgen05::fence_after_sync();
      auto const address = [](void const* x) { return tcgen05::shared_address(x); };
      for (int step = 0; step < steps; ++step) {
        using fp4::shared_matrix, fp4::tcgen05_scale_copy;
        std::uint32_t const of_a = scales_a + scale_map::first_column(step, side);
        std::uint32_t const of_b = scales_b + scale_map::first_column(step, side);
        int const tile = step * scale_tile_bytes;
        tcgen05::copy_scales(of_a, shared_matrix::of(tcgen05_scale_copy{}, address(shared.scales_a + tile)).bits());
        tcgen05::copy_scales(of_b, shared_matrix::of(tcgen05_scale_copy{}, address(shared.scales_b + tile)).bits());
        tcgen05::multiply(d, shared_matrix::of(shared_map{}, address(shared.a), side, step).bits(),
                          shared_matrix::of(shared_map{}, address(shared.b), side, step).bits(), instruction, of_a,
                          of_b, chunk > 0 || step > 0);
      }
      tcgen05::arrive_when_done(&done);
    }
    tcgen05::wait(&done, static_cast<std::uint32_t>(chunk % 2));  // then shared memory may be written again
  }
  tcgen05::fence_after_sync();

  // Lane l of tensor memory is row l of D. A warp reads the 32 lanes of its quarter.
  float const alpha = p.scale_a.read().decode() * p.scale_b.read().decode();
  std::int64_t const row = std::int64_t{blockIdx.y} * side + thread;
  for (int first = 0; first < side; first += 8) {
    float v[8] = {};
    if (chunks > 0) {
      tcgen05::load(d + (static_cast<std::uint32_t>(warp) << 21) + static_cast<std::uint32_t>(first), v);
    }
    for (int i = 0; i < 8; ++i) {
      std::int64_t const column = std::int64_t{blockIdx.x} * side + first + i;
      if (row < p.d.rows && column < p.d.cols) { p.d.row(row)[column] = fp4::bfloat16::from_float(v[i] * alpha); }
    }
  }
  tcgen05::fence_before_sync();
  __syncthreads();
  if (warp == 0) { tcgen05::release(d, columns); }
}

/// A quantized matrix on the device, and its tiles for tcgen05. Scales are quantized straight into 128x4 tiles.
class packed_operand {
 public:
  explicit packed_operand(fp4::quantized<fp4::nvfp4, fp4::tiled_128x4_scales> const& q)
      : rows_(q.rows()),
        cols_(q.cols()),
        codes_(static_cast<std::size_t>(codes::bytes(rows_, cols_))),
        scales_(q.scales().size()) {
    device_array<std::uint8_t> in_rows(q.codes()), row_scales(q.scales());
    fp4::gpu::pack_async(fp4::quantized_view<fp4::nvfp4, fp4::tiled_128x4_scales>(in_rows.data(), row_scales.data(),
                                                                                  row_scales.size(), rows_, cols_),
                         fp4::packed_view<fp4::nvfp4, codes, fp4::tiled_128x4_scales>(
                             codes_.data(), codes_.size(), scales_.data(), scales_.size(), rows_, cols_));
    check(cudaDeviceSynchronize(), "pack_async");
  }
  [[nodiscard]] operand view() { return {codes_.data(), codes_.size(), scales_.data(), scales_.size(), rows_, cols_}; }

 private:
  std::int64_t rows_, cols_;
  device_array<std::uint8_t> codes_, scales_;
};

int run() {
  if (!has_device(100, 109, "sm_100 or sm_103")) { return skipped; }
  constexpr std::int64_t m = 200, n = 300, k = 1040;
  auto const a = gemm::random_operand<fp4::tiled_128x4_scales>(m, k, 1);
  auto const b = gemm::random_operand<fp4::tiled_128x4_scales>(n, k, 2);
  packed_operand of_a(a), of_b(b);
  device_array<fp4::bfloat16> d(static_cast<std::size_t>(m * n));
  product const p{of_a.view(), of_b.view(), a.tensor_scale(), b.tensor_scale(), {d.data(), m, n}};
  check(cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(stage)), "multiply");
  multiply<<<dim3((n + side - 1) / side, (m + side - 1) / side), 128, sizeof(stage)>>>(p);
  check(cudaGetLastError(), "multiply");
  check(cudaDeviceSynchronize(), "multiply");
  return gemm::report("tcgen05", a, b, d.read()) ? 0 : 1;
}

}  // namespace

int main() { return exit_status(run); }
