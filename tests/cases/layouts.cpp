// SPDX-License-Identifier: Apache-2.0
// Cases L1 to L7, L12 and L17: padding, swizzle, nibbles. (L15 and L20 are in transpose.)
#include <algorithm>

#include "cases/rows.hpp"
#include "support/buffer.hpp"
#include "support/data.hpp"

namespace {

/// Quantizes ones and twos into poisoned memory; how many scale bytes are neither zero nor poison, and how
/// many are zero.
template <class Layout, class... Choices>
void check_padding(std::int64_t rows, std::int64_t cols, std::int64_t bytes, std::int64_t scales,
                   Choices const&... chosen) {
  std::vector<float> x(static_cast<std::size_t>(rows * cols));
  for (std::size_t i = 0; i < x.size(); ++i) { x[i] = i % 2 == 0 ? 1.0f : -2.0f; }
  test::poisoned_buffer codes(rows * fp4::nvfp4::row_bytes(cols), 0x7F), padded(bytes, 0x7F);
  fp4::quantized_view<fp4::nvfp4, Layout> const out(codes.data(), padded.data(), bytes, rows, cols);
  REQUIRE(out.scale_bytes_needed() == bytes);
  fp4::quantize(fp4::matrix_view<float const>(x.data(), rows, cols), out, chosen...);
  CHECK(codes.guards_hold());
  CHECK(padded.guards_hold());
  CHECK(std::count(padded.data(), padded.data() + bytes, 0x7E) == scales);
  CHECK(std::count(padded.data(), padded.data() + bytes, 0x00) == bytes - scales);
  CHECK(padded.data()[0] == 0x7E);
}

}  // namespace

TEST_CASE("L1: padding of tiled scales is written as zero", "[cases]") {
  check_padding<fp4::tiled_128x4_scales>(1, 16, 512, 1);
  check_padding<fp4::tiled_128x4_scales>(200, 80, 2048, 1000);
  check_padding<fp4::tiled_128x4_scales>(200, 80, 2048, 1000, fp4::blocks_2d{});
  check_padding<fp4::tiled_8x4_scales>(1, 16, 32, 1);
  check_padding<fp4::tiled_8x4_scales>(9, 80, 128, 45);
}

TEST_CASE("L3: rows are split 4 x 32 inside a tile of 128", "[cases]") {
  using layout = fp4::tiled_128x4_scales;
  CHECK(layout::offset(1, 0, 4) == 16);
  CHECK(layout::offset(31, 0, 4) == 496);
  CHECK(layout::offset(32, 0, 4) == 4);
  CHECK(layout::offset(33, 1, 4) == 21);
  CHECK(layout::offset(64, 0, 4) == 8);
  CHECK(layout::offset(96, 2, 4) == 14);
  CHECK(layout::offset(127, 3, 4) == 511);
  CHECK(layout::offset(128, 0, 4) == 512);
  std::vector<int> hits(256 * 8);
  for (std::int64_t m = 0; m < 256; ++m) {
    for (std::int64_t kb = 0; kb < 8; ++kb) {
      std::int64_t const wanted = (m / 128 * 2 + kb / 4) * 512 + m % 32 * 16 + m % 128 / 32 * 4 + kb % 4;
      REQUIRE(layout::offset(m, kb, 8) == wanted);
      ++hits[static_cast<std::size_t>(wanted)];
    }
  }
  CHECK(std::count(hits.begin(), hits.end(), 1) == 256 * 8);
}

TEST_CASE("L3: a quantizer puts scales where the layout says", "[cases]") {
  // Each block a power of two of its own, so that each scale is known.
  std::vector<float> x(129 * 64, 0.0f);
  for (std::size_t m = 0; m < 129; ++m) {
    for (std::size_t kb = 0; kb < 4; ++kb) {
      x[m * 64 + kb * 16] = std::ldexp(6.0f, static_cast<int>((m + 5 * kb) % 9));
    }
  }
  auto const b = test::quantize_everywhere(x, 129, 64, test::unit_scale(), fp4::tiled_128x4_scales{});
  REQUIRE(b.scales.size() == 1024);
  for (std::int64_t m = 0; m < 129; ++m) {
    for (std::int64_t kb = 0; kb < 4; ++kb) {
      auto const at = static_cast<std::size_t>(fp4::tiled_128x4_scales::offset(m, kb, 4));
      CHECK(b.scales[at] == 0x38 + 8 * ((m + 5 * kb) % 9));
    }
  }
}

