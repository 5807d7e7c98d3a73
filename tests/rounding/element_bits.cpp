// SPDX-License-Identifier: Apache-2.0
// Which 16 random bits of a word each of four elements uses.
#include "catch.hpp"

#include <fp4/rounding/rounding.hpp>

TEST_CASE("elements take the bytes of a word in the order of cvt.rs", "[rounding]") {
  // Bytes B3..B0. In memory order 0 is operand f, 1 is e, 2 is b and 3 is a.
  constexpr std::uint32_t word = 0x04'03'02'01;
  CHECK(fp4::element_bits(word, 0) == 0x0301);  // f = B2 B0
  CHECK(fp4::element_bits(word, 1) == 0x80C0);  // e = B0 B2, each reversed: 0000'0001 -> 1000'0000
  CHECK(fp4::element_bits(word, 2) == 0x0402);  // b = B3 B1
  CHECK(fp4::element_bits(word, 3) == 0x4020);  // a = B1 B3, each reversed
  CHECK(fp4::element_bits(0x35'00'00'00, 3) == 0x00AC);
  CHECK(fp4::element_bits(0x00'00'35'00, 3) == 0xAC00);
  STATIC_REQUIRE(fp4::element_bits(0x00'FF'00'0F, 0) == 0xFF0F);
}

TEST_CASE("each bit of a word reaches one place in each element of one pair, mirrored", "[rounding]") {
  for (int bit = 0; bit < 32; ++bit) {
    std::uint32_t const word = 1u << bit;
    int const pair = bit / 8 % 2 == 0 ? 0 : 2;  // B0 and B2 serve elements 0 and 1
    CAPTURE(bit);
    std::uint32_t const straight = fp4::element_bits(word, pair), mirrored = fp4::element_bits(word, pair + 1);
    int place = 0;
    while ((straight >> place & 1u) == 0 && place < 16) { ++place; }
    REQUIRE(straight == 1u << place);
    CHECK(mirrored == 0x8000u >> place);
    CHECK(fp4::element_bits(word, 2 - pair) == 0);
    CHECK(fp4::element_bits(word, 3 - pair) == 0);
  }
}
