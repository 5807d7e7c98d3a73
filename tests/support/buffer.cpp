// SPDX-License-Identifier: Apache-2.0
// The output buffer sees a write on either side, and the comparer names the first wrong byte.
#include "support/buffer.hpp"

#include "catch.hpp"
#include "support/environment.hpp"

using Catch::Matchers::ContainsSubstring;

TEST_CASE("a poisoned buffer is filled, and sees a byte written before or after it") {
  test::poisoned_buffer b(10, 0xA5);
  REQUIRE(b.size() == 10);
  CHECK(std::all_of(b.data(), b.data() + 10, [](std::uint8_t x) { return x == 0xA5; }));
  CHECK(b.guards_hold());
  std::fill_n(b.data(), 10, std::uint8_t{0});
  CHECK(b.guards_hold());
  for (std::int64_t at : {-64, -1, 10, 73}) {
    CAPTURE(at);
    std::uint8_t const kept = b.data()[at];
    b.data()[at] = 0xA5;
    CHECK_FALSE(b.guards_hold());
    b.data()[at] = kept;
    CHECK(b.guards_hold());
  }
  CHECK(test::poisoned_buffer(0, 1).guards_hold());
}

TEST_CASE("the comparer finds the first difference") {
  test::poisoned_buffer a(100, 1), b(100, 1);
  CHECK(test::first_difference(a, b, 20).empty());
  a.data()[47] = 0xCD;
  a.data()[99] = 2;
  std::string const text = test::first_difference(a, b, 20);
  CHECK_THAT(text, ContainsSubstring("byte 47 (row 2, byte 7) is CD, wanted 01; 2 of 100 differ"));
  CHECK_THAT(text, ContainsSubstring("01 01 [CD] 01 01"));
  a = b;
  a.data()[-1] = 1;
  CHECK_THAT(test::first_difference(a, b, 20), ContainsSubstring("outside"));
}

TEST_CASE("the comparer takes empty buffers and rows of no length") {
  test::poisoned_buffer a(0, 1), b(0, 1), c(3, 0), d(3, 1);
  CHECK(test::first_difference(a, b, 0).empty());
  CHECK_THAT(test::first_difference(c, d, 0), ContainsSubstring("byte 0 (row 0, byte 0)"));
}

TEST_CASE("the normal environment lasts for its scope") {
  std::uint64_t const before = test::floating_point_control();
  {
    test::normal_environment const outer;
    std::uint64_t const normal = test::floating_point_control();
    REQUIRE(test::flush_subnormals());
    CHECK(test::floating_point_control() != normal);
    std::fesetround(FE_UPWARD);
    {
      test::normal_environment const inner;
      CHECK(test::floating_point_control() == normal);
      float const volatile subnormal = 1e-40f;
      CHECK(subnormal * 2.0f > 0.0f);
    }
    CHECK(test::floating_point_control() != normal);
    CHECK(std::fegetround() == FE_UPWARD);
  }
  CHECK(test::floating_point_control() == before);
}
