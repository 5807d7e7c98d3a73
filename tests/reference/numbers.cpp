// SPDX-License-Identifier: Apache-2.0
// The oracle's numbers against published tables and a second search.
#include <fp4/reference/reference.hpp>

#include "catch.hpp"
#include "support/bits.hpp"
#include "support/data.hpp"
#include "support/float_oracle.hpp"

namespace reference = fp4::reference::detail;

TEST_CASE("value tables are those of the specifications") {
  using reference::magnitudes;
  CHECK(magnitudes<fp4::e2m1>() == std::vector<double>{0, 0.5, 1, 1.5, 2, 3, 4, 6});
  CHECK(magnitudes<fp4::e4m3>().size() == 127);
  CHECK(magnitudes<fp4::e4m3>()[1] == 0x1p-9);
  CHECK(magnitudes<fp4::e4m3>().back() == 448);
  CHECK(magnitudes<fp4::ue4m3>() == magnitudes<fp4::e4m3>());
  CHECK(magnitudes<fp4::e5m2>().back() == 57344);
  CHECK(magnitudes<fp4::e2m3>().back() == 7.5);
  CHECK(magnitudes<fp4::e3m2>().back() == 28);
  CHECK(magnitudes<fp4::ue5m3>()[1] == 0x1p-17);
  CHECK(magnitudes<fp4::ue5m3>().back() == 114688);
  CHECK(magnitudes<fp4::e8m0>().front() == 0x1p-127);
  CHECK(magnitudes<fp4::e8m0>().back() == 0x1p127);
  CHECK(magnitudes<fp4::e8m0>().size() == 255);
}

TEST_CASE("bits of a byte above the number's own do not count") {
  CHECK(reference::value_of<fp4::ue4m3>(0x80 + 0x38) == 1);
  CHECK(reference::is_nan(reference::value_of<fp4::ue4m3>(0xFF)));
  CHECK(reference::value_of<fp4::e2m3>(0xC0 + 0x08) == 1);
  CHECK(reference::value_of<fp4::e2m3>(0xC0 + 0x28) == -1);
  CHECK(reference::value_of<fp4::e4m3>(0x80 + 0x38) == -1);
}

TEMPLATE_TEST_CASE("codes are those of another search", "", fp4::e2m1, fp4::e2m3, fp4::e3m2, fp4::e4m3, fp4::e5m2) {
  test::float_oracle<TestType> const oracle;
  test::random_numbers random(7);
  for (int i = 0; i < 20000; ++i) {
    std::uint32_t bits = static_cast<std::uint32_t>(random.next());
    if (i % 4 != 0) { bits = (bits & 0x807FFFFFu) | (105u + (bits >> 23) % 42u) << 23; }  // around the format's range
    if (i % 3 == 0) { bits &= 0xFFF80000u; }                                              // ties
    auto const code = [&](auto rounding) {
      return static_cast<std::uint32_t>(
          reference::encode<TestType>(static_cast<double>(test::float_of(bits)), 1, rounding, 0));
    };
    CAPTURE(bits);
    REQUIRE(code(fp4::nearest_even{}) == oracle.nearest(bits));
    REQUIRE(code(fp4::toward_zero{}) == oracle.toward_zero(bits));
  }
}

TEMPLATE_TEST_CASE("16-bit floats are those of another search", "", fp4::float16, fp4::bfloat16) {
  test::float_oracle<TestType> const oracle;
  test::random_numbers random(8);
  for (int i = 0; i < 3000; ++i) {
    std::uint32_t bits = static_cast<std::uint32_t>(random.next());
    if (i % 4 != 0) { bits = (bits & 0x807FFFFFu) | (100u + (bits >> 23) % 45u) << 23; }
    if (i % 3 == 0) { bits &= 0xFFFFF000u << i % 5; }
    if (test::is_nan_pattern(bits)) { continue; }
    TestType half{};
    reference::store(test::float_of(bits), half);
    CAPTURE(bits);
    REQUIRE(half.bits == oracle.nearest(bits));
    REQUIRE(test::bits_of(reference::to_float(half)) == test::bits_of(half.to_float()));
  }
}

