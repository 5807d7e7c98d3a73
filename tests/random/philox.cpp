// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 against the known answers that Random123 publishes (kat_vectors), and the order of its
// arguments.
#include "catch.hpp"

#include <fp4/random/philox.hpp>

namespace {

constexpr bool equal(fp4::uint32x4 a, fp4::uint32x4 b) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

constexpr std::uint32_t ones = 0xFFFFFFFFu;
constexpr fp4::uint32x4 digits_of_pi{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}};
constexpr fp4::uint32x4 answer_to_pi{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};

}  // namespace

TEST_CASE("Philox4x32-10 gives the published answers", "[random]") {
  CHECK(equal(fp4::philox4x32({}, 0, 0), {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
  CHECK(equal(fp4::philox4x32({{ones, ones, ones, ones}}, ones, ones),
              {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
  CHECK(equal(fp4::philox4x32(digits_of_pi, 0xa4093822, 0x299f31d0), answer_to_pi));
}

TEST_CASE("Philox is a constant expression", "[random]") {
  STATIC_REQUIRE(equal(fp4::philox4x32(digits_of_pi, 0xa4093822, 0x299f31d0), answer_to_pi));
}

TEST_CASE("a block's bits take the seed as key, and position and stream as counter, low words first", "[random]") {
  constexpr std::uint64_t position = 0x85a308d3'243f6a88, stream = 0x03707344'13198a2e, seed = 0x299f31d0'a4093822;
  CHECK(equal(fp4::block_bits(seed, stream, position), answer_to_pi));
  STATIC_REQUIRE(equal(fp4::block_bits(0, 0, 0), {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
}
