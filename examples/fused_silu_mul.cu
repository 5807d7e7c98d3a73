// SPDX-License-Identifier: Apache-2.0
// One kernel computes silu(gate) * up, what a gated MLP does between its two products, rounds it to bfloat16 and
// quantizes it: the activation is never written. Twice, with nearest and with stochastic rounding. The program checks the
// bytes against the reference on what the same formula gives, and the way back by blocks as well.
//   nvcc -std=c++17 -Iinclude -arch=native examples/fused_silu_mul.cu -o fused_silu_mul && ./fused_silu_mul
#include <cmath>
#include <cstdint>
#include <fp4/fp4.cuh>
#include <fp4/reference/reference.hpp>

#include "device.cuh"

namespace {

using namespace fp4;
using layout = tiled_128x4_scales;
using view = quantized_view<nvfp4, layout>;
using formulas = decltype(transformer_engine{}.for_tensor<nvfp4>(tensor_scale::from_amax(1.0f)));

/// A thread takes a block of 16. `activation` is for the check only.
template <class Rounding>
__global__ void silu_mul_quantize(bfloat16 const* gate, bfloat16 const* up, formulas tensor, Rounding rounding,
                                  view out, bfloat16* activation) {
  std::int64_t const blocks = out.blocks_per_row(), i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::int64_t const row = i / blocks, block = i % blocks;
  if (row >= out.rows) { return; }
  auto const g = gpu::block_values<bfloat16>::load_aligned(gate + i * 16);
  auto const u = gpu::block_values<bfloat16>::load_aligned(up + i * 16);
  float y[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) { y[k] = g.at(k) / (1.0f + __expf(-g.at(k))) * u.at(k); }
  auto const x = gpu::block_values<bfloat16>::from(y);
  x.store_aligned(activation + i * 16);
  if constexpr (is_stochastic_v<Rounding>) {
    gpu::store_block(out, row, block, gpu::quantize_block<nvfp4>(tensor, rounding, static_cast<std::uint64_t>(i), x));
  } else {
    gpu::store_block(out, row, block, gpu::quantize_block<nvfp4>(tensor, rounding, x));
  }
}

/// What the next kernel would do with it: blocks back to values.
__global__ void read_back(view in, block_decoder decoder, bfloat16* values) {
  std::int64_t const blocks = in.blocks_per_row(), i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= in.rows * blocks) { return; }
  gpu::dequantize_block<bfloat16>(decoder, gpu::load_block(in, i / blocks, i % blocks)).store_aligned(values + i * 16);
}

template <class Rounding>
bool run(char const* name, Rounding rounding) {
  constexpr std::int64_t rows = 128, cols = 1024, size = rows * cols, scale_bytes = layout::bytes(rows, cols / 16);
  std::vector<bfloat16> gate(size), up(size);
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < 2 * size; ++i) {
    state = state * 1664525u + 1013904223u;
    auto& to = i < size ? gate[static_cast<std::size_t>(i)] : up[static_cast<std::size_t>(i - size)];
    to = bfloat16::from_float(static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-29f);
  }
  device_array<bfloat16> gates(gate), ups(up), activation(size), values(size);
  device_array<std::uint8_t> codes(size / 2), scales(scale_bytes);
  view const out(codes.data(), scales.data(), scale_bytes, rows, cols);
  tensor_scale const scale = tensor_scale::from_amax(12.0f);  // calibrated; what exceeds it saturates
  constexpr int threads = 128, blocks = size / 16 / threads;
  silu_mul_quantize<<<blocks, threads>>>(gates.data(), ups.data(), transformer_engine{}.for_tensor<nvfp4>(scale),
                                         rounding, out, activation.data());
  read_back<<<blocks, threads>>>(out, block_decoder(transformer_engine::decoding, scale), values.data());
  check(cudaDeviceSynchronize(), "fused_silu_mul");

  std::vector<bfloat16> const x = activation.read();
  std::vector<std::uint8_t> wanted_codes(size / 2), wanted_scales(scale_bytes);
  view const wanted(wanted_codes.data(), wanted_scales.data(), scale_bytes, rows, cols);
  reference::quantize(matrix_view<bfloat16 const>(x.data(), rows, cols), wanted, {&scale, 1},
                      choices<transformer_engine, Rounding>{{}, rounding});
  std::vector<bfloat16> wanted_values(size);
  quantized_view<nvfp4, layout, std::uint8_t const> const decoded = wanted;
  reference::dequantize(decoded, {&scale, 1}, transformer_engine::decoding,
                        matrix_view<bfloat16>(wanted_values.data(), rows, cols));
  std::vector<bfloat16> const back = values.read();
  bool same = codes.read() == wanted_codes && scales.read() == wanted_scales;
  double off = 0, norm = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    same = same && back[i].bits == wanted_values[i].bits;
    double const exact = x[i].to_float(), error = back[i].to_float() - exact;
    off += error * error, norm += exact * exact;
  }
  std::printf("silu(gate) * up, %lld x %lld, %s: relative error %.3f, the bytes %s\n", static_cast<long long>(rows),
              static_cast<long long>(cols), name, std::sqrt(off / norm),
              same ? "are the reference's" : "DIFFER from the reference's");
  return same;
}

}  // namespace

int main() {
  return exit_status([&] {
    bool const good = run("nearest", nearest_even{});
    return run("stochastic", stochastic(1, 2)) && good ? 0 : 1;
  });
}
