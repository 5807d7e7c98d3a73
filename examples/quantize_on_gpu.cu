// SPDX-License-Identifier: Apache-2.0
// Quantizes a matrix on the GPU, in the layout that Blackwell's tensor cores read, and checks the bytes against the
// CPU's.
//   nvcc -std=c++17 -Iinclude -arch=native examples/quantize_on_gpu.cu -o quantize_on_gpu && ./quantize_on_gpu
// (-arch=native takes sm_100 for a B200; sm_100a, sm_103a and sm_120a have the instructions for e2m1.)
#include <cstdint>
#include <cstdio>
#include <fp4/fp4.cuh>
#include <vector>

#include "device.cuh"

namespace {

int run() {
  constexpr std::int64_t rows = 100, cols = 1040;
  std::vector<fp4::bfloat16> x(rows * cols);
  std::uint32_t state = 1;
  for (auto& value : x) {
    state = state * 1664525u + 1013904223u;
    value = fp4::bfloat16::from_float(static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-30f);
  }

  // On the CPU: the amax is found on the way.
  auto const wanted =
      fp4::quantize<fp4::nvfp4>(fp4::matrix_view<fp4::bfloat16 const>(x.data(), rows, cols), fp4::tiled_128x4_scales{});

  // On the GPU: amax and quantization follow one another on the stream, and the amax never leaves the device.
  device_array<fp4::bfloat16> values(x.size());
  device_array<std::uint8_t> codes(wanted.codes().size()), scales(wanted.scales().size());
  device_array<float> amax(1);
  values.write(x);
  fp4::matrix_view<fp4::bfloat16 const> const in(values.data(), rows, cols);
  fp4::quantized_view<fp4::nvfp4, fp4::tiled_128x4_scales> const out(
      codes.data(), scales.data(), static_cast<std::int64_t>(wanted.scales().size()), rows, cols);
  fp4::gpu::amax_async(in, amax.data());
  fp4::gpu::quantize_async(in, out, fp4::gpu::scale_argument::from_amax(amax.data()),
                           fp4::choices<fp4::transformer_engine>{});
  check(cudaDeviceSynchronize(), "quantize_on_gpu");

  bool const same = codes.read() == wanted.codes() && scales.read() == wanted.scales();
  std::printf("%lld x %lld bfloat16 -> %zu bytes of codes, %zu of scales: %s\n", static_cast<long long>(rows),
              static_cast<long long>(cols), wanted.codes().size(), wanted.scales().size(),
              same ? "the GPU's bytes are the CPU's" : "the GPU's bytes differ from the CPU's");
  return same ? 0 : 1;
}

}  // namespace

int main() { return exit_status(run); }
