// SPDX-License-Identifier: Apache-2.0
// An NVFP4 GEMM of one's own, for GPUs with block-scaled mma.sync (RTX 50, RTX PRO Blackwell, DGX Spark): D = A B^T.
//   nvcc -std=c++17 -Iinclude -gencode arch=compute_120a,code=sm_120a examples/gemm_mma_sync.cu -o gemm_mma_sync
// (-arch=sm_120a makes code for plain sm_120 as well, which lacks the instruction.)
// gemm/readable.cuh shows what is computed, gemm/tiled.cuh how it is made fast; both give the same bits.
#include <fp4/cpu/pack.hpp>

#include "device.cuh"
#include "gemm/operands.hpp"
#include "gemm/readable.cuh"
#include "gemm/tiled.cuh"

namespace {

using quantized = fp4::quantized<fp4::nvfp4>;

/// A quantized matrix on the device, in the order of a fragment. Weights are packed once.
template <class Codes>
class packed_operand {
 public:
  explicit packed_operand(quantized const& q)
      : rows_(q.rows()),
        cols_(q.cols()),
        codes_(static_cast<std::size_t>(Codes::bytes(rows_, cols_))),
        scales_(static_cast<std::size_t>(fp4::tiled_32x4_scales::bytes(rows_, fp4::nvfp4::blocks(cols_)))) {
    std::vector<uint4> codes(static_cast<std::size_t>(codes_.size()) / 16);  // begins at a multiple of 16 bytes
    std::vector<std::uint8_t> scales(static_cast<std::size_t>(scales_.size()));
    fp4::cpu::pack(q.view(), fp4::packed_view<fp4::nvfp4, Codes, fp4::tiled_32x4_scales>(
                                 reinterpret_cast<std::uint8_t*>(codes.data()), codes_.size(), scales.data(),
                                 scales_.size(), rows_, cols_));
    check(cudaMemcpy(codes_.data(), codes.data(), codes.size() * 16, cudaMemcpyHostToDevice), "packed_operand");
    scales_.write(scales);
  }
  [[nodiscard]] gemm::operand<Codes> view() {
    return {codes_.data(), codes_.size(), scales_.data(), scales_.size(), rows_, cols_};
  }

 private:
  std::int64_t rows_, cols_;
  device_array<std::uint8_t> codes_, scales_;
};

int run() {
  if (!has_device(120, 129, "sm_120 or sm_121")) { return skipped; }
  constexpr std::int64_t m = 200, n = 300, k = 1040;
  quantized const a = gemm::random_operand(m, k, 1), b = gemm::random_operand(n, k, 2);
  packed_operand<fp4::fragment_codes_a> of_a(a);
  packed_operand<fp4::fragment_codes_b> of_b(b);
  device_array<fp4::bfloat16> d(static_cast<std::size_t>(m * n));
  gemm::product const product{of_a.view(), of_b.view(), a.tensor_scale(), b.tensor_scale(), {d.data(), m, n}};

  gemm::multiply_readable_async(product);
  check(cudaDeviceSynchronize(), "readable");
  auto const readable = d.read();
  gemm::multiply_tiled_async(product);
  check(cudaDeviceSynchronize(), "tiled");
  auto const tiled = d.read();

  std::size_t different = 0;
  for (std::size_t i = 0; i < tiled.size(); ++i) { different += readable[i].bits != tiled[i].bits; }
  std::printf("readable and tiled differ in %zu of %zu results\n", different, tiled.size());
  return gemm::report("tiled", a, b, tiled) && different == 0 ? 0 : 1;
}

}  // namespace

int main() { return exit_status(run); }
