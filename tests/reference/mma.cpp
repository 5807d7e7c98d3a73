// SPDX-License-Identifier: Apache-2.0
// The model of the instruction, and matmul: what they read, what they add, and what they refuse.
#include <cmath>
#include <vector>

#include "catch.hpp"

#include <fp4/reference/mma.hpp>

namespace {

using mma = fp4::mma_m16n8k64;
using fp4::scale_vector;
template <class Fragment>
using warp = fp4::reference::warp_registers<Fragment>;

/// Every register of every lane is this word.
template <class Fragment>
warp<Fragment> filled(std::uint32_t word) {
  warp<Fragment> held;
  for (auto& lane : held.lane) {
    for (auto& reg : lane.reg) { reg = word; }
  }
  return held;
}
warp<mma::c> accumulators(float value) {
  warp<mma::c> held;
  for (auto& lane : held.lane) {
    for (auto& reg : lane.reg) { reg = value; }
  }
  return held;
}

constexpr std::uint32_t ones = 0x22222222, unit_scales = 0x38383838;

}  // namespace

TEST_CASE("the instruction adds 64 products to C", "[reference]") {
  auto const d = fp4::reference::mma_m16n8k64(filled<mma::a>(ones), filled<mma::b>(0xAAAAAAAA), accumulators(0.25f),
                                              filled<mma::scales_a<>>(0x40383838), {0, 0},
                                              filled<mma::scales_b<>>(unit_scales), {3, 0});
  for (auto const& lane : d.lane) {
    for (float const x : lane.reg) { CHECK(x == -80 + 0.25f); }  // the last block of A counts twice
  }
}

TEST_CASE("byte q of a scale register is that of k-block q", "[reference]") {
  for (int block = 0; block < 4; ++block) {
    warp<mma::a> a{};
    auto const at = mma::a::place(9, 16 * block + 3);
    a.lane[at.lane].reg[at.reg] = 2u << (4 * at.slot);
    auto const d =
        fp4::reference::mma_m16n8k64(a, filled<mma::b>(ones), accumulators(0), filled<mma::scales_a<>>(0x50484038),
                                     {1, 0}, filled<mma::scales_b<>>(unit_scales), {0, 0});
    for (int n = 0; n < 8; ++n) {
      for (int m = 0; m < 16; ++m) {
        auto const out = mma::c::place(m, n);
        CHECK(d.lane[out.lane].reg[out.reg] == (m == 9 ? static_cast<float>(1 << block) : 0.0f));
      }
    }
  }
}

TEST_CASE("the instruction reads the lanes and bytes of its selectors alone", "[reference]") {
  for (int id_a = 0; id_a < 2; ++id_a) {
    for (int id_b = 0; id_b < 4; ++id_b) {
      // NaN in every lane but those that are read.
      auto a = filled<mma::scales_a<>>(0x7F7F7F7F);
      auto b = filled<mma::scales_b<>>(0x7F7F7F7F);
      for (int lane = 0; lane < 32; ++lane) {
        if (mma::scales_a<>::reads(lane, {id_a, 0})) { a.lane[lane].reg[0] = unit_scales; }
        if (mma::scales_b<>::reads(lane, {id_b, 0})) { b.lane[lane].reg[0] = unit_scales; }
      }
      auto const d = fp4::reference::mma_m16n8k64(filled<mma::a>(ones), filled<mma::b>(ones), accumulators(0), a,
                                                  {id_a, 0}, b, {id_b, 0});
      for (auto const& lane : d.lane) {
        for (float const x : lane.reg) { CHECK(x == 64); }
      }
      auto const wrong = fp4::reference::mma_m16n8k64(filled<mma::a>(ones), filled<mma::b>(ones), accumulators(0), a,
                                                      {1 - id_a, 0}, b, {id_b, 0});
      CHECK(std::isnan(wrong.lane[0].reg[0]));
    }
  }
}

