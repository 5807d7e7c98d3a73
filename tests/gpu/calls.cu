// SPDX-License-Identifier: Apache-2.0
// What surrounds the bytes: which instructions ran, what is refused, graphs, any grid, a kernel of one's own.
#include <fp4/gpu/amax.cuh>

#include "contract.cuh"
#include "counts.hpp"

namespace {

using namespace fp4;
using program::on_device;

constexpr std::int64_t rows = 40, cols = 2048;

/// A matrix on the device and room for its codes and scales.
struct problem {
  std::vector<bfloat16> values;
  on_device<bfloat16> in;
  on_device<std::uint8_t> codes, scales;

  problem()
      : values(test::as_values<bfloat16>(test::make_data(test::data_kind::normal, rows, cols, 1), cols)),
        in(values),
        codes(static_cast<std::size_t>(rows * cols / 2)),
        scales(static_cast<std::size_t>(rows * cols / 16)) {}
  matrix_view<bfloat16 const> input() { return {in.data(), rows, cols}; }
  quantized_view<nvfp4> output() { return {codes.data(), scales.data(), rows * cols / 16, rows, cols}; }

  /// True where the device holds the reference's bytes.
  template <class... Options>
  bool holds(tensor_scale scale, choices<Options...> const& how) {
    std::vector<std::uint8_t> wanted_codes(static_cast<std::size_t>(rows * cols / 2));
    std::vector<std::uint8_t> wanted_scales(static_cast<std::size_t>(rows * cols / 16));
    quantized_view<nvfp4> const wanted(wanted_codes.data(), wanted_scales.data(), rows * cols / 16, rows, cols);
    reference::quantize(matrix_view<bfloat16 const>(values.data(), rows, cols), wanted, {&scale, 1}, how);
    return codes.back() == wanted_codes && scales.back() == wanted_scales;
  }
};

template <class Rounding>
choices<transformer_engine, Rounding> with(Rounding rounding) {
  return {{}, rounding};
}

/// The thread's row is one block of 16: as a user's kernel would, after computing the values.
__global__ void my_kernel(bfloat16 const* in, quantized_view<nvfp4, tiled_128x4_scales> out,
                          decltype(transformer_engine{}.for_tensor<nvfp4>(tensor_scale::from_amax(1))) tensor,
                          stochastic how) {
  int const row = static_cast<int>(threadIdx.x);
  auto const x = gpu::block_values<bfloat16>::load(in + row * 13, 13);
  auto nearest = gpu::quantize_block<nvfp4>(tensor, nearest_even{}, x);
  auto random = gpu::quantize_block<nvfp4>(tensor, how, static_cast<std::uint64_t>(row), x);
  nearest.keep(13);
  random.keep(13);
  auto const& chosen = row % 2 == 0 ? nearest : random;
  for (int i = 0; i < 8; ++i) { out.code_row(row)[i] = static_cast<std::uint8_t>(chosen.word[i / 4] >> i % 4 * 8); }
  out.scales[out.scale_offset(row, 0)] = static_cast<std::uint8_t>(chosen.scale);
}

}  // namespace

CASE(native_instructions_run_where_they_exist) {
  std::string const name = test::emulated_target();
  if (name.empty()) { return; }
  bool const blackwell = name == "sm_100a" || name == "sm_103a" || name == "sm_120a";
  bool const draws = name == "sm_100a" || name == "sm_103a";
  problem p;
  auto const scale = tensor_scale::from_amax(5.0f);
  auto const nearest =
      test::counts_of([&] { gpu::quantize_async(p.input(), p.output(), scale, with(nearest_even{})); });
  CHECK(p.holds(scale, with(nearest_even{})));
  CHECK_EQUAL(nearest.of("e2m1x2"), blackwell ? rows * cols / 2 : 0);
  CHECK_EQUAL(nearest.of("e2m1x4"), 0);
  auto const drawn =
      test::counts_of([&] { gpu::quantize_async(p.input(), p.output(), scale, with(stochastic(3, 4))); });
  CHECK(p.holds(scale, with(stochastic(3, 4))));
  CHECK_EQUAL(drawn.of("e2m1x4"), draws ? rows * cols / 4 : 0);
  CHECK_EQUAL(drawn.of("e2m1x2"), 0);
}

