// SPDX-License-Identifier: Apache-2.0
// Cases G1, G2 and G6: the tensor scale. (G4 and G5 are in accuracy; what must not compile is in
// tests/compile_fail.)
#include <cmath>
#include <type_traits>

#include "cases/rows.hpp"

TEST_CASE("G1: a stored factor is a divisor or a multiplier, and its maker says which", "[cases]") {
  test::bytes const twos{test::octets(8, 0x22), {0x7E}};
  CHECK(test::decode_row(twos, fp4::tensor_scale::from_encode(3584))[0] == 0.125f);
  CHECK(test::decode_row(twos, fp4::tensor_scale::from_decode(3584))[0] == 1605632.0f);
  STATIC_REQUIRE(!std::is_convertible_v<float, fp4::tensor_scale>);
  STATIC_REQUIRE(!std::is_convertible_v<fp4::tensor_scale, float>);
}

TEST_CASE("G2: rows with different tensor scales keep them", "[cases]") {
  std::vector<fp4::tensor_scale> scales(16, fp4::tensor_scale::from_encode(9600));
  scales.resize(32, fp4::tensor_scale::from_encode(12992));
  fp4::quantized<fp4::nvfp4> const q(32, 16, fp4::transformer_engine::decoding, test::octets(32 * 8, 0x77),
                                     test::octets(32, 0x7E), scales);
  std::vector<float> const y = fp4::dequantize<float>(q);
  for (std::size_t i = 0; i < y.size(); ++i) {
    CAPTURE(i);
    REQUIRE(std::fabs(y[i] - (i < 16 * 16 ? .28f : .2068966f)) < 1e-6f);
  }
}

TEST_CASE("G2: moving rows under another tensor scale is a call of its own and reports its error", "[cases]") {
  test::octets codes(16 * 8, 0x77), scales(16, 0x7E);
  fp4::quantized_view<fp4::nvfp4> const q(codes.data(), scales.data(), 16, 16, 16);
  auto const report = fp4::cpu::rescale(q, fp4::tensor_scale::from_encode(12992), fp4::tensor_scale::from_encode(9600));
  CHECK(scales == test::octets(16, 0x7A));  // 331.03 becomes 320
  CHECK(codes == test::octets(16 * 8, 0x77));
  CHECK(report.changed_values == 16);
  CHECK(report.saturated == 0);
  CHECK(report.underflowed == 0);
  CHECK(std::fabs(report.max_relative_error - (1 - 320 / (448 * 9600 / 12992.0))) < 1e-6);
}

TEST_CASE("G6: a tensor scale is used as it is given, 1 is no default", "[cases]") {
  STATIC_REQUIRE(!std::is_default_constructible_v<fp4::tensor_scale>);
  test::bytes const twos{test::octets(8, 0x22), {0x38}};
  CHECK(test::decode_row(twos, fp4::tensor_scale::from_decode(150))[0] == 150.0f);
}

TEST_CASE("G6: a quantized matrix takes no missing or wrong scales", "[cases]") {
  auto const make = [](std::vector<fp4::tensor_scale> scales) {
    return fp4::quantized<fp4::nvfp4>(2, 16, fp4::transformer_engine::decoding, test::octets(16), test::octets(2),
                                      scales);
  };
  auto const one = fp4::tensor_scale::from_decode(1);
  CHECK_NOTHROW(make({one}));
  CHECK_NOTHROW(make({one, one}));
  CHECK_THROWS_AS(make({}), fp4::precondition_error);
  CHECK_THROWS_AS(make({one, one, one}), fp4::precondition_error);
  CHECK_THROWS_AS(make({fp4::tensor_scale::from_decode(0)}), fp4::precondition_error);
  CHECK_THROWS_AS(make({one, fp4::tensor_scale::from_encode(test::nan())}), fp4::precondition_error);
}
