// SPDX-License-Identifier: Apache-2.0
// Block scales under another tensor scale: the nearest of the real quotient, judged in 128-bit integers.
#include <cmath>
#include <fp4/cpu/rescale.hpp>
#include <vector>

#include "catch.hpp"
#include "support/data.hpp"
#include "support/environment.hpp"
#include "support/mismatches.hpp"

namespace {

using fp4::tensor_scale;
__extension__ typedef unsigned __int128 wide;

/// A positive number: mantissa * 2^exponent.
struct number {
  wide mantissa;
  int exponent;
};
number number_of(float x) {
  int exponent = 0;
  double const fraction = std::frexp(static_cast<double>(x), &exponent);
  return {static_cast<std::uint32_t>(std::ldexp(fraction, 24)), exponent - 24};
}
number product(number a, number b) { return {a.mantissa * b.mantissa, a.exponent + b.exponent}; }

/// A tensor scale as the quotient of two numbers.
struct quotient {
  number top, bottom;
};
quotient quotient_of(tensor_scale s) {
  switch (s.made_from()) {
    case tensor_scale::source::encode: return {number_of(1), number_of(s.stored())};
    case tensor_scale::source::decode: return {number_of(s.stored()), number_of(1)};
    default: break;
  }
  float const least = s.range() * 0x1p-64f * 0x1p-64f;
  return {number_of(s.stored() < least ? least : s.stored()), number_of(s.range())};
}

/// A finite code's value in steps of the smallest one.
template <class Scale>
wide steps_of(int code) {
  return code < 8 ? wide(code) : wide(8 + code % 8) << (code / 8 - 1);
}

/// The code whose value is nearest to that of `code` times from / to: the smallest distance, of two the even code.
template <class Scale>
FP4_NOINLINE int wanted_code(int code, tensor_scale from, tensor_scale to) {
  auto const f = quotient_of(from), t = quotient_of(to);
  number const top = product(f.top, t.bottom), bottom = product(f.bottom, t.top);
  wide numerator = steps_of<Scale>(code) * top.mantissa, divisor = bottom.mantissa;
  int const shift = top.exponent - bottom.exponent;
  if (code == 0 || shift < -40) { return 0; }
  if (shift > 40) { return Scale::max_code; }
  (shift > 0 ? numerator : divisor) <<= shift > 0 ? shift : -shift;
  int best = 0;
  for (int c = 0; c <= Scale::max_code; ++c) {  // past the nearest, distances grow
    auto const distance = [&](int x) {
      wide const value = steps_of<Scale>(x) * divisor;
      return value > numerator ? value - numerator : numerator - value;
    };
    if (distance(c) < distance(best) || (distance(c) == distance(best) && c % 2 == 0)) { best = c; }
  }
  return best;
}

/// Rescales every code at once, and compares.
template <class Format>
void check_pair(test::mismatches& wrong, tensor_scale from, tensor_scale to) {
  using scale = typename Format::scale;
  constexpr int codes = scale::max_code + 1;
  std::vector<std::uint8_t> elements(codes * Format::block_size / 2), scales(codes);
  for (int c = 0; c < codes; ++c) { scales[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(c); }
  fp4::cpu::rescale(fp4::quantized_view<Format>(elements.data(), scales.data(), codes, codes, Format::block_size), from,
                    to);
  test::normal_environment const environment;
  for (int c = 0; c < codes; ++c) {
    int const got = scales[static_cast<std::size_t>(c)];
    int const wanted = wanted_code<scale>(c, from, to);
    wrong.compare(std::uint64_t{test::bits_of(from.stored())} << 32 | test::bits_of(to.stored()),
                  static_cast<std::uint64_t>(c << 8 | got), static_cast<std::uint64_t>(c << 8 | wanted));
  }
}

tensor_scale make_scale(int source, float x) {
  return source == 0   ? tensor_scale::from_amax(x)
         : source == 1 ? tensor_scale::from_encode(x)
                       : tensor_scale::from_decode(x);
}

}  // namespace

TEST_CASE("rescale gives each block scale its nearest value under the other tensor scale and says what it cost") {
  std::vector<std::uint8_t> codes(8 * 4, 0x77), scales{0x7E, 0x00, 0x38, 0x01};
  fp4::quantized_view<fp4::nvfp4> const q(codes.data(), scales.data(), 4, 4, 16);
  auto const report = fp4::cpu::rescale(q, tensor_scale::from_encode(12992), tensor_scale::from_encode(9600));
  // 448 * 9600 / 12992 = 331.03 -> 320; 1 * .7389 -> .75; 2^-9 * .7389 -> 2^-9; zero stays zero.
  CHECK(scales == std::vector<std::uint8_t>{0x7A, 0x00, 0x34, 0x01});
  CHECK(codes == std::vector<std::uint8_t>(8 * 4, 0x77));
  CHECK(report.changed_values == 3);
  CHECK(report.saturated == 0);
  CHECK(report.underflowed == 0);
  CHECK(report.max_relative_error == Approx(12992.0 / 9600.0 - 1).epsilon(1e-6));
}

TEST_CASE("rescale reports blocks that saturate and blocks that underflow") {
  std::vector<std::uint8_t> codes(16, 0x11), scales{0x7E, 0x01};
  fp4::quantized_view<fp4::nvfp4> const q(codes.data(), scales.data(), 2, 2, 16);
  auto report = fp4::cpu::rescale(q, tensor_scale::from_decode(2), tensor_scale::from_decode(1));
  CHECK(scales == std::vector<std::uint8_t>{0x7E, 0x02});
  CHECK(report.saturated == 1);
  report = fp4::cpu::rescale(q, tensor_scale::from_decode(1), tensor_scale::from_decode(8));
  CHECK(scales == std::vector<std::uint8_t>{0x66, 0x00});
  CHECK(report.underflowed == 1);
  CHECK_THROWS_AS(fp4::cpu::rescale(q, tensor_scale::from_decode(0), tensor_scale::from_decode(1)),
                  fp4::precondition_error);
}

TEST_CASE("rescale rounds the real quotient once") {
  std::vector<std::uint8_t> codes(8), scales{0x38};
  fp4::quantized_view<fp4::nvfp4> const q(codes.data(), scales.data(), 1, 1, 16);
  // 1.06250107 / 1.00000095 is above 1.0625, the midpoint of 0x38 and 0x39, by less than an fp32 step.
  fp4::cpu::rescale(q, tensor_scale::from_decode(1.06250107f), tensor_scale::from_decode(1.00000095f));
  CHECK(scales[0] == 0x39);
}

TEST_CASE("rescale gives every code under random and nearly tied tensor scales the nearest of the real quotient") {
#ifdef FP4_TEST_QUICK
  constexpr int pairs = 200;
#else
  constexpr int pairs = 3000;
#endif
  test::random_numbers random(3);
  test::mismatches wrong;
  for (int i = 0; i < pairs; ++i) {
    float const to = static_cast<float>(std::ldexp(1 + random.uniform(), random.below(200) - 100));
    // Of ten pairs one is anything; the others aim one code at a midpoint, and miss it by up to two fp32 steps.
    double ratio = std::ldexp(1 + random.uniform(), random.below(30) - 15);
    if (i % 10 != 0) {
      ratio = std::ldexp((17 + 2 * random.below(8)) / (8.0 + random.below(8)), random.below(20) - 12);
    }
    int const sources = random.below(9);
    int const from_source = sources / 3, to_source = sources % 3;
    double const unit = from_source == 1 ? 1 / ratio : ratio;
    double const across = from_source == to_source             ? static_cast<double>(to)
                          : from_source == 0 && to_source == 2 ? 2688 * static_cast<double>(to)
                          : from_source == 2 && to_source == 0 ? static_cast<double>(to) / 2688
                          : from_source == 0 && to_source == 1 ? 2688 / static_cast<double>(to)
                          : from_source == 1 && to_source == 0 ? 2688 / static_cast<double>(to)
                                                               : 1 / static_cast<double>(to);
    float const near = static_cast<float>(unit * across);
    float const from = test::float_of(test::bits_of(near) + static_cast<std::uint32_t>(random.below(5)) - 2);
    tensor_scale const a = make_scale(from_source, from), b = make_scale(to_source, to);
    check_pair<fp4::nvfp4>(wrong, a, b);
    if (i % 4 == 0) { check_pair<fp4::nvfp4_ue5m3>(wrong, a.with_range(6 * 114688), b.with_range(6 * 114688)); }
  }
  CHECK(wrong.report() == "");
}

TEST_CASE("rescale of the extremes, also where the process flushes subnormals") {
  test::mismatches wrong;
  test::normal_environment const environment;
  REQUIRE(test::flush_subnormals());
  for (float const from : {1e-45f, 1e-38f, 1.0f, 3.4028235e38f}) {
    for (float const to : {1e-45f, 1e-38f, 1.0f, 3.4028235e38f}) {
      for (int i = 0; i < 9; ++i) { check_pair<fp4::nvfp4>(wrong, make_scale(i / 3, from), make_scale(i % 3, to)); }
    }
  }
  std::fesetenv(FE_DFL_ENV);
  CHECK(wrong.report() == "");

  // An all-zero tensor has a factor of 1; NaN scales stay; an infinite amax has no factor.
  std::vector<std::uint8_t> codes(16), scales{0xB8, 0xFF};  // a sign does not count
  fp4::quantized_view<fp4::nvfp4> const q(codes.data(), scales.data(), 2, 2, 16);
  fp4::cpu::rescale(q, tensor_scale::from_amax(0), tensor_scale::from_decode(0.5f));
  CHECK(scales == std::vector<std::uint8_t>{0x40, 0x7F});
  CHECK_THROWS_AS(fp4::cpu::rescale(q, tensor_scale::from_amax(test::infinity()), tensor_scale::from_decode(1)),
                  fp4::precondition_error);
  CHECK_THROWS_AS(fp4::cpu::rescale(q, tensor_scale::from_decode(1), tensor_scale::from_amax(test::infinity())),
                  fp4::precondition_error);
  CHECK(scales == std::vector<std::uint8_t>{0x40, 0x7F});
}
