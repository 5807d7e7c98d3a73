// SPDX-License-Identifier: Apache-2.0
// Cases N3 to N6: element rounding. (N1 and N7 are in fast_math.)
#include "cases/rows.hpp"

TEST_CASE("N3: elements are rounded once, not through a narrower float", "[cases]") {
  struct {
    float x;
    float wanted;
  } const cases[] = {{2.5000041f, 3},   {1.2500001f, 1.5f}, {5.0000005f, 6}, {.25000003f, .5f},
                     {.74999994f, .5f}, {1.7499999f, 1.5f}, {3.4999998f, 3}};
  for (auto const& [x, wanted] : cases) {
    CAPTURE(x);
    CHECK(fp4::e2m1::from_float(x).to_float() == wanted);
    auto const b = test::quantize_row({6, x, -x}, test::unit_scale());
    CHECK(fp4::e2m1{static_cast<std::uint8_t>(b.elements(3)[1])}.to_float() == wanted);
    CHECK(fp4::e2m1{static_cast<std::uint8_t>(b.elements(3)[2])}.to_float() == -wanted);
  }
}

TEST_CASE("N3: the preset that reproduces the double rounding says so in its bytes", "[cases]") {
  auto const once = test::quantize_row({6, 2.5000041f, 5.0000005f}, fp4::compressed_tensors{}, test::unit_scale());
  auto const twice = test::quantize_row({6, 2.5000041f, 5.0000005f}, fp4::compressed_tensors_gpu{}, test::unit_scale());
  CHECK(once.elements(3) == test::codes{7, 5, 7});
  CHECK(twice.elements(3) == test::codes{7, 4, 6});
}

TEST_CASE("N4: a carry of the mantissa reaches the exponent", "[cases]") {
  CHECK(fp4::e2m1::from_float(1.97f).bits == 4);
  CHECK(fp4::e4m3::from_float(1.97f).bits == 0x40);
  CHECK(fp4::e4m3::from_float(31.6051f).bits == 0x60);
  CHECK(fp4::e4m3::from_float(126.2386f).bits == 0x70);
  CHECK(fp4::ue4m3::from_float(126.2386f).bits == 0x70);
}

TEST_CASE("N5: a carry into the top binade is no saturation", "[cases]") {
  CHECK(fp4::e2m1::from_float(3.5f).bits == 6);
  CHECK(fp4::e2m1::from_float(3.6f).bits == 6);
  CHECK(fp4::e2m1::from_float(4.99f).bits == 6);
  CHECK(fp4::e2m1::from_float(5.0f).bits == 6);
  CHECK(fp4::e2m1::from_float(5.0000005f).bits == 7);
  auto const b = test::quantize_row({6, 3.5f, 3.6f, 4.99f, 5, 5.0000005f}, test::unit_scale());
  CHECK(b.elements(6) == test::codes{7, 6, 6, 6, 6, 7});
}

TEST_CASE("N6: encoding a decoded code gives it back", "[cases]") {
  for (unsigned code = 0; code < 16; ++code) {
    auto const x = fp4::e2m1{static_cast<std::uint8_t>(code)};
    CHECK(fp4::e2m1::from_float(x.to_float()) == x);
  }
  for (unsigned code = 0; code <= 0x7E; ++code) {
    auto const x = fp4::e4m3{static_cast<std::uint8_t>(code)};
    auto const scale = fp4::ue4m3{static_cast<std::uint8_t>(code)};
    CHECK(fp4::e4m3::from_float(x.to_float()) == x);
    CHECK(fp4::ue4m3::from_float(scale.to_float()) == scale);
  }
  CHECK(fp4::e2m1::from_float(.25000006f).bits == 1);
}

TEST_CASE("N6: quantizing what was decoded gives the bytes back", "[cases]") {
  std::vector<float> x;
  for (unsigned code = 0; code < 16; ++code) { x.push_back(fp4::e2m1{static_cast<std::uint8_t>(code)}.to_float()); }
  auto const b = test::quantize_row(x, test::unit_scale());
  auto const again = test::quantize_row(test::decode_row(b, test::unit_scale()), test::unit_scale());
  CHECK(b.codes == test::octets{0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE});
  CHECK(again == b);
}
