// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16: every code, and every tie.
#include "catch.hpp"
#include "support/bits.hpp"
#include "support/float_oracle.hpp"
#include "support/mismatches.hpp"

namespace {

template <class T>
T value_of(unsigned code) {
  return T{static_cast<std::uint16_t>(code)};
}

/// The fp32 pattern between those of two neighbours. Their midpoint, since patterns are linear inside a
/// binade and the midpoint of neighbours never leaves it.
template <class T>
std::uint32_t tie_above(unsigned code) {
  constexpr auto definition = test::definition_of<T>;
  double const low = test::real_value(code, definition.mantissa_bits, definition.bias);
  double const high = test::real_value(code + 1, definition.mantissa_bits, definition.bias);
  double const middle = (low + high) / 2;
  // The first pattern whose value is not below the middle.
  std::uint32_t below = 0, at = 0x7F800000u;
  while (at - below > 1) {
    std::uint32_t const probe = below + (at - below) / 2;
    (test::real_float_magnitude(probe) < middle ? below : at) = probe;
  }
  return at;
}

}  // namespace

TEMPLATE_TEST_CASE("every finite 16-bit code decodes to the value of its fields", "[format]", fp4::float16,
                   fp4::bfloat16) {
  constexpr auto definition = test::definition_of<TestType>;
  test::mismatches wrong;
  for (unsigned code = 0; code <= definition.max_code; ++code) {
    float const x = value_of<TestType>(code).to_float();
    double const wanted = test::real_value(code, definition.mantissa_bits, definition.bias);
    wrong.compare(code, test::real_float_magnitude(test::bits_of(x)) == wanted, true);
    wrong.compare(code, test::bits_of(x) >> 31, 0);
    float const negative = value_of<TestType>(code | 0x8000u).to_float();
    wrong.compare(code | 0x8000u, test::bits_of(negative), test::bits_of(x) | 0x80000000u);
  }
  CHECK(wrong.report() == "");
}

TEMPLATE_TEST_CASE("16-bit infinities and NaNs decode to infinities and NaNs of their sign", "[format]", fp4::float16,
                   fp4::bfloat16) {
  unsigned const infinity = test::definition_of<TestType>.max_code + 1;
  for (unsigned const sign : {0u, 0x8000u}) {
    CHECK(test::bits_of(value_of<TestType>(infinity | sign).to_float()) == (0x7F800000u | sign << 16));
    test::mismatches wrong;
    for (unsigned code = infinity + 1; code <= 0x7FFFu; ++code) {
      std::uint32_t const bits = test::bits_of(value_of<TestType>(code | sign).to_float());
      wrong.compare(code, test::is_nan_pattern(bits) && bits >> 31 == sign >> 15, true);
    }
    CHECK(wrong.report() == "");
  }
}

TEMPLATE_TEST_CASE("encoding a decoded 16-bit number gives it back", "[format]", fp4::float16, fp4::bfloat16) {
  test::mismatches wrong;
  for (unsigned code = 0; code <= 0xFFFFu; ++code) {
    bool const nan = (code & 0x7FFFu) > test::definition_of<TestType>.max_code + 1;
    if (nan) { continue; }
    wrong.compare(code, TestType::from_float(value_of<TestType>(code).to_float()).bits, code);
  }
  CHECK(wrong.report() == "");
}

TEMPLATE_TEST_CASE("16-bit ties go to the even code and their fp32 neighbours to the nearer one", "[format]",
                   fp4::float16, fp4::bfloat16) {
  test::mismatches wrong;
  auto const encode = [](std::uint32_t bits) { return TestType::from_float(test::float_of(bits)).bits; };
  for (unsigned low = 0; low <= test::definition_of<TestType>.max_code; ++low) {  // the last tie is with infinity
    std::uint32_t const tie = tie_above<TestType>(low);
    for (unsigned const sign : {0u, 0x8000u}) {
      std::uint32_t const signed_tie = tie | sign << 16;
      wrong.compare(signed_tie - 1, encode(signed_tie - 1), low | sign);
      wrong.compare(signed_tie, encode(signed_tie), (low + low % 2) | sign);
      wrong.compare(signed_tie + 1, encode(signed_tie + 1), (low + 1) | sign);
    }
  }
  CHECK(wrong.report() == "");
}

TEST_CASE("16-bit floats overflow to infinity and keep the sign of NaN", "[format]") {
  auto const half = [](std::uint32_t bits) { return fp4::float16::from_float(test::float_of(bits)).bits; };
  auto const brain = [](std::uint32_t bits) { return fp4::bfloat16::from_float(test::float_of(bits)).bits; };
  CHECK(half(0x477FEFFFu) == 0x7BFF);  // just below 65520
  CHECK(half(0x477FF000u) == 0x7C00);
  CHECK(half(0xFF7FFFFFu) == 0xFC00);
  for (std::uint32_t bits = 0x47800000u; bits <= 0x7F800000u; bits += 0x00100000u) { CHECK(half(bits) == 0x7C00); }
  CHECK(brain(0x7F7F7FFFu) == 0x7F7F);
  CHECK(brain(0x7F7F8000u) == 0x7F80);
  CHECK(brain(0xFF7FFFFFu) == 0xFF80);
  CHECK(half(0x7F800001u) == 0x7E00);  // signalling: quiet, not infinity
  CHECK(half(0xFF800001u) == 0xFE00);
  CHECK(half(0x7FFFFFFFu) == 0x7E00);
  CHECK(brain(0x7F800001u) == 0x7FC0);
  CHECK(brain(0xFF801234u) == 0xFFC0);
  CHECK(brain(0x7FFFFFFFu) == 0x7FFF);  // rounding up would have made it -0
  CHECK(half(0x80000000u) == 0x8000);
  CHECK(half(0x80000001u) == 0x8000);
  CHECK(brain(0x80000001u) == 0x8000);
  CHECK(brain(0x00018000u) == 0x0002);  // a denormal tie
}

TEST_CASE("16-bit conversions are constant expressions", "[format]") {
  STATIC_REQUIRE(fp4::float16::from_float(1.0f).bits == 0x3C00);
  STATIC_REQUIRE(fp4::float16{0x0001}.to_float() == 0x1p-24f);
  STATIC_REQUIRE(fp4::bfloat16::from_float(-2.0f).bits == 0xC000);
  STATIC_REQUIRE(fp4::bfloat16{0x3F80}.to_float() == 1.0f);
  STATIC_REQUIRE((fp4::is_value_v<float> && fp4::is_value_v<fp4::float16> && !fp4::is_value_v<double>));
}
