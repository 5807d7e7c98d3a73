// SPDX-License-Identifier: Apache-2.0
#include <fp4/cpu/rescale.hpp>
#include <vector>

#include "catch.hpp"

TEST_CASE("rescale gives each block scale its nearest value under the other tensor scale and says what it cost") {
  using fp4::tensor_scale;
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
  using fp4::tensor_scale;
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
