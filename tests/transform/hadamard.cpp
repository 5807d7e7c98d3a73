// SPDX-License-Identifier: Apache-2.0
// The Hadamard transform is the matrix it says it is, and rounds in the order it says.
#include <cmath>
#include <random>
#include <vector>

#include "catch.hpp"
#include "support/bits.hpp"
#include "support/mismatches.hpp"

#include <fp4/transform/hadamard.hpp>

#define SIZES fp4::hadamard<16>, fp4::hadamard<32>, fp4::hadamard<64>, fp4::hadamard<128>, fp4::hadamard<256>

namespace {

/// Entry (i, j) of Sylvester's matrix: -1 where i and j share an odd number of bits.
int sylvester(int i, int j) {
  int sign = 1;
  for (int bits = i & j; bits != 0; bits &= bits - 1) { sign = -sign; }
  return sign;
}

template <class Hadamard>
int sign_of(Hadamard const& h, int i) {
  return (h.signs[i / 32] >> (i % 32) & 1u) != 0 ? -1 : 1;
}

/// fp32 arithmetic spelled out: one operation in double, where it is exact or harmless, then one rounding.
float rounded(double x) { return static_cast<float>(x); }
float product(float a, float b) { return rounded(static_cast<double>(a) * static_cast<double>(b)); }

void butterflies(std::vector<float>& x) {
  for (std::size_t h = 1; h < x.size(); h *= 2) {
    std::vector<float> next(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      double const own = static_cast<double>(x[i]), other = static_cast<double>(x[i ^ h]);
      next[i] = rounded((i & h) == 0 ? own + other : other - own);
    }
    x = next;
  }
}

template <class Hadamard>
float scale_of() {
  return static_cast<float>(1.0L / std::sqrt(static_cast<long double>(Hadamard::size)));
}

/// Values whose sums round: exponents 2^-8 to 2^7.
std::vector<float> rough_values(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> x(static_cast<std::size_t>(n));
  for (float& value : x) {
    auto const word = static_cast<std::uint32_t>(random());
    value = test::float_of((word & 0x807FFFFFu) | (119 + static_cast<std::uint32_t>(random()) % 16) << 23);
  }
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("unit vectors become the columns of the signed Sylvester matrix", "[transform]", SIZES) {
  constexpr int n = TestType::size;
  TestType const h;
  float const scale = scale_of<TestType>();
  test::mismatches wrong;
  for (int j = 0; j < n; ++j) {
    float x[n] = {};
    x[j] = 1.0f;
    h.apply(x);
    for (int i = 0; i < n; ++i) {
      float const wanted = scale * static_cast<float>(sylvester(i, j) * sign_of(h, j));
      wrong.compare(static_cast<unsigned>(i * n + j), test::bits_of(x[i]), test::bits_of(wanted));
    }
  }
  CHECK(wrong.report() == "");
}

TEMPLATE_TEST_CASE("each output is rounded in the order of the definition", "[transform]", SIZES) {
  constexpr int n = TestType::size;
  test::mismatches wrong;
  for (unsigned seed = 0; seed < 50; ++seed) {
    TestType const h = seed % 2 == 0 ? TestType() : TestType::random_signs(seed);
    std::vector<float> got = rough_values(n, seed), wanted = got;
    h.apply(got.data());
    for (int i = 0; i < n; ++i) {
      auto const k = static_cast<std::size_t>(i);
      wanted[k] = product(wanted[k], static_cast<float>(sign_of(h, i)) * scale_of<TestType>());
    }
    butterflies(wanted);
    for (std::size_t i = 0; i < n; ++i) { wrong.compare(i, test::bits_of(got[i]), test::bits_of(wanted[i])); }
  }
  CHECK(wrong.report() == "");
}

TEMPLATE_TEST_CASE("the inverse scales first, then adds, then turns signs", "[transform]", SIZES) {
  constexpr int n = TestType::size;
  test::mismatches wrong;
  for (unsigned seed = 0; seed < 50; ++seed) {
    TestType const h = TestType::random_signs(seed);
    std::vector<float> got = rough_values(n, seed), wanted = got;
    h.apply_inverse(got.data());
    for (float& x : wanted) { x = product(x, scale_of<TestType>()); }
    butterflies(wanted);
    for (std::size_t i = 0; i < n; ++i) {
      float const signed_value = sign_of(h, static_cast<int>(i)) < 0 ? -wanted[i] : wanted[i];
      wrong.compare(i, test::bits_of(got[i]), test::bits_of(signed_value));
    }
  }
  CHECK(wrong.report() == "");
}

TEMPLATE_TEST_CASE("the inverse gives the values back", "[transform]", SIZES) {
  constexpr int n = TestType::size;
  for (bool const brain : {false, true}) {
    TestType const h = brain ? TestType::random_signs(11).to_bfloat16() : TestType::random_signs(11);
    std::vector<float> const original = rough_values(n, 3);
    std::vector<float> x = original;
    double norm = 0, error = 0;
    h.apply(x.data());
    h.apply_inverse(x.data());
    for (std::size_t i = 0; i < n; ++i) {
      norm += std::pow(static_cast<double>(original[i]), 2);
      error += std::pow(static_cast<double>(x[i]) - static_cast<double>(original[i]), 2);
    }
    CAPTURE(brain);
    CHECK(std::sqrt(error / norm) < (brain ? 0x1p-8 : 0x1p-22));
    CHECK((std::sqrt(error / norm) > 0x1p-12) == brain);  // the rounding to bfloat16 happened
  }
}

TEST_CASE("to_bfloat16 rounds the transformed values, and nothing before", "[transform]") {
  fp4::hadamard<32> const h;
  fp4::hadamard<32> const rounding = h.to_bfloat16();
  CHECK_FALSE(h.rounds_to_bfloat16);
  std::vector<float> plain = rough_values(32, 5), narrow = plain;
  h.apply(plain.data());
  rounding.apply(narrow.data());
  for (std::size_t i = 0; i < 32; ++i) {
    std::uint32_t const bits = test::bits_of(plain[i]);
    std::uint32_t const nearest = (bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u;
    CHECK(test::bits_of(narrow[i]) == nearest);
  }
}
