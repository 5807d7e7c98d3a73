// SPDX-License-Identifier: Apache-2.0
// What surrounds the bytes of column-wise, square and grouped results: any grid, twice, graphs, refusals, and what the
// emulated device counted.
#include <fp4/gpu/quantize_groups.cuh>

#include "contract.cuh"
#include "counts.hpp"

namespace test {

/// A matrix with the results of both directions and the reference's bytes of them.
template <class Row, class Col>
struct problem {
  situation now;
  input<fp4::bfloat16> in;
  result<fp4::nvfp4, fp4::tiled_128x4_scales, Row> row;
  result<fp4::nvfp4, fp4::tiled_128x4_scales, Col> col;

  problem(std::int64_t rows, std::int64_t cols, Row const& row_how, Col const& col_how)
      : now{rows, cols, data_kind::heavy_tailed, scale_kind::amax, 0},
        in(now, {Row::is_2d ? 16 : 1, 16}),
        row(rows, cols, row_how, make_scale<fp4::nvfp4>(now, in.on_host(), row_how), 0),
        col(cols, rows, col_how, make_scale<fp4::nvfp4>(now, in.on_host(), col_how), 0) {
    fp4::reference::quantize(in.on_host(), row.wanted(), row.scales(), row_how);
    fp4::reference::quantize(in.on_host(), col.wanted(), col.scales(), col_how);
  }
  void launch() {
    if constexpr (Row::is_2d) {
      fp4::gpu::quantize_both_async(in.on_gpu(), row.out(), col.out(), row.argument(), row.given());
    } else {
      fp4::gpu::quantize_both_async(in.on_gpu(), fp4::gpu::operand(row.out(), row.argument(), row.given()),
                                    fp4::gpu::operand(col.out(), col.argument(), col.given()));
    }
  }
  void check(char const* what) {
    for (std::string const& text : {row.difference(), col.difference()}) {
      program::check(text.empty(), what, __FILE__, __LINE__, ": " + text);
    }
  }
};

}  // namespace test

namespace {

using namespace fp4;
using program::on_device;
using test::problem;

template <class Rounding, class Transform = no_transform>
using down = choices<transformer_engine, Rounding, Transform, blocks_1d, columnwise>;
template <class Rounding, class Direction = rowwise>
using square = choices<transformer_engine, Rounding, no_transform, blocks_2d, Direction>;

/// Runs it and compares what the emulated device counted: `nearest` elements rounded by cvt.rn, `drawn` by cvt.rs.
template <class Problem>
void check_counts(Problem& p, char const* what, long nearest, long drawn) {
  std::string const target = test::emulated_target();
  bool const draws = target == "sm_100a" || target == "sm_103a", blackwell = draws || target == "sm_120a";
  test::counts const found = test::counts_of([&] { p.launch(); });
  p.check(what);
  CHECK_EQUAL(found.of("e2m1x2"), blackwell ? nearest / 2 : 0);
  CHECK_EQUAL(found.of("e2m1x4"), draws ? drawn / 4 : 0);
  CHECK_EQUAL(found.global.written, 2 * (p.now.rows * p.now.cols / 2 + p.now.rows * p.now.cols / 16));
  // Lanes that look up factors of different scales may meet in a bank; what tiles are made of may not.
  long const passes = found.shared.read / 128;
  program::check(found.shared.bank_conflicts * 50 < passes, what, __FILE__, __LINE__,
                 ": " + std::to_string(found.shared.bank_conflicts) + " bank conflicts in " + std::to_string(passes));
}

template <class Call>
errc refusal_of(Call const& call) {
  try {
    call();
  } catch (precondition_error const& e) { return e.code(); }
  return errc::ok;
}

}  // namespace

CASE(any_grid_and_twice) {
  problem p(640, 272, choices<transformer_engine, stochastic>{{}, stochastic(1, 2)},
            down<stochastic, hadamard<128>>{{}, stochastic(3, 4)});
  auto const a = gpu::detail::make_side_of(p.row.out(), nvfp4::blocks(272), p.row.argument(), p.row.given(), {});
  auto const b = gpu::detail::make_side_of(p.col.out(), nvfp4::blocks(640), p.col.argument(), p.col.given(), {});
  problem q(600, 272, square<stochastic>{{}, stochastic(1, 2)}, square<stochastic, columnwise>{{}, stochastic(1, 2)});
  for (std::int64_t const most : {0, 7, 7, 100000}) {
    gpu::detail::launch_tiles<bfloat16>(p.in.on_gpu(), a, b, most, nullptr, "test");
    p.check("both");
    gpu::detail::launch_squares<bfloat16>(q.in.on_gpu(), q.row.out(), q.col.out(), q.row.argument(), q.row.given(), {},
                                          most, nullptr, "test");
    q.check("squares");
  }
}

CASE(counted) {
  if (test::emulated_target().empty()) { return; }  // a real device counts nothing
  constexpr std::int64_t rows = 256, cols = 384, size = rows * cols;
  problem nearest(rows, cols, choices<transformer_engine>{}, down<nearest_even, hadamard<16>>{});
  check_counts(nearest, "nearest", 2 * size, 0);
  problem drawn(rows, cols, choices<transformer_engine, stochastic>{{}, stochastic(1)},
                down<stochastic, hadamard<128>>{{}, stochastic(2)});
  check_counts(drawn, "stochastic", 0, 2 * size);
  problem squares(rows, cols, square<nearest_even>{}, square<nearest_even, columnwise>{});
  check_counts(squares, "squares", size, 0);
}

