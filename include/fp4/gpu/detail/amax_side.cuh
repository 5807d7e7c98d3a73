// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Largest magnitudes as a result of tiles.cuh: of all values, or of each row of the result.

#include "launch_tiles.cuh"

namespace fp4::gpu::detail {

template <class Transform, bool PerRow>
struct amax_side {
  static constexpr bool exists = true, has_codes = false, per_row = false;
  static constexpr bool each_row = PerRow;
  static constexpr int elements = 16, transform_size = Transform::size, resident = 4;
  struct codes {};

  float* out;  ///< one a group, or one for each row of the result
  transform_task<Transform> turn;
  side_frame whole{};
  bool aligned = true;

  __device__ static constexpr bool takes_many_registers() { return false; }
};

/// Bits of numbers that are not negative order as the numbers do. (A comparison of numbers may flush subnormals.)
__device__ __forceinline__ void raise(float* to, float x) {
  unsigned const bits = __float_as_uint(x);
  if (bits != 0) { atomicMax(reinterpret_cast<unsigned*>(to), bits); }
}

template <class Side>
struct amax_memory {
  float largest;

  __device__ __forceinline__ void fill(Side const&, int64_t) {
    if (threadIdx.x == 0) { largest = 0.0f; }
    __syncthreads();
  }
  /// What was found since fill() belongs to a group.
  __device__ __forceinline__ void flush(Side const& s, int64_t group) {
    if constexpr (!Side::each_row) {
      __syncthreads();
      if (threadIdx.x == 0) { raise(s.out + group, largest); }
    }
  }
};

template <class Side, int Lanes>
class amax_encoder {
 public:
  using codes = typename Side::codes;
  struct cursor {
    int64_t row;
  };

  __device__ __forceinline__ amax_encoder(Side const& s, side_frame const&, amax_memory<Side>& memory)
      : side_(s), memory_(memory) {}

  __device__ __forceinline__ cursor at(int64_t row, int64_t) const { return {row}; }
  __device__ __forceinline__ void move_to_odd(cursor& c) const { ++c.row; }
  template <int Rows>
  __device__ __forceinline__ void move_down(cursor& c, cursor const&, int) const {
    c.row += Rows;
  }
  template <class Values>
  __device__ __forceinline__ bool encode(Values const& x, int, cursor const& c, codes&) const {
    float const amax = x.amax();
    if constexpr (Side::each_row) {
      float const whole = largest_of<Lanes>(amax);
      if (threadIdx.x % Lanes == 0) { raise(side_.out + c.row, whole); }
    } else {
      largest_ = ptx::max(largest_, amax);
    }
    return false;
  }
  template <class Values>
  __device__ __forceinline__ void encode_carefully(Values const& x, int row, cursor const& c, codes& out) const {
    encode(x, row, c, out);
  }
  __device__ __forceinline__ static void store(cursor const&, codes const&) {}
  __device__ __forceinline__ static void store_any(cursor const&, int64_t, int64_t, codes const&) {}
  __device__ __forceinline__ void finish() const {
    if constexpr (!Side::each_row) {
      float const whole = largest_of<32>(largest_);
      if (threadIdx.x % 32 == 0) { raise(&memory_.largest, whole); }
    }
  }

 private:
  template <int Count>
  __device__ __forceinline__ static float largest_of(float x) {
#pragma unroll
    for (int lanes = 1; lanes < Count; lanes *= 2) { x = ptx::max(x, __shfl_xor_sync(~0u, x, lanes)); }
    return x;
  }

  Side const& side_;
  amax_memory<Side>& memory_;
  mutable float largest_ = 0.0f;
};

template <class Transform, bool PerRow, int Rows, int Lanes, bool Columnwise>
struct side_parts<amax_side<Transform, PerRow>, Rows, Lanes, Columnwise> {
  using memory = amax_memory<amax_side<Transform, PerRow>>;
  using encoder = amax_encoder<amax_side<Transform, PerRow>, Lanes>;
};

template <class Transform, bool PerRow>
extent extent_along_rows(amax_side<Transform, PerRow> const& s) noexcept {
  return {s.whole.rows, s.whole.cols};
}

/// The side of a result of `rows` rows.
template <bool PerRow, class Transform>
amax_side<Transform, PerRow> make_amax_side(float* out, Transform const& how, int64_t rows, int64_t cols) noexcept {
  amax_side<Transform, PerRow> made{out, transform_task<Transform>(how)};
  made.whole.rows = rows, made.whole.cols = cols;
  return made;
}

}  // namespace fp4::gpu::detail
