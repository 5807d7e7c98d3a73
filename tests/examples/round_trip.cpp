// SPDX-License-Identifier: Apache-2.0
// The program of README.md.

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fp4/fp4.hpp>
#include <string>

#include "catch.hpp"
#include "programs.hpp"

TEST_CASE("round_trip prints 32 numbers and what came back", "[examples]") {
  io_test::ending const ended = io_test::run({});
  CHECK(ended.code == 0);
  CHECK(ended.err.empty());
  auto const lines = io_test::split(ended.out, '\n');
  REQUIRE(lines.size() == 33);
  CHECK(lines[0] == "4.5 bits per value");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    float before = 0, after = 0;
    CAPTURE(lines[i]);
    REQUIRE(std::sscanf(lines[i].c_str(), "%f -> %f", &before, &after) == 2);
    CHECK(std::fabs(after - before) <= 1.0f);  // half the widest step, 2, under a scale below 1
  }
}
