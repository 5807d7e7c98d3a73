// SPDX-License-Identifier: Apache-2.0
// Cases S1 to S11: block scales. (S7 is in fast_math.)
#include "cases/rows.hpp"
#include "support/data.hpp"

TEST_CASE("S1: no finite number becomes NaN", "[cases]") {
  float const float_max = test::float_of(0x7F7FFFFFu);
  for (float const x : {480.0f, 5376.0f, 1e30f, float_max}) {
    CHECK(fp4::ue4m3::from_float(x).bits == 0x7E);
    CHECK(fp4::e4m3::from_float(x).bits == 0x7E);
    CHECK(fp4::e4m3::from_float(-x).bits == 0xFE);
  }
  for (std::uint32_t bits = 0; bits < 0x7F800000u; bits += 0x1FFFFu) {  // the sweep over all floats is in tests/format
    REQUIRE_FALSE(fp4::ue4m3::from_float(test::float_of(bits)).is_nan());
    REQUIRE_FALSE(fp4::e4m3::from_float(test::float_of(bits)).is_nan());
  }
}

TEST_CASE("S1: a zero block beside a small one gets no NaN scale", "[cases]") {
  std::vector<float> x(32, 0.0f);
  x[16] = 0.5f;
  for (auto const& b : {test::quantize_row(x), test::quantize_row(x, fp4::exact{})}) {
    CHECK(b.scales == test::octets{0x00, 0x7E});
  }
  CHECK(test::quantize_row(x, fp4::modelopt{}).scales == test::octets{0x38, 0x7E});
  CHECK(test::quantize_row(x, fp4::modelopt_static{}).scales == test::octets{0x7E, 0x7E});
}

TEST_CASE("S3: subnormal scales decode as subnormals", "[cases]") {
  float const values[] = {.001953125f, .00390625f, .005859375f, .0078125f,
                          .009765625f, .01171875f, .013671875f, .015625f};
  for (unsigned i = 0; i < 8; ++i) {
    auto const code = static_cast<std::uint8_t>(i + 1);
    CAPTURE(i);
    CHECK(fp4::ue4m3{code}.to_float() == values[i]);
    CHECK(test::decode_row({test::octets(8, 0x22), {code}}, test::unit_scale())[15] == values[i]);
  }
}

TEST_CASE("S4: scales neither saturate early nor round ties up", "[cases]") {
  struct {
    float x;
    int code;
  } const cases[] = {{256, 0x78}, {260, 0x78}, {300, 0x79}, {440, 0x7E}, {1.0625f, 0x38}, {1.1875f, 0x3A}};
  for (auto const& [x, code] : cases) {
    CAPTURE(x);
    CHECK(fp4::ue4m3::from_float(x).bits == code);
    CHECK(fp4::e4m3::from_float(x).bits == code);
    CHECK(test::quantize_row({x * 6}, fp4::exact{}, test::unit_scale()).scales[0] == code);
  }
}

TEMPLATE_TEST_CASE("S6: elements are divided by the stored scale", "[cases]", fp4::exact, fp4::transformer_engine) {
  auto const b = test::quantize_row({6.375f, 5.2f}, TestType{}, test::unit_scale());
  CHECK(b.scales == test::octets{0x38});
  CHECK(b.elements(2) == test::codes{7, 7});
}

TEST_CASE("S9: the order of operations decides a tie, and each preset has one", "[cases]") {
  constexpr float tensor = 76.24972534179688f,
                  block = 28.593647003173828f;  // block * 448 / tensor is 168, a tie
  std::vector<float> x(32, 0.0f);
  x[0] = tensor, x[16] = block;
  auto const scale_of = [&x](auto... choices) { return int{test::quantize_row(x, choices...).scales[1]}; };
  auto const stored = fp4::tensor_scale::from_decode(tensor / 2688);
  CHECK(scale_of(fp4::exact{}) == 0x72);
  CHECK(scale_of() == 0x72);
  CHECK(scale_of(fp4::exact{}, stored) == 0x73);
  CHECK(scale_of(fp4::torchao{}) == 0x72);                           // (b / 6) / (A / 2688)
  CHECK(scale_of(fp4::transformer_engine_v2_13_rowwise{}) == 0x72);  // (b * (1/6)) * (2688 / A)
}

TEST_CASE("S10: the block scale is E4M3 with sign 0", "[cases]") {
  CHECK(fp4::ue4m3{0x38}.to_float() == 1.0f);
  CHECK(fp4::ue4m3{0x7E}.to_float() == 448.0f);
  CHECK(fp4::ue4m3{0x77}.to_float() == 240.0f);
  for (unsigned code = 0; code < 128; ++code) {
    CHECK(fp4::ue4m3{static_cast<std::uint8_t>(code)}.is_nan() == (code == 0x7F));
  }
}

TEST_CASE("S10: no scale byte has its top bit set, whatever the data", "[cases]") {
  test::random_numbers random(10);
  std::vector<float> x(64 * 160);
  for (float& value : x) { value = test::float_of(static_cast<std::uint32_t>(random.next())); }  // NaN and Inf too
  for (auto const& b : {test::quantize_everywhere(x, 64, 160, test::unit_scale()),
                        test::quantize_everywhere(x, 64, 160, fp4::exact{}, fp4::per_row_scale{})}) {
    for (std::uint8_t const scale : b.scales) { REQUIRE(scale <= 0x7E); }
  }
}

TEST_CASE("S11: bytes from a signed container are the same bytes", "[cases]") {
  for (int value = -128; value < 128; ++value) {
    signed char const container[1] = {static_cast<signed char>(value)};
    auto const* const bytes = reinterpret_cast<std::uint8_t const*>(container);
    CHECK(fp4::nibble(bytes, 0) == (value & 0xF));
    CHECK(fp4::nibble(bytes, 1) == (value >> 4 & 0xF));
  }
  signed char const f2[8] = {static_cast<signed char>(0xF2)};
  auto const* const bytes = reinterpret_cast<std::uint8_t const*>(f2);
  auto const y = test::decode_row({test::octets(bytes, bytes + 8), {0x38}}, test::unit_scale());
  CHECK(y[0] == 1.0f);
  CHECK(y[1] == -6.0f);
}
