// SPDX-License-Identifier: Apache-2.0
// 16 x 16 blocks: row-wise, column-wise and both.
#include <fp4/gpu/quantize_both.cuh>

#include "contract.cuh"

namespace {

using namespace fp4;
using test::situation;

template <class Scaling, class Rounding, class Direction, class Transform = no_transform>
using square = choices<Scaling, Rounding, Transform, blocks_2d, Direction>;

situation situation_of(int v, std::int64_t cols_of) {
  constexpr std::int64_t sizes[][2] = {{33, 1040}, {1, 17}, {200, 80}, {16, 16}, {0, 32}, {264, 272}, {17, 1}};
  std::int64_t const cols = (sizes[v % 7][1] + cols_of - 1) / cols_of * cols_of;
  return {sizes[v % 7][0], cols, static_cast<test::data_kind>(v % test::data_kinds),
          static_cast<test::scale_kind>((v + v / 4) % 4), v};
}

template <class In, class Layout, class Choices, class Format = nvfp4>
void run(char const* what) {
  for (int v = 0; v < 14; ++v) {
    auto const now = situation_of(v, decltype(Choices::transform)::size);
    std::string const text = test::broken_call<In, Format, Layout, Choices>(now);
    program::check(text.empty(), what, __FILE__, __LINE__, ", " + test::describe(now) + ": " + text);
  }
}

template <class In, class Layout, class TurnedLayout, class Scaling, class Rounding, class Format = nvfp4>
void run_both(char const* what) {
  using row_choices = square<Scaling, Rounding, rowwise>;
  using col_choices = square<Scaling, Rounding, columnwise>;
  for (int v = 0; v < 14; ++v) {
    auto const now = situation_of(v, 1);
    test::input<In> in(now, {16, 16});
    auto const how = test::make_choices<row_choices, Format>(now);
    auto const down = test::make_choices<col_choices, Format>(now);
    auto const scale = test::make_scale<Format>(now, in.on_host(), how);
    test::result<Format, Layout, row_choices> row(now.rows, now.cols, how, scale, v);
    test::result<Format, TurnedLayout, col_choices> col(now.cols, now.rows, down, scale, v);
    reference::quantize(in.on_host(), row.wanted(), row.scales(), how);
    reference::quantize(in.on_host(), col.wanted(), col.scales(), down);
    gpu::quantize_both_async(in.on_gpu(), row.out(), col.out(), row.argument(), row.given(), nullptr, row.random());
    for (std::string const& text : {row.difference(), col.difference()}) {
      program::check(text.empty(), what, __FILE__, __LINE__, ", " + test::describe(now) + ": " + text);
    }
  }
}

}  // namespace

CASE(one_way) {
  run<bfloat16, tiled_128x4_scales, square<transformer_engine, nearest_even, columnwise>>("columns");
  run<float, linear_scales, square<vllm, stochastic, columnwise>>("columns, stochastic");
  run<float16, tiled_8x4_scales, square<four_over_six, toward_zero, rowwise>>("rows, chosen scales");
  run<bfloat16, linear_scales, square<transformer_engine, nearest_even, rowwise, hadamard<16>>>("transformed");
  run<float, tiled_128x4_scales, square<search, stochastic, rowwise, hadamard<256>>>("transformed, chosen scales");
}
CASE(both_ways) {
  run_both<bfloat16, tiled_128x4_scales, tiled_128x4_scales, transformer_engine, nearest_even>("weights");
  run_both<float, linear_scales, tiled_8x4_scales, transformer_engine, stochastic, nvfp4_ue5m3>("stochastic");
  run_both<float16, tiled_8x4_scales, linear_scales, exact, nearest_even>("exact");
}
CASE(large) {
  situation const now{513, 4112, test::data_kind::tie_aligned, test::scale_kind::amax, 30};
  std::string const text =
      test::broken_call<bfloat16, nvfp4, tiled_128x4_scales, square<transformer_engine, nearest_even, columnwise>>(now);
  program::check(text.empty(), "large", __FILE__, __LINE__, ": " + text);
}

int main(int argc, char** argv) { return program::run(argc, argv); }
