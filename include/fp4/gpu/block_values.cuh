// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "detail/ptx.cuh"

namespace fp4::gpu {

/// N consecutive values of type In in a thread's registers, as they lie in memory. N is a multiple of 8.
template <class In, int N = 16>
struct block_values {
  static_assert(is_value_v<In>, "values are float, fp4::float16 or fp4::bfloat16");
  static constexpr int size = N;
  static constexpr int per_word = 4 / static_cast<int>(sizeof(In));

  uint32_t word[N / per_word];

  /// Value i as fp32, exactly. i is known when compiling.
  [[nodiscard]] __device__ __forceinline__ float at(int i) const {
    if constexpr (per_word == 1) {
      return __uint_as_float(word[i]);
    } else {
      return i % 2 == 0 ? detail::ptx::half_of<false>(In{}, word[i / 2])
                        : detail::ptx::half_of<true>(In{}, word[i / 2]);
    }
  }

  /// The largest magnitude. NaN is ignored; under KeepNan one gives NaN.
  template <bool KeepNan = false>
  [[nodiscard]] __device__ __forceinline__ float amax() const {
    using namespace detail::ptx;
    float a, b;
    if constexpr (per_word == 1) {
      a = __uint_as_float(word[0]), b = __uint_as_float(word[1]);
#pragma unroll
      for (int i = 2; i < N; i += 2) {
        a = max_magnitude<KeepNan>(a, __uint_as_float(word[i]));
        b = max_magnitude<KeepNan>(b, __uint_as_float(word[i + 1]));
      }
    } else {
      uint32_t both = word[0];
#pragma unroll
      for (int i = 1; i < N / 2; ++i) { both = max_magnitude_x2<KeepNan>(In{}, both, word[i]); }
      a = half_of<false>(In{}, both), b = half_of<true>(In{}, both);
    }
    float const largest = max_magnitude<KeepNan>(a, b);
    if constexpr (KeepNan) { return largest; }
    return max(largest, 0.0f);
  }

  /// From 16-byte aligned global memory that nobody writes while the kernel runs.
  [[nodiscard]] __device__ __forceinline__ static block_values load_aligned(In const* from) {
    block_values x;
#pragma unroll
    for (int i = 0; i < N / per_word; i += 4) {
      uint4 const v = detail::ptx::load_16(reinterpret_cast<uint32_t const*>(from) + i);
      x.word[i] = v.x, x.word[i + 1] = v.y, x.word[i + 2] = v.z, x.word[i + 3] = v.w;
    }
    return x;
  }

  /// The first `count` values from anywhere, zeros after them.
  [[nodiscard]] __device__ __forceinline__ static block_values load(In const* from, int count) {
    block_values x;
#pragma unroll
    for (int i = 0; i < N / per_word; ++i) {
      if constexpr (per_word == 1) {
        x.word[i] = i < count ? __float_as_uint(from[i]) : 0u;
      } else {
        uint32_t const low = 2 * i < count ? from[2 * i].bits : 0u;
        uint32_t const high = 2 * i + 1 < count ? from[2 * i + 1].bits : 0u;
        x.word[i] = low | high << 16;
      }
    }
    return x;
  }

  /// From values as they are.
  [[nodiscard]] __device__ __forceinline__ static block_values of(In const (&value)[N]) {
    block_values x;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if constexpr (per_word == 1) {
        x.word[i] = __float_as_uint(value[i]);
      } else {
        x.word[i / 2] = i % 2 == 0 ? value[i].bits : x.word[i / 2] | uint32_t{value[i].bits} << 16;
      }
    }
    return x;
  }
  /// To 16-byte aligned memory.
  __device__ __forceinline__ void store_aligned(In* to) const {
#pragma unroll
    for (int i = 0; i < N / per_word; i += 4) {
      reinterpret_cast<uint4*>(to)[i / 4] = {word[i], word[i + 1], word[i + 2], word[i + 3]};
    }
  }

  /// From numbers that the thread computed.
  [[nodiscard]] __device__ __forceinline__ static block_values from(float const (&value)[N]) {
    block_values x;
#pragma unroll
    for (int i = 0; i < N; i += per_word) {
      if constexpr (per_word == 1) {
        x.word[i] = __float_as_uint(value[i]);
      } else {
        x.word[i / 2] = detail::ptx::pack(In{}, value[i], value[i + 1]);
      }
    }
    return x;
  }
};

}  // namespace fp4::gpu
