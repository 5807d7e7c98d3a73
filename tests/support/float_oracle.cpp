// SPDX-License-Identifier: Apache-2.0
// The oracle of number formats, on answers that were worked out by hand.
#include "support/float_oracle.hpp"

#include "catch.hpp"
#include "support/bits.hpp"

namespace {

template <class T>
std::uint32_t nearest(float x) {
  return test::float_oracle<T>().nearest(test::bits_of(x));
}
template <class T>
std::uint32_t toward_zero(float x) {
  return test::float_oracle<T>().toward_zero(test::bits_of(x));
}

}  // namespace

TEST_CASE("the oracle reads fp32 patterns as real numbers", "[support]") {
  CHECK(test::real_float_magnitude(0x00000001u) == 0x1p-149);
  CHECK(test::real_float_magnitude(0x807FFFFFu) == 0x1p-126 - 0x1p-149);
  CHECK(test::real_float_magnitude(0xBFC00000u) == 1.5);
  CHECK(test::real_float_magnitude(0x7F7FFFFFu) == 0x1.fffffep127);
  CHECK(test::real_float_magnitude(0x7F800000u) == 0x1p128);
  CHECK(test::is_nan_pattern(0xFF800001u));
  CHECK_FALSE(test::is_nan_pattern(0xFF800000u));
}

TEST_CASE("the oracle rounds to nearest, ties to even, and toward zero", "[support]") {
  CHECK(nearest<fp4::e2m1>(2.5f) == 4);
  CHECK(nearest<fp4::e2m1>(3.5f) == 6);
  CHECK(nearest<fp4::e2m1>(-0.26f) == 9);
  CHECK(nearest<fp4::e2m1>(1e30f) == 7);
  CHECK(nearest<fp4::e2m1>(-0.0f) == 8);
  CHECK(toward_zero<fp4::e2m1>(-3.9f) == 13);
  CHECK(nearest<fp4::e4m3>(0x1p-10f) == 0);
  CHECK(nearest<fp4::e4m3>(3 * 0x1p-10f) == 2);
  CHECK(nearest<fp4::ue4m3>(-1.0f) == 0);
  CHECK(nearest<fp4::e8m0>(1.5f) == 128);  // between 127 and 128
  CHECK(nearest<fp4::e8m0>(3.0f) == 128);
  CHECK(nearest<fp4::e8m0>(0.0f) == 0);
  CHECK(toward_zero<fp4::e8m0>(3.9f) == 128);
  CHECK(nearest<fp4::float16>(65519.0f) == 0x7BFF);
  CHECK(nearest<fp4::float16>(65520.0f) == 0x7C00);
  CHECK(nearest<fp4::bfloat16>(test::float_of(0x3F808000u)) == 0x3F80);
  CHECK(nearest<fp4::bfloat16>(test::float_of(0x3F818000u)) == 0x3F82);
}

TEST_CASE("the oracle knows what becomes of infinity and NaN", "[support]") {
  CHECK(nearest<fp4::e5m2>(test::infinity()) == 0x7B);
  CHECK(nearest<fp4::e5m2>(-test::nan()) == 0x7F);
  CHECK(nearest<fp4::e2m1>(-test::nan()) == 0x7);
  CHECK(nearest<fp4::float16>(-test::infinity()) == 0xFC00);
  CHECK(nearest<fp4::float16>(test::float_of(0xFF800001u)) == 0xFE00);
  CHECK(nearest<fp4::bfloat16>(test::float_of(0xFF812345u)) == 0xFFC1);
}
