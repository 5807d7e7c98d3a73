// SPDX-License-Identifier: Apache-2.0
// A tensor scale for each row of the result: row-wise, column-wise, both, and the way back.
#include <fp4/gpu/dequantize.cuh>
#include <fp4/gpu/quantize_both.cuh>

#include "contract.cuh"

namespace {

using namespace fp4;
using test::situation;

situation situation_of(int v, std::int64_t rows_of, std::int64_t cols_of) {
  constexpr std::int64_t sizes[][2] = {{33, 1040}, {1, 17}, {200, 80}, {16, 1}, {0, 32}, {272, 264}, {17, 16}};
  auto const up = [](std::int64_t x, std::int64_t n) { return (x + n - 1) / n * n; };
  return {up(sizes[v % 7][0], rows_of), up(sizes[v % 7][1], cols_of),
          static_cast<test::data_kind>(v % test::data_kinds), test::scale_kind::per_row, v};
}

/// Scales of every row, by value for the reference and in device memory.
class scales_of_rows {
 public:
  scales_of_rows(float amax, float range, std::int64_t rows, int variant)
      : factory_(static_cast<tensor_scale::source>(variant % 3)), device_(static_cast<std::size_t>(rows) + 1) {
    bool const usable = amax > 1e-30f && amax < 1e30f;
    if (!usable) { factory_ = tensor_scale::source::amax; }
    std::vector<float> stored;
    for (std::int64_t r = 0; r < rows; ++r) {
      float const a = amax * (1.0f - static_cast<float>(r % 7) / 16);
      switch (factory_) {
        case tensor_scale::source::amax: scales_.push_back(tensor_scale::from_amax(a)); break;
        case tensor_scale::source::encode: scales_.push_back(tensor_scale::from_encode(range / a)); break;
        default: scales_.push_back(tensor_scale::from_decode(a / range));
      }
      stored.push_back(scales_.back().stored());
    }
    cudaMemcpy(device_.data(), stored.data(), stored.size() * sizeof(float), cudaMemcpyHostToDevice);
  }
  [[nodiscard]] tensor_scales_view by_value() const {
    return {scales_.data(), static_cast<std::int64_t>(scales_.size())};
  }
  gpu::row_scales on_gpu() {
    switch (factory_) {
      case tensor_scale::source::amax: return gpu::row_scales::from_amax(device_.data());
      case tensor_scale::source::encode: return gpu::row_scales::from_encode(device_.data());
      default: return gpu::row_scales::from_decode(device_.data());
    }
  }

