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
  float factor[16];   ///< of the first sixteen elements, sign included: from the constant bank where there are no more
  uint32_t flips[8];  ///< their signs: of element 2i in bit 15 of word i, of element 2i + 1 in bit 31
  bool rounds_to_bfloat16;

  explicit transform_task(hadamard<N> const& how) noexcept : rounds_to_bfloat16(how.rounds_to_bfloat16) {
    for (int i = 0; i < (N + 31) / 32; ++i) { signs[i] = how.signs[i]; }
    for (int i = 0; i < 16; ++i) {
      float const scale = fp4::detail::hadamard_scale(N);
      factor[i] = how.negates(i) ? -scale : scale;
    }
    for (int i = 0; i < 8; ++i) {
      flips[i] = (how.negates(2 * i) ? 0x8000u : 0u) | (how.negates(2 * i + 1) ? 0x80000000u : 0u);
    }
  }
};

/// The way back.
template <class Transform>
struct inverse_task {
  transform_task<Transform> forward;
  explicit inverse_task(Transform const& how) noexcept : forward(how) {}
};

/// The signs of what a thread holds, the first in the lowest bit.
template <int N, int E>
__device__ __forceinline__ uint32_t signs_of_lane(transform_task<hadamard<N>> const& how) {
  constexpr int lanes = N > E ? N / E : 1;
  int const first = static_cast<int>(threadIdx.x) % lanes * E;
  uint32_t const signs = how.signs[first / 32] >> first % 32;
  return N == 16 && E > 16 ? signs * 0x10001u : signs;  // two groups
}
__device__ __forceinline__ float flipped(float x, uint32_t signs, int i) {
  return __uint_as_float(__float_as_uint(x) ^ (signs << (31 - i) & 0x80000000u));
}

template <int E>
__device__ __forceinline__ void run_first_stage(float (&x)[E]) {
#pragma unroll
  for (int i = 0; i < E; i += 2) {
    float const sum = ptx::add(x[i], x[i + 1]);
    x[i + 1] = ptx::sub(x[i], x[i + 1]);
    x[i] = sum;
  }
}
/// The other stages of groups of N elements, E of which a thread holds. Where N > E all lanes of a group call it
/// together.
template <int N, int E>
__device__ __forceinline__ void run_later_stages(float (&x)[E]) {
  constexpr int lanes = N > E ? N / E : 1;
#pragma unroll
  for (int h = 2; h < N && h < E; h *= 2) {
#pragma unroll
    for (int i = 0; i < E; i += 2) {
      if ((i & h) == 0) { ptx::butterfly_pair(x[i], x[i + 1], x[i + h], x[i + h + 1]); }
    }
  }
  if constexpr (lanes > 1) {
    int const lane = static_cast<int>(threadIdx.x) % 32;
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
}

/// Values 2i and 2i + 1 of sixteen, scaled, with their signs, and after the first stage.
template <class In, int E>
__device__ __forceinline__ void first_stage_of_16(transform_task<hadamard<16>> const& how,
                                                  block_values<In, E> const& in, int i, float& sum, float& difference) {
  if constexpr (sizeof(In) == 4) {  // a product may be rounded: on its own
    float const a = ptx::mul(in.at(2 * i), how.factor[2 * i % 16]),
                b = ptx::mul(in.at(2 * i + 1), how.factor[2 * i % 16 + 1]);
    sum = ptx::add(a, b), difference = ptx::sub(a, b);
  } else {
#if FP4_DEVICE_F32X2
    constexpr uint32_t quarters = std_types::is_same<In, bfloat16>::value ? 0xBE803E80u : 0xB4003400u;  // {1/4, -1/4}
    ptx::butterfly_of_halves(In{}, in.word[i] ^ how.flips[i % 8], quarters, sum, difference);
#else
    float const a = ptx::mul(in.at(2 * i), how.factor[2 * i % 16]), f = how.factor[2 * i % 16 + 1];
    sum = ptx::fma(in.at(2 * i + 1), f, a), difference = ptx::fma(in.at(2 * i + 1), -f, a);
#endif
  }
}

template <int N, class In, int E>
__device__ __forceinline__ void transform_to(float (&x)[E], transform_task<hadamard<N>> const& how,
                                             block_values<In, E> const& in) {
  if constexpr (N == 16) {
#pragma unroll
    for (int i = 0; i < E / 2; ++i) { first_stage_of_16(how, in, i, x[2 * i], x[2 * i + 1]); }
  } else {
    uint32_t const signs = signs_of_lane<N, E>(how);
#pragma unroll
    for (int i = 0; i < E; ++i) { x[i] = flipped(ptx::mul(in.at(i), fp4::detail::hadamard_scale(N)), signs, i); }
    run_first_stage(x);
  }
  run_later_stages<N>(x);
}

/// Transforms what a thread holds of a row, E elements from a multiple of E on. Where N > E all lanes of a group of N
/// elements call it together. Out is bfloat16 where the transform rounds to it, else float.
template <class Out, int N, class In, int E>
__device__ __forceinline__ block_values<Out, E> transformed_as(transform_task<hadamard<N>> const& how,
                                                               block_values<In, E> const& in) {
  float x[E];
  transform_to(x, how, in);
  return block_values<Out, E>::from(x);
}
/// Likewise, whether the transform rounds or not.
template <int N, class In, int E>
__device__ __forceinline__ block_values<float, E> transformed(transform_task<hadamard<N>> const& how,
                                                              block_values<In, E> const& in) {
  float x[E];
  transform_to(x, how, in);
  if (how.rounds_to_bfloat16) {
    auto const rounded = block_values<bfloat16, E>::from(x);
#pragma unroll
    for (int i = 0; i < E; ++i) { x[i] = rounded.at(i); }
  }
  return block_values<float, E>::from(x);
}

/// The way back: unsigned constant, the same stages, signs last.
template <int N, class In, int E>
__device__ __forceinline__ block_values<float, E> transformed(inverse_task<hadamard<N>> const& how,
                                                              block_values<In, E> const& in) {
  float x[E];
#pragma unroll
  for (int i = 0; i < E; ++i) { x[i] = ptx::mul(in.at(i), fp4::detail::hadamard_scale(N)); }
  run_first_stage(x);
  run_later_stages<N>(x);
  uint32_t const signs = signs_of_lane<N, E>(how.forward);
#pragma unroll
  for (int i = 0; i < E; ++i) { x[i] = flipped(x[i], signs, i); }
  return block_values<float, E>::from(x);
}

/// Without a transform: the values as they are.
template <class, class In, int E>
__device__ __forceinline__ block_values<In, E> const& transformed_as(transform_task<no_transform> const&,
                                                                     block_values<In, E> const& in) {
  return in;
}
template <class In, int E>
__device__ __forceinline__ block_values<In, E> const& transformed(transform_task<no_transform> const&,
                                                                  block_values<In, E> const& in) {
  return in;
}

}  // namespace fp4::gpu::detail
