// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which operand of a linear layer's products is quantized how, as data. Contractions run along rows, so that
/// every product is A * B^T:
///
///     forward          Y  [M, N] = X [M, K] * W [N, K]^T       activation row-wise, weight row-wise
///     data gradient    dX [M, K] = dY [M, N] * (W^T)^T         gradient row-wise, weight column-wise
///     weight gradient  dW [N, K] = dY^T [N, M] * (X^T)^T       gradient column-wise, activation column-wise
///
/// where column-wise means quantized as the transpose, along its rows.

#include "../choices.hpp"

namespace fp4::recipe {

/// What an operand is made of, with the scaling that its recipe uses.
enum class number : unsigned char {
  bf16,        ///< bfloat16 values, no scale
  nvfp4,       ///< transformer_engine
  mxfp8_e4m3,  ///< mx_ceil
  mxfp8_e5m2,  ///< mx_ceil
  fp8_e4m3,    ///< tensor_amax: current scaling
  fp8_e5m2     ///< tensor_amax
};

/// How one operand is quantized: a row of the table.
struct operand {
  number format = number::bf16;
  bool is_stochastic = false;  ///< Elements round stochastically; else to nearest even.
  bool is_2d = false;          ///< 16 x 16 values share a scale; else 16 (or 32) along the contraction.
  int hadamard = 0;            ///< Size of the random Hadamard transform along the contraction; 0 for none.
  bool to_bfloat16 = false;    ///< Transformed values are rounded to bfloat16 before they are quantized.

  [[nodiscard]] constexpr operand stochastic(bool yes = true) const noexcept {
    operand changed = *this;
    changed.is_stochastic = yes;
    return changed;
  }
  [[nodiscard]] constexpr operand in_2d(bool yes = true) const noexcept {
    operand changed = *this;
    changed.is_2d = yes;
    return changed;
  }
  /// With Transformer Engine's sign vector, and its rounding of the transformed values; a size of 0 takes both away.
  [[nodiscard]] constexpr operand transformed(int size) const noexcept {
    operand changed = *this;
    changed.hadamard = size, changed.to_bfloat16 = size != 0;
    return changed;
  }

  friend constexpr bool operator==(operand const& a, operand const& b) noexcept {
    return a.format == b.format && a.is_stochastic == b.is_stochastic && a.is_2d == b.is_2d &&
           a.hadamard == b.hadamard && a.to_bfloat16 == b.to_bfloat16;
  }
  friend constexpr bool operator!=(operand const& a, operand const& b) noexcept { return !(a == b); }
};

/// Both operands that a matrix of the layer becomes.
struct both_operands {
  operand rowwise;
  operand columnwise;
};

/// The matrices of a layer: X [M, K], W [N, K], dY [M, N].
enum class matrix : unsigned char { activation, weight, gradient };

/// A recipe. To make one's own, copy a named one and change what should differ:
///
///     constexpr fp4::recipe::table nearest_gradients() {
///       auto own = fp4::recipe::te_nvfp4;
///       own.gradient.rowwise = own.gradient.rowwise.stochastic(false);
///       return own;
///     }
///     inline constexpr fp4::recipe::table mine = nearest_gradients();   // then operands_of<mine>(...)
struct table {
  char const* name;
  both_operands activation;
  both_operands weight;
  both_operands gradient;

  [[nodiscard]] constexpr both_operands const& of(matrix which) const noexcept {
    return which == matrix::activation ? activation : which == matrix::weight ? weight : gradient;
  }
};

namespace detail {

inline constexpr operand four_bits{number::nvfp4};
constexpr both_operands both(operand one) noexcept { return {one, one}; }

}  // namespace detail

/// NVIDIA's NVFP4 training recipe, as Transformer Engine runs it (MaxText's `te_nvfp4`). Source: arXiv 2509.25149,
/// and the table in docs/recipe.md.
inline constexpr table te_nvfp4{"te_nvfp4",
                                {detail::four_bits, detail::four_bits.transformed(16)},
                                detail::both(detail::four_bits.in_2d()),
                                {detail::four_bits.stochastic(), detail::four_bits.stochastic().transformed(16)}};

/// The same without the Hadamard transform.
inline constexpr table te_nvfp4_no_rht{"te_nvfp4_no_rht", detail::both(detail::four_bits),
                                       detail::both(detail::four_bits.in_2d()),
                                       detail::both(detail::four_bits.stochastic())};

/// FP8 with one scale a tensor from its own amax: e4m3 forward, e5m2 gradients.
inline constexpr table fp8{"fp8", detail::both({number::fp8_e4m3}), detail::both({number::fp8_e4m3}),
                           detail::both({number::fp8_e5m2})};

/// MXFP8: blocks of 32, e4m3 both ways, scales rounded up.
inline constexpr table mxfp8{"mxfp8", detail::both({number::mxfp8_e4m3}), detail::both({number::mxfp8_e4m3}),
                             detail::both({number::mxfp8_e4m3})};

/// Nothing is quantized: values are bfloat16.
inline constexpr table bf16{"bf16", detail::both({}), detail::both({}), detail::both({})};

namespace detail {

/// True when both operands of a product went through the same transform, which then cancels.
constexpr bool same_transform(operand const& a, operand const& b) noexcept { return a.hadamard == b.hadamard; }

/// Refuses, at compile time, tables whose products mean nothing.
template <table const& Recipe>
constexpr void require_meaningful() noexcept {
  static_assert(same_transform(Recipe.activation.rowwise, Recipe.weight.rowwise),
                "forward: activation and weight must have the same Hadamard transform, or it does not cancel");
  static_assert(same_transform(Recipe.gradient.rowwise, Recipe.weight.columnwise),
                "data gradient: gradient and weight must have the same Hadamard transform, or it does not cancel");
  static_assert(
      same_transform(Recipe.gradient.columnwise, Recipe.activation.columnwise),
      "weight gradient: gradient and activation must have the same Hadamard transform, or it does not cancel");
}

}  // namespace detail
}  // namespace fp4::recipe
