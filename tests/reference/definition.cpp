// SPDX-License-Identifier: Apache-2.0
// What quantization means, on cases worked out by hand: special values, padding, directions, 2D blocks.
#include <fp4/reference/reference.hpp>

#include "catch.hpp"
#include "support/bits.hpp"
#include "support/buffer.hpp"
#include "support/data.hpp"

namespace {

using namespace fp4;

template <class Format = nvfp4, class Layout = linear_scales>
struct result {
  std::vector<std::uint8_t> codes, scales;
  quantized_view<Format, Layout> view;

  result(std::int64_t rows, std::int64_t cols)
      : codes(static_cast<std::size_t>(rows * Format::row_bytes(cols)), 0x5A),
        scales(static_cast<std::size_t>(Layout::bytes(rows, Format::blocks(cols))), 0x5A),
        view(codes.data(), scales.data(), static_cast<std::int64_t>(scales.size()), rows, cols) {}
  [[nodiscard]] int code(std::int64_t r, std::int64_t c) const { return element_at<Format>(view.code_row(r), c).bits; }
  [[nodiscard]] int scale(std::int64_t r, std::int64_t b) const {
    return scales[static_cast<std::size_t>(view.scale_offset(r, b))];
  }
};

template <class Format = nvfp4, class Choices = choices<transformer_engine>>
result<Format> quantized(std::vector<float> const& x, std::int64_t rows, std::int64_t cols, Choices const& how = {},
                         float amax = -1) {
  matrix_view<float const> const in(x.data(), rows, cols);
  if (amax < 0) { amax = reference::amax(in, how.transform, rowwise{}); }
  tensor_scale const scale = tensor_scale::from_amax(amax);
  result<Format> q(Choices::is_columnwise ? cols : rows, Choices::is_columnwise ? rows : cols);
  reference::quantize(in, q.view, {&scale, 1}, how);
  return q;
}

std::vector<float> transpose(std::vector<float> const& x, std::size_t rows, std::size_t cols) {
  std::vector<float> t(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) { t[i % cols * rows + i / cols] = x[i]; }
  return t;
}

}  // namespace

TEST_CASE("a block under amax 2688 is plain e2m1 times e4m3") {
  std::vector<float> x(32, 0.0f);
  x[0] = 2688, x[1] = -1344, x[2] = 448 * 2.5f, x[3] = 448 * 3.5f, x[16] = 6, x[17] = -0.25f, x[18] = 0.75f;
  auto const q = quantized(x, 1, 32);
  CHECK(q.scale(0, 0) == 0x7E);
  CHECK(q.scale(0, 1) == 0x38);
  CHECK(q.code(0, 0) == 7);
  CHECK(q.code(0, 1) == 13);  // -3
  CHECK(q.code(0, 2) == 4);   // 2.5 ties to 2
  CHECK(q.code(0, 3) == 6);   // 3.5 ties to 4
  CHECK(q.code(0, 16) == 7);
  CHECK(q.code(0, 17) == 8);  // -0.25 ties to -0
  CHECK(q.code(0, 18) == 2);  // 0.75 ties to 1
}

TEST_CASE("special values have one outcome each") {
  float const inf = test::infinity(), nan = test::nan();
  std::vector<float> x(48, 0.0f);
  SECTION("all zero") {
    x[1] = -0.0f;
    auto const q = quantized(x, 1, 48);
    CHECK(q.scale(0, 0) == 0);
    CHECK(q.code(0, 0) == 0);
    CHECK(q.code(0, 1) == 8);
  }
  SECTION("a scale that underflows keeps saturated codes and decodes to signed zeros") {
    x[0] = 1.0f, x[16] = 1e-10f, x[17] = -1e-10f;
    auto const q = quantized(x, 1, 48);
    CHECK(q.scale(0, 1) == 0);
    CHECK(q.code(0, 16) == 7);
    CHECK(q.code(0, 17) == 15);
    CHECK(q.code(0, 18) == 0);
    std::vector<float> y(48);
    tensor_scale const scale = tensor_scale::from_amax(1.0f);
    reference::dequantize(quantized_view<nvfp4, linear_scales, std::uint8_t const>(q.view), {&scale, 1},
                          decode_rule::amax_over_range, matrix_view<float>(y.data(), 1, 48));
    CHECK(test::bits_of(y[0]) == 0x3F800000u);
    CHECK(test::bits_of(y[16]) == 0u);
    CHECK(test::bits_of(y[17]) == 0x80000000u);
  }
  SECTION("NaN is left out of the amax and takes code 7, whatever its sign") {
    x[0] = nan, x[1] = -nan, x[2] = 3.0f;
    auto const q = quantized(x, 1, 48);
    CHECK(q.scale(0, 0) == 0x7E);
    CHECK(q.code(0, 0) == 7);
    CHECK(q.code(0, 1) == 7);
    CHECK(q.code(0, 2) == 7);
  }
  SECTION("infinity scales by 1 and saturates its block's scale") {
    x[0] = -inf, x[1] = 1.0f, x[16] = 6.0f;
    auto const q = quantized(x, 1, 48);
    CHECK(q.scale(0, 0) == 0x7E);
    CHECK(q.code(0, 0) == 15);
    CHECK(q.code(0, 1) == 0);  // 1 / 448
    CHECK(q.scale(0, 1) == 0x38);
    CHECK(q.code(0, 16) == 7);
    std::vector<float> y(48);
    tensor_scale const scale = tensor_scale::from_amax(inf);
    reference::dequantize(quantized_view<nvfp4, linear_scales, std::uint8_t const>(q.view), {&scale, 1},
                          decode_rule::product, matrix_view<float>(y.data(), 1, 48));
    CHECK(test::bits_of(y[0]) == 0xFF800000u);
    CHECK(test::bits_of(y[1]) == 0u);
  }
}

