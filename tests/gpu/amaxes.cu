// SPDX-License-Identifier: Apache-2.0
// Largest magnitudes down columns, of both directions, and of each row.
#include <fp4/gpu/amax.cuh>

#include "contract.cuh"

namespace {

using namespace fp4;
using program::on_device;

test::situation situation_of(int v, std::int64_t rows_of, std::int64_t cols_of) {
  constexpr std::int64_t sizes[][2] = {{272, 264}, {17, 1}, {80, 200}, {16, 17}, {0, 32}, {1040, 33}, {32, 0}};
  auto const up = [](std::int64_t x, std::int64_t n) { return (x + n - 1) / n * n; };
  return {up(sizes[v % 7][0], rows_of), up(sizes[v % 7][1], cols_of),
          static_cast<test::data_kind>(v % test::data_kinds), test::scale_kind::amax, v};
}

/// What lies on the device, bit by bit.
void check_equal(on_device<float> const& got, std::vector<float> const& wanted, char const* what,
                 test::situation const& now) {
  CUDA(cudaDeviceSynchronize());
  auto const values = got.back();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    program::check(test::bits_of(values[i]) == test::bits_of(wanted[i]), what, __FILE__, __LINE__,
                   " " + std::to_string(i) + " is " + std::to_string(values[i]) + ", wanted " +
                       std::to_string(wanted[i]) + "; " + test::describe(now));
  }
}

template <class In, class RowTransform, class ColTransform>
void run_both(char const* what) {
  for (int v = 0; v < 7; ++v) {
    auto const now = situation_of(v, ColTransform::size, RowTransform::size);
    test::input<In> in(now);
    auto const row_how = test::make_transform<RowTransform>(v);
    auto const col_how = test::make_transform<ColTransform>(v + 1);
    on_device<float> rows(1), cols(1), alone(1);
    gpu::amax_both_async(in.on_gpu(), rows.data(), row_how, cols.data(), col_how);
    gpu::amax_async(in.on_gpu(), alone.data(), nullptr, col_how, columnwise{});
    float const down = reference::amax(in.on_host(), col_how, columnwise{});
    check_equal(rows, {reference::amax(in.on_host(), row_how, rowwise{})}, what, now);
    check_equal(cols, {down}, what, now);
    check_equal(alone, {down}, what, now);
  }
}

template <class In, class Transform, class Direction>
void run_rows(char const* what) {
  constexpr bool is_down = std::is_same_v<Direction, columnwise>;
  for (int v = 0; v < 7; ++v) {
    auto const now = situation_of(v, is_down ? Transform::size : 1, is_down ? 1 : Transform::size);
    test::input<In> in(now);
    auto const how = test::make_transform<Transform>(v);
    std::vector<float> wanted;
    for (std::int64_t i = 0; i < (is_down ? now.cols : now.rows); ++i) {
      auto const all = in.on_host();
      matrix_view<In const> const line =
          is_down ? matrix_view<In const>(all.data + i, all.rows, 1, all.stride)
                  : matrix_view<In const>(all.data + i * all.stride, 1, all.cols, all.stride);
      wanted.push_back(reference::amax(line, how, Direction{}));
    }
    on_device<float> got(wanted.size() + 1);
    gpu::row_amaxes_async(in.on_gpu(), got.data(), nullptr, how, Direction{});
    check_equal(got, wanted, what, now);
  }
}

}  // namespace

CASE(both_directions) {
  run_both<bfloat16, no_transform, hadamard<16>>("bfloat16, 16 down columns");
  run_both<float, hadamard<32>, hadamard<256>>("float, 32 along rows, 256 down columns");
}
CASE(each_row) {
  run_rows<bfloat16, no_transform, rowwise>("rows");
  run_rows<float, hadamard<64>, rowwise>("rows, transformed");
  run_rows<float16, no_transform, columnwise>("columns");
}

int main(int argc, char** argv) { return program::run(argc, argv); }
