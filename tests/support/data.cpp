// SPDX-License-Identifier: Apache-2.0
// The generated matrices are what their names say.
#include "support/data.hpp"

#include <fp4/reference/reference.hpp>

#include "catch.hpp"

namespace {

using test::data_kind;
using test::make_data;
using test::matrix;

float amax_of(matrix const& m) {
  return fp4::reference::amax(fp4::matrix_view<float const>(m.values.data(), m.rows, m.cols), fp4::no_transform{},
                              fp4::rowwise{});
}

template <class Predicate>
std::int64_t count(matrix const& m, Predicate p) {
  return std::count_if(m.values.begin(), m.values.end(), p);
}

bool is_nan(float x) { return (test::bits_of(x) & 0x7FFFFFFFu) > 0x7F800000u; }
bool is_infinite(float x) { return (test::bits_of(x) & 0x7FFFFFFFu) == 0x7F800000u; }
bool is_subnormal(float x) { return (test::bits_of(x) & 0x7F800000u) == 0 && (test::bits_of(x) & 0x7FFFFFu) != 0; }

}  // namespace

TEST_CASE("a seed names one matrix") {
  for (int k = 0; k < test::data_kinds; ++k) {
    auto const kind = static_cast<data_kind>(k);
    auto const bits = [&](std::uint64_t seed) {
      std::vector<std::uint32_t> all;
      for (float x : make_data(kind, 8, 40, seed).values) { all.push_back(test::bits_of(x)); }
      return all;
    };
    CAPTURE(test::name(kind));
    CHECK(bits(1) == bits(1));
    CHECK(bits(1) != bits(2));
  }
}

TEST_CASE("tie-aligned data has round amaxes and many exact ties") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    matrix const m = make_data(data_kind::tie_aligned, 32, 64, seed);
    float const amax = amax_of(m);
    CAPTURE(seed, amax);
    double const encode = 2688 / static_cast<double>(amax);
    CHECK(std::ldexp(encode, 20) == std::floor(std::ldexp(encode, 20)));

    int scale_ties = 0, element_ties = 0, beside = 0;
    for (std::int64_t first = 0; first < 32 * 64; first += 16) {
      double b = 0;
      for (std::int64_t i = first; i < first + 16; ++i) {
        b = std::max(b, std::abs(static_cast<double>(m.values[static_cast<std::size_t>(i)])));
      }
      double const scale = b / 6 * encode;
      int code = 0;
      while (code < 126 && test::detail::e4m3_value(code + 1) <= scale) { ++code; }
      if (code == 126) { continue; }
      scale_ties += b > 0 && b * encode == 3 * (test::detail::e4m3_value(code) + test::detail::e4m3_value(code + 1));
      for (std::int64_t i = first; i < first + 16; ++i) {
        double const x = std::abs(static_cast<double>(m.values[static_cast<std::size_t>(i)]));
        for (int neighbour = code; neighbour <= code + 1; ++neighbour) {
          for (double t : {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0}) {
            double const tie = t * test::detail::e4m3_value(neighbour) / encode;
            element_ties += x > 0 && x == tie;
            beside += x > 0 && x != tie && std::abs(x / tie - 1) < 1.3e-7;
          }
        }
      }
    }
    // A power of two puts M * A / 448 beside the midpoint M, an amax with a factor of 7 on it.
    bool const has_7 = std::fmod(static_cast<double>(amax) * 64, 7) == 0;
    CHECK(scale_ties > (has_7 ? 40 : 1));  // of 128 blocks
    CHECK(element_ties > (has_7 ? 100 : 20));
    CHECK(beside > 250);
  }
}

TEST_CASE("tie-aligned data under an amax with a factor of 7 are bfloat16 numbers, or one step beside them") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    matrix const m = make_data(data_kind::tie_aligned, 16, 64, seed);
    if (std::fmod(static_cast<double>(amax_of(m)) * 64, 7) != 0) { continue; }
    CHECK(count(m, [](float x) { return ((test::bits_of(x) + 1) & 0xFFFFu) <= 2; }) > 16 * 64 / 2);
  }
}

TEST_CASE("blocks of the asked extent share a magnitude") {
  matrix m = make_data(data_kind::decades, 64, 64, 3, {16, 16});
  float const first = std::abs(m.at(0, 0));
  int far_apart = 0;
  for (std::int64_t r = 0; r < 64; r += 16) {
    for (std::int64_t c = 0; c < 64; c += 16) {
      float b = 0;
      for (int i = 0; i < 256; ++i) { b = std::max(b, std::abs(m.at(r + i / 16, c + i % 16))); }
      CHECK(b <= first);
      far_apart += b < first * 1e-6f;
    }
  }
  CHECK(far_apart > 4);
}

TEST_CASE("specials contain each special value, infinities with even seeds alone") {
  for (std::uint64_t seed : {1u, 2u}) {
    matrix const m = make_data(data_kind::specials, 64, 128, seed);
    CAPTURE(seed);
    CHECK(count(m, [](float x) { return is_nan(x) && test::bits_of(x) >> 31 == 0; }) > 10);
    CHECK(count(m, [](float x) { return is_nan(x) && test::bits_of(x) >> 31 == 1; }) > 10);
    CHECK(count(m, is_subnormal) > 10);
    CHECK(count(m, [](float x) { return test::bits_of(x) == 0x80000000u; }) > 10);
    CHECK((count(m, is_infinite) > 10) == (seed == 2));
    CHECK((count(m, is_infinite) == 0) == (seed == 1));
    CHECK((count(m, [](float x) { return test::bits_of(x) == 0x7F7FFFFFu; }) > 0) == (seed == 2));
  }
}

TEST_CASE("extremes run from the smallest to the largest float") {
  float least = 1, most = 1;
  for (std::uint64_t seed = 0; seed < 13; ++seed) {
    float const amax = amax_of(make_data(data_kind::extremes, 2, 64, seed));
    least = std::min(least, amax), most = std::max(most, amax);
  }
  CHECK(test::bits_of(least) == 1u);
  CHECK(test::bits_of(most) == 0x7F7FFFFFu);
}

TEST_CASE("normal and heavy-tailed data have their moments") {
  auto const kurtosis = [](data_kind kind) {
    double square = 0, fourth = 0;
    matrix const m = make_data(kind, 100, 100, 5);
    for (float x : m.values) {
      double const s = static_cast<double>(x) * static_cast<double>(x);
      square += s / 10000, fourth += s * s / 10000;
    }
    return fourth / (square * square);
  };
  CHECK(kurtosis(data_kind::normal) > 2.7);
  CHECK(kurtosis(data_kind::normal) < 3.3);
  CHECK(kurtosis(data_kind::heavy_tailed) > 10);
}

TEST_CASE("values of 16 bits keep rows apart with NaN in the gaps") {
  matrix const m{2, 3, {1, 2, 3, 4, 5, 6}};
  auto const half = test::as_values<fp4::float16>(m, 4);
  auto const brain = test::as_values<fp4::bfloat16>(m, 4);
  REQUIRE(half.size() == 8);
  CHECK(half[0].bits == 0x3C00);
  CHECK(half[4].bits == 0x4400);
  CHECK(brain[6].bits == 0x40C0);
  CHECK((half[3].bits & 0x7FFF) > 0x7C00);
  CHECK((brain[7].bits & 0x7FFF) > 0x7F80);
}
