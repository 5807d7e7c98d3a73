// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../format/half.hpp"
#include "../random/philox.hpp"

FP4_EXACT_BEGIN
namespace fp4 {

/// Category of a transform argument.
struct transform_choice {};

/// Quantize the values as they are. The default.
struct no_transform {
  using choice = transform_choice;
  static constexpr int size = 1;
  static constexpr bool rounds_to_bfloat16 = false;
};

namespace detail {

/// The sign vector of Transformer Engine's recipe, bit i set where element i is negated.
inline constexpr uint32_t transformer_engine_signs = 0xD7E8u;

/// fl(n^(-1/2)).
FP4_HD constexpr float hadamard_scale(int n) noexcept {
  return n == 16 ? 0.25f : n == 32 ? 0x1.6a09e6p-3f : n == 64 ? 0.125f : n == 128 ? 0x1.6a09e6p-4f : 0.0625f;
}

/// Butterflies in stages h = 1, 2, 4, ...
FP4_HD constexpr void butterflies(float* x, int n) noexcept {
  for (int h = 1; h < n; h *= 2) {
    for (int i = 0; i < n; i += 2 * h) {
      for (int j = i; j < i + h; ++j) {
        float const a = x[j], b = x[j + h];
        x[j] = a + b;
        x[j + h] = a - b;
      }
    }
  }
}

}  // namespace detail

/// Random Hadamard transform along the contraction axis, in groups of N: y = H * (N^(-1/2) * D * x), H in Sylvester
/// order, D a diagonal of signs. One fp32 multiply by the signed constant fl(N^(-1/2)), then butterflies (a+b, a-b) in
/// stages h = 1, 2, 4, ...: that order is part of the definition. Both operands of a product take the same D.
/// The axis must be a multiple of N. Quantized amaxes are those of the transformed values.
///
/// The default signs are Transformer Engine's 16, repeated. `to_bfloat16` rounds the transformed values to bfloat16
/// before they are quantized, as its training recipe does.
template <int N>
struct hadamard {
  static_assert(N == 16 || N == 32 || N == 64 || N == 128 || N == 256, "a Hadamard size is 16, 32, 64, 128 or 256");
  using choice = transform_choice;
  static constexpr int size = N;

  uint32_t signs[(N + 31) / 32]{};  ///< Bit i % 32 of word i / 32 is set where element i is negated.
  bool rounds_to_bfloat16 = false;

  FP4_HD constexpr hadamard() noexcept {
    for (uint32_t& word : signs) { word = detail::transformer_engine_signs * 0x10001u; }
    if (N == 16) { signs[0] &= 0xFFFFu; }
  }

  /// Signs drawn by Philox4x32-10 from `seed`.
  [[nodiscard]] FP4_HD static constexpr hadamard random_signs(uint64_t seed) noexcept {
    hadamard h;
    for (int i = 0; i < (N + 31) / 32; ++i) {
      uint32x4 const bits = philox4x32({{static_cast<uint32_t>(i / 4), 0, 0, 0}},
                                       static_cast<uint32_t>(seed) ^ 0x52485421u, static_cast<uint32_t>(seed >> 32));
      h.signs[i] = N == 16 ? bits[0] & 0xFFFFu : bits[i % 4];
    }
    return h;
  }

  [[nodiscard]] FP4_HD constexpr hadamard to_bfloat16() const noexcept {
    hadamard h = *this;
    h.rounds_to_bfloat16 = true;
    return h;
  }

  [[nodiscard]] FP4_HD constexpr bool negates(int i) const noexcept { return (signs[i / 32] >> (i % 32) & 1u) != 0; }

  /// Transforms N values in place.
  FP4_HD void apply(float* x) const noexcept {
    for (int i = 0; i < N; ++i) { x[i] = flip(detail::product(x[i], detail::hadamard_scale(N)), i); }
    detail::butterflies(x, N);
    if (rounds_to_bfloat16) {
      for (int i = 0; i < N; ++i) { x[i] = bfloat16::from_float(x[i]).to_float(); }
    }
  }

  /// The way back: unsigned constant, the same stages, signs last. Exact up to fp32 rounding.
  FP4_HD void apply_inverse(float* x) const noexcept {
    for (int i = 0; i < N; ++i) { x[i] = detail::product(x[i], detail::hadamard_scale(N)); }
    detail::butterflies(x, N);
    for (int i = 0; i < N; ++i) { x[i] = flip(x[i], i); }
  }

 private:
  FP4_HD constexpr float flip(float x, int i) const noexcept {
    return detail::bits_float(detail::float_bits(x) ^ (negates(i) ? 0x80000000u : 0u));
  }
};

template <class T>
inline constexpr bool is_transformed_v = !std_types::is_same<T, no_transform>::value;

}  // namespace fp4
FP4_EXACT_END
