// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Largest magnitudes, on bit patterns: there a NaN is larger than every number, and is then left out by the
/// scalar path.

#include "neon_values.hpp"

#if FP4_HAS_NEON_PATH

FP4_EXACT_BEGIN
namespace fp4::cpu::detail::neon {

/// A register of magnitudes of T, as patterns of the width of T.
template <class T>
struct magnitudes {
  using lanes = uint16x8_t;
  static constexpr int count = 8;
  static constexpr uint16_t infinity = std_types::is_same<T, bfloat16>::value ? 0x7F80 : 0x7C00;

  static FP4_INLINE lanes at(T const* x) noexcept {
    lanes bits;
    load(bits, x);
    return vandq_u16(bits, vdupq_n_u16(0x7FFF));
  }
  static FP4_INLINE lanes larger(lanes a, lanes b) noexcept { return vmaxq_u16(a, b); }
  static FP4_INLINE lanes pairwise_larger(lanes a, lanes b) noexcept { return vpmaxq_u16(a, b); }
  static FP4_INLINE uint16_t largest(lanes a) noexcept { return vmaxvq_u16(a); }
  static FP4_INLINE float value(uint16_t bits) noexcept { return T{bits}.to_float(); }
  static FP4_INLINE void store_values(float* to, lanes bits) noexcept {
    float32x4_t low, high;
    widen<T>(low, high, bits);
    store(to, low);
    store(to + 4, high);
  }
};

template <>
struct magnitudes<float> {
  using lanes = uint32x4_t;
  static constexpr int count = 4;
  static constexpr uint32_t infinity = infinity_bits;

  static FP4_INLINE lanes at(float const* x) noexcept {
    lanes bits;
    load(bits, x);
    return vandq_u32(bits, vdupq_n_u32(magnitude_mask));
  }
  static FP4_INLINE lanes larger(lanes a, lanes b) noexcept { return vmaxq_u32(a, b); }
  static FP4_INLINE lanes pairwise_larger(lanes a, lanes b) noexcept { return vpmaxq_u32(a, b); }
  static FP4_INLINE uint32_t largest(lanes a) noexcept { return vmaxvq_u32(a); }
  static FP4_INLINE float value(uint32_t bits) noexcept { return bits_float(bits); }
  static FP4_INLINE void store_values(float* to, lanes bits) noexcept { store(to, bits); }
};

/// The lane-wise largest magnitudes of Count values.
template <int Count, class T>
FP4_INLINE typename magnitudes<T>::lanes largest_of(T const* x) noexcept {
  using m = magnitudes<T>;
  if constexpr (Count == m::count) {
    return m::at(x);
  } else {
    return m::larger(largest_of<Count / 2>(x), largest_of<Count / 2>(x + Count / 2));
  }
}

/// Lane i holds the largest magnitude of block i, of Blocks blocks of Size values.
template <int Blocks, int Size, class T>
FP4_INLINE typename magnitudes<T>::lanes largest_of_blocks(T const* x) noexcept {
  if constexpr (Blocks == 1) {
    return largest_of<Size>(x);
  } else {
    return magnitudes<T>::pairwise_larger(largest_of_blocks<Blocks / 2, Size>(x),
                                          largest_of_blocks<Blocks / 2, Size>(x + Blocks / 2 * Size));
  }
}

/// Largest magnitude of each block, NaN ignored; true where a value is NaN.
template <int Size, class T>
FP4_INLINE bool block_amax(T const* x, int blocks, float* amax) noexcept {
  using m = magnitudes<T>;
  bool has_nan = false;
  int b = 0;
  for (; b + m::count <= blocks; b += m::count) {
    auto const largest = largest_of_blocks<m::count, Size>(x + b * Size);
    if (m::largest(largest) > m::infinity) {
      has_nan = true;
      for (int i = b; i < b + m::count; ++i) { amax[i] = scalar_backend::amax(x + i * Size, Size); }
    } else {
      m::store_values(amax + b, largest);
    }
  }
  for (; b < blocks; ++b) {
    auto const largest = m::largest(largest_of<Size>(x + b * Size));
    has_nan = has_nan || largest > m::infinity;
    amax[b] = largest > m::infinity ? scalar_backend::amax(x + b * Size, Size) : m::value(largest);
  }
  return has_nan;
}

/// scalar_backend::amax.
template <class T>
FP4_INLINE float amax(T const* x, int count) noexcept {
  using m = magnitudes<T>;
  constexpr int step = 8 * m::count;
  int const whole = count / step * step;
  typename m::lanes largest{};
  for (int i = 0; i < whole; i += step) { largest = m::larger(largest, largest_of<step>(x + i)); }
  auto const found = m::largest(largest);
  if (found > m::infinity) { return scalar_backend::amax(x, count); }
  float const rest = scalar_backend::amax(x + whole, count - whole);
  return m::value(found) < rest ? rest : m::value(found);
}

}  // namespace fp4::cpu::detail::neon
FP4_EXACT_END

#endif
