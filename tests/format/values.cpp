// SPDX-License-Identifier: Apache-2.0
// What each code is worth.
#include "catch.hpp"
#include "support/bits.hpp"
#include "support/float_oracle.hpp"

#define MINIFLOATS fp4::e2m1, fp4::e2m3, fp4::e3m2, fp4::e4m3, fp4::e5m2, fp4::ue4m3, fp4::ue5m3, fp4::e8m0

namespace {

// From the tables of OCP OFP8 v1.0 and OCP MX v1.0, and for ue5m3 of the PTX ISA; they anchor the oracle too.
template <class T>
struct anchor {
  T code;
  double value;
};

template <class T>
void check_anchors(std::initializer_list<anchor<T>> anchors) {
  test::float_oracle<T> const oracle;
  for (auto const& [code, value] : anchors) {
    CAPTURE(int{code.bits});
    CHECK(static_cast<double>(code.to_float()) == value);
    CHECK(oracle.values().at(code.bits) == value);
  }
}

}  // namespace

TEST_CASE("codes named by the specifications have their values", "[format]") {
  check_anchors<fp4::e2m1>({{{0}, 0}, {{1}, .5}, {{2}, 1}, {{3}, 1.5}, {{4}, 2}, {{5}, 3}, {{6}, 4}, {{7}, 6}});
  check_anchors<fp4::e2m3>({{{0x01}, .125}, {{0x07}, .875}, {{0x08}, 1}, {{0x1F}, 7.5}});
  check_anchors<fp4::e3m2>({{{0x01}, .0625}, {{0x03}, .1875}, {{0x04}, .25}, {{0x1F}, 28}});
  check_anchors<fp4::e4m3>({{{0x01}, 0x1p-9}, {{0x07}, .875 * 0x1p-6}, {{0x08}, 0x1p-6}, {{0x38}, 1}, {{0x7E}, 448}});
  check_anchors<fp4::ue4m3>({{{0x01}, 0x1p-9}, {{0x08}, 0x1p-6}, {{0x38}, 1}, {{0x77}, 240}, {{0x7E}, 448}});
  check_anchors<fp4::e5m2>({{{0x01}, 0x1p-16}, {{0x03}, .75 * 0x1p-14}, {{0x04}, 0x1p-14}, {{0x7B}, 57344}});
  check_anchors<fp4::ue5m3>({{{0x01}, 0x1p-17}, {{0x08}, 0x1p-14}, {{0x78}, 1}, {{0xFE}, 114688}});
  check_anchors<fp4::e8m0>({{{0x00}, 0x1p-127}, {{0x01}, 0x1p-126}, {{0x7F}, 1}, {{0xFE}, 0x1p127}});
}

TEMPLATE_TEST_CASE("every finite code decodes to the value of its fields", "[format]", MINIFLOATS) {
  test::float_oracle<TestType> const oracle;
  REQUIRE(oracle.values().size() == TestType::max_code + 1u);
  for (unsigned code = 0; code <= TestType::max_code; ++code) {
    CAPTURE(code);
    float const positive = TestType{static_cast<std::uint8_t>(code)}.to_float();
    // fp32 holds each value, so its pattern stands for that real number.
    CHECK(test::real_float_magnitude(test::bits_of(positive)) == oracle.values()[code]);
    CHECK(test::bits_of(positive) >> 31 == 0);
    if (TestType::is_signed) {
      float const negative = TestType{static_cast<std::uint8_t>(code | TestType::sign_bit)}.to_float();
      CHECK(test::bits_of(negative) == (test::bits_of(positive) | 0x80000000u));
    }
  }
}

TEMPLATE_TEST_CASE("codes past the largest finite one are infinity or NaN", "[format]", MINIFLOATS) {
  for (unsigned code = TestType::max_code + 1u; code <= TestType::magnitude_bits; ++code) {
    CAPTURE(code);
    auto const x = TestType{static_cast<std::uint8_t>(code)};
    bool const infinite = std::is_same_v<TestType, fp4::e5m2> && code == 0x7C;
    CHECK(x.is_nan() == !infinite);
    CHECK(test::bits_of(x.to_float()) == (infinite ? 0x7F800000u : 0x7FC00000u));
    if (TestType::is_signed) {
      auto const negative = TestType{static_cast<std::uint8_t>(code | TestType::sign_bit)};
      CHECK(negative.is_nan() == !infinite);
      CHECK(test::bits_of(negative.to_float()) == (infinite ? 0xFF800000u : 0xFFC00000u));
    }
  }
}

TEMPLATE_TEST_CASE("encoding a decoded code gives it back", "[format]", MINIFLOATS) {
  for (unsigned magnitude = 0; magnitude <= TestType::max_code; ++magnitude) {
    for (unsigned sign = 0; sign <= TestType::sign_bit; sign += TestType::is_signed ? TestType::sign_bit : 1u) {
      auto const code = TestType{static_cast<std::uint8_t>(magnitude | sign)};
      CAPTURE(magnitude, sign);
      CHECK(TestType::from_float(code.to_float()) == code);
      CHECK(TestType::from_float_toward_zero(code.to_float()) == code);
    }
  }
}

TEST_CASE("codes compare as codes", "[format]") {
  STATIC_REQUIRE(fp4::e2m1{0} != fp4::e2m1{8});  // +0 and -0
  STATIC_REQUIRE(fp4::e2m1{8}.to_float() == 0.0f);
  STATIC_REQUIRE(fp4::e4m3{0x7F} == fp4::e4m3{0x7F});  // NaN
}

TEST_CASE("conversions are constant expressions", "[format]") {
  STATIC_REQUIRE(fp4::e2m1::from_float(-5.0f).bits == 0xE);
  STATIC_REQUIRE(fp4::e2m1::from_float_toward_zero(5.9f).bits == 0x6);
  STATIC_REQUIRE(fp4::e5m2{0x7B}.to_float() == 57344.0f);
  STATIC_REQUIRE(fp4::e8m0::from_float(1e-40f).bits == 0);
}
