// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The row-wise kernel: blocks along rows, no transform.

#include "../arguments.cuh"
#include "../block.cuh"
#include "hadamard.cuh"
#include "rows.cuh"

namespace fp4::gpu::detail {

/// Everything that the kernel is told. Its types are the whole of what it is compiled for.
template <class Format, class Layout, class In, class Scaling, class Rounding, class Transform>
struct rows_task {
  using format = Format;
  using layout = Layout;
  using value = In;
  using rounding = Rounding;
  using transform = Transform;
  using tensor = decltype(std_types::declval<Scaling const&>().template for_tensor<Format>(
      std_types::declval<tensor_scale const&>()));
  static constexpr int elements = block_codes<Format>::elements;
  static constexpr int code_bytes = elements * Format::storage_bits / 8;

  matrix_view<In const> in;
  quantized_view<Format, Layout> out;
  int64_t blocks;         ///< of `elements` in a row
  int64_t padded_blocks;  ///< those that have a scale in the layout
  int64_t padded_rows;
  int warps_across;  ///< warps of a thread block that lie side by side in a row: a power of two
  bool aligned;      ///< every block can be read by 16 bytes and written by 8
  tensor on_host;    ///< the formulas, where the tensor scale is known on the host
  scale_argument scale;
  Scaling scaling;
  Rounding how;
  random_argument random;
  uint64_t random_row;  ///< positions in a row of the whole matrix
  transform_task<Transform> turn;
  uint32_t top = random_top;

  __host__ __device__ int64_t rows() const { return in.rows; }
  __host__ __device__ int64_t cols() const { return in.cols; }
  __device__ __forceinline__ tensor make_tensor() const {
    return scaling.template for_tensor<Format>(scale.read().with_range(scaling.template range<Format>()));
  }
};

/// Writes a block's codes; the last of a row may be cut.
template <class Format>
__device__ __forceinline__ void store_codes_anywhere(uint8_t* to, block_codes<Format> const& codes) {
#pragma unroll
  for (int i = 0; i < block_codes<Format>::elements * Format::storage_bits / 8; ++i) {
    to[i] = static_cast<uint8_t>(codes.word[i / 4] >> i % 4 * 8);
  }
}
template <class Format>
__device__ __forceinline__ void store_codes_aligned(uint8_t* to, block_codes<Format> const& codes) {
#pragma unroll
  for (int i = 0; i < block_codes<Format>::elements * Format::storage_bits / 32; i += 2) {
    reinterpret_cast<uint2*>(to)[i / 2] = {codes.word[i], codes.word[i + 1]};
  }
}

/// One warp's part of a row.
template <class Task, class Factors>
class row_part {
  using format = typename Task::format;
  using layout = typename Task::layout;
  using value = typename Task::value;
  using rounding = typename Task::rounding;
  using values = block_values<value, Task::elements>;
  using codes = block_codes<format>;

 public:
  __device__ __forceinline__ row_part(Task const& task, typename Task::tensor const& tensor, Factors factors,
                                      int64_t block)
      : task_(task), tensor_(tensor), factors_(factors), how_(task.how), block_(block) {
    if constexpr (is_stochastic_v<rounding>) { how_ = task.random.read(task.how); }
  }

  using place = row_place<value const, uint8_t>;
  __device__ __forceinline__ place place_of(int64_t row) const {
    return {task_.in.row(row) + block_ * Task::elements, task_.out.code_row(row) + block_ * Task::code_bytes,
            task_.out.scales + scale_offset<layout>(row, block_, task_.blocks)};
  }
  __device__ __forceinline__ row_distance distance_of(int64_t rows) const {
    return {rows * task_.in.stride, rows * task_.out.code_stride, rows * task_.blocks};
  }
  __device__ __forceinline__ void find_scales(place& at, int64_t row) const {
    at.scales = task_.out.scales + scale_offset<layout>(row, block_, task_.blocks);
  }
  static constexpr bool is_linear = std_types::is_same<layout, linear_scales>::value;

  /// Blocks block_, block_ + 32, ... of a row, all of them whole and aligned. The bits of the result name those that
  /// have to be done again, by `other`.
  __device__ __forceinline__ unsigned whole(place const& at, int64_t row) const {
    auto const random = random_at<true>(row, block_);
    unsigned left = 0;
#pragma unroll
    for (int u = 0; u < blocks_per_thread; ++u) {
      auto const x = transformed(task_.turn, values::load_aligned(at.values + u * 32 * Task::elements));
      codes out;
      auto const words = [&](int g) { return random(groups * u + g); };
      bool again = !quantize_usually(tensor_, factors_, how_, words, x, out, task_.top);
      if constexpr (is_transformed_v<typename Task::transform>) {  // lanes that transform together go together
        again = __any_sync(~0u, again);
      }
      if (again) { left |= 1u << u; }
      store_codes_aligned(at.codes + u * 32 * Task::code_bytes, out);
      if constexpr (format::has_block_scale) {
        at.scales[layout::offset(0, u * 32, 0)] = static_cast<uint8_t>(out.scale);
      }
    }
    return left;
  }

