// SPDX-License-Identifier: Apache-2.0
// Cases L15 and L20: column-wise output is that of the transposed matrix, and no two threads share a byte.
#include "cases/rows.hpp"
#include "support/data.hpp"

namespace {

template <class T>
std::vector<T> transpose(std::vector<T> const& x, std::size_t rows, std::size_t cols) {
  std::vector<T> y(x.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) { y[c * rows + r] = x[r * cols + c]; }
  }
  return y;
}

}  // namespace

TEST_CASE("L15: codes are transposed as nibbles", "[cases]") {
  std::vector<float> x;  // element (i, j) has code 4i + j
  for (unsigned code = 0; code < 16; ++code) { x.push_back(fp4::e2m1{static_cast<std::uint8_t>(code)}.to_float()); }
  auto const codes_of = [](test::bytes const& b) {  // two bytes a row, without the padding
    test::octets found;
    for (std::size_t r = 0; r < 4; ++r) {
      found.push_back(b.codes[8 * r]);
      found.push_back(b.codes[8 * r + 1]);
    }
    return found;
  };
  auto const rows = test::quantize_everywhere(x, 4, 4, test::unit_scale(), fp4::blocks_2d{});
  auto const columns = test::quantize_everywhere(x, 4, 4, test::unit_scale(), fp4::blocks_2d{}, fp4::columnwise{});
  CHECK(codes_of(rows) == test::octets{0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE});
  CHECK(codes_of(columns) == test::octets{0x40, 0xC8, 0x51, 0xD9, 0x62, 0xEA, 0x73, 0xFB});
  CHECK(rows.scales == test::octets(4, 0x38));
  CHECK(columns.scales == test::octets(4, 0x38));
}

TEST_CASE("L15: quantizing column-wise equals quantizing the transpose", "[cases]") {
  for (auto const& [rows, cols] :
       {std::pair{64, 48}, std::pair{33, 17}, std::pair{1, 40}, std::pair{16, 1}, std::pair{200, 80}}) {
    CAPTURE(rows, cols);
    auto const x = test::make_data(test::data_kind::tie_aligned, rows, cols, 15).values;
    auto const t = transpose(x, static_cast<std::size_t>(rows), static_cast<std::size_t>(cols));
    CHECK(test::quantize_everywhere(x, rows, cols, fp4::columnwise{}) == test::quantize_everywhere(t, cols, rows));
    CHECK(test::quantize_everywhere(x, rows, cols, fp4::columnwise{}, fp4::tiled_128x4_scales{}, fp4::exact{}) ==
          test::quantize_everywhere(t, cols, rows, fp4::tiled_128x4_scales{}, fp4::exact{}));
  }
}

#if FP4_HAS_OPENMP
TEST_CASE("L20: repeated runs on several threads give the same bytes", "[cases]") {
  constexpr int runs = 100;
  // Odd sizes: rows end inside a byte's block, and columns of threads meet inside tiles.
  constexpr std::int64_t rows = 271, cols = 401;
  auto const x = test::make_data(test::data_kind::normal, rows, cols, 20).values;
  fp4::matrix_view<float const> const view(x.data(), rows, cols);
  auto const scale = fp4::tensor_scale::from_amax(4);
  auto const by_row = fp4::quantize<fp4::nvfp4>(view, scale, fp4::sequential{});
  auto const by_column = fp4::quantize<fp4::nvfp4>(view, scale, fp4::columnwise{}, fp4::sequential{});
  int different = 0;
  for (int run = 0; run < runs; ++run) {
    auto const again = fp4::quantize<fp4::nvfp4>(view, scale, fp4::openmp{2 + run % 2});
    different += again.codes() != by_row.codes() || again.scales() != by_row.scales();
    if (run % 10 == 0) {
      auto const column_again = fp4::quantize<fp4::nvfp4>(view, scale, fp4::columnwise{}, fp4::openmp{2 + run % 2});
      different += column_again.codes() != by_column.codes() || column_again.scales() != by_column.scales();
    }
  }
  CHECK(different == 0);
}
#endif
