// SPDX-License-Identifier: Apache-2.0
// Every size of the transform, fused into quantization and into amax.
#include <fp4/gpu/amax.cuh>

#include "contract.cuh"

namespace {

template <int N, class In, class Rounding, class Layout>
void run() {
  constexpr std::int64_t sizes[][2] = {{3, N}, {33, 3 * N}, {0, N}, {5, 4 * 1024}, {2, 2048 + 5 * N}};
  for (int v = 0; v < 15; ++v) {
    test::situation const now{sizes[v % 5][0], sizes[v % 5][1], static_cast<test::data_kind>(v % test::data_kinds),
                              static_cast<test::scale_kind>(v % 4), v + N};
    std::string const text =
        test::broken<In, fp4::nvfp4, Layout, fp4::transformer_engine, Rounding, fp4::hadamard<N>>(now);
    program::check(text.empty(), "hadamard", __FILE__, __LINE__,
                   " of " + std::to_string(N) + "; " + test::describe(now) + ": " + text);
  }
}

template <int N, class In>
void run_amax() {
  auto const m = test::make_data(test::data_kind::specials, 7, 3 * N, N);
  std::vector<In> const values = test::as_values<In>(m, m.cols);
  auto const how = test::make_transform<fp4::hadamard<N>>(N / 16);
  program::on_device<In> in(values);
  program::on_device<float> amax(1);
  fp4::gpu::amax_async(fp4::matrix_view<In const>(in.data(), m.rows, m.cols), amax.data(), nullptr, how);
  float const wanted =
      fp4::reference::amax(fp4::matrix_view<In const>(values.data(), m.rows, m.cols), how, fp4::rowwise{});
  CHECK_EQUAL(amax.back()[0], wanted);
}

}  // namespace

CASE(fused) {
  using namespace fp4;
  run<16, bfloat16, nearest_even, linear_scales>();
  run<16, float16, stochastic, tiled_128x4_scales>();
  run<32, float, nearest_even, tiled_8x4_scales>();
  run<64, bfloat16, stochastic, linear_scales>();
  run<128, bfloat16, nearest_even, tiled_128x4_scales>();
  run<256, float, toward_zero, linear_scales>();
}
CASE(amax_after_the_transform) {
  run_amax<16, float>();
  run_amax<128, fp4::bfloat16>();
}

int main(int argc, char** argv) { return program::run(argc, argv); }
