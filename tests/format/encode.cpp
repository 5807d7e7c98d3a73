// SPDX-License-Identifier: Apache-2.0
// Two rounding intervals meet at the midpoint of neighbours; every encoder bug lives there.
#include "catch.hpp"
#include "support/bits.hpp"
#include "support/float_oracle.hpp"

#define MINIFLOATS fp4::e2m1, fp4::e2m3, fp4::e3m2, fp4::e4m3, fp4::e5m2, fp4::ue4m3, fp4::ue5m3, fp4::e8m0

namespace {

template <class T>
unsigned nearest(std::uint32_t bits) {
  return T::from_float(test::float_of(bits)).bits;
}
template <class T>
unsigned toward_zero(std::uint32_t bits) {
  return T::from_float_toward_zero(test::float_of(bits)).bits;
}

/// The fp32 pattern of a real number that fp32 holds.
std::uint32_t pattern_of(double value) {
  int exponent;
  double const fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  if (value == 0) { return 0; }
  if (exponent < -125) { return static_cast<std::uint32_t>(std::ldexp(value, 149)); }
  auto const mantissa = static_cast<std::uint32_t>(std::ldexp(fraction, 24));
  return (static_cast<std::uint32_t>(exponent + 126) << 23) + (mantissa - 0x800000u);
}

}  // namespace

TEMPLATE_TEST_CASE("ties go to the even code and their fp32 neighbours to the nearer one", "[format]", MINIFLOATS) {
  test::float_oracle<TestType> const oracle;
  for (unsigned low = 0; low < TestType::max_code; ++low) {
    std::uint32_t const tie = pattern_of((oracle.values()[low] + oracle.values()[low + 1]) / 2);
    CAPTURE(low, tie);
    CHECK(nearest<TestType>(tie - 1) == low);
    CHECK(nearest<TestType>(tie) == (low % 2 == 0 ? low : low + 1));
    CHECK(nearest<TestType>(tie + 1) == low + 1);
    CHECK(toward_zero<TestType>(tie) == low);
    std::uint32_t const negative = tie | 0x80000000u;
    unsigned const sign = TestType::sign_bit;
    CHECK(nearest<TestType>(negative - 1) == (TestType::is_signed ? low | sign : 0));
    CHECK(nearest<TestType>(negative) == (TestType::is_signed ? (low % 2 == 0 ? low : low + 1) | sign : 0));
    CHECK(nearest<TestType>(negative + 1) == (TestType::is_signed ? (low + 1) | sign : 0));
    CHECK(toward_zero<TestType>(negative) == (TestType::is_signed ? low | sign : 0));
  }
}

TEMPLATE_TEST_CASE("toward zero changes its code at each value itself", "[format]", MINIFLOATS) {
  test::float_oracle<TestType> const oracle;
  for (unsigned code = 1; code <= TestType::max_code; ++code) {
    std::uint32_t const at = pattern_of(oracle.values()[code]);
    CAPTURE(code, at);
    CHECK(toward_zero<TestType>(at - 1) == code - 1);
    CHECK(toward_zero<TestType>(at) == code);
    CHECK(toward_zero<TestType>(at + 1) == code);
    CHECK(nearest<TestType>(at) == code);
  }
}

TEMPLATE_TEST_CASE("everything past the largest value saturates", "[format]", MINIFLOATS) {
  unsigned const most = TestType::max_code;
  unsigned const least = TestType::is_signed ? most | TestType::sign_bit : 0u;
  std::uint32_t const max = test::bits_of(TestType::max_finite);
  for (std::uint32_t const bits : {max, max + 1, max + 0x00100000u, 0x7F7FFFFFu, 0x7F800000u}) {
    CAPTURE(bits);
    CHECK(nearest<TestType>(bits) == most);
    CHECK(toward_zero<TestType>(bits) == most);
    CHECK(nearest<TestType>(bits | 0x80000000u) == least);
    CHECK(toward_zero<TestType>(bits | 0x80000000u) == least);
  }
}

TEMPLATE_TEST_CASE("every NaN becomes the one NaN code, or the largest value where there is none", "[format]",
                   MINIFLOATS) {
  unsigned const wanted = test::definition_of<TestType>.nan_code;
  for (std::uint32_t const bits :
       {0x7F800001u, 0x7FBFFFFFu, 0x7FC00000u, 0x7FFFFFFFu, 0xFF800001u, 0xFFC00000u, 0xFFFFFFFFu}) {
    CAPTURE(bits);
    CHECK(nearest<TestType>(bits) == wanted);
    CHECK(toward_zero<TestType>(bits) == wanted);
  }
}

TEMPLATE_TEST_CASE("zeros and denormals become the smallest code with their sign", "[format]", MINIFLOATS) {
  unsigned const minus = TestType::sign_bit;
  std::uint32_t const last = TestType::has_zero ? 0x007FFFFFu : 0x00600000u;  // e8m0: the tie of 2^-127 and 2^-126
  for (std::uint32_t const bits : {0x00000000u, 0x00000001u, 0x00400000u, last}) {
    CAPTURE(bits);
    CHECK(nearest<TestType>(bits) == 0);
    CHECK(toward_zero<TestType>(bits) == 0);
    CHECK(nearest<TestType>(bits | 0x80000000u) == minus);
    CHECK(toward_zero<TestType>(bits | 0x80000000u) == minus);
  }
}

TEST_CASE("e8m0 rounds denormals between its two smallest codes", "[format]") {
  CHECK(nearest<fp4::e8m0>(0x00600000u) == 0);
  CHECK(nearest<fp4::e8m0>(0x00600001u) == 1);
  CHECK(nearest<fp4::e8m0>(0x007FFFFFu) == 1);
  CHECK(nearest<fp4::e8m0>(0x00800000u) == 1);
  CHECK(toward_zero<fp4::e8m0>(0x007FFFFFu) == 0);
  CHECK(toward_zero<fp4::e8m0>(0x00800000u) == 1);
}