 private:
  tensor_scale::source factory_;
  std::vector<tensor_scale> scales_;
  program::on_device<float> device_;
};

template <class In, class Layout, class Choices>
void run(char const* what) {
  constexpr bool down = Choices::is_columnwise;
  for (int v = 0; v < 14; ++v) {
    constexpr int size = decltype(Choices::transform)::size;
    auto const now = situation_of(v, down ? size : 1, down ? 1 : size);
    test::input<In> in(now);
    auto const how = test::make_choices<Choices, nvfp4>(now);
    std::int64_t const rows = down ? now.cols : now.rows, cols = down ? now.rows : now.cols;
    float const amax = reference::amax(in.on_host(), how.transform, how.direction);
    scales_of_rows scales(amax, how.scaling.template range<nvfp4>(), rows, v);
    test::result<nvfp4, Layout, Choices> one(rows, cols, how, tensor_scale::from_amax(amax), v);
    reference::quantize(in.on_host(), one.wanted(), scales.by_value(), how);
    gpu::quantize_async(in.on_gpu(), one.out(), scales.on_gpu(), one.given(), nullptr, one.random());
    std::string const text = one.difference();
    program::check(text.empty(), what, __FILE__, __LINE__, ", " + test::describe(now) + ": " + text);
  }
}

template <class In, class Row, class Col>
void run_both(char const* what) {
  for (int v = 0; v < 7; ++v) {
    auto const now = situation_of(v, decltype(Col::transform)::size, decltype(Row::transform)::size);
    test::input<In> in(now);
    auto const row_how = test::make_choices<Row, nvfp4>(now);
    auto const col_how = test::make_choices<Col, nvfp4>(now);
    float const amax = reference::amax(in.on_host(), row_how.transform, rowwise{});
    scales_of_rows scales(amax, 2688.0f, now.rows, v);
    test::result<nvfp4, linear_scales, Row> row(now.rows, now.cols, row_how, tensor_scale::from_amax(amax), v);
    test::result<nvfp4, tiled_128x4_scales, Col> col(now.cols, now.rows, col_how,
                                                     test::make_scale<nvfp4>(now, in.on_host(), col_how), v);
    reference::quantize(in.on_host(), row.wanted(), scales.by_value(), row_how);
    reference::quantize(in.on_host(), col.wanted(), col.scales(), col_how);
    gpu::quantize_both_async(in.on_gpu(), gpu::operand(row.out(), scales.on_gpu(), row.given(), row.random()),
                             gpu::operand(col.out(), col.argument(), col.given(), col.random()));
    for (std::string const& text : {row.difference(), col.difference()}) {
      program::check(text.empty(), what, __FILE__, __LINE__, ", " + test::describe(now) + ": " + text);
    }
  }
}

/// Any bytes are codes and scales.
template <class Out, class Layout>
void run_back(decode_rule rule, char const* what) {
  constexpr std::int64_t sizes[][2] = {{33, 1040}, {1, 17}, {0, 32}, {5, 2048}};
  for (int v = 0; v < 8; ++v) {
    std::int64_t const rows = sizes[v % 4][0], cols = sizes[v % 4][1];
    test::random_numbers random(static_cast<std::uint64_t>(v));
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(nvfp4::row_bytes(cols) * rows) + 1);
    std::vector<std::uint8_t> scales(static_cast<std::size_t>(Layout::bytes(rows, nvfp4::blocks(cols))) + 1);
    for (auto& c : codes) { c = static_cast<std::uint8_t>(random.next()); }
    for (auto& s : scales) { s = static_cast<std::uint8_t>(random.below(0x7F)); }
    scales_of_rows row_scales(10.5f, 2688.0f, rows, v);
    program::on_device<std::uint8_t> device_codes(codes), device_scales(scales);
    auto const bytes = static_cast<std::int64_t>(scales.size());
    quantized_view<nvfp4, Layout, std::uint8_t const> const q(codes.data(), scales.data(), bytes, rows, cols);
    quantized_view<nvfp4, Layout> const on_gpu(device_codes.data(), device_scales.data(), bytes, rows, cols);
    std::vector<Out> wanted(static_cast<std::size_t>(rows * cols) + 1, Out{});
    program::on_device<Out> out(wanted);
    reference::dequantize(q, row_scales.by_value(), rule, matrix_view<Out>(wanted.data(), rows, cols));
    gpu::dequantize_async(on_gpu, row_scales.on_gpu(), rule, matrix_view<Out>(out.data(), rows, cols));
    CUDA(cudaDeviceSynchronize());
    auto const got = out.back();
    std::string const text = test::first_difference(
        reinterpret_cast<std::uint8_t const*>(got.data()), reinterpret_cast<std::uint8_t const*>(wanted.data()),
        static_cast<std::int64_t>(got.size() * sizeof(Out)), cols * static_cast<std::int64_t>(sizeof(Out)));
    program::check(text.empty(), what, __FILE__, __LINE__, " " + std::to_string(v) + ": " + text);
  }
}

}  // namespace

CASE(one_direction) {
  run<bfloat16, tiled_128x4_scales, choices<transformer_engine>>("rows, nearest");
  run<float, linear_scales, choices<vllm, stochastic, hadamard<64>>>("rows, stochastic, transformed");
  run<float16, tiled_8x4_scales, choices<four_over_six, nearest_even, no_transform, blocks_1d, columnwise>>("columns");
}
CASE(both_directions) {
  run_both<bfloat16, choices<transformer_engine>,
           choices<transformer_engine, nearest_even, hadamard<16>, blocks_1d, columnwise>>("a scale a row, and one");
}
CASE(the_way_back) {
  run_back<float, linear_scales>(decode_rule::amax_over_range, "float");
  run_back<bfloat16, tiled_128x4_scales>(decode_rule::quotient, "bfloat16");
}

int main(int argc, char** argv) { return program::run(argc, argv); }
