// SPDX-License-Identifier: Apache-2.0
// Column-wise results, alone and together with the row-wise one: each pair of rounding, transform, layout, input type
// and format occurs.
#include <fp4/gpu/quantize_both.cuh>

#include "contract.cuh"

namespace {

using namespace fp4;
using test::situation;

template <class Scaling, class Rounding, class Transform>
using down = choices<Scaling, Rounding, Transform, blocks_1d, columnwise>;

/// The shapes of the row-wise tests, turned, and with a multiple of the transform as length.
situation situation_of(int v, std::int64_t rows_of, std::int64_t cols_of) {
  constexpr std::int64_t sizes[][2] = {{1040, 33}, {17, 1}, {80, 200}, {16, 1}, {32, 0}, {272, 264}, {0, 16}};
  auto const up = [](std::int64_t x, std::int64_t n) { return (x + n - 1) / n * n; };
  return {up(sizes[v % 7][0], rows_of), up(sizes[v % 7][1], cols_of),
          static_cast<test::data_kind>(v % test::data_kinds), static_cast<test::scale_kind>((v + v / 4) % 4), v};
}

template <class In, class Format, class Layout, class Scaling, class Rounding, class Transform = no_transform>
void run(char const* what) {
  for (int v = 0; v < 14; ++v) {
    auto const now = situation_of(v, Transform::size, 1);
    std::string const text = test::broken_call<In, Format, Layout, down<Scaling, Rounding, Transform>>(now);
    program::check(text.empty(), what, __FILE__, __LINE__, ", " + test::describe(now) + ": " + text);
  }
}

template <class In, class Row, class RowLayout, class Col, class ColLayout, class Format = nvfp4,
          class ColFormat = nvfp4>
void run_both(char const* what, int count = 14) {
  for (int v = 0; v < count; ++v) {
    auto const now = situation_of(v, decltype(Col::transform)::size, decltype(Row::transform)::size);
    test::input<In> in(now);
    auto const row_how = test::make_choices<Row, Format>(now);
    auto const col_how = test::make_choices<Col, ColFormat>(now);
    test::result<Format, RowLayout, Row> row(now.rows, now.cols, row_how,
                                             test::make_scale<Format>(now, in.on_host(), row_how), v);
    test::result<ColFormat, ColLayout, Col> col(now.cols, now.rows, col_how,
                                                test::make_scale<ColFormat>(now, in.on_host(), col_how), v + v / 5);
    reference::quantize(in.on_host(), row.wanted(), row.scales(), row_how);
    reference::quantize(in.on_host(), col.wanted(), col.scales(), col_how);
    gpu::quantize_both_async(in.on_gpu(), gpu::operand(row.out(), row.argument(), row.given(), row.random()),
                             gpu::operand(col.out(), col.argument(), col.given(), col.random()));
    for (std::string const& text : {row.difference(), col.difference()}) {
      program::check(text.empty(), what, __FILE__, __LINE__, ", " + test::describe(now) + ": " + text);
    }
  }
}

}  // namespace

CASE(down_columns) {
  run<bfloat16, nvfp4, tiled_128x4_scales, transformer_engine, nearest_even>("nearest");
  run<float, nvfp4, linear_scales, transformer_engine, stochastic>("stochastic");
  run<float16, nvfp4, tiled_8x4_scales, search, nearest_even>("search");
  run<float, nvfp4_block32, tiled_128x4_scales, transformer_engine, stochastic>("blocks of 32");
  run<bfloat16, mxfp8_e4m3, tiled_128x4_scales, mx_ceil, nearest_even>("mxfp8");
  run<float16, fp8_e5m2, linear_scales, tensor_amax, nearest_even>("fp8");
}
CASE(down_columns_transformed) {
  run<bfloat16, nvfp4, linear_scales, transformer_engine, stochastic, hadamard<16>>("16");
  run<float, nvfp4, tiled_128x4_scales, vllm, nearest_even, hadamard<64>>("64");
  run<bfloat16, nvfp4, tiled_8x4_scales, transformer_engine, toward_zero, hadamard<128>>("128");
  run<float, nvfp4, linear_scales, transformer_engine, stochastic, hadamard<256>>("256");
}
CASE(both) {
  run_both<bfloat16, choices<transformer_engine>, tiled_128x4_scales,
           down<transformer_engine, nearest_even, hadamard<16>>, tiled_128x4_scales>("activations of the recipe");
  run_both<bfloat16, choices<transformer_engine, stochastic>, linear_scales,
           down<transformer_engine, stochastic, hadamard<16>>, tiled_8x4_scales>("gradients of the recipe");
  run_both<float, choices<trtllm, nearest_even, hadamard<32>>, linear_scales,
           down<transformer_engine, nearest_even, no_transform>, tiled_128x4_scales>("float");
  run_both<float16, choices<mx_floor>, tiled_128x4_scales, down<transformer_engine, stochastic, hadamard<256>>,
           linear_scales, mxfp4, nvfp4>("two formats", 7);
  run_both<float, choices<transformer_engine, nearest_even, hadamard<256>>, linear_scales,
           down<transformer_engine, nearest_even, no_transform>, linear_scales>("too large a tile", 4);
}
CASE(large) {
  situation const now{513, 4112, test::data_kind::tie_aligned, test::scale_kind::amax, 30};
  std::string const text =
      test::broken_call<bfloat16, nvfp4, tiled_128x4_scales, down<transformer_engine, nearest_even, no_transform>>(now);
  program::check(text.empty(), "large", __FILE__, __LINE__, ": " + text);
}

int main(int argc, char** argv) { return program::run(argc, argv); }
