// SPDX-License-Identifier: Apache-2.0
// Cases R1 to R8: stochastic rounding. All seeds are fixed, so nothing here fails by chance.
#include <cmath>
#include <type_traits>

#include "cases/rows.hpp"
#include "support/data.hpp"

namespace {

using fp4::stochastic;

}  // namespace

TEST_CASE("R1: exact values come out of stochastic rounding", "[cases]") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    auto const b = test::quantize_row({6, 1, -4, 1, -4, 1, -4}, test::unit_scale(), stochastic{seed});
    REQUIRE(b.elements(7) == test::codes{7, 2, 14, 2, 14, 2, 14});
  }
}

TEST_CASE("R2: elements do not share random bits", "[cases]") {
  // Blocks of one 6, which makes the scale 1, and fifteen 0.25, halfway to 0.5. Seven neighbour pairs a
  // block.
  constexpr std::int64_t blocks = 4682;
  std::vector<float> x(blocks * 16, .25f);
  for (std::size_t i = 0; i < x.size(); i += 16) { x[i] = 6; }
  auto const b = test::quantize_row(x, test::unit_scale(), stochastic{2});
  test::codes const found = b.elements(blocks * 16);
  double ups = 0, halves = 0, agreements = 0, pairs = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i % 16 == 0) { continue; }
    REQUIRE(found[i] <= 1);
    ups += found[i], ++halves;
    if (i % 2 == 0) { agreements += found[i] == found[i + 1], ++pairs; }
  }
  CHECK((halves > 65536 && pairs > 32768));
  CHECK(ups / halves > .492);
  CHECK(ups / halves < .508);
  CHECK(agreements / pairs > .489);
  CHECK(agreements / pairs < .511);
  CHECK(test::octets(b.codes.begin(), b.codes.begin() + 8) != test::octets(b.codes.begin() + 8, b.codes.begin() + 16));
}

TEST_CASE("R4: the probability of going up is the distance to the value below", "[cases]") {
  struct {
    float x;
    unsigned low;
    double up;
  } const cases[] = {{.1f, 0, .2},  {.3f, 0, .6},    {.25f, 0, .5},  {.75f, 1, .5},
                     {1.2f, 2, .4}, {2.25f, 4, .25}, {4.5f, 6, .25}, {5.9f, 6, .95}};
  constexpr int draws = 1000000;
  for (auto const& [x, low, up] : cases) {
    for (unsigned const sign : {0u, 8u}) {
      int ups = 0, others = 0;
      for (int i = 0; i < draws / 16; ++i) {
        auto const bits = fp4::block_bits(4, sign, static_cast<std::uint64_t>(i));
        for (int k = 0; k < 16; ++k) {
          unsigned const code = fp4::round_stochastic(sign == 0 ? x : -x, fp4::element_bits(bits[k / 4], k % 4)).bits;
          ups += code == ((low + 1) | sign);
          others += code != (low | sign) && code != ((low + 1) | sign);
        }
      }
      CAPTURE(x, sign);
      CHECK(others == 0);
      CHECK(std::fabs(ups / static_cast<double>(draws) - up) < 4 * std::sqrt(up * (1 - up) / draws) + 0x1p-16);
    }
  }
}

TEST_CASE("R6: random bits neither overflow nor move what is exact", "[cases]") {
  auto const most = [](float x) { return int{fp4::round_stochastic(x, 0xFFFF).bits}; };
  for (float const x : {5.9f, 6.0f, 7.0f, 1e30f, test::infinity(), test::nan()}) { CHECK(most(x) == 7); }
  CHECK(most(-test::infinity()) == 15);
  for (std::uint32_t r = 0; r <= 0xFFFF; ++r) {
    for (unsigned code = 0; code < 16; ++code) {  // 0 and 8 are the zeros
      auto const x = fp4::e2m1{static_cast<std::uint8_t>(code)};
      if (!(fp4::round_stochastic(x.to_float(), r) == x)) { FAIL("code " << code << " moved under " << r); }
    }
  }
}

TEST_CASE("R6: scales are never rounded stochastically", "[cases]") {
  CHECK(test::quantize_row({447.9f * 6}, test::unit_scale(), stochastic{6}).scales[0] == 0x7E);
  auto const x = test::make_data(test::data_kind::normal, 32, 96, 6).values;
  auto const nearest = test::quantize_everywhere(x, 32, 96);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    CHECK(test::quantize_everywhere(x, 32, 96, stochastic{seed}).scales == nearest.scales);
  }
}

TEST_CASE("R8: the same seed and stream give the same bytes, another of either gives others", "[cases]") {
  STATIC_REQUIRE(!std::is_default_constructible_v<stochastic>);  // no seed comes from a clock
  auto const x = test::make_data(test::data_kind::normal, 40, 80, 8).values;
  auto const quantize = [&x](stochastic rounding) { return test::quantize_everywhere(x, 40, 80, rounding); };
  auto const first = quantize(stochastic{1, 0});
  CHECK(quantize(stochastic{1, 0}) == first);
  CHECK(quantize(stochastic{1}) == first);
  CHECK_FALSE(quantize(stochastic{2, 0}) == first);
  CHECK_FALSE(quantize(stochastic{1, 1}) == first);
  CHECK_FALSE(quantize(stochastic{std::uint64_t{1} << 32, 1}) == quantize(stochastic{0, 1}));
}

TEST_CASE("R8: a shard draws what the whole matrix draws there", "[cases]") {
  constexpr std::int64_t rows = 24, cols = 96;
  auto const x = test::make_data(test::data_kind::normal, rows, cols, 9).values;
  auto const scale = fp4::tensor_scale::from_amax(5);
  stochastic const rounding{3, 4};
  auto const whole = test::quantize_everywhere(x, rows, cols, scale, rounding);
  // Rows 8 to 23, columns 32 to 79: block 2 of 6.
  fp4::matrix_view<float const> const part(x.data() + 8 * cols + 32, 16, 48, cols);
  for (auto const p : test::paths()) {
    auto const q = fp4::quantize<fp4::nvfp4>(part, scale, rounding.at(8, 2, 6), p);
    for (std::size_t r = 0; r < 16; ++r) {
      auto const got = q.codes().begin() + static_cast<std::ptrdiff_t>(r * 24);
      auto const wanted = whole.codes.begin() + static_cast<std::ptrdiff_t>((r + 8) * 48 + 16);
      CHECK(test::octets(got, got + 24) == test::octets(wanted, wanted + 24));
    }
  }
}
