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
  static constexpr int transform_lanes = Transform::size / block_codes<Format>::elements;
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
  row_step step;
  bool aligned;    ///< every block can be read by 16 bytes and written by 8
  tensor on_host;  ///< the formulas, where the tensor scale is known on the host
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
  /// `tensor` lies in shared memory.
  __device__ __forceinline__ row_part(Task const& task, typename Task::tensor const& tensor, Factors factors,
                                      round_keys keys)
      : task_(task), tensor_(tensor), factors_(factors), keys_(keys) {}
  __device__ __forceinline__ Task const& task() const { return task_; }
  __device__ __forceinline__ row_part hidden() const {
    return {ptx::hidden(task_), ptx::hidden(tensor_), factors_, keys_};
  }

  using place = row_place<value const, uint8_t>;
  __device__ __forceinline__ place place_of(int64_t row, int64_t block) const {
    return {task_.in.row(row) + block * Task::elements, task_.out.code_row(row) + block * Task::code_bytes,
            scale_place(row, block), position_of(row, block)};
  }

  /// The block at `at`, the one 32 further, ... of a row, all of them whole and aligned. False, with something written, where one
  /// needs care.
  __device__ __forceinline__ bool whole(place const& at) const {
    if constexpr (is_transformed_v<typename Task::transform>) {
      if (task_.turn.rounds_to_bfloat16) { return whole_as<bfloat16>(at); }
    }
    return whole_as<float>(at);
  }
  /// Transformed is what a transform leaves behind.
  template <class Transformed>
  __device__ __forceinline__ bool whole_as(place const& at) const {
    constexpr bool quick = has_quick_way<format, typename Task::tensor, rounding>();
    constexpr int together = groups == 1 ? drawn_together() : 1;
    auto drawn = draw(at.position, 0);
    float reach = 0.0f;
#pragma unroll
    for (int u = 0; u < blocks_per_thread; ++u) {
      if (u > 0 && u % together == 0) { drawn = draw(at.position, u); }
      auto const words = [&](int g) { return drawn(u % together + g); };
      auto const loaded = values::load_aligned(at.values + u * 32 * Task::elements);
      auto const x = transformed_as<Transformed>(task_.turn, loaded);
      codes out;
      if constexpr (quick) {
        float const here = quantize_quickly(tensor_, factors_, task_.how, words, x, out, task_.top);
        reach = u == 0 ? here : ptx::max_magnitude<true>(reach, here);
      } else {
        quantize_carefully(tensor_, factors_, task_.how, words, x, out);
      }
      store(at.codes + u * 32 * Task::code_bytes, at.scales + layout::offset(0, u * 32, 0), out);
    }
    bool good = !quick || reach < quick_bound<rounding>();
    if constexpr (is_stochastic_v<rounding>) {
      good = good && !random_words<blocks_per_thread * groups>::carries(at.position, 32);
    }
    if constexpr (Task::transform_lanes > 1) { good = __all_sync(~0u, good); }  // they transform together
    return good;
  }
  /// One of them, with care.
  __device__ __forceinline__ void again(int64_t row, int64_t block) const {
    auto const x = transformed(task_.turn, values::load_aligned(task_.in.row(row) + block * Task::elements));
    codes out;
    quantize_carefully(tensor_, factors_, task_.how, random_at(row, block), x, out);
    store(task_.out.code_row(row) + block * Task::code_bytes, scale_place(row, block), out);
  }

  /// Any block, also one that is cut or is padding of the scales.
  __device__ __forceinline__ void other(int64_t row, int64_t block) const {
    if (block >= task_.padded_blocks) { return; }
    uint8_t* const scale = scale_place(row, block);
    if (row >= task_.in.rows || block >= task_.blocks) {
      if constexpr (format::has_block_scale) { *scale = 0; }
      return;
    }
    int64_t const left = task_.in.cols - block * Task::elements;
    int const count = left < Task::elements ? static_cast<int>(left) : Task::elements;
    bool const easy = task_.aligned && count == Task::elements;
    value const* const in = task_.in.row(row) + block * Task::elements;
    auto const x = transformed(task_.turn, easy ? values::load_aligned(in) : values::load(in, count));
    auto const random = random_at(row, block);
    codes out;
    if (!quantize_usually(tensor_, factors_, task_.how, random, x, out)) {
      quantize_carefully(tensor_, factors_, task_.how, random, x, out);
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

  __device__ __forceinline__ uint64_t position_of(int64_t row, int64_t block) const {
    if constexpr (is_stochastic_v<rounding>) {
      return static_cast<uint64_t>(task_.how.first_row + row) * task_.random_row +
             static_cast<uint64_t>(task_.how.first_block + block) * groups;
    } else {
      return 0;
    }
  }
  /// The words of one block.
  __device__ __forceinline__ auto random_at(int64_t row, int64_t block) const {
    if constexpr (is_stochastic_v<rounding>) {
      stochastic const how = task_.random.read(task_.how);
      return random_words<groups>(how.seed, how.stream, position_of(row, block), 1);
    } else {
      return no_random{};
    }
  }
  /// Blocks of 16 whose words are made together: the more the cheaper, as far as registers suffice.
  __device__ static constexpr int drawn_together() { return groups == 1 ? blocks_per_thread : groups; }
  /// The words of block u of those at `position`, and of those after it.
  __device__ __forceinline__ auto draw(uint64_t position, int u) const {
    if constexpr (is_stochastic_v<rounding>) {
      return random_words<drawn_together()>(keys_, position + static_cast<uint32_t>(u * 32 * groups),
                                            groups == 1 ? 32 : 1);
    } else {
      return no_random{};
    }
  }

  __device__ __forceinline__ uint8_t* scale_place(int64_t row, int64_t block) const {
    return task_.out.scales + scale_offset<layout>(row, block, task_.blocks);
  }
  __device__ __forceinline__ static void store(uint8_t* to, uint8_t* scale, codes const& out) {
    store_codes_aligned(to, out);
    if constexpr (format::has_block_scale) { *scale = static_cast<uint8_t>(out.scale); }
  }

  Task const& task_;
  typename Task::tensor const& tensor_;
  Factors factors_;
  round_keys keys_;
};

/// Puts the formulas into shared memory, made of a tensor scale in device memory if it lies there. Ends with a barrier.
template <class Task>
__device__ __forceinline__ typename Task::tensor const& tensor_of(Task const& task, void* shared) {
  using tensor = typename Task::tensor;
  static_assert(std_types::is_trivially_copyable<tensor>::value, "formulas are plain numbers");
  tensor* const made = static_cast<tensor*>(shared);
  if (threadIdx.x == 0) { *made = task.scale.in_memory() ? task.make_tensor() : task.on_host; }
  __syncthreads();
  return *made;
}

/// Thread blocks on a multiprocessor that registers are shared among: four leave 64 to a thread, which the usual
/// kernels do with; two leave 128.
template <class Task>
constexpr int ctas_per_multiprocessor() {
  constexpr bool stochastically = is_stochastic_v<typename Task::rounding>;
  constexpr bool transforms = is_transformed_v<typename Task::transform>;
  constexpr bool small = Task::elements == 16 && Task::transform_lanes <= 1 && !(stochastically && transforms) &&
                         (sizeof(typename Task::value) == 2 || !(stochastically || transforms));
  using tensor = typename Task::tensor;
  if (Task::elements * sizeof(typename Task::value) > 64) { return 1; }
  return small && tensor::elements == element_rule::multiply && tensor::scales == scale_rule::rounded ? 4 : 2;
}

template <class Task>
__global__ void __launch_bounds__(threads_per_cta, ctas_per_multiprocessor<Task>())
    quantize_rows(Task const __grid_constant__ task) {
  using format = typename Task::format;
  using tensor_type = typename Task::tensor;
  __shared__ alignas(16) unsigned char tensor_memory[sizeof(tensor_type)];
  tensor_type const& tensor = tensor_of(task, tensor_memory);

  round_keys keys{};
  if constexpr (is_stochastic_v<typename Task::rounding>) {
    stochastic const how = task.random.read(task.how);
    __shared__ alignas(16) uint32_t key_memory[round_keys::size];
    round_keys::fill(how.seed, how.stream, key_memory);
    keys.address = ptx::shared_address(key_memory);
    __syncthreads();
  }

  auto const run = [&](auto factors) { for_rows(row_part<Task, decltype(factors)>(task, tensor, factors, keys)); };
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
