// SPDX-License-Identifier: Apache-2.0
// All 2^32 fp32 patterns through every encoder. With FP4_TEST_QUICK: the ties, two patterns on each side of
// them, and every 257th pattern.
#include "catch.hpp"
#include "format/sweep.hpp"
#include "support/float_oracle.hpp"

#define TO_NEAREST(T) test::to_nearest<fp4::T>
#define TO_ZERO(T) test::to_zero<fp4::T>

TEMPLATE_TEST_CASE("every float is encoded as the table of values says", "[format]", TO_NEAREST(e2m1), TO_NEAREST(e2m3),
                   TO_NEAREST(e3m2), TO_NEAREST(e4m3), TO_NEAREST(e5m2), TO_NEAREST(ue4m3), TO_NEAREST(ue5m3),
                   TO_NEAREST(e8m0), TO_NEAREST(float16), TO_NEAREST(bfloat16), TO_ZERO(e2m1), TO_ZERO(e2m3),
                   TO_ZERO(e3m2), TO_ZERO(e4m3), TO_ZERO(e5m2), TO_ZERO(ue4m3), TO_ZERO(ue5m3), TO_ZERO(e8m0)) {
  test::float_oracle<typename TestType::type> const oracle;
  auto const intervals = test::code_intervals([&oracle](std::uint32_t bits) { return TestType::wanted(oracle, bits); });
  REQUIRE(intervals.front().first == 0);
  REQUIRE(intervals.back().last == 0xFFFFFFFFu);
#if defined(FP4_TEST_QUICK)
  CHECK(test::sample<TestType>(intervals) == "");
#else
  CHECK(test::sweep<TestType>(intervals) == "");
#endif
}
