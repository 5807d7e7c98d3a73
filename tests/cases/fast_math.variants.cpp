// SPDX-License-Identifier: Apache-2.0
// Cases N1, N7, S7, Z1 and Z8, whose bytes must be the same under every flag: B11.
#include "cases/rows.hpp"

TEMPLATE_TEST_CASE("N1 B11: midpoints go to the even code", "[cases]", fp4::exact, fp4::transformer_engine) {
  auto const b = test::quantize_row(
      {6, .25f, -.25f, .75f, -.75f, 1.25f, -1.25f, 1.75f, -1.75f, 2.5f, -2.5f, 3.5f, -3.5f, 5, -5, -.2f}, TestType{},
      test::unit_scale());
  CHECK(b.scales == test::octets{0x38});
  CHECK(b.codes == test::octets{0x07, 0x28, 0x2A, 0x4A, 0x4C, 0x6C, 0x6E, 0x8E});
}

TEST_CASE("N1 B11: an ulp decides on both sides of a midpoint", "[cases]") {
  constexpr float midpoints[] = {.25f, .75f, 1.25f, 1.75f, 2.5f, 3.5f, 5};
  for (int i = 0; i < 7; ++i) {
    std::uint32_t const at = test::bits_of(midpoints[i]);
    float const below = test::float_of(at - 1), above = test::float_of(at + 1);
    CAPTURE(midpoints[i]);
    CHECK(fp4::e2m1::from_float(below).bits == i);
    CHECK(fp4::e2m1::from_float(above).bits == i + 1);
    auto const b = test::quantize_row({6, below, above, -below, -above}, test::unit_scale());
    CHECK(b.elements(5) == test::codes{7, i, i + 1, i | 8, (i + 1) | 8});
  }
}

TEMPLATE_TEST_CASE("N7 B11: values that round to zero keep their sign", "[cases]", fp4::exact,
                   fp4::transformer_engine) {
  float const minus_zero = test::float_of(0x80000000u);
  auto const b = test::quantize_row({6, -.2f, minus_zero, .2f, 0}, TestType{}, test::unit_scale());
  CHECK(b.elements(5) == test::codes{7, 8, 8, 0, 0});
  auto const y = test::decode_row(b, test::unit_scale());
  CHECK(test::bits_of(y[1]) == 0x80000000u);
  CHECK(test::bits_of(y[2]) == 0x80000000u);
  CHECK(test::bits_of(y[3]) == 0);
}

TEST_CASE("S7 B11: dividing and multiplying by a reciprocal differ on ties", "[cases]") {
  std::vector<float> const x = {.17578125f, .03662109375f, .0732421875f, .146484375f};
  auto const exact = test::quantize_row(x, fp4::exact{}, test::unit_scale());
  CHECK(exact.scales == test::octets{0x0F});
  CHECK(exact.elements(4) == test::codes{7, 2, 4, 6});
  auto const reciprocal = test::quantize_row(x, test::unit_scale());
  CHECK(reciprocal.scales == test::octets{0x0F});
  CHECK(reciprocal.elements(4) == test::codes{7, 3, 5, 7});
}

TEST_CASE("S7 B11: of all 126 scales and 7 midpoints the reciprocal misses 42 ties, division none", "[cases]") {
  int exact_misses = 0, reciprocal_misses = 0;
  for (int scale = 1; scale <= 0x7E; ++scale) {
    float const sf = fp4::ue4m3{static_cast<std::uint8_t>(scale)}.to_float();
    std::vector<float> x = {6 * sf};
    for (float const midpoint : {.25f, .75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f}) { x.push_back(midpoint * sf); }  // exact
    test::codes const ties = {7, 0, 2, 2, 4, 4, 6, 6};
    auto const exact = test::quantize_row(x, fp4::exact{}, test::unit_scale());
    auto const reciprocal = test::quantize_row(x, test::unit_scale());
    REQUIRE(exact.scales == test::octets{static_cast<std::uint8_t>(scale)});
    REQUIRE(reciprocal.scales == exact.scales);
    for (std::size_t i = 0; i < 8; ++i) {
      exact_misses += exact.elements(8)[i] != ties[i];
      reciprocal_misses += reciprocal.elements(8)[i] != ties[i];
    }
  }
  CHECK(exact_misses == 0);
  CHECK(reciprocal_misses == 42);
}

TEMPLATE_TEST_CASE("Z1 B11: a tensor of zeros has a finite scale and decodes to zeros", "[cases]", fp4::exact,
                   fp4::transformer_engine) {
  std::vector<float> const zeros(32, 0.0f);
  auto const b = test::quantize_row(zeros, TestType{});
  CHECK(b.codes == test::octets(16, 0x00));
  CHECK(b.scales == test::octets{0, 0});
  auto const q = fp4::quantize<fp4::nvfp4>(fp4::matrix_view<float const>(zeros.data(), 1, 32), TestType{});
  CHECK(test::bits_of(q.tensor_scale().decode()) == 0x3F800000u);
  CHECK(test::bits_of(q.tensor_scale().encode()) == 0x3F800000u);
  CHECK(test::bits_of(q.tensor_scale().amax()) == 0);
  for (float const y : test::decode_row(b, q.tensor_scale())) { CHECK(test::bits_of(y) == 0); }
}

TEMPLATE_TEST_CASE("Z8 B11: NaN becomes +6 and leaves its block's scale alone", "[cases]", fp4::exact,
                   fp4::transformer_engine) {
  float const minus_nan = test::float_of(0xFFC00000u);
  auto const b = test::quantize_row({6, test::nan(), minus_nan, -3}, TestType{}, test::unit_scale());
  CHECK(b.scales == test::octets{0x38});
  CHECK(b.elements(4) == test::codes{7, 7, 7, 13});
  auto const alone = test::quantize_row({test::nan()}, TestType{}, test::unit_scale());
  CHECK(alone.scales == test::octets{0x00});
  CHECK(alone.elements(1) == test::codes{7});
}

TEMPLATE_TEST_CASE("Z8 B11: infinities and huge values become 6 with their sign", "[cases]", fp4::exact,
                   fp4::transformer_engine) {
  float const infinity = test::infinity();
  for (float const x : {infinity, 1e30f}) {
    auto const b = test::quantize_row({x, -x, 1}, TestType{}, test::unit_scale());
    CHECK(b.scales == test::octets{0x7E});
    CHECK(b.elements(3) == test::codes{7, 15, 0});
  }
  CHECK(fp4::e2m1::from_float(infinity).bits == 0x7);
  CHECK(fp4::e2m1::from_float(-infinity).bits == 0xF);
  CHECK(fp4::e2m1::from_float(1e30f).bits == 0x7);
  CHECK(fp4::e2m1::from_float(test::nan()).bits == 0x7);
  CHECK(fp4::e2m1::from_float(test::float_of(0xFFC00000u)).bits == 0x7);
}
