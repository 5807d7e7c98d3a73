// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A piece of a matrix in shared memory: written by blocks along rows, read by words down columns, both without bank
/// conflicts (down 256-element transforms: two lanes a bank).

#include "../block_values.cuh"

namespace fp4::gpu::detail {

/// Rows x Cols values. Blocks of Wide values are written along rows, blocks of Tall values are read down columns.
/// Eight lanes that write blocks side by side, 16 bytes each, meet all banks because chunks of 16 bytes are permuted
/// inside a row; lanes that read blocks one below the other do because each block row begins some chunks later.
template <class In, uint32_t Wide, uint32_t Tall, uint32_t Rows, uint32_t Cols>
struct tile {
  static constexpr uint32_t rows = Rows, cols = Cols;
  static constexpr uint32_t per_word = 4 / static_cast<uint32_t>(sizeof(In));
  static constexpr uint32_t words = Cols / per_word;      ///< in a row
  static constexpr uint32_t block_rows = Rows / Tall;     ///< blocks one below the other
  static constexpr uint32_t blocks_across = Cols / Wide;  ///< blocks side by side
  static constexpr uint32_t gap_words = 4 * (block_rows < 8 ? 8 / block_rows : 1);
  static constexpr uint32_t size_words = Rows * words + block_rows * gap_words;

  /// Stores block `block` of a row.
  __device__ __forceinline__ static void store(uint32_t* memory, uint32_t row, uint32_t block,
                                               block_values<In, Wide> const& x) {
    uint4* const at = reinterpret_cast<uint4*>(memory + row * words + row / Tall * gap_words);
#pragma unroll
    for (uint32_t i = 0; i < chunks_of_block; ++i) {
      at[placed(row % Tall, block * chunks_of_block + i)] = {x.word[4 * i], x.word[4 * i + 1], x.word[4 * i + 2],
                                                             x.word[4 * i + 3]};
    }
  }

  /// Reads word `word` of the Tall rows of a block row.
  __device__ __forceinline__ static void load(uint32_t const* memory, uint32_t block_row, uint32_t word,
                                              uint32_t (&v)[Tall]) {
    uint32_t const* const at = memory + block_row * (Tall * words + gap_words);
    uint32_t const in_row = placed(0, word / 4) * 4 + word % 4;
#pragma unroll
    for (uint32_t i = 0; i < Tall; ++i) { v[i] = at[i * words + (in_row ^ turned(i) * 4)]; }
  }

  /// Column `column` of a word as a block of values.
  __device__ __forceinline__ static block_values<In, Tall> column_of(uint32_t const (&v)[Tall], uint32_t column) {
    block_values<In, Tall> x;
#pragma unroll
    for (uint32_t i = 0; i < Tall; i += per_word) {
      if constexpr (per_word == 1) {
        x.word[i] = v[i];
      } else {
        x.word[i / 2] = __byte_perm(v[i], v[i + 1], column == 0 ? 0x5410 : 0x7632);
      }
    }
    return x;
  }

 private:
  static constexpr uint32_t chunks_of_block = Wide / per_word / 4, chunks_of_row = words / 4;
  static_assert(chunks_of_row >= 4 && chunks_of_block <= 8, "a tile has rows of 64 bytes or more");

  /// What is xored to the chunks of row i of a block row: the part of `placed` that depends on the row.
  __device__ __forceinline__ static constexpr uint32_t turned(uint32_t i) {
    return (i * chunks_of_row >> 3) & (chunks_of_block - 1);
  }
  /// Where chunk `chunk` of row i of a block row lies.
  __device__ __forceinline__ static constexpr uint32_t placed(uint32_t i, uint32_t chunk) {
    return chunk ^ turned(i) ^ (chunk >> 3 & (chunks_of_block - 1));
  }
};

}  // namespace fp4::gpu::detail