CASE(bad_calls_are_refused_and_nothing_is_enqueued) {
  problem p;
  auto const how = with(nearest_even{});
  auto const refused = [&](auto&& call, errc wanted) {
    errc found = errc::ok;
    try {
      call();
    } catch (precondition_error const& e) { found = e.code(); }
    CHECK(found == wanted);
  };
  cudaMemset(p.codes.data(), 0x5A, static_cast<std::size_t>(rows * cols / 2));
  auto small = p.output();
  small.scale_bytes -= 1;
  auto const scale = tensor_scale::from_amax(1.0f);
  refused([&] { gpu::quantize_async(p.input(), small, scale, how); }, errc::scale_buffer_too_small);
  refused([&] { gpu::quantize_async(p.input(), p.output(), tensor_scale::from_decode(0.0f), how); },
          errc::bad_tensor_scale);
  refused([&] { gpu::quantize_async(p.input(), p.output(), gpu::scale_argument::from_amax(nullptr), how); },
          errc::null_data);
  refused([&] { gpu::amax_async(p.input(), nullptr); }, errc::null_data);
  // Amaxes beside codes, which must stay as they are.
  auto* const first = reinterpret_cast<float*>(p.codes.data());
  refused([&] { gpu::amax_both_async(p.input(), first, no_transform{}, nullptr, no_transform{}); }, errc::null_data);
  refused([&] { gpu::amax_both_async(p.input(), first, no_transform{}, first, no_transform{}); },
          errc::overlapping_output);
  auto const codes = p.codes.back();
  CHECK(std::all_of(codes.begin(), codes.end(), [](std::uint8_t b) { return b == 0x5A; }));
}

CASE(a_failed_launch_says_what_cuda_says) {
  problem p;
  std::string text;
  try {
    gpu::detail::check(cudaErrorInvalidConfiguration, "where");
  } catch (gpu::error const& e) { text = e.what(); }
  CHECK(text.find("where: cudaErrorInvalidConfiguration: ") == 0);
}

CASE(a_graph_is_replayed_with_other_numbers) {
  problem p;
  on_device<float> amax(1);
  on_device<std::uint64_t> random(std::vector<std::uint64_t>{1, 2});
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  gpu::amax_async(p.input(), amax.data(), stream);
  gpu::quantize_async(p.input(), p.output(), gpu::scale_argument::from_amax(amax.data()), with(stochastic(0)), stream,
                      {random.data(), random.data() + 1});
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphInstantiate(&ready, graph, 0));
  for (std::uint64_t step = 0; step < 3; ++step) {
    for (auto& x : p.values) { x = bfloat16::from_float(x.to_float() * 1.5f); }
    std::uint64_t const numbers[2] = {step, 7 * step};
    cudaMemcpy(random.data(), numbers, sizeof numbers, cudaMemcpyHostToDevice);
    cudaMemcpy(p.in.data(), p.values.data(), p.values.size() * sizeof(bfloat16), cudaMemcpyHostToDevice);
    CUDA(cudaGraphLaunch(ready, stream));
    CUDA(cudaStreamSynchronize(stream));
    float const a =
        reference::amax(matrix_view<bfloat16 const>(p.values.data(), rows, cols), no_transform{}, rowwise{});
    CHECK_EQUAL(amax.back()[0], a);
    CHECK(p.holds(tensor_scale::from_amax(a), with(stochastic(step, 7 * step))));
  }
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

