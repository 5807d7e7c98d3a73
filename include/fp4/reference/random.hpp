// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "../rounding/rounding.hpp"

namespace fp4::reference::detail {

/// Philox4x32-10 as in Salmon et al., SC 2011: four words of counter, two of key.
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int i = 0; i < 10; ++i) {
    uint64_t const left = uint64_t{c[0]} * 0xD2511F53u;
    uint64_t const right = uint64_t{c[2]} * 0xCD9E8D57u;
    auto const high = [](uint64_t x) { return static_cast<uint32_t>(x >> 32); };
    auto const low = [](uint64_t x) { return static_cast<uint32_t>(x); };
    c = {high(right) ^ c[1] ^ key[0], low(right), high(left) ^ c[3] ^ key[1], low(left)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return c;
}

/// Where an element draws its random bits: its place in the matrix whose rows are counted.
struct draw {
  int64_t row;
  int64_t column;
  int64_t columns;
  bool column_wise;  ///< sets the top bit of the stream
};

/// The 16 random bits of one element.
inline uint32_t random_bits(stochastic const& rounding, draw at, int block_size) {
  int64_t const calls = block_size / 16;  // a block of 32 makes two
  int64_t const whole_row =
      rounding.blocks_per_row != 0 ? rounding.blocks_per_row : (at.columns + block_size - 1) / block_size;
  int64_t const block = rounding.first_block + at.column / block_size;
  uint64_t const position = static_cast<uint64_t>((rounding.first_row + at.row) * whole_row * calls + block * calls +
                                                  at.column % block_size / 16);
  uint64_t const stream = rounding.stream + (at.column_wise ? uint64_t{1} << 63 : 0);
  auto const word = [](uint64_t x, int i) { return static_cast<uint32_t>(x >> 32 * i); };
  auto const bits = philox({word(position, 0), word(position, 1), word(stream, 0), word(stream, 1)},
                           {word(rounding.seed, 0), word(rounding.seed, 1)});

  int64_t const i = at.column % 16;
  uint32_t const w = bits[static_cast<size_t>(i / 4)];
  auto const byte = [w](int n) { return w >> 8 * n & 0xFFu; };
  auto const reversed = [&](int n) {
    uint32_t r = 0;
    for (int bit = 0; bit < 8; ++bit) { r |= (byte(n) >> bit & 1u) << (7 - bit); }
    return r;
  };
  switch (i % 4) {
    case 3: return reversed(1) << 8 | reversed(3);  // operand a of the instruction
    case 2: return byte(3) << 8 | byte(1);          // b
    case 1: return reversed(0) << 8 | reversed(2);  // e
    default: return byte(2) << 8 | byte(0);         // f
  }
}
/// Other roundings draw nothing.
template <class Rounding>
uint32_t random_bits(Rounding const&, draw, int) {
  return 0;
}

}  // namespace fp4::reference::detail
