// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The kernel of 16 x 16 blocks: row-wise result, column-wise result or both. Codes are rounded once; the column-wise
/// ones are those transposed.

#include "matrix_parts.cuh"
#include "nibbles.cuh"
#include "side.cuh"

namespace fp4::gpu::detail {

/// Everything that the kernel is told. A result that is not asked for has null codes.
template <class In, class Side>
struct squares_task {
  using value = In;
  using side_type = Side;
  using tensor = typename Side::tensor;
  static constexpr bool is_chosen = tensor::scales == scale_rule::chosen;
  static constexpr int rows = is_chosen ? 32 : 64;  ///< of a tile; chosen scales look at its values in shared memory
  static constexpr int resident = sizeof(In) == 4 ? 3 : Side::resident;
  static constexpr int cols = Side::transform_size > 128 ? Side::transform_size : 128;

  matrix_view<In const> in;
  bool aligned;  ///< every block along a row can be read by 16 bytes
  Side rowwise;
  side_frame columnwise;
  bool columnwise_aligned;  ///< its codes can be written by 4 bytes
  int64_t end;              ///< rows with the padding of scales
};

/// A thread's values with the largest magnitude of the whole square.
template <class Values>
struct values_in_square : Values {
  float kept, ignored;  ///< with the thread's own NaN, and without
  template <bool KeepNan = false>
  [[nodiscard]] __device__ __forceinline__ float amax() const {
    return KeepNan ? kept : ignored;
  }
};

/// The formulas of a tensor with a scale that was found already.
template <class Tensor, class Scale>
struct decided : Tensor {
  static constexpr scale_rule scales = scale_rule::computed;
  uint32_t code;
  __device__ __forceinline__ decided(Tensor const& tensor, uint32_t code_) : Tensor(tensor), code(code_) {}
  __device__ __forceinline__ Scale scale_for(float) const { return {static_cast<uint8_t>(code)}; }
};

/// What a thread block shares of a tile.
template <class Task>
struct squares_memory {
  static constexpr uint32_t across = Task::cols / 16, down = Task::rows / 16;
  static constexpr uint32_t warp_rows = 32 / across;  ///< rows that a warp holds at a time
  static constexpr uint32_t parts = 16 / warp_rows;
  static constexpr uint32_t words = Task::cols / 8;  ///< of codes in a row

  alignas(16) float amax[down][across][parts];
  alignas(16) uint32_t codes[Task::rows * words + Task::rows / 8 * 4];
  uint8_t scales[Task::tensor::scales == scale_rule::rounded ? 1 : down * across];
  float values[Task::is_chosen ? Task::rows : 1][Task::is_chosen ? Task::cols : 1];

  /// Word 0 of a row's codes. Each eight rows begin four banks later.
  __device__ __forceinline__ uint32_t* code_row(uint32_t row) { return codes + row * words + row / 8 * 4; }
};

template <class Task, class Encoder>
class squares_worker {
  using value = typename Task::value;
  using side_type = typename Task::side_type;
  using format = typename side_type::format;
  using scale = typename format::scale;
  using codes = typename side_type::codes;
  using memory = squares_memory<Task>;
  using loaded = block_values<value, 16>;
  using values =
      std_types::conditional_t<is_transformed_v<typename side_type::transform>, block_values<float, 16>, loaded>;
  using cursor = typename Encoder::cursor;
  static constexpr uint32_t step = threads_per_cta / memory::across;  ///< rows from round to round
  static constexpr int rounds = Task::rows / step;
  static constexpr bool is_rounded = Task::tensor::scales == scale_rule::rounded;

 public:
  __device__ __forceinline__ squares_worker(Task const& task, Encoder const& encoder, memory& shared, int64_t row)
      : task_(task),
        encoder_(encoder),
        shared_(shared),
        first_row_(row),
        first_col_(int64_t{blockIdx.x} * Task::cols),
        thread_(ptx::computed_here(threadIdx.x)),
        row_(thread_ / memory::across),
        block_(thread_ % memory::across) {
    whole_ = row + Task::rows <= task.in.rows && first_col_ + Task::cols <= task.in.cols && task.aligned &&
             task.rowwise.aligned && task.columnwise_aligned;
  }

