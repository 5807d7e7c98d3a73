// SPDX-License-Identifier: Apache-2.0
// The way back: every scaling's decode rule, layout and output type; and amax.
#include <fp4/gpu/amax.cuh>
#include <fp4/gpu/dequantize.cuh>

#include <fp4/reference/reference.hpp>

#include <limits>

#include "ptx/programs/check.hpp"
#include "support/buffer.hpp"
#include "support/data.hpp"
#include "support/schemes.hpp"

namespace {

using namespace fp4;
using program::on_device;

constexpr decode_rule rules[] = {decode_rule::amax_over_range, decode_rule::product,    decode_rule::quotient,
                                 decode_rule::ratio,           decode_rule::block_only, decode_rule::tensor_only};
constexpr std::int64_t sizes[][2] = {{33, 1040}, {1, 17}, {200, 80}, {1, 16}, {0, 32}, {5, 2048}, {3, 4112}};

/// Any bytes are codes and scales. A few scales are NaN.
template <class Format, class Layout, class Out>
void run_one(char const* what, int v, std::int64_t rows, std::int64_t cols, int multiprocessors = 0) {
  test::random_numbers random(static_cast<std::uint64_t>(v));
  std::int64_t const code_stride = Format::row_bytes(cols) + (v % 4 == 3 ? 9 : v % 4 == 2 ? 8 : 0);
  std::int64_t const scale_bytes = Format::has_block_scale ? Layout::bytes(rows, Format::blocks(cols)) : 0;
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(rows * code_stride) + 1);
  std::vector<std::uint8_t> scales(static_cast<std::size_t>(scale_bytes) + 1);
  for (auto& c : codes) { c = static_cast<std::uint8_t>(random.next()); }
  for (auto& s : scales) { s = static_cast<std::uint8_t>(random.below(50) == 0 ? 0x7F : random.below(0x7F)); }
  quantized_view<Format, Layout, std::uint8_t const> q(codes.data(), scales.data(), scale_bytes, rows, cols);
  q.code_stride = code_stride;

  constexpr float amaxes[] = {1.0f,   10.5f, 3e38f,   1e-45f,
                              1e-38f, 0.0f,  7.7e35f, std::numeric_limits<float>::infinity()};
  float const amax = amaxes[v % 8];
  tensor_scale const scale = test::make_scales(static_cast<test::scale_kind>(v % 3), amax, 2688.0f, 1).front();
  std::int64_t const stride = cols + (v % 3 == 1 ? 5 : v % 3 == 2 ? 8 : 0);
  std::vector<Out> wanted(static_cast<std::size_t>(rows * stride) + 1, Out{}), got = wanted;
  decode_rule const rule = Format::has_block_scale ? rules[v % 5] : decode_rule::tensor_only;
  reference::dequantize(q, {&scale, 1}, rule, matrix_view<Out>(wanted.data(), rows, cols, stride));

  on_device<std::uint8_t> device_codes(codes), device_scales(scales);
  on_device<Out> out(got);
  on_device<float> stored(std::vector<float>{scale.stored()});
  gpu::scale_argument argument = scale;
  if (v % 2 == 1) {
    argument = scale.made_from() == tensor_scale::source::amax     ? gpu::scale_argument::from_amax(stored.data())
               : scale.made_from() == tensor_scale::source::encode ? gpu::scale_argument::from_encode(stored.data())
                                                                   : gpu::scale_argument::from_decode(stored.data());
  }
  quantized_view<Format, Layout> on_gpu(device_codes.data(), device_scales.data(), scale_bytes, rows, cols);
  on_gpu.code_stride = code_stride;
  matrix_view<Out> const to(out.data(), rows, cols, stride);
  if (multiprocessors == 0) {
    gpu::dequantize_async(on_gpu, argument, rule, to);
  } else {
    quantized_view<Format, Layout, std::uint8_t const> const from = on_gpu;
    gpu::detail::launch_dequantize<false>(from, argument, rule, to, {}, 2688.0f, "test", multiprocessors);
  }
  CUDA(cudaDeviceSynchronize());
  got = out.back();
  std::string const text = test::first_difference(
      reinterpret_cast<std::uint8_t const*>(got.data()), reinterpret_cast<std::uint8_t const*>(wanted.data()),
      static_cast<std::int64_t>(got.size() * sizeof(Out)), stride * static_cast<std::int64_t>(sizeof(Out)));
  program::check(text.empty(), what, __FILE__, __LINE__, " " + std::to_string(v) + ": " + text);
}
template <class Format, class Layout, class Out>
void run(char const* what) {
  for (int v = 0; v < 21; ++v) { run_one<Format, Layout, Out>(what, v, sizes[v % 7][0], sizes[v % 7][1]); }
}

template <class In>
void run_amax(char const* what) {
  for (int v = 0; v < 14; ++v) {
    std::int64_t const rows = sizes[v % 7][0], cols = sizes[v % 7][1], stride = cols + (v % 2) * 3;
    auto const m =
        test::make_data(static_cast<test::data_kind>(v % test::data_kinds), rows, cols, static_cast<std::uint64_t>(v));
    std::vector<In> values = test::as_values<In>(m, stride);
    values.push_back(In{});  // never empty
    on_device<In> in(values);
    on_device<float> amax(1);
    gpu::amax_async(matrix_view<In const>(in.data(), rows, cols, stride), amax.data());
    CUDA(cudaDeviceSynchronize());
    float const wanted =
        reference::amax(matrix_view<In const>(values.data(), rows, cols, stride), no_transform{}, rowwise{});
    program::check(test::bits_of(amax.back()[0]) == test::bits_of(wanted), what, __FILE__, __LINE__,
                   " " + std::to_string(v));
  }
}

}  // namespace

CASE(nvfp4_values) {
  run<nvfp4, linear_scales, float>("float");
  run<nvfp4, tiled_128x4_scales, float16>("float16");
  run<nvfp4, tiled_8x4_scales, bfloat16>("bfloat16");
}
// Few thread blocks: each takes many rows, one after another.
CASE(any_grid) {
  run_one<nvfp4, tiled_128x4_scales, float16>("float16", 0, 700, 2048, 1);
  run_one<nvfp4, linear_scales, bfloat16>("bfloat16", 0, 100, 4096, 2);
  run_one<nvfp4, tiled_8x4_scales, float>("float", 6, 300, 2056, 1);
}
CASE(other_formats) {
  run<nvfp4_block32, tiled_128x4_scales, bfloat16>("blocks of 32");
  run<nvfp4_ue5m3, linear_scales, float>("ue5m3");
  run<mxfp4, tiled_128x4_scales, float>("mxfp4");
  run<mxfp8_e5m2, tiled_8x4_scales, float16>("mxfp8");
  run<fp8_e4m3, linear_scales, bfloat16>("fp8");
}
CASE(amax) {
  run_amax<float>("float");
  run_amax<float16>("float16");
  run_amax<bfloat16>("bfloat16");
}

int main(int argc, char** argv) { return program::run(argc, argv); }
