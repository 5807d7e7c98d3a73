// SPDX-License-Identifier: Apache-2.0
// The index functions and descriptors of layout/ under nvcc: the same numbers on the host, on the device, and in
// constant expressions of either.
#include <fp4/layout/descriptor_checks.hpp>
#include <fp4/layout/gguf.hpp>
#include <fp4/layout/packed_view.hpp>

#include "ptx/programs/check.hpp"

namespace {

using namespace fp4;

/// Numbers, each of which changes the sum.
struct digest {
  std::uint64_t sum = 0;
  __host__ __device__ constexpr void add(std::int64_t x) {
    sum = sum * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(x) + 1;
  }
  __host__ __device__ constexpr void add(fragment_place p) { add(p.lane), add(p.reg), add(p.slot); }
  __host__ __device__ constexpr void add(tile_position p) { add(p.row), add(p.column); }
  __host__ __device__ constexpr void add(code_position p) { add(p.row), add(p.column); }
  __host__ __device__ constexpr void add(scale_position p) { add(p.row), add(p.block); }
  __host__ __device__ constexpr void add(tensor_memory_place p) {
    add(p.lane), add(p.column), add(p.byte), add(p.address());
  }
};

/// Places and positions of the i-th element; d tells them apart.
template <class Fragment>
__host__ __device__ constexpr void fragment(digest& d, int i) {
  int const row = i % Fragment::rows, column = i / 16 % Fragment::columns;
  d.add(Fragment::place(row, column)),
      d.add(Fragment::position({i % 32, i % Fragment::registers, i % Fragment::slots}));
}
template <class Map>
__host__ __device__ constexpr void scales_of_fragment(digest& d, int i) {
  scale_selector const s{i % Map::thread_ids, i % Map::byte_ids * Map::blocks};
  d.add(Map::valid(s)), d.add(Map::reads(i % 32, s)), d.add(Map::place(i % Map::rows, i % Map::blocks, s));
  d.add(Map::position({i % 32, 0, s.byte_id}, s));
}
template <class Layout>
__host__ __device__ constexpr void scales(digest& d, int i) {
  d.add(Layout::bytes(i, 13)), d.add(Layout::offset(i, i % 13, 13)), d.add(Layout::position(i, 13));
}
template <class Codes>
__host__ __device__ constexpr void codes(digest& d, int i) {
  d.add(Codes::bytes(i, 200)), d.add(Codes::offset(i, i % 200, 200)), d.add(Codes::position(i, 200));
}
template <swizzle Mode>
__host__ __device__ constexpr void shared(digest& d, int i) {
  using map = k_major_shared<Mode>;
  codes<tcgen05_codes<Mode>>(d, i);
  d.add(map::bytes(i, 512)), d.add(map::offset(i % 24, i % 512, 24)), d.add(map::position(i, 24));
  d.add(static_cast<std::int64_t>(shared_matrix::of(map{}, 0x4000, 128, i % 4).bits()));
}
template <scale_vector Vector>
__host__ __device__ constexpr void tensor_memory(digest& d, int i) {
  using map = tensor_memory_scales<Vector>;
  d.add(map::place(i % 256, i % 12, i % 4, 256)), d.add(map::position({i % 128, i % 16, i % 4}, 256));
  d.add(map::columns(256, i % 64)), d.add(map::first_column(i % 8, 192)), d.add(map::scale_id(i % 8));
}

__host__ __device__ constexpr std::uint64_t everything(int i) {
  digest d;
  fragment<mma_m16n8k64::a>(d, i), fragment<mma_m16n8k64::b>(d, i), fragment<mma_m16n8k64::c>(d, i);
  fragment<mma_m16n8k32::a>(d, i), fragment<mma_m16n8k32::b>(d, i);
  d.add(mma_m16n8k32::container(static_cast<std::uint8_t>(i % 16)));
  d.add(mma_m16n8k32::code(static_cast<std::uint8_t>(i % 64)));
  scales_of_fragment<mma_m16n8k64::scales_a<>>(d, i), scales_of_fragment<mma_m16n8k64::scales_b<>>(d, i);
  scales_of_fragment<mma_m16n8k64::scales_a<scale_vector::x2>>(d, i), scales_of_fragment<mma_m16n8k32::scales_b>(d, i);
  scales<linear_scales>(d, i), scales<tiled_128x4_scales>(d, i), scales<tiled_8x4_scales>(d, i);
  scales<tiled_32x4_scales>(d, i);
  codes<fragment_codes_a>(d, i), codes<fragment_codes_b>(d, i);
  shared<swizzle::none>(d, i), shared<swizzle::bytes_32>(d, i), shared<swizzle::bytes_64>(d, i);
  shared<swizzle::bytes_128>(d, i);
  tensor_memory<scale_vector::x4>(d, i), tensor_memory<scale_vector::x2>(d, i);
  d.add(tcgen05_scale_copy::place(i % 512, i % 4)), d.add(tcgen05_scale_copy::offset({i % 128, i % 4, i % 4}));
  d.add(static_cast<std::int64_t>(shared_matrix::of(tcgen05_scale_copy{}, 512).bits()));
  mxf4nvf4_instruction instruction;
  instruction.n = i % 32 * 8 + 8;
  d.add(instruction.bits());
  d.add(gguf_nvfp4_block::code_offset(i % 64)), d.add(gguf_nvfp4_block::is_high(i % 64));
  d.add(gguf_nvfp4_block::scale_offset(i % 4));
  return d.sum;
}

constexpr int count = 4096, chosen = 1234;
constexpr std::uint64_t on_compiler = everything(chosen);

__global__ void evaluate(std::uint64_t* results) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  constexpr std::uint64_t constant = everything(chosen);
  results[i] = i == chosen ? constant : everything(i);
}

}  // namespace

CASE(the_host_the_device_and_the_compiler_count_alike) {
  program::on_device<std::uint64_t> results(count);
  evaluate<<<count / 128, 128>>>(results.data());
  CUDA(cudaDeviceSynchronize());
  auto const found = results.back();
  int wrong = 0;
  for (int i = 0; i < count; ++i) { wrong += found[static_cast<std::size_t>(i)] != everything(i); }
  CHECK_EQUAL(wrong, 0);
  CHECK_EQUAL(everything(chosen), on_compiler);
}

int main(int argc, char** argv) { return program::run(argc, argv); }
