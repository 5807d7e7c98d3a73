// SPDX-License-Identifier: Apache-2.0
// One kernel normalizes rows, x / rms(x) * weight, turns them by a Hadamard transform and quantizes them. Once with one
// tensor scale for all, and once with a scale of its own for each row (token), which the kernel finds on the way: the
// normalized values stay in registers meanwhile. The program checks the bytes against the reference.
//   nvcc -std=c++17 -Iinclude -arch=native examples/fused_rmsnorm.cu -o fused_rmsnorm && ./fused_rmsnorm
#include <cstdint>
#include <cub/block/block_reduce.cuh>
#include <fp4/fp4.cuh>
#include <fp4/reference/reference.hpp>

#include "device.cuh"

namespace {

using namespace fp4;
using view = quantized_view<nvfp4, linear_scales>;
using formulas = decltype(transformer_engine{}.for_tensor<nvfp4>(tensor_scale::from_amax(1.0f)));
constexpr int threads = 128;  // each takes one block of 16 of a row
constexpr std::int64_t rows = 64, cols = 16 * threads;

struct larger {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

/// A thread block takes a row. `normalized` is for the check only; `row_amax` is written where the scale is per token.
template <bool PerToken>
__global__ void rmsnorm_quantize(bfloat16 const* in, bfloat16 const* weight, formulas given,
                                 gpu::kernel_transform<hadamard<16>> const __grid_constant__ turn, view out,
                                 float* row_amax, bfloat16* normalized) {
  using reduce = cub::BlockReduce<float, threads>;
  __shared__ typename reduce::TempStorage storage;
  __shared__ float of_row, largest;
  std::int64_t const row = blockIdx.x, block = threadIdx.x, at = row * cols + block * 16;

  auto const x = gpu::block_values<bfloat16>::load_aligned(in + at);
  auto const w = gpu::block_values<bfloat16>::load_aligned(weight + block * 16);
  float squares = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) { squares += x.at(i) * x.at(i); }
  float const sum = reduce(storage).Sum(squares);
  if (threadIdx.x == 0) { of_row = rsqrtf(sum / cols + 1e-6f); }
  __syncthreads();
  float y[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) { y[i] = x.at(i) * of_row * w.at(i); }
  auto const rounded = gpu::block_values<bfloat16>::from(y);
  rounded.store_aligned(normalized + at);

  auto const turned = gpu::transform_block(turn, rounded);
  formulas tensor = given;
  if constexpr (PerToken) {
    float const amax = reduce(storage).Reduce(turned.amax(), larger{});
    if (threadIdx.x == 0) { row_amax[row] = largest = amax; }
    __syncthreads();
    tensor = transformer_engine{}.for_tensor<nvfp4>(tensor_scale::from_amax(largest));
  }
  gpu::store_block(out, row, block, gpu::quantize_block<nvfp4>(tensor, nearest_even{}, turned));
}

template <bool PerToken>
bool run(char const* name) {
  constexpr std::int64_t size = rows * cols;
  std::vector<bfloat16> x(size), weight(cols);
  std::uint32_t state = 1;
  auto const next = [&state] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = bfloat16::from_float(next() * static_cast<float>(1 + i / static_cast<std::size_t>(cols) % 7));
  }
  for (auto& w : weight) { w = bfloat16::from_float(1.0f + 0.1f * next()); }

  device_array<bfloat16> in(x), weights(weight), normalized(size);
  device_array<std::uint8_t> codes(size / 2), scales(size / 16);
  device_array<float> row_amax(rows);
  view const out(codes.data(), scales.data(), size / 16, rows, cols);
  hadamard<16> const turn;
  tensor_scale const scale = tensor_scale::from_amax(7.0f);
  rmsnorm_quantize<PerToken>
      <<<rows, threads>>>(in.data(), weights.data(), transformer_engine{}.for_tensor<nvfp4>(scale),
                          gpu::kernel_transform<hadamard<16>>(turn), out, row_amax.data(), normalized.data());
  check(cudaDeviceSynchronize(), "fused_rmsnorm");

  std::vector<bfloat16> const y = normalized.read();
  std::vector<tensor_scale> given{scale};
  if (PerToken) {
    given.clear();
    for (std::int64_t r = 0; r < rows; ++r) {
      matrix_view<bfloat16 const> const one(y.data() + r * cols, 1, cols);
      given.push_back(tensor_scale::from_amax(reference::amax(one, turn, rowwise{})));
    }
  }
  std::vector<std::uint8_t> wanted_codes(size / 2), wanted_scales(size / 16);
  reference::quantize(matrix_view<bfloat16 const>(y.data(), rows, cols),
                      view(wanted_codes.data(), wanted_scales.data(), size / 16, rows, cols),
                      {given.data(), static_cast<std::int64_t>(given.size())},
                      choices<transformer_engine, nearest_even, hadamard<16>>{});
  bool same = codes.read() == wanted_codes && scales.read() == wanted_scales;
  if (PerToken) {
    auto const found = row_amax.read();
    for (std::size_t r = 0; r < found.size(); ++r) { same = same && found[r] == given[r].stored(); }
  }
  std::printf("rmsnorm, Hadamard 16, %lld x %lld, %s: the bytes %s\n", static_cast<long long>(rows),
              static_cast<long long>(cols), name, same ? "are the reference's" : "DIFFER from the reference's");
  return same;
}

}  // namespace

int main() {
  return exit_status([&] {
    bool const good = run<false>("one tensor scale");
    return run<true>("a scale for each token") && good ? 0 : 1;
  });
}