CASE(a_graph_is_replayed_with_other_groups) {
  constexpr std::int64_t rows = 256, cols = 80, groups = 3;
  using row_choices = choices<transformer_engine, stochastic>;
  using layout = gpu::grouped_layout<nvfp4, tiled_128x4_scales>;
  test::input<bfloat16> in({rows, cols, test::data_kind::normal, test::scale_kind::amax, 0});
  std::int64_t const scale_bytes = layout::scale_bytes(rows, cols, groups);
  on_device<std::uint8_t> codes(rows * cols / 2), scales(static_cast<std::size_t>(scale_bytes));
  on_device<std::int64_t> offsets(groups + 1);
  on_device<float> amaxes(groups);
  on_device<std::uint64_t> random(2);
  gpu::row_groups const by(offsets.data(), groups);
  quantized_view<nvfp4, tiled_128x4_scales> const out(codes.data(), scales.data(), scale_bytes, rows, cols);
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  gpu::group_amaxes_async(in.on_gpu(), by, amaxes.data(), stream);
  gpu::quantize_groups_async(in.on_gpu(), by,
                             gpu::operand(out, gpu::scale_argument::from_amax(amaxes.data()),
                                          row_choices{{}, stochastic(0)}, {random.data(), random.data() + 1}),
                             stream);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphInstantiate(&ready, graph, 0));
  constexpr std::int64_t steps[][groups + 1] = {{0, 100, 100, 256}, {0, 1, 200, 230}};
  for (auto const& step : steps) {
    std::uint64_t const numbers[2] = {static_cast<std::uint64_t>(step[1]), 9};
    cudaMemcpy(random.data(), numbers, sizeof numbers, cudaMemcpyHostToDevice);
    cudaMemcpy(offsets.data(), step, sizeof step, cudaMemcpyHostToDevice);
    CUDA(cudaGraphLaunch(ready, stream));
    CUDA(cudaStreamSynchronize(stream));
    auto const got = codes.back();
    auto const found = amaxes.back();
    for (int g = 0; g < groups; ++g) {
      std::int64_t const first = step[g], count = step[g + 1] - first;
      matrix_view<bfloat16 const> const part(in.on_host().row(first), count, cols, in.on_host().stride);
      float const amax = reference::amax(part, no_transform{}, rowwise{});
      CHECK_EQUAL(found[static_cast<std::size_t>(g)], amax);
      std::vector<std::uint8_t> wanted(static_cast<std::size_t>(count * cols / 2) + 1), unused(4096);
      tensor_scale const scale = tensor_scale::from_amax(amax);
      row_choices const how{{}, stochastic(numbers[0], numbers[1]).at(first, 0, cols / 16)};
      reference::quantize(part, quantized_view<nvfp4>(wanted.data(), unused.data(), 4096, count, cols), {&scale, 1},
                          how);
      CHECK(std::equal(wanted.begin(), wanted.end() - 1, got.begin() + first * cols / 2));
    }
  }
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

CASE(bad_calls_are_refused) {
  problem p(32, 48, choices<transformer_engine>{}, down<nearest_even, hadamard<16>>{});
  auto const scale = tensor_scale::from_amax(1.0f);
  auto const in = p.in.on_gpu();
  auto overlapping = p.col.out();
  overlapping.codes = p.row.out().codes + 8;
  CHECK(refusal_of([&] {
          gpu::quantize_both_async(in, gpu::operand(p.row.out(), scale, p.row.how()),
                                   gpu::operand(overlapping, scale, p.col.how()));
        }) == errc::overlapping_output);
  auto wrong = p.col.out();
  wrong.rows = 32, wrong.cols = 48;
  CHECK(refusal_of([&] { gpu::quantize_async(in, wrong, scale, p.col.how()); }) == errc::shape_mismatch);
  auto short_in = in;
  auto short_out = p.col.out();
  short_in.rows = short_out.cols = 31;
  CHECK(refusal_of([&] {
          gpu::quantize_both_async(short_in, gpu::operand(p.row.out(), scale, p.row.how()),
                                   gpu::operand(short_out, scale, p.col.how()));
        }) == errc::shape_mismatch);
  CHECK(refusal_of([&] { gpu::quantize_async(short_in, short_out, scale, p.col.how()); }) ==
        errc::hadamard_size_does_not_divide);
  CHECK(refusal_of([&] { gpu::quantize_async(in, p.row.out(), gpu::row_scales::from_amax(nullptr), p.row.how()); }) ==
        errc::null_data);
  CHECK(refusal_of([&] { gpu::row_amaxes_async(in, nullptr); }) == errc::null_data);
  for (auto const& text : {p.row.difference(), p.col.difference()}) { CHECK(!text.empty()); }  // nothing was written
}

int main(int argc, char** argv) { return program::run(argc, argv); }
