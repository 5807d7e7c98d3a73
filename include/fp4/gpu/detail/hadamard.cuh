// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// transform/hadamard.hpp on blocks in registers: stages inside a thread, then between neighbouring lanes.

#include "../../transform/hadamard.hpp"
#include "../block_values.cuh"

namespace fp4::gpu::detail {

/// What a kernel is told of a transform.
template <class Transform>
struct transform_task {
  explicit transform_task(Transform const&) noexcept {}
};
template <int N>
struct transform_task<hadamard<N>> {
  uint32_t signs[(N + 31) / 32];
  float factor[16];  ///< of the first sixteen elements, sign included: from the constant bank where there are no more
  bool rounds_to_bfloat16;

  explicit transform_task(hadamard<N> const& how) noexcept : rounds_to_bfloat16(how.rounds_to_bfloat16) {
    for (int i = 0; i < (N + 31) / 32; ++i) { signs[i] = how.signs[i]; }
    for (int i = 0; i < 16; ++i) {
      float const scale = fp4::detail::hadamard_scale(N);
      factor[i] = how.negates(i) ? -scale : scale;
    }
  }
};

/// Transforms what a thread holds of a row, E elements from a multiple of E on. Where N > E all lanes of a group of N
/// elements call it together.
template <int N, class In, int E>
__device__ __forceinline__ block_values<float, E> transformed(transform_task<hadamard<N>> const& how,
                                                              block_values<In, E> const& in) {
  constexpr int lanes = N > E ? N / E : 1;
  int const lane = static_cast<int>(threadIdx.x) % 32;
  float x[E];
  if constexpr (N == 16) {
#pragma unroll
    for (int i = 0; i < E; ++i) { x[i] = ptx::mul(in.at(i), how.factor[i % 16]); }
  } else {
    int const first = lane % lanes * E;
    uint32_t const signs = how.signs[first / 32] >> first % 32;
#pragma unroll
    for (int i = 0; i < E; ++i) {
      float const scaled = ptx::mul(in.at(i), fp4::detail::hadamard_scale(N));
      x[i] = __uint_as_float(__float_as_uint(scaled) ^ (signs << (31 - i) & 0x80000000u));
    }
  }
#pragma unroll
  for (int i = 0; i < E; i += 2) {
    float const sum = ptx::add(x[i], x[i + 1]);
    x[i + 1] = ptx::sub(x[i], x[i + 1]);
    x[i] = sum;
  }
#pragma unroll
  for (int h = 2; h < N && h < E; h *= 2) {
#pragma unroll
    for (int i = 0; i < E; i += 2) {
      if ((i & h) == 0) { ptx::butterfly_pair(x[i], x[i + 1], x[i + h], x[i + h + 1]); }
    }
  }
  if constexpr (lanes > 1) {
    unsigned const group = (lanes == 32 ? ~0u : (1u << lanes % 32) - 1) << (lane - lane % lanes);
#pragma unroll
    for (int h = 1; h < lanes; h *= 2) {
      bool const upper = (lane & h) != 0;
#pragma unroll
      for (int i = 0; i < E; ++i) {
        float const other = __shfl_xor_sync(group, x[i], h);
        // The lower lane has a + b, the upper a - b, where x is its own b.
        x[i] = ptx::add(other, __uint_as_float(__float_as_uint(x[i]) ^ (upper ? 0x80000000u : 0u)));
      }
    }
  }
  if (how.rounds_to_bfloat16) {
#pragma unroll
    for (int i = 0; i < E; i += 2) {
      uint32_t const pair = ptx::pack(bfloat16{}, x[i], x[i + 1]);
      x[i] = ptx::half_of<false>(bfloat16{}, pair), x[i + 1] = ptx::half_of<true>(bfloat16{}, pair);
    }
  }
  return block_values<float, E>::from(x);
}

/// Without a transform: the values as they are.
template <class In, int E>
__device__ __forceinline__ block_values<In, E> const& transformed(transform_task<no_transform> const&,
                                                                  block_values<In, E> const& in) {
  return in;
}

}  // namespace fp4::gpu::detail