TEST_CASE("padding is written as zero, even where zero times the multiplier is not a number") {
  std::vector<float> x(17, 0.0f);
  x[0] = 1.0f, x[16] = 1e-12f;  // the second block underflows: its multiplier is infinite
  auto const q = quantized(x, 1, 17, choices<flashinfer>{});
  CHECK(q.scale(0, 1) == 0);
  CHECK(q.code(0, 1) == 0);
  CHECK(q.code(0, 16) == 7);
  for (int i = 17; i < 32; ++i) { CHECK(q.code(0, i) == 0); }

  result<nvfp4, tiled_128x4_scales> tiled(1, 17);
  tensor_scale const scale = tensor_scale::from_amax(1.0f);
  reference::quantize(matrix_view<float const>(x.data(), 1, 17), tiled.view, {&scale, 1},
                      choices<transformer_engine>{});
  CHECK(tiled.scales.size() == 512);
  CHECK(std::count(tiled.scales.begin(), tiled.scales.end(), 0) == 511);
  CHECK(tiled.scales[0] == 0x7E);
}

TEST_CASE("column-wise is row-wise of the transposed matrix") {
  auto const m = test::make_data(test::data_kind::heavy_tailed, 40, 23, 1);
  auto const t = transpose(m.values, 40, 23);
  auto const across =
      quantized(m.values, 40, 23, choices<transformer_engine, nearest_even, no_transform, blocks_1d, columnwise>{});
  auto const along = quantized(t, 23, 40);
  CHECK(across.codes == along.codes);
  CHECK(across.scales == along.scales);
}

TEST_CASE("2D blocks share scales between the directions, and codes are transposed") {
  auto const m = test::make_data(test::data_kind::heavy_tailed, 40, 23, 2);
  stochastic const rounding(7);
  auto const given = quantized(
      m.values, 40, 23, choices<transformer_engine, stochastic, no_transform, blocks_2d>{{}, rounding, {}, {}, {}});
  auto const across =
      quantized(m.values, 40, 23,
                choices<transformer_engine, stochastic, no_transform, blocks_2d, columnwise>{{}, rounding, {}, {}, {}});
  for (std::int64_t r = 0; r < 40; ++r) {
    for (std::int64_t c = 0; c < 23; ++c) {
      CHECK(given.code(r, c) == across.code(c, r));
      CHECK(given.scale(r, c / 16) == given.scale(r / 16 * 16, c / 16));
      CHECK(given.scale(r, c / 16) == across.scale(c, r / 16));
    }
  }
}

TEST_CASE("a shard draws what the whole matrix draws there") {
  auto const m = test::make_data(test::data_kind::normal, 12, 64, 3);
  stochastic const rounding(99, 4);
  using stochastic_choices = choices<transformer_engine, stochastic>;
  auto const whole = quantized(m.values, 12, 64, stochastic_choices{{}, rounding, {}, {}, {}}, 4.0f);
  std::vector<float> part;
  for (std::size_t r = 5; r < 9; ++r) {
    part.insert(part.end(), m.values.begin() + static_cast<std::ptrdiff_t>(r * 64 + 32),
                m.values.begin() + static_cast<std::ptrdiff_t>(r * 64 + 64));
  }
  auto const shard = quantized(part, 4, 32, stochastic_choices{{}, rounding.at(5, 2, 4), {}, {}, {}}, 4.0f);
  for (std::int64_t r = 0; r < 4; ++r) {
    for (std::int64_t c = 0; c < 32; ++c) { CHECK(shard.code(r, c) == whole.code(r + 5, c + 32)); }
  }
}

TEST_CASE("blocks of 32 make two draws, and 16 make one") {
  std::vector<float> x(64, 2.5f);  // on the way from 2 to 3
  x[0] = x[32] = 6.0f;
  using stochastic_choices = choices<transformer_engine, stochastic>;
  auto const wide = quantized<nvfp4_block32>(x, 1, 64, stochastic_choices{{}, stochastic(1), {}, {}, {}});
  auto const narrow =
      quantized(std::vector<float>(64, 2.5f), 1, 64, stochastic_choices{{}, stochastic(1), {}, {}, {}}, 6.0f);
  CHECK(wide.codes != narrow.codes);
  int equal = 0;
  for (std::int64_t c = 0; c < 32; ++c) { equal += wide.code(0, c) == wide.code(0, c + 32); }
  CHECK(equal < 31);  // the second block does not repeat the first
}

TEST_CASE("a broken precondition is thrown before anything is written") {
  std::vector<float> const x(32, 1.0f);
  result<> q(1, 32);
  tensor_scale const scale = tensor_scale::from_amax(1.0f);
  matrix_view<float const> const in(x.data(), 2, 16);
  CHECK_THROWS_AS(reference::quantize(in, q.view, {&scale, 1}, choices<transformer_engine>{}), precondition_error);
  CHECK(std::count(q.codes.begin(), q.codes.end(), 0x5A) == 16);
  CHECK(std::count(q.scales.begin(), q.scales.end(), 0x5A) == 2);
}
