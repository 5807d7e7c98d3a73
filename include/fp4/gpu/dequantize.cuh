// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../choices.hpp"
#include "arguments.cuh"
#include "block.cuh"
#include "detail/decode.cuh"
#include "detail/rows.cuh"
#include "error.cuh"

namespace fp4::gpu {
namespace detail {

/// Everything that the kernel is told. `PerRow`: each row has its own tensor scale, in device memory.
template <class Format, class Layout, class Out, bool PerRow>
struct decode_task {
  static constexpr bool per_row = PerRow;
  using format = Format;
  using layout = Layout;
  using value = Out;
  static constexpr int elements = block_codes<Format>::elements;
  static constexpr int code_bytes = elements * Format::storage_bits / 8;

  quantized_view<Format, Layout, uint8_t const> in;
  matrix_view<Out> out;
  int64_t blocks;  ///< of `elements` in a row
  int64_t padded_rows;
  int warps_across;
  row_step step;
  bool aligned;  ///< codes of a block can be read by 8 bytes and values written by 16
  block_decoder on_host;
  scale_argument scale;
  decode_rule rule;
  float range;

  __host__ __device__ int64_t rows() const { return in.rows; }
  __host__ __device__ int64_t cols() const { return in.cols; }
  /// The formulas of tensor scale i in device memory.
  __device__ __forceinline__ block_decoder make_decoder(int64_t i) const {
    return block_decoder(rule, scale.read(i).with_range(range));
  }
};

template <class Task>
class decode_part {
  using format = typename Task::format;
  using layout = typename Task::layout;
  using value = typename Task::value;
  using element = typename format::element;

 public:
  using place = row_place<value, uint8_t const>;

  /// `decoder` lies in shared memory.
  __device__ __forceinline__ decode_part(Task const& task, block_decoder const& decoder, uint32_t table)
      : task_(task), decoder_(decoder), table_(table) {}
  __device__ __forceinline__ Task const& task() const { return task_; }
  __device__ __forceinline__ decode_part hidden() const { return {ptx::hidden(task_), ptx::hidden(decoder_), table_}; }

  __device__ __forceinline__ place place_of(int64_t row, int64_t block) const {
    return {task_.out.row(row) + block * Task::elements, task_.in.code_row(row) + block * Task::code_bytes,
            task_.in.scales + scale_offset<layout>(row, block, task_.blocks), static_cast<uint64_t>(row)};
  }

  /// False, with some values written, where a factor is none that the quick way can take.
  __device__ __forceinline__ bool whole(place const& at) const {
    if constexpr (!std_types::is_same<element, e2m1>::value || !format::has_block_scale) {
      return false;
    } else {
      constexpr int groups = Task::elements / 16;
      uint2 codes[blocks_per_thread * groups];
      uint32_t scale[blocks_per_thread];
#pragma unroll
      for (int u = 0; u < blocks_per_thread; ++u) {
        scale[u] = ptx::load_1(at.scales + layout::offset(0, u * 32, 0));
#pragma unroll
        for (int g = 0; g < groups; ++g) {
          codes[u * groups + g] = ptx::load_8(at.codes + u * 32 * Task::code_bytes + 8 * g);
        }
      }
      block_decoder const decoder = decoder_of(static_cast<int64_t>(at.position));
      float worst = 0.0f;
#pragma unroll
      for (int u = 0; u < blocks_per_thread; ++u) {
        float const factor = quick_factor(decoder, scale[u]);
        worst = u == 0 ? factor : ptx::max_magnitude<true>(worst, factor);
#pragma unroll
        for (int g = 0; g < groups; ++g) {
          store_16(codes[u * groups + g], factor, at.values + u * 32 * Task::elements + 16 * g);
        }
      }
      return worst < __uint_as_float(fp4::detail::infinity_bits);
    }
  }
  __device__ __forceinline__ void again(int64_t row, int64_t block) const { other(row, block); }

  /// Any block, value by value.
  __device__ __forceinline__ void other(int64_t row, int64_t block) const {
    if (block >= task_.blocks) { return; }
    uint32_t scale = 0;
    if constexpr (format::has_block_scale) { scale = task_.in.scales[scale_offset<layout>(row, block, task_.blocks)]; }
    block_decoder const decoder = decoder_of(row);
    float const factor = decode_factor<format>(decoder, scale);
    int64_t const first = block * Task::elements, left = task_.in.cols - first;
    int const count = left < Task::elements ? static_cast<int>(left) : Task::elements;
    uint8_t const* const codes = task_.in.code_row(row) + block * Task::code_bytes;
    value* const out = task_.out.row(row) + first;
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      element const code{static_cast<uint8_t>(element_at<format>(codes, i).bits & ((1u << element::width) - 1))};
      out[i] = decode_carefully<value>(decoder, code.to_float(), factor);
    }
  }

 private:
  __device__ __forceinline__ block_decoder decoder_of(int64_t row) const {
    if constexpr (Task::per_row) { return task_.make_decoder(row); }
    return decoder_;
  }
  __device__ __forceinline__ float quick_factor(block_decoder const& decoder, uint32_t scale) const {
    if constexpr (Task::per_row) {
      return quick_decode_factor<value>(decoder, decode_factor<format>(decoder, scale));
    } else {
      return ptx::load_shared(table_ + 4 * scale);
    }
  }

