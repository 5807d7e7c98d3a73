// SPDX-License-Identifier: Apache-2.0
// Cases Z3 to Z11: tiny and huge values, amax. (Z1 and Z8 are in fast_math.)
#include <cmath>

#include "cases/rows.hpp"

#define PRESETS fp4::exact, fp4::transformer_engine

TEMPLATE_TEST_CASE("Z3: a block whose scale underflows decodes to zeros without NaN", "[cases]", PRESETS) {
  auto const quantize = [](float b) { return test::quantize_row({b}, TestType{}, test::unit_scale()); };
  auto const tie = quantize(.005859375f);  // the scale is 2^-10, half the smallest
  CHECK(tie.scales[0] == 0x00);
  CHECK(tie.elements(1) == test::codes{7});
  for (float const y : test::decode_row(tie, test::unit_scale())) { CHECK(test::bits_of(y) == 0); }

  auto const above = quantize(.0058593755f);
  CHECK(above.scales[0] == 0x01);
  CHECK(above.elements(1) == test::codes{5});
  CHECK(test::decode_row(above, test::unit_scale())[0] == .005859375f);
  CHECK(quantize(.01171875f).scales[0] == 0x01);
  CHECK(quantize(.01171875f).elements(1) == test::codes{7});
  CHECK(quantize(.09375f).scales[0] == 0x08);
  CHECK(quantize(.09375f).elements(1) == test::codes{7});
}

TEMPLATE_TEST_CASE("Z3: scales are subnormal past A/b = 28672 and flush from 458752 on", "[cases]", PRESETS) {
  auto const scale_of = [](float ratio) {
    std::vector<float> x(32, 0.0f);
    x[0] = ratio, x[16] = -1.0f;
    return int{test::quantize_row(x, TestType{}).scales[1]};
  };
  CHECK(scale_of(28672) == 0x08);
  CHECK(scale_of(32768) == 0x07);
  CHECK(scale_of(458752 - 1) == 0x01);
  CHECK(scale_of(458752) == 0x00);
  CHECK(scale_of(1e30f) == 0x00);
}

TEMPLATE_TEST_CASE("Z5: small signals survive, no epsilon hides them", "[cases]", PRESETS) {
  auto const b = test::quantize_row({1e-5f, -5e-6f, 2.5e-6f}, TestType{});
  CHECK(b.scales == test::octets{0x7E});
  CHECK(b.elements(3) == test::codes{7, 13, 3});
  float const scale = fp4::tensor_scale::from_amax(1e-5f).with_range(2688).decode();
  CHECK(scale == 1e-5f / 2688);
  CHECK(scale == 3.7202379e-9f);
}

TEST_CASE("Z7: saturation without a tensor scale is seen", "[cases]") {
  std::vector<float> x(16, 0.0f);
  x[0] = 5000, x[1] = 4000, x[2] = 1000;
  fp4::matrix_view<float const> const view(x.data(), 1, 16);

  auto const clipped = fp4::quantize<fp4::nvfp4>(view, test::unit_scale());
  auto y = fp4::dequantize<float>(clipped);
  CHECK(test::quantize_row(x, test::unit_scale()).elements(3) == test::codes{7, 7, 4});
  CHECK(clipped.scales()[0] == 0x7E);
  CHECK((y[0] == 2688 && y[1] == 2688 && y[2] == 896));
  CHECK(fp4::inspect(view, clipped.view(), fp4::matrix_view<float const>(y.data(), 1, 16)).saturated_blocks == 1);

  auto const scaled = fp4::quantize<fp4::nvfp4>(view);
  y = fp4::dequantize<float>(scaled);
  CHECK(test::quantize_row(x).elements(3) == test::codes{7, 6, 2});
  CHECK(scaled.scales()[0] == 0x7E);
  CHECK(std::fabs(y[0] - 5000) < 1e-3f);
  CHECK(std::fabs(y[1] - 3333.3333f) < 1e-3f);
  CHECK(std::fabs(y[2] - 833.33333f) < 1e-3f);
  CHECK(fp4::inspect(view, scaled.view(), fp4::matrix_view<float const>(y.data(), 1, 16)).saturated_blocks == 0);
}

TEST_CASE("Z10: amax compares magnitudes, not patterns", "[cases]") {
  float const minus_zero = test::float_of(0x80000000u);
  auto const amax = [](std::vector<float> const& x, fp4::cpu::path p) {
    fp4::matrix_view<float const> const view(x.data(), 1, static_cast<std::int64_t>(x.size()));
    return fp4::cpu::amax(view, fp4::no_transform{}, fp4::rowwise{}, fp4::sequential{}, p);
  };
  for (auto const p : test::paths()) {
    CAPTURE(fp4::cpu::name(p));
    CHECK(test::bits_of(amax(std::vector<float>(64, minus_zero), p)) == 0);
    CHECK(amax({minus_zero, 1e-3f}, p) == 1e-3f);
    CHECK(amax({-8, 4}, p) == 8);
  }
}

TEMPLATE_TEST_CASE("Z11: amax takes the sign off", "[cases]", PRESETS) {
  auto const b = test::quantize_row({-8, 4}, TestType{});
  CHECK(b.scales == test::octets{0x7E});
  CHECK(b.elements(2) == test::codes{15, 5});
  auto const scale = fp4::tensor_scale::from_amax(8);
  CHECK(scale.decode() == .0029761905f);
  auto const y = test::decode_row(b, scale);
  CHECK(y[0] == -8);
  CHECK(y[1] == 4);
}
