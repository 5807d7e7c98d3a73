// SPDX-License-Identifier: Apache-2.0
#include "support/mismatches.hpp"

#include "catch.hpp"

TEST_CASE("mismatches report how many were wrong, and the first", "[support]") {
  test::mismatches wrong;
  wrong.compare(1, 5, 5);
  CHECK(wrong.report() == "");
  wrong.compare(0x10, 0xA, 0xB);
  wrong.compare(2, 3, 4);
  CHECK(wrong.report() == "2 wrong, first: input 0x10 gave 0xa, not 0xb");
}
