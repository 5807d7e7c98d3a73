// SPDX-License-Identifier: Apache-2.0
// Cases M4, M6 and M12: strides, empty shapes, offsets in elements and in bytes. (M1 is in large_index.)
#include "cases/rows.hpp"
#include "support/data.hpp"

TEST_CASE("M4: a strided view gives the bytes of a contiguous copy", "[cases]") {
  std::vector<fp4::bfloat16> buffer, copy;
  for (float const x : test::make_data(test::data_kind::normal, 4, 64, 4).values) {
    buffer.push_back(fp4::bfloat16::from_float(x));
  }
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 16; c < 48; ++c) { copy.push_back(buffer[r * 64 + c]); }
  }
  auto const wanted = test::quantize_everywhere(copy, 4, 32);
  fp4::matrix_view<fp4::bfloat16 const> const view(buffer.data() + 16, 4, 32, 64);
  for (auto const p : test::paths()) {
    auto const q = fp4::quantize<fp4::nvfp4>(view, p);
    CHECK(q.codes() == wanted.codes);
    CHECK(q.scales() == wanted.scales);
  }
  fp4::matrix_view<fp4::bfloat16 const> const narrow(buffer.data(), 4, 32, 31);
  CHECK_THROWS_AS(fp4::quantize<fp4::nvfp4>(narrow), fp4::precondition_error);
}

TEST_CASE("M4: output strides are those of the output", "[cases]") {
  auto const x = test::make_data(test::data_kind::normal, 3, 32, 4).values;
  auto const wanted = test::quantize_everywhere(x, 3, 32);
  test::octets codes(3 * 20, 0xEE), scales(6);
  fp4::quantized_view<fp4::nvfp4> out(codes.data(), scales.data(), 6, 3, 32);
  out.code_stride = 20;
  auto const used = fp4::quantize(fp4::matrix_view<float const>(x.data(), 3, 32), out);
  std::vector<float> y(3 * 50, -7.0f);
  fp4::matrix_view<float> const values(y.data(), 3, 32, 50);
  fp4::cpu::dequantize(out, {used.data(), 1}, fp4::transformer_engine::decoding, values);
  auto const decoded = test::decode_row({wanted.codes, wanted.scales}, used[0]);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t i = 0; i < 20; ++i) { CHECK(codes[r * 20 + i] == (i < 16 ? wanted.codes[r * 16 + i] : 0xEE)); }
    for (std::size_t c = 0; c < 50; ++c) { CHECK(y[r * 50 + c] == (c < 32 ? decoded[r * 32 + c] : -7.0f)); }
  }
}

TEST_CASE("M6: empty matrices are quantized to nothing", "[cases]") {
  for (auto const& [rows, cols] : {std::pair{0, 16}, std::pair{5, 0}, std::pair{0, 0}}) {
    CAPTURE(rows, cols);
    fp4::matrix_view<float const> const view(nullptr, rows, cols);
    auto const check_empty = [&](auto... choices) {
      auto const q = fp4::quantize<fp4::nvfp4>(view, choices...);
      CHECK(q.codes().empty());
      CHECK(q.scales().empty());
      CHECK(fp4::dequantize<float>(q).empty());
    };
    check_empty();
    check_empty(fp4::tiled_128x4_scales{});
    check_empty(fp4::columnwise{});
    check_empty(fp4::blocks_2d{});
    check_empty(fp4::stochastic{1}, fp4::hadamard<16>{});
    check_empty(fp4::per_row_scale{});
    auto const used = fp4::quantize(view, fp4::quantized_view<fp4::nvfp4>(nullptr, nullptr, 0, rows, cols));
    CHECK(used.size() == 1);
  }
}

TEST_CASE("M12: offsets of a sub-matrix count bytes for codes and blocks for scales", "[cases]") {
  // Columns 32 to 63 of K = 64 start at byte 16 of their row, and at block 2.
  CHECK(fp4::nvfp4::row_bytes(32) == 16);
  CHECK(fp4::nvfp4::blocks(32) == 2);
  std::vector<std::uint8_t> codes(32), scales(4);
  fp4::quantized_view<fp4::nvfp4> const view(codes.data(), scales.data(), 4, 1, 64);
  CHECK(fp4::submatrix(view, 0, 32, 1, 32).codes == codes.data() + 16);
  CHECK(fp4::submatrix(view, 0, 32, 1, 32).scales == scales.data() + 2);
  for (int const odd : {1, 31, 33}) { CHECK_THROWS_AS(fp4::submatrix(view, 0, odd, 1, 16), fp4::precondition_error); }

  auto const x = test::make_data(test::data_kind::normal, 1, 64, 12).values;
  auto const scale = fp4::tensor_scale::from_amax(4);
  auto const whole = test::quantize_row(x, scale);
  auto const part = test::quantize_row({x.begin() + 32, x.end()}, scale);
  CHECK(test::octets(whole.codes.begin() + 16, whole.codes.end()) == part.codes);
  CHECK(test::octets(whole.scales.begin() + 2, whole.scales.end()) == part.scales);
}
