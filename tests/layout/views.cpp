// SPDX-License-Identifier: Apache-2.0
// Strides, sizes and constness of views.
#include <type_traits>
#include <vector>

#include "catch.hpp"

#include <fp4/layout/quantized_view.hpp>

TEST_CASE("rows of a matrix view are a stride apart", "[layout]") {
  std::vector<float> buffer(4 * 10);
  fp4::matrix_view<float> const view(buffer.data() + 3, 4, 5, 10);
  CHECK(view.row(0) == buffer.data() + 3);
  CHECK(view.row(2) == buffer.data() + 23);
  CHECK(view.size() == 20);
  fp4::matrix_view<float const> const reading = view;
  CHECK(reading.row(1) == buffer.data() + 13);
  CHECK(fp4::matrix_view<float>(buffer.data(), 4, 10).stride == 10);
}

TEST_CASE("views lose write access and never gain it", "[layout]") {
  STATIC_REQUIRE(std::is_convertible_v<fp4::matrix_view<float>, fp4::matrix_view<float const>>);
  STATIC_REQUIRE(!std::is_convertible_v<fp4::matrix_view<float const>, fp4::matrix_view<float>>);
  using writing = fp4::quantized_view<fp4::nvfp4>;
  using reading = fp4::quantized_view<fp4::nvfp4, fp4::linear_scales, std::uint8_t const>;
  STATIC_REQUIRE(std::is_convertible_v<writing, reading>);
  STATIC_REQUIRE(!std::is_convertible_v<reading, writing>);
  // Nor does a view change its format or its layout.
  STATIC_REQUIRE(!std::is_convertible_v<writing, fp4::quantized_view<fp4::mxfp4>>);
  STATIC_REQUIRE(!std::is_convertible_v<writing, fp4::quantized_view<fp4::nvfp4, fp4::tiled_128x4_scales>>);
}

TEST_CASE("a quantized view knows its sizes", "[layout]") {
  fp4::quantized_view<fp4::nvfp4, fp4::tiled_128x4_scales> const tiled(nullptr, nullptr, 0, 130, 70);
  CHECK(tiled.blocks_per_row() == 5);
  CHECK(tiled.code_stride == 40);
  CHECK(tiled.code_bytes_needed() == 130 * 40);
  CHECK(tiled.scale_bytes_needed() == 256 * 8);
  CHECK(tiled.scale_offset(129, 4) == 2 * 512 + 512 + 16);

  fp4::quantized_view<fp4::fp8_e4m3> const fp8(nullptr, nullptr, 0, 3, 70);
  CHECK(fp8.code_stride == 70);
  CHECK(fp8.scale_bytes_needed() == 0);
}

TEST_CASE("rows of codes are a stride apart, and all of it survives the loss of write access", "[layout]") {
  std::uint8_t codes[64] = {}, scales[16] = {};
  fp4::quantized_view<fp4::nvfp4> view(codes, scales, 16, 2, 16);
  CHECK(view.code_row(1) == codes + 8);
  view.code_stride = 20;
  CHECK(view.code_row(1) == codes + 20);
  fp4::quantized_view<fp4::nvfp4, fp4::linear_scales, std::uint8_t const> const reading = view;
  CHECK(reading.code_row(1) == codes + 20);
  CHECK(reading.scales == scales);
  CHECK(reading.scale_bytes == 16);
  CHECK((reading.rows == 2 && reading.cols == 16));
}

TEST_CASE("sizes past 2^31 elements do not wrap", "[layout]") {
  constexpr std::int64_t rows = std::int64_t{1} << 17, cols = std::int64_t{1} << 16;
  fp4::matrix_view<fp4::bfloat16> const view(nullptr, rows, cols);
  CHECK(view.size() == std::int64_t{1} << 33);
  fp4::quantized_view<fp4::nvfp4> const q(nullptr, nullptr, 0, rows, cols);
  CHECK(q.code_bytes_needed() == std::int64_t{1} << 32);
  CHECK(q.scale_bytes_needed() == std::int64_t{1} << 29);
  CHECK(q.scale_offset(rows - 1, 7) == (rows - 1) * (cols / 16) + 7);
}