TEST_CASE("2X takes two powers of two, from either half", "[reference]") {
  using a2 = mma::scales_a<scale_vector::x2>;
  using b2 = mma::scales_b<scale_vector::x2>;
  auto const product = [](int byte_a, int byte_b) {
    return fp4::reference::mma_m16n8k64<fp4::e8m0, scale_vector::x2>(filled<mma::a>(ones), filled<mma::b>(ones),
                                                                     accumulators(0), filled<a2>(0x82818080),
                                                                     {0, byte_a}, filled<b2>(0x7F7F807F), {0, byte_b});
  };
  CHECK(product(0, 2).lane[5].reg[1] == 32 * 2 + 32 * 2);
  CHECK(product(2, 2).lane[5].reg[1] == 32 * 4 + 32 * 8);
  CHECK(product(2, 0).lane[5].reg[1] == 32 * 4 + 32 * 16);
}

TEST_CASE("the instruction refuses selectors out of range", "[reference]") {
  auto const call = [](fp4::scale_selector a, fp4::scale_selector b) {
    return fp4::reference::mma_m16n8k64(filled<mma::a>(ones), filled<mma::b>(ones), accumulators(0),
                                        filled<mma::scales_a<>>(unit_scales), a, filled<mma::scales_b<>>(unit_scales),
                                        b);
  };
  CHECK_NOTHROW(call({1, 0}, {3, 0}));
  CHECK_THROWS_WITH(call({2, 0}, {0, 0}), Catch::Matchers::ContainsSubstring("mma_m16n8k64: a thread-id must be"));
  CHECK_THROWS_WITH(call({0, 0}, {4, 0}), Catch::Matchers::ContainsSubstring("a thread-id must be"));
  CHECK_THROWS_WITH(call({0, 2}, {0, 0}), Catch::Matchers::ContainsSubstring("a byte-id must be"));
}

TEST_CASE("matmul multiplies by alpha after the sum, and rounds once to the output", "[reference]") {
  std::vector<std::uint8_t> codes(2 * 8, 0x22), scales{0x38, 0x40};
  fp4::quantized_view<fp4::nvfp4, fp4::linear_scales, std::uint8_t const> const q(codes.data(), scales.data(), 2, 2,
                                                                                  16);
  std::vector<float> out(4);
  fp4::reference::matmul(q, q, 0.5f, fp4::matrix_view<float>(out.data(), 2, 2));
  CHECK(out == std::vector<float>{8, 16, 16, 32});
  std::vector<fp4::bfloat16> narrow(4);
  fp4::reference::matmul(q, q, 1.00390625f * 0x1p-4f, fp4::matrix_view<fp4::bfloat16>(narrow.data(), 2, 2));
  CHECK(narrow[0].bits == 0x3F80);  // 1 + 2^-8 is a tie
}

TEST_CASE("matmul refuses shapes that do not fit", "[reference]") {
  std::vector<std::uint8_t> bytes(64);
  using view = fp4::quantized_view<fp4::nvfp4, fp4::linear_scales, std::uint8_t const>;
  view const a(bytes.data(), bytes.data(), 64, 2, 16), b(bytes.data(), bytes.data(), 64, 3, 16);
  std::vector<float> out(6, 7.0f);
  fp4::matrix_view<float> const right(out.data(), 2, 3);
  auto const code = [](view x, view y, fp4::matrix_view<float> d) {
    return fp4::reference::check_matmul(x, y, d).code;
  };
  CHECK(code(a, b, right) == fp4::errc::ok);
  CHECK(code(a, view(bytes.data(), bytes.data(), 64, 3, 32), right) == fp4::errc::shape_mismatch);
  CHECK(code(a, b, fp4::matrix_view<float>(out.data(), 3, 3)) == fp4::errc::shape_mismatch);
  CHECK(code(a, b, fp4::matrix_view<float>(out.data(), 2, 2)) == fp4::errc::shape_mismatch);
  CHECK(code(a, b, fp4::matrix_view<float>(nullptr, 2, 3)) == fp4::errc::null_data);
  CHECK(code(view(bytes.data(), bytes.data(), 1, 2, 16), b, right) == fp4::errc::scale_buffer_too_small);
  CHECK_THROWS_AS(fp4::reference::matmul(a, b, 1.0f, fp4::matrix_view<float>(out.data(), 2, 2)),
                  fp4::precondition_error);
  CHECK(out == std::vector<float>(6, 7.0f));
}
