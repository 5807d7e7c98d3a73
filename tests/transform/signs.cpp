// SPDX-License-Identifier: Apache-2.0
// The sign vectors.
#include "catch.hpp"

#include <fp4/transform/hadamard.hpp>

TEMPLATE_TEST_CASE("the default signs are Transformer Engine's 16, repeated", "[transform]", fp4::hadamard<16>,
                   fp4::hadamard<32>, fp4::hadamard<64>, fp4::hadamard<128>, fp4::hadamard<256>) {
  constexpr int s[16] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
  constexpr TestType h;
  for (int i = 0; i < TestType::size; ++i) {
    CAPTURE(i);
    CHECK(h.negates(i) == (s[i % 16] < 0));
    CHECK((h.signs[i / 32] >> (i % 32) & 1u) == (s[i % 16] < 0 ? 1u : 0u));
  }
}

TEMPLATE_TEST_CASE("random signs take bit i from word i/32 of the Philox output at counter i/128", "[transform]",
                   fp4::hadamard<16>, fp4::hadamard<32>, fp4::hadamard<64>, fp4::hadamard<128>, fp4::hadamard<256>) {
  for (std::uint64_t const seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xFEDC'BA98'7654'3210}}) {
    TestType const h = TestType::random_signs(seed);
    for (int i = 0; i < TestType::size; ++i) {
      auto const bits =
          fp4::philox4x32({{static_cast<std::uint32_t>(i / 128), 0, 0, 0}},
                          static_cast<std::uint32_t>(seed) ^ 0x52485421u, static_cast<std::uint32_t>(seed >> 32));
      CAPTURE(seed, i);
      CHECK(h.negates(i) == ((bits[i / 32 % 4] >> (i % 32) & 1u) != 0));
    }
  }
}

TEST_CASE("random signs of one size are the first of a larger one", "[transform]") {
  auto const small = fp4::hadamard<16>::random_signs(3);
  auto const large = fp4::hadamard<256>::random_signs(3);
  for (int i = 0; i < 16; ++i) { CHECK(small.negates(i) == large.negates(i)); }
  CHECK(small.signs[0] >> 16 == 0);
}

TEST_CASE("random signs are a constant expression", "[transform]") {
  // This seed makes the key 0, whose answer to counter 0 is published: 6627e8d5 e169c58d ...
  STATIC_REQUIRE(fp4::hadamard<16>::random_signs(0x52485421).signs[0] == 0xe8d5u);
  STATIC_REQUIRE(fp4::hadamard<64>::random_signs(0x52485421).signs[1] == 0xe169c58du);
}