  __device__ __forceinline__ void run() const {
    values x[rounds];
    load(x);
    unsigned nans = 0;
#pragma unroll
    for (int u = 0; u < rounds; ++u) { share_amax(x[u], row_ + u * step, nans, u); }
    __syncthreads();
    if constexpr (!is_rounded) {
      decide();
      __syncthreads();
    }
    auto const first = encoder_.at(first_row_ + row_, first_col_ / 16 + block_);
    auto to = first;
#pragma unroll
    for (int u = 0; u < rounds; ++u) {
      codes out;
      encode(x[u], row_ + u * step, (nans >> u & 1) != 0, to, out);
      store(row_ + u * step, to, out);
      if (u + 1 < rounds) { encoder_.template move_down<step>(to, first, u + 1); }
    }
    if (task_.columnwise.codes != nullptr) {
      __syncthreads();
      store_transposed();
    }
  }

 private:
  __device__ __forceinline__ void load(values (&x)[rounds]) const {
    int64_t const column = first_col_ + block_ * 16;
    value const* from = task_.in.row(first_row_ + row_) + column;
    if (whole_) {
#pragma unroll
      for (int u = 0; u < rounds; ++u) {
        x[u] = transformed(task_.rowwise.turn, loaded::load_aligned(from));
        from += step * task_.in.stride;
      }
    } else {
      int64_t const left = task_.in.cols - column;
      int const most = left < 16 ? static_cast<int>(left) : 16;
#pragma unroll
      for (int u = 0; u < rounds; ++u) {
        int const count = first_row_ + row_ + u * step < task_.in.rows ? most : 0;
        x[u] = transformed(task_.rowwise.turn, loaded::load(from, count));
        from += step * task_.in.stride;
      }
    }
  }

  /// Leaves the largest magnitude of the rows that a warp holds of each square.
  __device__ __forceinline__ void share_amax(values const& x, uint32_t row, unsigned& nans, int u) const {
    float amax = x.template amax<true>();
    if ((__float_as_uint(amax) & fp4::detail::magnitude_mask) > fp4::detail::infinity_bits) {
      nans |= 1u << u;
      amax = x.amax();
    }
#pragma unroll
    for (int lanes = memory::across; lanes < 32; lanes *= 2) {
      amax = ptx::max(amax, __shfl_xor_sync(~0u, amax, lanes));
    }
    if (threadIdx.x % 32 < memory::across) { shared_.amax[row / 16][block_][row % 16 / memory::warp_rows] = amax; }
    if constexpr (Task::is_chosen) {
#pragma unroll
      for (int i = 0; i < 16; ++i) { shared_.values[row][block_ * 16 + i] = x.at(i); }
    }
  }
  __device__ __forceinline__ float amax_of(uint32_t down, uint32_t across) const {
    float4 const* const parts = reinterpret_cast<float4 const*>(shared_.amax[down][across]);
    float amax = 0.0f;
#pragma unroll
    for (int i = 0; i < memory::parts / 4; ++i) {
      float4 const p = parts[i];
      amax = ptx::max(ptx::max(amax, ptx::max(p.x, p.y)), ptx::max(p.z, p.w));
    }
    return amax;
  }

  /// Scales by a rule that is not just a rounding: one thread for each square.
  __device__ __forceinline__ void decide() const {
    uint32_t const square = threadIdx.x;
    if (square >= memory::down * memory::across) { return; }
    uint32_t const down = square / memory::across, across = square % memory::across;
    float const amax = amax_of(down, across);
    auto const& tensor = encoder_.tensor();
    if constexpr (Task::is_chosen) {
      int64_t const left = task_.in.rows - first_row_ - down * 16;
      int const rows = left < 0 ? 0 : left < 16 ? static_cast<int>(left) : 16;
      auto const x = [&](int i) { return shared_.values[down * 16 + i / 16][across * 16 + i % 16]; };
      shared_.scales[square] = tensor.choose(x, rows * 16, amax).bits;
    } else {
      shared_.scales[square] = tensor.scale_for(amax).bits;
    }
  }

