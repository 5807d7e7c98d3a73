// SPDX-License-Identifier: Apache-2.0
// What a C++ user without fp4 would write: the host conversions of CUDA's own headers, where they are found.
#include "operation.hpp"

#if defined(FP4_BENCH_CUDA_HEADERS)

#include <algorithm>
#include <cmath>
#include <limits>

#include <cuda_fp4.h>
#include <cuda_fp8.h>

namespace bench {
namespace {

constexpr int block_size = fp4::nvfp4::block_size;

__nv_fp8_storage_t to_e4m3(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); }

float from_e4m3(__nv_fp8_storage_t x) {
  __nv_fp8_e4m3 value;
  value.__x = x;
  return static_cast<float>(value);
}

/// The arithmetic of fp4::transformer_engine: the same bytes.
void quantize(problem const& p, int /*threads*/) {
  constexpr float largest = std::numeric_limits<float>::max();
  float const encode = std::min(2688.0f / p.amax, largest);
  float const inverse_encode = 1.0f / encode;
  for (std::int64_t block = 0; block < p.values() / block_size; ++block) {
    float const* const x = p.fp32 + block * block_size;
    float amax = 0.0f;
    for (int i = 0; i < block_size; ++i) { amax = std::max(amax, std::fabs(x[i])); }
    auto const scale = to_e4m3(std::min(amax * (encode * (1.0f / 6.0f)), largest));
    float const multiplier = std::min(1.0f / (from_e4m3(scale) * inverse_encode), largest);
    p.new_scales[block] = scale;
    for (int i = 0; i < block_size; i += 2) {
      p.new_codes[(block * block_size + i) / 2] =
          __nv_cvt_float2_to_fp4x2({x[i] * multiplier, x[i + 1] * multiplier}, __NV_E2M1, cudaRoundNearest);
    }
  }
}

void dequantize(problem const& p, int /*threads*/) {
  for (std::int64_t block = 0; block < p.values() / block_size; ++block) {
    float const factor = from_e4m3(p.scales[block]) * p.amax * (1.0f / 2688.0f);
    for (int i = 0; i < block_size; i += 2) {
      __nv_fp4x2_e2m1 pair;
      pair.__x = p.codes[(block * block_size + i) / 2];
      float2 const values = static_cast<float2>(pair);
      p.out[block * block_size + i] = values.x * factor;
      p.out[block * block_size + i + 1] = values.y * factor;
    }
  }
}

}  // namespace

std::vector<operation> peer_operations() {
  return {{"peer/cuda_headers_quantize", "fp32", 4, 0.5625, limit::read, true, quantize},
          {"peer/cuda_headers_dequantize", "fp32", 0.5625, 4, limit::write, true, dequantize}};
}

}  // namespace bench

#else

namespace bench {

std::vector<operation> peer_operations() { return {}; }

}  // namespace bench

#endif
