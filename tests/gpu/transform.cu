// SPDX-License-Identifier: Apache-2.0
// The Hadamard transform alone, and its inverse, along rows and columns.
#include <fp4/gpu/hadamard.cuh>

#include "contract.cuh"

namespace {

using namespace fp4;

/// Rows and columns exchanged.
template <class T>
std::vector<T> turned(std::vector<T> const& x, std::int64_t rows, std::int64_t cols) {
  std::vector<T> y(x.size());
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    y[static_cast<std::size_t>(i % cols * rows + i / cols)] = x[static_cast<std::size_t>(i)];
  }
  return y;
}

/// Which NaN it is does not count.
template <class T>
bool same(T a, T b) {
  float const x = fp4::detail::as_float(a), y = fp4::detail::as_float(b);
  return test::bits_of(x) == test::bits_of(y) || (x != x && y != y);
}

template <class In, class Transform, class Out, class Direction>
void run(char const* what) {
  constexpr bool is_down = std::is_same_v<Direction, columnwise>;
  constexpr std::int64_t lines[] = {33, 1, 200, 0, 129};
  for (int v = 0; v < 10; ++v) {
    std::int64_t const length = (1 + v % 3 * 4) * Transform::size, count = lines[v % 5];
    std::int64_t const rows = is_down ? length : count, cols = is_down ? count : length;
    test::input<In> in({rows, cols, static_cast<test::data_kind>(v % test::data_kinds), test::scale_kind::amax, v});
    auto const how = test::make_transform<Transform>(v);
    bool const is_inverse = v % 2 == 1;

    std::vector<In> values;
    for (std::int64_t r = 0; r < rows; ++r) {
      values.insert(values.end(), in.on_host().row(r), in.on_host().row(r) + cols);
    }
    if (is_down) { values = turned(values, rows, cols); }
    std::vector<float> wanted(values.size());
    matrix_view<In const> const from(values.data(), count, length);
    matrix_view<float> const to(wanted.data(), count, length);
    if (is_inverse) {
      reference::inverse_transform(from, how, to);
    } else {
      reference::transform(from, how, to);
    }
    if (is_down) { wanted = turned(wanted, count, length); }

    std::int64_t const stride = cols + (cols == 0 ? 1 : v % 4), shift = v % 3 == 2 ? 1 : 0;
    Out const gap = fp4::detail::from_float_to<Out>(77.0f);
    program::on_device<Out> out(std::vector<Out>(static_cast<std::size_t>(rows * stride + shift) + 1, gap));
    matrix_view<Out> const result(out.data() + shift, rows, cols, stride);
    if (is_inverse) {
      gpu::inverse_transform_async(in.on_gpu(), how, result, nullptr, Direction{});
    } else {
      gpu::transform_async(in.on_gpu(), how, result, nullptr, Direction{});
    }
    CUDA(cudaDeviceSynchronize());
    auto const got = out.back();
    int wrong = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(got.size()); ++i) {
      std::int64_t const r = (i - shift) / stride, c = (i - shift) % stride;
      bool const inside = i >= shift && r < rows && c < cols;
      Out const expected =
          inside ? fp4::detail::from_float_to<Out>(wanted[static_cast<std::size_t>(r * cols + c)]) : gap;
      wrong += !same(got[static_cast<std::size_t>(i)], expected);
    }
    program::check(wrong == 0, what, __FILE__, __LINE__,
                   ", variant " + std::to_string(v) + ": " + std::to_string(wrong) + " values differ");
  }
}

}  // namespace

CASE(along_rows) {
  run<bfloat16, hadamard<16>, bfloat16, rowwise>("16");
  run<float, hadamard<128>, float, rowwise>("128");
  run<float16, hadamard<256>, float16, rowwise>("256");
}
CASE(down_columns) {
  run<bfloat16, hadamard<16>, float, columnwise>("16");
  run<float, hadamard<32>, bfloat16, columnwise>("32");
}

int main(int argc, char** argv) { return program::run(argc, argv); }