  __device__ __forceinline__ void encode(values const& x, uint32_t row, bool has_nan, cursor const& at,
                                         codes& out) const {
    float const amax = amax_of(row / 16, block_);
    values_in_square<values> const mine{x, has_nan ? __uint_as_float(0x7FC00000u) : amax, amax};
    if constexpr (is_rounded) {
      if (!encoder_.encode_with(encoder_.tensor(), mine, at, out)) {
        encoder_.encode_carefully_with(encoder_.tensor(), mine, at, out);
      }
    } else {
      decided<typename Task::tensor, scale> const tensor(encoder_.tensor(),
                                                         shared_.scales[row / 16 * memory::across + block_]);
      encoder_.encode_carefully_with(tensor, mine, at, out);
    }
  }

  /// Stores a row's part of a square, its scale, and the scale of a column of the square.
  __device__ __forceinline__ void store(uint32_t row, cursor const& at, codes& out) const {
    int64_t const r = first_row_ + row, b = first_col_ / 16 + block_;
    uint32_t const column = block_ * 16 + row % 16;
    if (task_.rowwise.whole.codes != nullptr) {
      if (whole_) {
        encoder_.store(at, out);
      } else {
        encoder_.store_any(at, r, b, out);
      }
    }
    if (task_.columnwise.codes == nullptr) { return; }
    auto const& order = task_.columnwise.order;
    int64_t const c = first_col_ + column, k = first_row_ / 16 + row / 16;
    bool const exists = c < task_.in.cols && k < task_.columnwise.blocks;
    if (exists || (c < order.padded_rows(task_.in.cols) && k < order.padded_blocks(task_.columnwise.blocks))) {
      task_.columnwise.scales[order.offset(c, k)] = exists ? static_cast<uint8_t>(out.scale) : uint8_t{0};
    }
    if (r >= task_.in.rows) { out.keep(0); }
    ptx::store_shared(shared_.code_row(row) + block_ * 2, out.word[0], out.word[1]);
  }

  /// Eight rows by eight columns of codes a thread; eight lanes write a piece of a row of the result.
  __device__ __forceinline__ void store_transposed() const {
    constexpr uint32_t high = Task::rows / 8, items = high * memory::words;
#pragma unroll 1
    for (uint32_t item = threadIdx.x; item < items; item += threads_per_cta) {
      uint32_t const group = item % high, word = item / high;
      uint32_t w[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) { w[i] = shared_.code_row(8 * group)[i * memory::words + word]; }
      transpose_nibbles(w);
      int64_t const c = first_col_ + 8 * word;
      uint8_t* to = task_.columnwise.codes + c * task_.columnwise.code_stride + first_row_ / 2 + 4 * group;
      if (whole_) {
#pragma unroll
        for (int j = 0; j < 8; ++j, to += task_.columnwise.code_stride) { *reinterpret_cast<uint32_t*>(to) = w[j]; }
      } else if (first_row_ / 16 + group / 2 < task_.columnwise.blocks) {
#pragma unroll
        for (int j = 0; j < 8; ++j, to += task_.columnwise.code_stride) {
          if (c + j >= task_.in.cols) { break; }
          for (int i = 0; i < 4; ++i) { to[i] = static_cast<uint8_t>(w[j] >> 8 * i); }
        }
      }
    }
  }

  Task const& task_;
  Encoder const& encoder_;
  memory& shared_;
  int64_t first_row_, first_col_;
  uint32_t thread_;
  uint32_t row_, block_;  ///< of the first round
  bool whole_;
};

template <class Task>
__global__ void __launch_bounds__(threads_per_cta, Task::resident) quantize_squares(Task const __grid_constant__ task) {
  using side_type = typename Task::side_type;
  using known = side_memory<side_type, 1>;
  using encoder_type = side_encoder<side_type, known, false>;
  __shared__ known of_tensor;
  __shared__ squares_memory<Task> shared;
  of_tensor.fill(task.rowwise, 0);
#pragma unroll 1
  for (int64_t row = int64_t{blockIdx.y} * Task::rows; row < task.end; row += int64_t{gridDim.y} * Task::rows) {
    encoder_type const encoder(task.rowwise, task.rowwise.whole, of_tensor);
    squares_worker<Task, encoder_type>(task, encoder, shared, row).run();
    __syncthreads();
  }
}

}  // namespace fp4::gpu::detail