TEST_CASE("stochastic rounding goes up for the fraction of the random numbers that the definition says") {
  struct rounding_case {
    double x;
    int below;
    std::uint32_t ups;
  };
  for (auto const& c : {rounding_case{0.3, 0, 39321},
                        {0.5, 1, 0},
                        {1.75, 3, 32768},
                        {2.25, 4, 16384},
                        {5, 6, 32768},
                        {4.000001, 6, 0},
                        {5.9999, 6, 65532},
                        {6, 7, 0},
                        {1e30, 7, 0}}) {
    std::uint32_t ups = 0;
    for (std::uint32_t r = 0; r < 65536; ++r) {
      int const code = reference::encode<fp4::e2m1>(-c.x, 1, fp4::stochastic(0), r);
      REQUIRE((code == c.below + 8 || code == c.below + 9));
      ups += code == c.below + 9;
    }
    CAPTURE(c.x);
    CHECK(ups == c.ups);
  }
}

// Random123's kat_vectors.
TEST_CASE("Philox gives the published words") {
  using words = std::array<std::uint32_t, 4>;
  constexpr std::uint32_t ones = 0xFFFFFFFFu;
  CHECK(reference::philox({0, 0, 0, 0}, {0, 0}) == words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8});
  CHECK(reference::philox({ones, ones, ones, ones}, {ones, ones}) ==
        words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD});
  CHECK(reference::philox({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, {0xA4093822, 0x299F31D0}) ==
        words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1});
}

TEST_CASE("the transform is the Hadamard matrix times signs, and its inverse undoes it") {
  constexpr int n = 64;
  std::vector<float> x, y(n), back(n);
  for (int i = 0; i < n; ++i) { x.push_back(static_cast<float>(i * 37 % 64 - 20)); }
  auto const how = fp4::hadamard<n>::random_signs(5);
  fp4::reference::transform(fp4::matrix_view<float const>(x.data(), 1, n), how,
                            fp4::matrix_view<float>(y.data(), 1, n));
  for (unsigned row = 0; row < n; ++row) {
    double sum = 0;
    for (unsigned i = 0; i < n; ++i) {
      int ones = 0;
      for (unsigned b = row & i; b != 0; b >>= 1) { ones += static_cast<int>(b & 1u); }
      sum += static_cast<double>(x[i]) * (ones % 2 == 0 ? 1 : -1) * (how.negates(static_cast<int>(i)) ? -1 : 1) / 8;
    }
    CHECK(static_cast<double>(y[row]) == sum);  // eighths: exact
  }
  fp4::reference::inverse_transform(fp4::matrix_view<float const>(y.data(), 1, n), how,
                                    fp4::matrix_view<float>(back.data(), 1, n));
  CHECK(back == x);
}

TEST_CASE("the default signs are the recipe's, and drawn ones those of the definition") {
  constexpr int recipe[] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
  for (int i = 0; i < 16; ++i) { CHECK(fp4::hadamard<16>{}.negates(i) == (recipe[i] < 0)); }
  for (int i = 0; i < 256; ++i) { CHECK(fp4::hadamard<256>{}.negates(i) == (recipe[i % 16] < 0)); }
  CHECK(fp4::hadamard<16>{}.signs[0] >> 16 == 0);

  constexpr std::uint64_t seed = 0x0123456789ABCDEFu;
  auto const drawn = fp4::hadamard<256>::random_signs(seed);
  for (std::uint32_t i = 0; i < 256; ++i) {
    auto const words = reference::philox({i / 128, 0, 0, 0}, {0x89ABCDEFu ^ 0x52485421u, 0x01234567u});
    CHECK(drawn.negates(static_cast<int>(i)) == (words[i / 32 % 4] >> i % 32 & 1u));
  }
  auto const drawn_16 = fp4::hadamard<16>::random_signs(seed);
  for (int i = 0; i < 16; ++i) { CHECK(drawn_16.negates(i) == drawn.negates(i)); }
}