// Few thread blocks: each takes many rows, one after another, in the quick way and, where a block has a NaN, with care.
template <class Layout, class Rounding>
void check_few_thread_blocks(char const* what, Rounding rounding) {
  constexpr std::int64_t many = 700;
  auto values = test::as_values<bfloat16>(test::make_data(test::data_kind::normal, many, cols, 2), cols);
  for (std::size_t i = 0; i < values.size(); i += 100003) { values[i] = bfloat16{0x7FC0}; }
  std::int64_t const scale_bytes = Layout::bytes(many, cols / 16);
  std::vector<std::uint8_t> wanted_codes(many * cols / 2), wanted_scales(static_cast<std::size_t>(scale_bytes));
  on_device<bfloat16> in(values);
  on_device<std::uint8_t> codes(wanted_codes.size()), scales(wanted_scales.size());
  auto const scale = tensor_scale::from_amax(5.0f);
  auto const how = with(rounding);
  matrix_view<bfloat16 const> const x(values.data(), many, cols);
  reference::quantize(x,
                      quantized_view<nvfp4, Layout>(wanted_codes.data(), wanted_scales.data(), scale_bytes, many, cols),
                      {&scale, 1}, how);
  quantized_view<nvfp4, Layout> const out(codes.data(), scales.data(), scale_bytes, many, cols);
  for (int const multiprocessors : {1, 4}) {
    cudaMemset(codes.data(), 0x5A, wanted_codes.size());
    cudaMemset(scales.data(), 0x5A, wanted_scales.size());
    gpu::detail::launch_rows(matrix_view<bfloat16 const>(in.data(), many, cols), out, scale, how, {}, multiprocessors,
                             {}, "test");
    CUDA(cudaDeviceSynchronize());
    program::check(codes.back() == wanted_codes, what, __FILE__, __LINE__, ": codes");
    program::check(scales.back() == wanted_scales, what, __FILE__, __LINE__, ": scales");
  }
}

CASE(any_grid_gives_the_same_bytes) {
  check_few_thread_blocks<linear_scales>("linear", nearest_even{});
  check_few_thread_blocks<tiled_128x4_scales>("128x4", stochastic(3, 4));
  check_few_thread_blocks<tiled_8x4_scales>("8x4", nearest_even{});
  check_few_thread_blocks<tiled_32x4_scales>("32x4", nearest_even{});
}

CASE(random_positions_carry_into_their_upper_word) {
  problem p;
  auto const scale = tensor_scale::from_amax(5.0f);
  // Row 1 begins 63 blocks before 2^32: its blocks lie on both sides, in the middle of what a warp takes at a time.
  auto const how = with(stochastic(5, 6).at(0, 0, (std::int64_t{1} << 32) - 63));
  gpu::quantize_async(p.input(), p.output(), scale, how);
  CUDA(cudaDeviceSynchronize());
  CHECK(p.holds(scale, how));
}

CASE(blocks_in_a_kernel_of_ones_own) {
  constexpr std::int64_t n = 64, width = 13;
  auto const values = test::as_values<bfloat16>(test::make_data(test::data_kind::specials, n, width, 3), width);
  on_device<bfloat16> in(values);
  on_device<std::uint8_t> codes(n * 8), scales(512);
  auto const scale = tensor_scale::from_amax(4.0f);
  stochastic const how(5, 6);
  my_kernel<<<1, n>>>(in.data(), {codes.data(), scales.data(), 512, n, width},
                      transformer_engine{}.for_tensor<nvfp4>(scale), how);
  CUDA(cudaDeviceSynchronize());
  std::vector<std::uint8_t> wanted_codes[2], wanted_scales(512);
  for (int r = 0; r < 2; ++r) {
    wanted_codes[r].resize(n * 8);
    quantized_view<nvfp4, tiled_128x4_scales> const q(wanted_codes[r].data(), wanted_scales.data(), 512, n, width);
    matrix_view<bfloat16 const> const x(values.data(), n, width);
    if (r == 0) { reference::quantize(x, q, {&scale, 1}, with(nearest_even{})); }
    if (r == 1) { reference::quantize(x, q, {&scale, 1}, with(how)); }
  }
  auto const got = codes.back();
  int wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) { wrong += got[i] != wanted_codes[i / 8 % 2][i]; }
  CHECK_EQUAL(wrong, 0);
}

int main(int argc, char** argv) { return program::run(argc, argv); }