  /// Sixteen values.
  __device__ __forceinline__ static void store_16(uint2 codes, float factor, value* to) {
    uint4* const out = reinterpret_cast<uint4*>(to);
    auto const x = decode_16<value>(codes, factor);
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(value)); ++i) {
      out[i] = {x.word[4 * i], x.word[4 * i + 1], x.word[4 * i + 2], x.word[4 * i + 3]};
    }
  }

  Task const& task_;
  block_decoder const& decoder_;
  uint32_t table_;
};

template <class Task>
__global__ void __launch_bounds__(threads_per_cta, 4) dequantize_rows(Task const __grid_constant__ task) {
  using format = typename Task::format;
  if constexpr (Task::per_row) {
    for_rows(decode_part<Task>(task, task.on_host, 0));
    return;
  }
  __shared__ alignas(16) unsigned char memory[sizeof(block_decoder)];
  block_decoder* const made = reinterpret_cast<block_decoder*>(memory);
  if (threadIdx.x == 0) { *made = task.scale.in_memory() ? task.make_decoder(0) : task.on_host; }
  __syncthreads();
  block_decoder const& decoder = *made;
  constexpr int size = format::has_block_scale ? 256 : 1;
  __shared__ float table[size];
#pragma unroll 1
  for (int code = static_cast<int>(threadIdx.x); code < size; code += threads_per_cta) {
    table[code] =
        quick_decode_factor<typename Task::value>(decoder, decode_factor<format>(decoder, static_cast<uint32_t>(code)));
  }
  __syncthreads();
  for_rows(decode_part<Task>(task, decoder, ptx::shared_address(table)));
}

/// Enqueues the kernel, with as many thread blocks as `processors` multiprocessors need; 0: as the device has.
template <bool PerRow, class Format, class Layout, class Out>
void launch_dequantize(quantized_view<Format, Layout, uint8_t const> in, scale_argument scale, decode_rule rule,
                       matrix_view<Out> out, stream_argument stream, float range, char const* where,
                       int processors = 0) {
  using task = decode_task<Format, Layout, Out, PerRow>;
  static_assert(is_value_v<Out>, "values are float, fp4::float16 or fp4::bfloat16");
  if (!Format::has_tensor_scale) { scale = tensor_scale::from_amax(0.0f); }
  tensor_scale const known = scale.on_host();
  require(fp4::check(in, tensor_scales_view{&known, 1}, out), where);
  if (scale.is_null()) { require(fp4::detail::broken(errc::null_data, 0, 1), where); }
  if (out.size() == 0) { return; }
  int64_t const blocks = (in.cols + task::elements - 1) / task::elements;
  bool const aligned = is_aligned(out.data, out.stride * static_cast<int64_t>(sizeof(Out)), 16) &&
                       is_aligned(in.codes, in.code_stride, 8);
  int const across = warps_across(blocks);
  dim3 const grid = grid_of(blocks, in.rows, across, processors > 0 ? processors : multiprocessors(where),
                            static_cast<int>(Layout::bytes(1, 4) / 4));
  task const work{
      in,
      out,
      blocks,
      in.rows,
      across,
      step_of<Layout>(grid, across, in.rows, out.stride * static_cast<int64_t>(sizeof(Out)), in.code_stride, blocks, 1),
      aligned,
      block_decoder(rule, known),
      scale,
      rule,
      range};
  dequantize_rows<task><<<grid, threads_per_cta, 0, stream.get()>>>(work);
  check(cudaGetLastError(), where);
}

}  // namespace detail

/// Decodes a matrix on the device: the bytes of reference::dequantize.
///
/// \param in     codes and block scales in device memory.
/// \param scale  the tensor scale that it was quantized with, with its range; or where it lies in device memory.
/// \param rule   the decode_rule of its scaling: transformer_engine::decoding, ...
/// \param out    values in device memory, [rows, cols], any row stride, any alignment.
/// \param range  the range of a scale in device memory, scaling.range<Format>(). (A scale known here has its own.)
/// \throws precondition_error before anything is enqueued; gpu::error when the launch is refused.
/// \note   No allocation, no synchronisation. One pass.
template <class Format, class Layout, class Byte, class Out>
void dequantize_async(quantized_view<Format, Layout, Byte> in, scale_argument scale, decode_rule rule,
                      matrix_view<Out> out, stream_argument stream = {}, float range = 2688.0f) {
  quantized_view<Format, Layout, uint8_t const> const codes = in;
  detail::launch_dequantize<false>(codes, scale, rule, out, stream, range, "fp4::gpu::dequantize_async");
}

/// Likewise, with a tensor scale of its own for each row.
template <class Format, class Layout, class Byte, class Out>
void dequantize_async(quantized_view<Format, Layout, Byte> in, row_scales scales, decode_rule rule,
                      matrix_view<Out> out, stream_argument stream = {}, float range = 2688.0f) {
  static_assert(Format::has_tensor_scale, "this format has no tensor scale");
  quantized_view<Format, Layout, uint8_t const> const codes = in;
  detail::launch_dequantize<true>(codes, scales.first(), rule, out, stream, range, "fp4::gpu::dequantize_async");
}

}  // namespace fp4::gpu
