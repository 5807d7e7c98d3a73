// SPDX-License-Identifier: Apache-2.0
// cpu::amax, row_amaxes, transform and inverse_transform agree with the reference bit for bit, on every path.
#include <fp4/cpu/amax.hpp>
#include <fp4/cpu/transform.hpp>

#include "catch.hpp"
#include "contract.hpp"

namespace {

using namespace fp4;

constexpr std::int64_t sizes[][2] = {{0, 32}, {5, 0}, {1, 16}, {1, 17}, {33, 1040}, {40, 333}, {64, 1024}};

bool is_nan(float x) { return (test::bits_of(x) & 0x7FFFFFFFu) > 0x7F800000u; }
bool same(float a, float b) { return test::bits_of(a) == test::bits_of(b) || (is_nan(a) && is_nan(b)); }

/// Both axes become multiples of the transform's size.
template <class Transform, class Work>
void for_each_matrix(Work const& work) {
  constexpr std::int64_t n = Transform::size;
  int variant = 0;
  for (auto const& size : sizes) {
    for (int kind = 0; kind < test::data_kinds; ++kind, ++variant) {
      std::int64_t const rows = (size[0] + n - 1) / n * n, cols = (size[1] + n - 1) / n * n;
      auto const m =
          test::make_data(static_cast<test::data_kind>(kind), rows, cols, static_cast<std::uint64_t>(variant));
      work(m, cols + variant % 2 * 7, variant);
    }
  }
}

template <class In, class Transform, class Direction>
void compare_amax() {
  for_each_matrix<Transform>([](test::matrix const& m, std::int64_t stride, int variant) {
    auto const values = test::as_values<In>(m, stride);
    matrix_view<In const> const in(values.data(), m.rows, m.cols, stride);
    auto const how = test::make_transform<Transform>(variant);
    float const wanted = reference::amax(in, how, Direction{});
    constexpr bool by_column = std::is_same_v<Direction, columnwise>;
    std::vector<float> const values_quantized = reference::detail::transformed_matrix(in, how, by_column);
    std::vector<float> each(static_cast<std::size_t>(by_column ? m.cols : m.rows));
    for (std::int64_t i = 0; i < m.rows * m.cols; ++i) {
      float& most = each[static_cast<std::size_t>(by_column ? i % m.cols : i / m.cols)];
      most = std::max(
          most, reference::detail::magnitude(values_quantized[static_cast<std::size_t>(i)]));  // keeps `most` at NaN
    }
    CAPTURE(m.rows, m.cols, Transform::size, by_column, variant);
    test::for_each_way(variant, [&](auto path, auto execution, std::string const& way) {
      CAPTURE(way);
      CHECK(test::bits_of(cpu::amax(in, how, Direction{}, execution, path)) == test::bits_of(wanted));
      if (m.cols > 0 && m.rows > 0) { CHECK(cpu::row_amaxes(in, how, Direction{}, execution, path) == each); }
    });
  });
}

std::int64_t differences(std::vector<float> const& a, std::vector<float> const& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) { count += !same(a[i], b[i]); }
  return count;
}

template <class In, class Transform>
void compare_transform() {
  for_each_matrix<Transform>([](test::matrix const& m, std::int64_t stride, int variant) {
    auto const values = test::as_values<In>(m, stride);
    matrix_view<In const> const in(values.data(), m.rows, m.cols, stride);
    auto const how = test::make_transform<Transform>(variant);
    std::int64_t const out_stride = m.cols + variant % 3;
    auto const memory = [&] { return std::vector<float>(static_cast<std::size_t>(m.rows * out_stride), 123.0f); };
    auto const view = [&](std::vector<float>& v) { return matrix_view<float>(v.data(), m.rows, m.cols, out_stride); };
    std::vector<float> wanted = memory(), wanted_back = memory();
    reference::transform(in, how, view(wanted));
    reference::inverse_transform(matrix_view<float const>(view(wanted)), how, view(wanted_back));
    CAPTURE(m.rows, m.cols, Transform::size, variant);
    test::for_each_way(variant, [&](auto path, auto execution, std::string const& way) {
      CAPTURE(way);
      std::vector<float> got = memory();
      cpu::transform(in, how, view(got), execution, path);
      CHECK(differences(got, wanted) == 0);
      cpu::inverse_transform(view(got), how, execution);
      CHECK(differences(got, wanted_back) == 0);
    });
  });
}

}  // namespace

TEST_CASE("amax is the reference's") {
  compare_amax<float, no_transform, rowwise>();
  compare_amax<float, no_transform, columnwise>();
  compare_amax<bfloat16, no_transform, rowwise>();
  compare_amax<float16, no_transform, columnwise>();
  compare_amax<bfloat16, hadamard<16>, columnwise>();
  compare_amax<float16, hadamard<32>, rowwise>();
  compare_amax<float, hadamard<64>, columnwise>();
  compare_amax<bfloat16, hadamard<128>, rowwise>();
  compare_amax<float, hadamard<256>, rowwise>();
}

TEST_CASE("the transform and its inverse are the reference's") {
  compare_transform<float, hadamard<16>>();
  compare_transform<bfloat16, hadamard<16>>();
  compare_transform<float16, hadamard<32>>();
  compare_transform<float, hadamard<64>>();
  compare_transform<bfloat16, hadamard<128>>();
  compare_transform<float, hadamard<256>>();
}
