// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Transformed values as a result of tiles.cuh, in their places in a matrix of the input's shape.

#include "launch_tiles.cuh"

namespace fp4::gpu::detail {

/// `Turn` is a transform_task or an inverse_task of a transform of `Size` elements.
template <class Out, class Turn, int Size>
struct values_side {
  static constexpr bool exists = true, has_codes = false, per_row = false;
  static constexpr int elements = 16, transform_size = Size, resident = 4;
  using value = Out;
  using codes = block_values<Out, 16>;

  matrix_view<Out> out;
  Turn turn;
  bool aligned;  ///< blocks along rows can be written by 16 bytes
  side_frame whole{};

  __device__ static constexpr bool takes_many_registers() { return true; }
};

template <class Side>
struct values_memory {
  __device__ __forceinline__ void fill(Side const&, int64_t) const {}
  __device__ __forceinline__ void flush(Side const&, int64_t) const {}
};

/// Columnwise, a block is a part of a column of the matrix.
template <class Side, bool Columnwise>
class values_encoder {
 public:
  using codes = typename Side::codes;
  using value = typename Side::value;
  struct cursor {
    value* to;
  };

  __device__ __forceinline__ values_encoder(Side const& s, side_frame const&, values_memory<Side> const&) : side_(s) {}

  __device__ __forceinline__ cursor at(int64_t row, int64_t block) const {
    return {Columnwise ? side_.out.row(block * 16) + row : side_.out.row(row) + block * 16};
  }
  __device__ __forceinline__ void move_to_odd(cursor& c) const { c.to += Columnwise ? 1 : side_.out.stride; }
  template <int Rows>
  __device__ __forceinline__ void move_down(cursor& c, cursor const&, int) const {
    c.to += Rows * (Columnwise ? 1 : side_.out.stride);
  }
  template <class Values>
  __device__ __forceinline__ bool encode(Values const& x, int, cursor const&, codes& out) const {
    float v[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) { v[i] = x.at(i); }
    out = codes::from(v);
    return false;
  }
  template <class Values>
  __device__ __forceinline__ void encode_carefully(Values const& x, int row, cursor const& c, codes& out) const {
    encode(x, row, c, out);
  }
  __device__ __forceinline__ void store(cursor const& c, codes const& out) const {
    if constexpr (Columnwise) {
      store_values(c.to, side_.out.stride, 16, out);
    } else {
      uint4* const to = reinterpret_cast<uint4*>(c.to);
#pragma unroll
      for (int i = 0; i < static_cast<int>(sizeof(value)); ++i) {
        to[i] = {out.word[4 * i], out.word[4 * i + 1], out.word[4 * i + 2], out.word[4 * i + 3]};
      }
    }
  }
  __device__ __forceinline__ void store_any(cursor const& c, int64_t row, int64_t block, codes const& out) const {
    int64_t const lines = Columnwise ? side_.out.cols : side_.out.rows;
    int64_t const left = (Columnwise ? side_.out.rows : side_.out.cols) - block * 16;
    if (row >= lines || left <= 0) { return; }
    store_values(c.to, Columnwise ? side_.out.stride : 1, left < 16 ? static_cast<int>(left) : 16, out);
  }
  __device__ __forceinline__ void finish() const {}

 private:
  __device__ __forceinline__ static void store_values(value* to, int64_t step, int count, codes const& out) {
#pragma unroll
    for (int i = 0; i < 16; ++i, to += step) {
      if (i >= count) { break; }
      if constexpr (sizeof(value) == 4) {
        *to = __uint_as_float(out.word[i]);
      } else {
        to->bits = static_cast<uint16_t>(out.word[i / 2] >> i % 2 * 16);
      }
    }
  }

  Side const& side_;
};

template <class Out, class Turn, int Size, int Rows, int Lanes, bool Columnwise>
struct side_parts<values_side<Out, Turn, Size>, Rows, Lanes, Columnwise> {
  using memory = values_memory<values_side<Out, Turn, Size>>;
  using encoder = values_encoder<values_side<Out, Turn, Size>, Columnwise>;
};

template <class Out, class Turn, int Size>
extent extent_along_rows(values_side<Out, Turn, Size> const& s) noexcept {
  return {s.out.rows, s.out.cols};
}
template <class Out, class Turn, int Size>
extent extent_down_columns(values_side<Out, Turn, Size> const& s) noexcept {
  return {s.out.rows, s.out.cols};
}

}  // namespace fp4::gpu::detail
