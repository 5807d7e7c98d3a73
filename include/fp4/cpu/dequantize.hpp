// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "detail/dispatch.hpp"

FP4_EXACT_BEGIN
namespace fp4::cpu {
namespace detail {

/// Output past this many bytes would push everything else out of the caches: it is written around them.
inline constexpr int64_t streaming_bytes = int64_t{16} << 20;

template <class Backend, class Format, class Layout, class Out>
class dequantize_job {
  static constexpr int block_size = Format::block_size;

 public:
  dequantize_job(quantized_view<Format, Layout, uint8_t const> in, tensor_scales_view scales, decode_rule rule,
                 matrix_view<Out> out) noexcept
      : in_(in),
        scales_(scales),
        rule_(rule),
        out_(out),
        streams_(out.size() * static_cast<int64_t>(sizeof(Out)) >= streaming_bytes) {}

  [[nodiscard]] int64_t units() const noexcept { return out_.size() == 0 ? 0 : out_.rows * tiles_per_row(); }
  [[nodiscard]] int64_t unit_values() const noexcept { return out_.cols < tile_elements ? out_.cols : tile_elements; }

  FP4_NOINLINE void run(int64_t first, int64_t last) noexcept {
    int64_t const tiles = tiles_per_row();
    int64_t row = first / tiles, tile = first % tiles;
    block_decoder decoder = decoder_of(row);
    for (int64_t unit = first; unit < last; ++unit) {
      run_tile(decoder, row, tile * tile_elements);
      if (++tile == tiles) {
        tile = 0, ++row;
        if (scales_.count != 1 && unit + 1 < last) { decoder = decoder_of(row); }
      }
    }
    if (streams_) { Backend::end_streams(); }
  }

 private:
  [[nodiscard]] int64_t tiles_per_row() const noexcept { return (out_.cols + tile_elements - 1) / tile_elements; }
  [[nodiscard]] block_decoder decoder_of(int64_t row) const noexcept {
    return {rule_, Format::has_tensor_scale ? scales_.of_row(row) : tensor_scale::from_amax(0.0f)};
  }

  void run_tile(block_decoder const& decoder, int64_t row, int64_t column) noexcept {
    int const count = static_cast<int>(out_.cols - column < tile_elements ? out_.cols - column : tile_elements);
    int const whole = count / block_size, rest = count % block_size;
    tile_scales scales;
    if constexpr (Format::has_block_scale) {
      int64_t const block = column / block_size;
      read_scales(row, block, whole + (rest > 0), scales.code);
      Backend::template decode_factors<typename Format::scale>(decoder, whole + (rest > 0), scales);
    } else {
      scales.factor[0] = 1.0f;
      decoder.factor(scales.factor[0]);
    }
    uint8_t const* const codes = in_.code_row(row) + column * Format::storage_bits / 8;
    Out* const out = out_.row(row) + column;
    Backend::template decode<Format>(decoder, codes, whole, scales, out, streams_);
    if (rest > 0) {
      Out last[block_size];
      scales.factor[0] = scales.factor[whole];
      Backend::template decode<Format>(decoder, codes + whole * block_size * Format::storage_bits / 8, 1, scales, last,
                                       false);
      std::memcpy(out + whole * block_size, last, static_cast<size_t>(rest) * sizeof(Out));
    }
  }

  void read_scales(int64_t row, int64_t block, int count, uint8_t* code) const noexcept {
    if constexpr (std_types::is_same<Layout, linear_scales>::value) {
      std::memcpy(code, in_.scales + row * in_.blocks_per_row() + block, static_cast<size_t>(count));
    } else {  // four blocks lie together in every tiled layout, padding included
      for (int i = 0; i < count; i += 4) { std::memcpy(code + i, in_.scales + in_.scale_offset(row, block + i), 4); }
    }
  }

  quantized_view<Format, Layout, uint8_t const> in_;
  tensor_scales_view scales_;
  decode_rule rule_;
  matrix_view<Out> out_;
  bool streams_;
};

}  // namespace detail

/// Decodes a quantized matrix.
///
/// \param in      codes and block scales, [rows, cols].
/// \param scales  the tensor scales that it was quantized with, one or one a row.
/// \param rule    the decode_rule of its scaling.
/// \param out     values, [rows, cols], any row stride; elements between cols and the stride are not touched.
/// \throws precondition_error when check(in, scales, out) finds anything; then nothing was written.
/// \note   The fp32 product in the order of `rule`, rounded to nearest even for float16 and bfloat16. Bit-exact on
///         every path and at every thread count.
template <class Format, class Layout, class Byte, class Out, class Execution = default_execution>
void dequantize(quantized_view<Format, Layout, Byte> in, tensor_scales_view scales, decode_rule rule,
                matrix_view<Out> out, Execution execution = {}, path p = path::automatic) {
  constexpr char const* where = "fp4::cpu::dequantize";
  static_assert(is_value_v<Out>, "values are float, fp4::float16 or fp4::bfloat16");
  quantized_view<Format, Layout, uint8_t const> const codes = in;
  require(check(codes, scales, out), where);
  require(check(execution), where);
  require(check(p), where);
  detail::with_backend(p, [&](auto backend) {
    detail::dequantize_job<decltype(backend), Format, Layout, Out> job(codes, scales, rule, out);
    int64_t const unit_values = job.unit_values() > 0 ? job.unit_values() : 1;
    fp4::detail::for_each_part(execution, job.units(), 1 + 32768 / unit_values, [&](int64_t first, int64_t last) {
      detail::exact_environment const environment;
      job.run(first, last);
    });
  });
}

}  // namespace fp4::cpu
FP4_EXACT_END
