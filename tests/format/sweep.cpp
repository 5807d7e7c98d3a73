// SPDX-License-Identifier: Apache-2.0
// The sweep over patterns finds one wrong answer among many.
#include "format/sweep.hpp"

#include <algorithm>

#include "catch.hpp"

namespace {

constexpr std::uint32_t wrong_pattern = 0x40000123u;

/// The top 16 bits, but for one pattern.
struct almost_right {
  static std::uint32_t encode(float x) {
    std::uint32_t const bits = test::bits_of(x);
    return (bits >> 16) + (bits == wrong_pattern ? 1 : 0);
  }
};

}  // namespace

TEST_CASE("intervals cover all patterns and end where the code changes", "[format]") {
  auto const intervals = test::code_intervals([](std::uint32_t bits) { return bits < 0x3F800001u ? 3u : 7u; });
  REQUIRE(intervals.size() == 2);
  CHECK((intervals[0].first == 0 && intervals[0].last == 0x3F800000u && intervals[0].code == 3));
  CHECK((intervals[1].first == 0x3F800001u && intervals[1].last == 0xFFFFFFFFu && intervals[1].code == 7));
}

TEST_CASE("a sweep reports the one pattern that is wrong", "[format]") {
  std::vector<test::pattern_interval> intervals = {{0x3FFF0000u, 0x3FFFFFFFu, 0x3FFFu},
                                                   {0x40000000u, 0x4000FFFFu, 0x4000u}};
  CHECK(test::sweep<almost_right>(intervals) == "1 wrong, first: input 0x40000123 gave 0x4001, not 0x4000");
  intervals.pop_back();
  CHECK(test::sweep<almost_right>(intervals) == "");
}

TEST_CASE("samples are the ends of each interval and every so-manieth pattern", "[format]") {
  std::vector<std::uint32_t> seen;
  test::visit_samples({{100, 200, 1}, {201, 202, 2}, {5 * test::sample_stride, 5 * test::sample_stride + 900, 3}},
                      [&](std::uint32_t at, std::uint32_t) { seen.push_back(at); });
  auto const saw = [&](std::uint32_t at) { return std::find(seen.begin(), seen.end(), at) != seen.end(); };
  for (std::uint32_t const at : {100u, 101u, 102u, 198u, 199u, 200u, 201u, 202u}) { CHECK(saw(at)); }
  CHECK_FALSE(saw(103));
  CHECK(saw(5 * test::sample_stride));
  CHECK((saw(6 * test::sample_stride) || test::sample_stride > 900));
}