  /// Any block, also one that is cut or is padding of the scales.
  __device__ __forceinline__ void other(int64_t row, int64_t block) const {
    if (block >= task_.padded_blocks) { return; }
    uint8_t* const scale = task_.out.scales + scale_offset<layout>(row, block, task_.blocks);
    if (row >= task_.in.rows || block >= task_.blocks) {
      if constexpr (format::has_block_scale) { *scale = 0; }
      return;
    }
    int64_t const left = task_.in.cols - block * Task::elements;
    int const count = left < Task::elements ? static_cast<int>(left) : Task::elements;
    bool const easy = task_.aligned && count == Task::elements;
    value const* const in = task_.in.row(row) + block * Task::elements;
    auto const x = transformed(task_.turn, easy ? values::load_aligned(in) : values::load(in, count));
    auto const random = random_at<false>(row, block);
    codes out;
    if (!quantize_usually(tensor_, factors_, how_, random, x, out)) {
      quantize_carefully(tensor_, factors_, how_, random, x, out);
    }
    uint8_t* const to = task_.out.code_row(row) + block * Task::code_bytes;
    if (easy) {
      store_codes_aligned(to, out);
    } else if constexpr (format::has_block_scale) {
      out.keep(count);
      store_codes_anywhere(to, out);
    } else {  // rows of codes end where the elements do
      for (int i = 0; i < count; ++i) { to[i] = static_cast<uint8_t>(out.word[i / 4] >> i % 4 * 8); }
    }
    if constexpr (format::has_block_scale) { *scale = static_cast<uint8_t>(out.scale); }
  }

 private:
  static constexpr int groups = Task::elements / 16;

  /// The words of one block, or of all that a thread takes at a time.
  template <bool All>
  __device__ __forceinline__ auto random_at(int64_t row, int64_t block) const {
    if constexpr (is_stochastic_v<rounding>) {
      uint64_t const position = static_cast<uint64_t>(how_.first_row + row) * task_.random_row +
                                static_cast<uint64_t>(how_.first_block + block) * groups;
      if constexpr (All && groups == 1) {
        return random_words<blocks_per_thread>(how_.seed, how_.stream, position, 32);
      } else if constexpr (All) {
        return [how = how_, position](int i) {
          return block_bits(how.seed, how.stream,
                            position + static_cast<uint64_t>(i / groups * 32 * groups + i % groups));
        };
      } else {
        return random_words<groups>(how_.seed, how_.stream, position, 1);
      }
    } else {
      return no_random{};
    }
  }

  Task const& task_;
  typename Task::tensor const& tensor_;
  Factors factors_;
  rounding how_;
  int64_t block_;
};

/// Makes the formulas of a tensor scale that lies in device memory, once a thread block. Ends with a barrier.
template <class Task>
__device__ __forceinline__ typename Task::tensor tensor_of(Task const& task, void* shared) {
  using tensor = typename Task::tensor;
  static_assert(std_types::is_trivially_copyable<tensor>::value, "formulas are plain numbers");
  if (!task.scale.in_memory()) { return task.on_host; }
  tensor* const made = static_cast<tensor*>(shared);
  if (threadIdx.x == 0) { *made = task.make_tensor(); }
  __syncthreads();
  return *made;
}

template <class Task>
__global__ void __launch_bounds__(threads_per_cta, 4) quantize_rows(Task const __grid_constant__ task) {
  using format = typename Task::format;
  using tensor_type = typename Task::tensor;
  __shared__ alignas(16) unsigned char tensor_memory[sizeof(tensor_type)];
  tensor_type const tensor = tensor_of(task, tensor_memory);

  int64_t const block = first_block_of(task.warps_across);
  auto const run = [&](auto factors) {
    row_part<Task, decltype(factors)> const part(task, tensor, factors, block);
    for_rows(task, part, block);
  };
  if constexpr (tensor_type::scales == scale_rule::rounded) {
    using factors =
        tabulated_factors<format, tensor_type, has_quick_way<format, tensor_type, typename Task::rounding>()>;
    __shared__ float table[factors::size];
    factors::fill(tensor, table);
    __syncthreads();
    run(factors{ptx::shared_address(table)});
  } else {
    run(computed_factors<format, tensor_type>{});
  }
}

}  // namespace fp4::gpu::detail