TEST_CASE("L4: a padded buffer has the padded size", "[cases]") {
  CHECK(fp4::tiled_128x4_scales::bytes(576, 128) == 81920);
  std::vector<float> const x(576 * 2048, 1.0f);
  auto const q =
      fp4::quantize<fp4::nvfp4>(fp4::matrix_view<float const>(x.data(), 576, 2048), fp4::tiled_128x4_scales{});
  CHECK(q.scales().size() == 81920);
}

TEST_CASE("L6: rows of NaN change no other row", "[cases]") {
  std::vector<float> zeros = test::make_data(test::data_kind::normal, 64, 96, 6).values;
  std::fill(zeros.begin() + 8 * 96, zeros.end(), 0.0f);
  std::vector<float> nans = zeros;
  std::fill(nans.begin() + 8 * 96, nans.end(), test::nan());
  auto const check_rows = [&](auto... choices) {
    auto const a = test::quantize_everywhere(zeros, 64, 96, choices...);
    auto const b = test::quantize_everywhere(nans, 64, 96, choices...);
    CHECK(std::equal(a.codes.begin(), a.codes.begin() + 8 * 48, b.codes.begin()));
    CHECK(a.scales == b.scales);  // those of the other rows are 0 too: NaN is ignored
    CHECK(std::count(b.codes.begin() + 8 * 48, b.codes.end(), 0x77) == 56 * 48);
  };
  check_rows();
  check_rows(fp4::exact{});
  check_rows(fp4::search{});
  check_rows(fp4::tiled_128x4_scales{});
  check_rows(fp4::blocks_2d{});
}

TEST_CASE("L7: 16 columns, 33 rows and 1040 columns are as good as any", "[cases]") {
  auto const one = test::quantize_everywhere(std::vector<float>(16, 1.0f), 1, 16);
  CHECK(one.codes == test::octets(8, 0x77));
  CHECK(one.scales == test::octets{0x7E});
  auto const narrow = test::quantize_everywhere(test::make_data(test::data_kind::normal, 33, 16, 7).values, 33, 16);
  CHECK(narrow.codes.size() == 264);
  CHECK(narrow.scales.size() == 33);
  auto const x = test::make_data(test::data_kind::normal, 3, 1040, 7).values;
  auto const wide = test::quantize_everywhere(x, 3, 1040);
  CHECK(wide.codes.size() == 3 * 520);
  CHECK(wide.scales.size() == 3 * 65);
  // The last block is read and written: it equals that of the block alone.
  auto const scale = fp4::tensor_scale::from_amax(4);
  auto const whole = test::quantize_everywhere(x, 3, 1040, scale);
  auto const last = test::quantize_row({x.end() - 16, x.end()}, scale);
  CHECK(test::octets(whole.codes.end() - 8, whole.codes.end()) == last.codes);
  CHECK(whole.scales.back() == last.scales[0]);
}

TEST_CASE("L12: the first element is the low nibble", "[cases]") {
  auto const b = test::quantize_row({1, -6}, test::unit_scale());
  CHECK(b.scales[0] == 0x38);
  CHECK(b.codes[0] == 0xF2);
}

TEST_CASE("L17: rows move with their codes and their scales", "[cases]") {
  std::vector<float> x(32, 6.0f), swapped(32, 3.0f);
  std::fill(x.begin() + 16, x.end(), 3.0f);
  std::fill(swapped.begin() + 16, swapped.end(), 6.0f);
  auto const b = test::quantize_everywhere(x, 2, 16, test::unit_scale());
  CHECK(b.codes == test::octets(16, 0x77));
  CHECK(b.scales == test::octets{0x38, 0x30});
  auto const moved = test::quantize_everywhere(swapped, 2, 16, test::unit_scale());
  CHECK(moved.codes == test::octets(16, 0x77));
  CHECK(moved.scales == test::octets{0x30, 0x38});
}
