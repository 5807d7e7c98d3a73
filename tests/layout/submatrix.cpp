// SPDX-License-Identifier: Apache-2.0
// A part of a quantized matrix in the same memory: it decodes to that part, it is written without touching the
// rest, and what cannot be such a part is refused.
#include <fp4/fp4.hpp>
#include <vector>

#include "catch.hpp"
#include "support/data.hpp"

namespace {

using fp4::errc;

struct part {
  std::int64_t row, col, rows, cols;
};

/// Values of the part as decoded from a view of it, and as cut out of the whole decoded matrix.
template <class Format, class... Layout>
void check_decodes(std::int64_t rows, std::int64_t cols, part p, Layout... layout) {
  CAPTURE(rows, cols, p.row, p.col, p.rows, p.cols);
  auto const x = test::make_data(test::data_kind::normal, rows, cols, 7).values;
  auto const q = fp4::quantize<Format>(fp4::matrix_view<float const>(x.data(), rows, cols), layout...);
  auto const whole = fp4::dequantize<float>(q);
  std::vector<float> wanted;
  for (std::int64_t r = p.row; r < p.row + p.rows; ++r) {
    auto const first = whole.begin() + r * cols + p.col;
    wanted.insert(wanted.end(), first, first + p.cols);
  }
  std::vector<float> got(wanted.size());
  auto scales = q.tensor_scales_view();
  if (scales.count > 1) { scales = {scales.data + p.row, p.rows}; }
  fp4::cpu::dequantize(fp4::submatrix(q.view(), p.row, p.col, p.rows, p.cols), scales, q.decoding(),
                       fp4::matrix_view<float>(got.data(), p.rows, p.cols));
  CHECK(got == wanted);
}

/// Quantizing into a part changes no byte of the rest.
template <class Layout>
void check_writes(std::int64_t rows, std::int64_t cols, part p) {
  CAPTURE(rows, cols, p.row, p.col, p.rows, p.cols);
  auto const x = test::make_data(test::data_kind::normal, p.rows, p.cols, 8).values;
  fp4::matrix_view<float const> const in(x.data(), p.rows, p.cols);
  std::int64_t const stride = fp4::nvfp4::row_bytes(cols), blocks = fp4::nvfp4::blocks(cols);
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(rows * stride), 0xEE);
  std::vector<std::uint8_t> scales(static_cast<std::size_t>(Layout::bytes(rows, blocks)), 0xEE);
  auto const bytes = static_cast<std::int64_t>(scales.size());
  fp4::quantized_view<fp4::nvfp4, Layout> const whole(codes.data(), scales.data(), bytes, rows, cols);
  fp4::quantize(in, fp4::submatrix(whole, p.row, p.col, p.rows, p.cols));

  auto const alone = fp4::quantize<fp4::nvfp4>(in);  // linear scales, no gaps
  std::vector<std::uint8_t> wanted_codes(codes.size(), 0xEE), wanted_scales(scales.size(), 0xEE);
  for (std::int64_t r = 0; r < p.rows; ++r) {
    for (std::int64_t i = 0; i < fp4::nvfp4::row_bytes(p.cols); ++i) {
      wanted_codes[static_cast<std::size_t>((p.row + r) * stride + p.col / 2 + i)] = alone.view().code_row(r)[i];
    }
    for (std::int64_t b = 0; b < fp4::nvfp4::blocks(p.cols); ++b) {
      wanted_scales[static_cast<std::size_t>(Layout::offset(p.row + r, p.col / 16 + b, blocks))] =
          alone.view().scales[r * fp4::nvfp4::blocks(p.cols) + b];
    }
  }
  // Padding of the whole layout beside the part is the part's, and written as 0x00.
  for (std::size_t i = 0; i < scales.size(); ++i) {
    auto const at = Layout::position(static_cast<std::int64_t>(i), blocks);
    if ((at.row >= rows || at.block >= blocks) && scales[i] == 0) { wanted_scales[i] = 0; }
  }
  CHECK(codes == wanted_codes);
  CHECK(scales == wanted_scales);
}

}  // namespace

