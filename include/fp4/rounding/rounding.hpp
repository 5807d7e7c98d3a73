// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How a scaled element becomes a code. Scales themselves are never rounded by these.

#include "../format/types.hpp"
#include "../random/philox.hpp"

namespace fp4 {

/// Category of a rounding argument.
struct rounding_choice {};

/// Nearest, ties to even. The default.
struct nearest_even {
  using choice = rounding_choice;
};

/// Toward zero.
struct toward_zero {
  using choice = rounding_choice;
};

/// Stochastic rounding of e2m1 elements, unbiased to 2^-16 of a step: the bit map of Blackwell's
/// `cvt.rs.satfinite.e2m1x4.f32`, on every device. Random words are a pure function of (seed, stream, position), so
/// the result does not depend on threads, tiles or shards. Exact values, zeros, the maximum, NaN and infinities
/// never move. The two elements of a pair (0 and 1, 2 and 3 of each four) share their bits, one mirrored.
///
/// Each call that must draw independent numbers needs its own `stream` (a step count, for instance).
/// A shard of a larger matrix names its place: first row, first block of columns, and the blocks in a whole row.
struct stochastic {
  using choice = rounding_choice;
  uint64_t seed = 0;
  uint64_t stream = 0;         ///< Below 2^63: the top bit marks column-wise output.
  int64_t first_row = 0;       ///< Of this matrix in the whole one.
  int64_t first_block = 0;     ///< Of this matrix's rows in the whole one's.
  int64_t blocks_per_row = 0;  ///< Of the whole matrix; 0 means that this matrix is whole.

  FP4_HD explicit constexpr stochastic(uint64_t seed_, uint64_t stream_ = 0) noexcept : seed(seed_), stream(stream_) {}

  /// The same draw, for a shard.
  [[nodiscard]] FP4_HD constexpr stochastic at(int64_t row, int64_t block,
                                               int64_t whole_blocks_per_row) const noexcept {
    stochastic shard = *this;
    shard.first_row = row, shard.first_block = block, shard.blocks_per_row = whole_blocks_per_row;
    return shard;
  }
};

namespace detail {

/// Reverses the bits of the low byte.
FP4_HD FP4_INLINE constexpr uint32_t reverse_byte(uint32_t b) noexcept {
  b = (b & 0xF0u) >> 4 | (b & 0x0Fu) << 4;
  b = (b & 0xCCu) >> 2 | (b & 0x33u) << 2;
  return (b & 0xAAu) >> 1 | (b & 0x55u) << 1;
}

}  // namespace detail

/// The 16 random bits that `word` gives to element `i` (0 to 3, in memory order) of the four it serves.
/// In the order of the instruction's operands element 3 is `a`, 2 is `b`, 1 is `e` and 0 is `f`.
[[nodiscard]] FP4_HD FP4_INLINE constexpr uint32_t element_bits(uint32_t word, int i) noexcept {
  uint32_t const b0 = word & 0xFFu, b1 = word >> 8 & 0xFFu, b2 = word >> 16 & 0xFFu, b3 = word >> 24;
  switch (i) {
    case 0: return b2 << 8 | b0;
    case 1: return detail::reverse_byte(b0) << 8 | detail::reverse_byte(b2);
    case 2: return b3 << 8 | b1;
    default: return detail::reverse_byte(b1) << 8 | detail::reverse_byte(b3);
  }
}

/// Rounds x up in magnitude with probability floor(fraction * 2^16) / 2^16, using 16 random bits; saturates.
/// NaN gives +6. Integer-only.
[[nodiscard]] FP4_HD FP4_INLINE constexpr e2m1 round_stochastic(float x, uint32_t random16) noexcept {
  uint32_t const u = detail::float_bits(x);
  uint32_t const a = u & detail::magnitude_mask;
  uint32_t const sign = u >> 28 & 8u;
  if (a > detail::infinity_bits) { return {0x7}; }
  if (a >= 0x40C00000u) { return {static_cast<uint8_t>(0x7u | sign)}; }
  // `steps` is |x| in units of 2^-16 of the grid's step there: 0.5 below 2, 1 below 4, 2 below 6.
  uint32_t const exponent = a >> 23;
  uint32_t const m = (a & 0x7FFFFFu) | (exponent != 0 ? 0x800000u : 0u);
  uint32_t const binade = exponent > 127 ? exponent - 127 : 0;
  uint32_t const steps = detail::shift_right_truncate(m, exponent > 127 ? 6 : 6 + (127 - exponent));
  return {static_cast<uint8_t>((((steps + random16) >> 16) + 2 * binade) | sign)};
}

/// Encodes one element whose rounding needs no random bits.
template <class Element>
[[nodiscard]] FP4_HD FP4_INLINE constexpr Element encode(float x, nearest_even) noexcept {
  return Element::from_float(x);
}
template <class Element>
[[nodiscard]] FP4_HD FP4_INLINE constexpr Element encode(float x, toward_zero) noexcept {
  return Element::from_float_toward_zero(x);
}

template <class T>
inline constexpr bool is_stochastic_v = std_types::is_same<T, stochastic>::value;

}  // namespace fp4
