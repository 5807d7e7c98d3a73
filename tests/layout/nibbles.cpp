// SPDX-License-Identifier: Apache-2.0
// Two codes in a byte, the even element low.
#include "catch.hpp"

#include <fp4/layout/views.hpp>

TEST_CASE("the even element is the low nibble, for every byte", "[layout]") {
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::uint8_t const packed[2] = {0, static_cast<std::uint8_t>(byte)};
    CAPTURE(byte);
    CHECK(fp4::nibble(packed, 2) == (byte & 0xF));
    CHECK(fp4::nibble(packed, 3) == byte / 16);
  }
}

TEST_CASE("setting a nibble leaves its neighbour alone", "[layout]") {
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (unsigned code = 0; code < 16; ++code) {
      std::uint8_t packed[3] = {0xA5, static_cast<std::uint8_t>(byte), 0xA5};
      fp4::set_nibble(packed, 2, static_cast<std::uint8_t>(code));
      REQUIRE(packed[1] == ((byte & 0xF0) | code));
      packed[1] = static_cast<std::uint8_t>(byte);
      fp4::set_nibble(packed, 3, static_cast<std::uint8_t>(code));
      REQUIRE(packed[1] == ((byte & 0x0F) | code << 4));
      REQUIRE((packed[0] == 0xA5 && packed[2] == 0xA5));
    }
  }
}

TEST_CASE("elements are read as their format stores them", "[layout]") {
  constexpr std::uint8_t row[2] = {0xF2, 0x7E};
  STATIC_REQUIRE(fp4::element_at<fp4::nvfp4>(row, 0) == fp4::e2m1{0x2});
  STATIC_REQUIRE(fp4::element_at<fp4::mxfp4>(row, 1) == fp4::e2m1{0xF});
  STATIC_REQUIRE(fp4::element_at<fp4::nvfp4>(row, 3) == fp4::e2m1{0x7});
  STATIC_REQUIRE(fp4::element_at<fp4::mxfp8_e4m3>(row, 1) == fp4::e4m3{0x7E});
}
