// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fp4/fp4.hpp>
#include <vector>

#include "catch.hpp"
#include "support/data.hpp"

TEST_CASE("a quantized matrix made from bytes decodes as the one they came from") {
  std::vector<float> x(48);
  for (std::size_t i = 0; i < x.size(); ++i) { x[i] = static_cast<float>(static_cast<int>(i * 37 % 23) - 11) * 0.3f; }
  auto const q = fp4::quantize<fp4::nvfp4>(fp4::matrix_view<float const>{x.data(), 3, 16}, fp4::per_row_scale{});
  fp4::quantized<fp4::nvfp4> const copy(3, 16, q.decoding(), q.codes(), q.scales(), q.tensor_scales());
  CHECK(q.tensor_scales().size() == 3);
  CHECK(fp4::dequantize<float>(copy) == fp4::dequantize<float>(q));
}

TEST_CASE("a quantized matrix refuses bytes that do not fit its shape, and bad tensor scales") {
  using q = fp4::quantized<fp4::nvfp4>;
  constexpr auto rule = fp4::decode_rule::amax_over_range;
  using bytes = std::vector<std::uint8_t>;
  std::vector<fp4::tensor_scale> const one{fp4::tensor_scale::from_decode(1.0f)};
  CHECK_NOTHROW(q(2, 16, rule, bytes(16), bytes(2), one));
  CHECK_THROWS_AS(q(2, 16, rule, bytes(15), bytes(2), one), fp4::precondition_error);
  CHECK_THROWS_AS(q(2, 16, rule, bytes(16), bytes(3), one), fp4::precondition_error);
  CHECK_THROWS_AS(q(-1, 16, rule, bytes(), bytes(), one), fp4::precondition_error);
  for (float const bad : {0.0f, -1.0f, HUGE_VALF, NAN}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(q(2, 16, rule, bytes(16), bytes(2), {fp4::tensor_scale::from_decode(bad)}),
                    fp4::precondition_error);
  }
}

TEST_CASE("quantize_both gives a matrix and its transpose; 2D blocks decode to the same values") {
  std::vector<float> x(20 * 33);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(static_cast<int>(i * 7919 % 401) - 200) * 0.01f;
  }
  fp4::matrix_view<float const> const view{x.data(), 20, 33};
  auto const both = fp4::quantize_both<fp4::nvfp4>(view, fp4::blocks_2d{});
  auto const by_row = fp4::dequantize<float>(both.rowwise), by_column = fp4::dequantize<float>(both.columnwise);
  int different = 0;
  for (std::size_t r = 0; r < 20; ++r) {
    for (std::size_t c = 0; c < 33; ++c) { different += by_row[r * 33 + c] != by_column[c * 20 + r]; }
  }
  CHECK(different == 0);
  CHECK(both.columnwise.rows() == 33);
  CHECK(both.columnwise.codes() == fp4::quantize<fp4::nvfp4>(view, fp4::blocks_2d{}, fp4::columnwise{}).codes());
}

TEST_CASE("FP8 under a tiny encode factor decodes by a finite factor") {
  fp4::quantized<fp4::fp8_e4m3> const q(1, 2, fp4::decode_rule::tensor_only, {0x38, 0xB0}, {},
                                        {fp4::tensor_scale::from_encode(1e-39f)});
  constexpr float largest = 3.402823466e+38f;  // 1/1e-39 is above it
  CHECK(fp4::dequantize<float>(q) == std::vector<float>{largest, -largest / 2});
}

TEST_CASE("quantizing into an earlier result gives what a new one has, in the same memory if the shape is the same") {
  auto const x = test::make_data(test::data_kind::normal, 20, 48, 1).values;
  auto const y = test::make_data(test::data_kind::specials, 20, 48, 2).values;
  fp4::matrix_view<float const> const first(x.data(), 20, 48), second(y.data(), 20, 48), other(y.data(), 7, 40);
  auto const check_same = [](auto const& got, auto const& wanted) {
    CHECK((got.rows() == wanted.rows() && got.cols() == wanted.cols()));
    CHECK(got.codes() == wanted.codes());
    CHECK(got.scales() == wanted.scales());
    CHECK(got.decoding() == wanted.decoding());
    REQUIRE(got.tensor_scales().size() == wanted.tensor_scales().size());
    for (std::size_t i = 0; i < got.tensor_scales().size(); ++i) {
      CHECK(got.tensor_scales()[i].stored() == wanted.tensor_scales()[i].stored());
      CHECK(got.tensor_scales()[i].range() == wanted.tensor_scales()[i].range());
    }
  };
  auto q = fp4::quantize<fp4::nvfp4>(first, fp4::tiled_128x4_scales{});
  auto const* const codes = q.codes().data();
  auto const* const scales = q.scales().data();
  fp4::quantize(second, q, fp4::modelopt{}, fp4::per_row_scale{});
  check_same(q, fp4::quantize<fp4::nvfp4>(second, fp4::modelopt{}, fp4::per_row_scale{}, fp4::tiled_128x4_scales{}));
  CHECK(q.codes().data() == codes);
  CHECK(q.scales().data() == scales);
  fp4::quantize(first, q);
  check_same(q, fp4::quantize<fp4::nvfp4>(first, fp4::tiled_128x4_scales{}));

  fp4::quantize(first, q, fp4::columnwise{}, fp4::four_over_six{});
  check_same(q, fp4::quantize<fp4::nvfp4>(first, fp4::columnwise{}, fp4::four_over_six{}, fp4::tiled_128x4_scales{}));
  fp4::quantize(other, q);
  check_same(q, fp4::quantize<fp4::nvfp4>(other, fp4::tiled_128x4_scales{}));

  auto const before = q;
  CHECK_THROWS_AS(fp4::quantize(other, q, fp4::modelopt{}, fp4::tensor_scale::from_decode(0)), fp4::precondition_error);
  fp4::matrix_view<float const> const narrow(x.data(), 20, 48, 47);
  CHECK_THROWS_AS(fp4::quantize(narrow, q), fp4::precondition_error);
  check_same(q, before);
}
