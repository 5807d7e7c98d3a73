// SPDX-License-Identifier: Apache-2.0
// round_stochastic against its definition in double: with lo the grid value at or below |x| and ulp the step
// above it, code(lo) + ((floor((|x| - lo) / ulp * 2^16) + R) >> 16).
#include <cmath>
#include <random>

#include "catch.hpp"
#include "support/bits.hpp"
#include "support/float_oracle.hpp"
#include "support/mismatches.hpp"

#include <fp4/rounding/rounding.hpp>

namespace {

constexpr double grid[] = {0, .5, 1, 1.5, 2, 3, 4, 6};

/// What rounding x needs: the code at or below, and from which R on it goes up (65536: never).
struct definition {
  unsigned low;
  unsigned sign;
  std::uint32_t goes_up_from;

  explicit definition(std::uint32_t bits) : low(7), sign(bits >> 31 != 0 ? 8 : 0), goes_up_from(0x10000) {
    if (test::is_nan_pattern(bits)) {
      sign = 0;
      return;
    }
    double const x = test::real_float_magnitude(bits);
    while (grid[low] > x) { --low; }
    if (low < 7) {
      double const fraction = (x - grid[low]) / (grid[low + 1] - grid[low]);
      goes_up_from = 0x10000 - static_cast<std::uint32_t>(std::floor(fraction * 0x10000));
    }
  }
  [[nodiscard]] unsigned code(std::uint32_t r) const { return (low + (r >= goes_up_from ? 1 : 0)) | sign; }
};

void check_every_random(std::uint32_t bits) {
  definition const wanted(bits);
  test::mismatches wrong;
  for (std::uint32_t r = 0; r < 0x10000; ++r) {
    wrong.compare(r, fp4::round_stochastic(test::float_of(bits), r).bits, wanted.code(r));
  }
  CAPTURE(bits);
  CHECK(wrong.report() == "");
}

void check_both_signs(std::uint32_t bits) {
  check_every_random(bits);
  check_every_random(bits | 0x80000000u);
}

}  // namespace

TEST_CASE("stochastic rounding follows its definition for all random bits, at and around the grid", "[rounding]") {
  for (double const value : grid) {
    std::uint32_t const at = test::bits_of(static_cast<float>(value));
    check_both_signs(at);
    check_both_signs(at + 1);
    if (at != 0) { check_both_signs(at - 1); }
  }
  for (int i = 0; i < 7; ++i) {  // a fraction of the step, where 2^-16 of it starts and where it ends
    for (double const fraction : {0x1p-16, 3 * 0x1p-16, .25, .5, 1 - 0x1p-16}) {
      double const value = grid[i] + (grid[i + 1] - grid[i]) * fraction;
      std::uint32_t const at = test::bits_of(static_cast<float>(value));
      check_both_signs(at - 1);
      check_both_signs(at);
      check_both_signs(at + 1);
    }
  }
}

TEST_CASE("stochastic rounding follows its definition for all random bits, far from the grid", "[rounding]") {
  // Denormals, the smallest normals, below and above half a random step of the lowest interval, and past the
  // largest.
  for (std::uint32_t const bits :
       {0x00000001u, 0x007FFFFFu, 0x00800000u, 0x36FFFFFFu, 0x37000000u, 0x37800000u, 0x40BFFFFFu, 0x40C00001u,
        0x41000000u, 0x7F7FFFFFu, 0x7F800000u, 0x7F800001u, 0x7FFFFFFFu}) {
    check_both_signs(bits);
  }
}

TEST_CASE("stochastic rounding follows its definition for random values", "[rounding]") {
  std::mt19937 random(7);
#if defined(FP4_TEST_QUICK)
  int const draws = 20000;
#else
  int const draws = 2000000;
#endif
  test::mismatches wrong;
  for (int i = 0; i < draws; ++i) {
    auto const word = static_cast<std::uint32_t>(random());
    // Exponents from 2^-20 to 2^3: where rounding decides.
    std::uint32_t const exponent = 107 + static_cast<std::uint32_t>(random()) % 24;
    std::uint32_t const bits = (word & 0x807FFFFFu) | exponent << 23;
    std::uint32_t const r = static_cast<std::uint32_t>(random()) & 0xFFFFu;
    wrong.compare(bits, fp4::round_stochastic(test::float_of(bits), r).bits, definition(bits).code(r));
  }
  CHECK(wrong.report() == "");
}

TEST_CASE("values of the grid, zeros, the maximum, NaN and infinities never move", "[rounding]") {
  for (std::uint32_t const r : {0u, 1u, 0x8000u, 0xFFFFu}) {
    for (unsigned code = 0; code < 16; ++code) {
      auto const element = fp4::e2m1{static_cast<std::uint8_t>(code)};
      CHECK(fp4::round_stochastic(element.to_float(), r) == element);
    }
    CHECK(fp4::round_stochastic(test::infinity(), r).bits == 0x7);
    CHECK(fp4::round_stochastic(-test::infinity(), r).bits == 0xF);
    CHECK(fp4::round_stochastic(test::float_of(0xFFC00000u), r).bits == 0x7);
  }
  STATIC_REQUIRE(fp4::round_stochastic(1.25f, 0x7FFF).bits == 2);
  STATIC_REQUIRE(fp4::round_stochastic(1.25f, 0x8000).bits == 3);
}

TEST_CASE("roundings without random bits are those of the element", "[rounding]") {
  STATIC_REQUIRE(fp4::encode<fp4::e2m1>(2.9f, fp4::nearest_even{}).bits == 5);
  STATIC_REQUIRE(fp4::encode<fp4::e2m1>(2.9f, fp4::toward_zero{}).bits == 4);
  STATIC_REQUIRE(fp4::encode<fp4::e4m3>(-1.1f, fp4::toward_zero{}).bits == 0xB8);
}

TEST_CASE("a shard names its place and keeps seed and stream", "[rounding]") {
  constexpr fp4::stochastic whole{5, 9};
  constexpr fp4::stochastic shard = whole.at(32, 4, 10);
  STATIC_REQUIRE((shard.seed == 5 && shard.stream == 9));
  STATIC_REQUIRE((shard.first_row == 32 && shard.first_block == 4 && shard.blocks_per_row == 10));
  STATIC_REQUIRE((whole.first_row == 0 && whole.first_block == 0 && whole.blocks_per_row == 0));
}