TEST_CASE("a sub-matrix decodes to that part of the matrix", "[layout]") {
  for (part const p :
       {part{0, 0, 5, 70}, part{2, 0, 3, 70}, part{4, 32, 1, 38}, part{1, 16, 1, 16}, part{5, 0, 0, 70}}) {
    check_decodes<fp4::nvfp4>(5, 70, p);
    check_decodes<fp4::nvfp4>(5, 70, p, fp4::per_row_scale{}, fp4::linear_scales{});
  }
  for (part const p : {part{128, 0, 128, 200}, part{256, 0, 44, 200}, part{128, 64, 128, 64}, part{256, 128, 44, 72}}) {
    check_decodes<fp4::nvfp4>(300, 200, p, fp4::tiled_128x4_scales{});
  }
  for (part const p : {part{8, 0, 12, 200}, part{16, 64, 4, 64}, part{8, 128, 8, 72}}) {
    check_decodes<fp4::nvfp4>(20, 200, p, fp4::tiled_8x4_scales{});
  }
  check_decodes<fp4::mxfp8_e4m3>(4, 100, part{2, 64, 1, 36});
  check_decodes<fp4::fp8_e4m3>(6, 10, part{1, 3, 4, 5});  // no block scales: any column
}

TEST_CASE("quantizing into a sub-matrix leaves the rest alone", "[layout]") {
  for (part const p : {part{0, 0, 5, 70}, part{2, 0, 3, 70}, part{4, 32, 1, 38}, part{1, 16, 1, 16}}) {
    check_writes<fp4::linear_scales>(5, 70, p);
  }
  for (part const p : {part{128, 0, 128, 200}, part{256, 0, 44, 200}, part{128, 64, 128, 64}, part{0, 128, 128, 72}}) {
    check_writes<fp4::tiled_128x4_scales>(300, 200, p);
  }
  for (part const p : {part{8, 0, 12, 200}, part{16, 64, 4, 64}, part{8, 128, 8, 72}}) {
    check_writes<fp4::tiled_8x4_scales>(20, 200, p);
  }
}

TEST_CASE("what is no sub-matrix is refused", "[layout]") {
  std::vector<std::uint8_t> codes(300 * 100), scales(384 * 16);
  fp4::quantized_view<fp4::nvfp4> const linear(codes.data(), scales.data(), 384 * 16, 300, 200);
  fp4::quantized_view<fp4::nvfp4, fp4::tiled_128x4_scales> const tiled(codes.data(), scales.data(), 384 * 16, 300, 200);
  auto const check_refused = [](auto const& whole, part p, errc code, double value, double bound) {
    CAPTURE(p.row, p.col, p.rows, p.cols);
    auto const found = fp4::check(whole, p.row, p.col, p.rows, p.cols);
    CHECK(found.code == code);
    CHECK(found.value == value);
    CHECK(found.bound == bound);
    CHECK_THROWS_AS(fp4::submatrix(whole, p.row, p.col, p.rows, p.cols), fp4::precondition_error);
  };
  constexpr std::int64_t most = 0x7FFFFFFFFFFFFFFF;
  check_refused(linear, {0, 1, 1, 16}, errc::misaligned_submatrix, 1, 16);
  check_refused(linear, {0, 8, 1, 16}, errc::misaligned_submatrix, 8, 16);
  check_refused(linear, {0, 16, 1, 15}, errc::misaligned_submatrix, 31, 16);
  check_refused(linear, {0, 16, 2, 184}, errc::misaligned_submatrix, 184, 200);  // two rows of scales lie apart
  check_refused(tiled, {0, 16, 128, 184}, errc::misaligned_submatrix, 16, 64);
  check_refused(tiled, {0, 0, 1, 64}, errc::misaligned_submatrix, 1, 128);
  check_refused(tiled, {64, 0, 64, 200}, errc::misaligned_submatrix, 64, 128);
  check_refused(tiled, {0, 64, 256, 64}, errc::misaligned_submatrix, 64, 200);
  check_refused(linear, {-1, 0, 1, 16}, errc::submatrix_out_of_range, -1, 300);
  check_refused(linear, {0, 0, -1, 16}, errc::submatrix_out_of_range, -1, 300);
  check_refused(linear, {299, 0, 2, 200}, errc::submatrix_out_of_range, 301, 300);
  check_refused(linear, {0, 192, 1, 16}, errc::submatrix_out_of_range, 208, 200);
  check_refused(linear, {0, most - 15, 1, most}, errc::submatrix_out_of_range, 0x1p64, 200);
  CHECK_THROWS_WITH(fp4::submatrix(linear, 0, 17, 1, 16), Catch::Matchers::ContainsSubstring("got 17, bound 16"));
}
