// SPDX-License-Identifier: Apache-2.0
// Packing into the orders of tensor cores: each code and scale where the layout says, padding 0, and the same bytes
// back.
#include <fp4/cpu/pack.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "support/buffer.hpp"

namespace {

using fp4::nvfp4;
using linear = fp4::linear_scales;
using octets = std::vector<std::uint8_t>;

template <class Codes_, class Scales_>
struct target {
  using codes = Codes_;
  using scales = Scales_;
};
#define TARGETS                                                                                                 \
  (target<fp4::fragment_codes_a, fp4::tiled_32x4_scales>), (target<fp4::fragment_codes_b, fp4::linear_scales>), \
      (target<fp4::tcgen05_codes<fp4::swizzle::none, 64, 64>, fp4::tiled_8x4_scales>),                          \
      (target<fp4::tcgen05_codes<fp4::swizzle::bytes_32>, fp4::tiled_128x4_scales>),                            \
      (target<fp4::tcgen05_codes<fp4::swizzle::bytes_64, 8, 256>, fp4::tiled_128x4_scales>),                    \
      (target<fp4::tcgen05_codes<fp4::swizzle::bytes_128>, fp4::tiled_128x4_scales>)

/// A matrix in rows, with other bytes where no code is: between rows and past the last column.
template <class Scales>
struct row_matrix {
  std::int64_t rows, cols, stride;
  octets codes, scales;

  row_matrix(std::int64_t r, std::int64_t c, std::int64_t gap)
      : rows(r),
        cols(c),
        stride(nvfp4::row_bytes(c) + gap),
        codes(static_cast<std::size_t>(r * stride)),
        scales(static_cast<std::size_t>(Scales::bytes(r, nvfp4::blocks(c)))) {
    std::uint32_t state = 1;
    for (auto& b : codes) { b = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24); }
    for (auto& b : scales) { b = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24 | 1); }
  }
  fp4::quantized_view<nvfp4, Scales> view() {
    fp4::quantized_view<nvfp4, Scales> v(codes.data(), scales.data(), static_cast<std::int64_t>(scales.size()), rows,
                                         cols);
    v.code_stride = stride;
    return v;
  }
};

/// What pack must write, element by element from the index functions.
template <class Target, class Scales>
octets packed_codes(row_matrix<Scales> const& m) {
  octets bytes(static_cast<std::size_t>(Target::codes::bytes(m.rows, m.cols)));
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (std::int64_t c = 0; c < m.cols; ++c) {
      auto& byte = bytes.at(static_cast<std::size_t>(Target::codes::offset(r, c, m.cols)));
      byte = static_cast<std::uint8_t>(byte | fp4::nibble(m.codes.data() + r * m.stride, c) << (c % 2 * 4));
    }
  }
  return bytes;
}
template <class To, class Scales>
octets relaid_scales(row_matrix<Scales> const& m) {
  std::int64_t const blocks = nvfp4::blocks(m.cols);
  octets bytes(static_cast<std::size_t>(To::bytes(m.rows, blocks)));
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      bytes.at(static_cast<std::size_t>(To::offset(r, b, blocks))) =
          m.scales[static_cast<std::size_t>(Scales::offset(r, b, blocks))];
    }
  }
  return bytes;
}
std::string difference(octets const& got, octets const& wanted) {
  if (got.size() != wanted.size()) { return "another size"; }
  return test::first_difference(got.data(), wanted.data(), static_cast<std::int64_t>(got.size()), 512);
}
std::string difference(test::poisoned_buffer const& got, octets const& wanted) {
  if (!got.guards_hold()) { return "bytes outside the buffer were written"; }
  if (got.size() != static_cast<std::int64_t>(wanted.size())) { return "another size"; }
  return test::first_difference(got.data(), wanted.data(), got.size(), 512);
}

/// pack against the index functions, then unpack against what was there, both into poison.
template <class Target, class Scales, class Execution>
void check_both_ways(std::int64_t rows, std::int64_t cols, std::int64_t gap, Execution execution) {
  CAPTURE(rows, cols, gap);
  row_matrix<Scales> m(rows, cols, gap);
  test::poisoned_buffer codes(Target::codes::bytes(rows, cols), 0x7F);
  test::poisoned_buffer scales(Target::scales::bytes(rows, nvfp4::blocks(cols)), 0x7F);
  fp4::packed_view<nvfp4, typename Target::codes, typename Target::scales> const packed(
      codes.data(), codes.size(), scales.data(), scales.size(), rows, cols);
  fp4::cpu::pack(m.view(), packed, execution);
  CHECK(difference(codes, packed_codes<Target>(m)) == "");
  CHECK(difference(scales, relaid_scales<typename Target::scales>(m)) == "");

  row_matrix<Scales> back(rows, cols, gap), wanted = m;
  back.scales.assign(back.scales.size(), 0x7F), back.codes.assign(back.codes.size(), 0x55);
  wanted.codes = back.codes, wanted.scales = relaid_scales<Scales>(m);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < 2 * nvfp4::row_bytes(cols); ++c) {
      auto const code = c < cols ? fp4::nibble(m.codes.data() + r * m.stride, c) : std::uint8_t{0};
      fp4::set_nibble(wanted.codes.data() + r * m.stride, c, code);
    }
  }
  fp4::packed_view<nvfp4, typename Target::codes, typename Target::scales, std::uint8_t const> const reading = packed;
  fp4::cpu::unpack(reading, back.view(), execution);
  CHECK(difference(back.codes, wanted.codes) == "");
  CHECK(difference(back.scales, wanted.scales) == "");
}

}  // namespace

TEMPLATE_TEST_CASE("packing puts codes and scales where the layouts say, and back", "[cpu]", TARGETS) {
  for (std::int64_t const rows : {1, 8, 15, 16, 17, 130}) {
    for (std::int64_t const cols : {1, 15, 16, 63, 64, 65, 128, 129, 255, 256, 320, 513}) {
      check_both_ways<TestType, linear>(rows, cols, 0, fp4::default_execution{});
    }
  }
  check_both_ways<TestType, fp4::tiled_128x4_scales>(200, 80, 3, fp4::sequential{});
  check_both_ways<TestType, fp4::tiled_8x4_scales>(33, 1040, 24, fp4::sequential{});
  check_both_ways<TestType, fp4::tiled_32x4_scales>(64, 512, 0, fp4::sequential{});
}

TEST_CASE("large matrices, which pass the caches by, get the same bytes", "[cpu]") {
  using a = target<fp4::fragment_codes_a, fp4::tiled_32x4_scales>;
  using atoms = target<fp4::tcgen05_codes<>, fp4::tiled_128x4_scales>;
  check_both_ways<a, linear>(4099, 8192 + 48, 0, fp4::default_execution{});
  check_both_ways<a, linear>(2051, 16384, 1, fp4::sequential{});  // rows at odd addresses
  check_both_ways<atoms, linear>(4099, 8192 + 48, 0, fp4::default_execution{});
}

TEST_CASE("an empty matrix packs to nothing", "[cpu]") {
  using packed = fp4::packed_view<nvfp4, fp4::fragment_codes_a, fp4::tiled_32x4_scales>;
  CHECK_NOTHROW(
      fp4::cpu::pack(fp4::quantized_view<nvfp4>(nullptr, nullptr, 0, 0, 64), packed(nullptr, 0, nullptr, 0, 0, 64)));
  CHECK_NOTHROW(
      fp4::cpu::unpack(packed(nullptr, 0, nullptr, 0, 5, 0), fp4::quantized_view<nvfp4>(nullptr, nullptr, 0, 5, 0)));
}

namespace {

/// A right problem of [20, 96] that tests make wrong.
struct problem {
  using tiles = fp4::packed_view<nvfp4, fp4::fragment_codes_b, fp4::tiled_32x4_scales>;
  row_matrix<linear> m{20, 96, 0};
  alignas(16) std::uint8_t codes[2048] = {};
  std::uint8_t scales[256] = {};
  fp4::quantized_view<nvfp4> rows = m.view();
  tiles packed{codes, sizeof codes, scales, sizeof scales, 20, 96};

  void check_refused(fp4::errc code, double value, double bound) const {
    for (auto const& found : {fp4::cpu::check_pack(rows, packed), fp4::cpu::check_unpack(packed, rows)}) {
      CHECK(found.code == code);
      CHECK(found.value == value);
      CHECK(found.bound == bound);
    }
    std::string const before(codes, codes + sizeof codes);
    octets const rows_before = m.codes;
    CHECK_THROWS_AS(fp4::cpu::pack(rows, packed), fp4::precondition_error);
    CHECK_THROWS_AS(fp4::cpu::unpack(packed, rows), fp4::precondition_error);
    CHECK(before == std::string(codes, codes + sizeof codes));
    CHECK(rows_before == m.codes);
  }
};

}  // namespace

TEST_CASE("packing refuses what it cannot do, and writes nothing", "[cpu]") {
  problem p;
  REQUIRE(fp4::cpu::check_pack(p.rows, p.packed).ok());
  REQUIRE(fp4::cpu::check_unpack(p.packed, p.rows).ok());
  SECTION("code buffer") {
    p.packed.code_bytes = 2047;
    p.check_refused(fp4::errc::code_buffer_too_small, 2047, 2048);
  }
  SECTION("scale buffer") {
    p.packed.scale_bytes = 255;
    p.check_refused(fp4::errc::scale_buffer_too_small, 255, 256);
  }
  SECTION("scale buffer of the rows") {
    p.rows.scale_bytes = 119;
    p.check_refused(fp4::errc::scale_buffer_too_small, 119, 120);
  }
  SECTION("alignment") {
    p.packed.codes += 8, p.packed.code_bytes += 8;
    p.check_refused(fp4::errc::misaligned_codes, 8, 16);
  }
  SECTION("null") {
    p.packed.scales = nullptr;
    p.check_refused(fp4::errc::null_data, 0, 20);
  }
  SECTION("negative size") {
    p.packed.rows = -1;
    p.check_refused(fp4::errc::negative_size, -1, 0);
  }
  SECTION("size") {
    p.packed.rows = p.packed.cols = std::int64_t{1} << 40;
    p.check_refused(fp4::errc::too_large, 0x1p80, 0x1p56);
  }
  SECTION("code stride") {
    p.rows.code_stride = 47;
    p.check_refused(fp4::errc::code_stride_too_small, 47, 48);
  }
  SECTION("overlap of codes") {
    p.rows.codes = p.codes + 2047;
    p.check_refused(fp4::errc::overlapping_output, 1, 0);
  }
  SECTION("overlap of scales and codes") {
    p.rows.scales = p.codes;
    p.check_refused(fp4::errc::overlapping_output, 120, 0);
  }
}

TEST_CASE("packing refuses another shape, and outputs over each other", "[cpu]") {
  problem p;
  p.packed.cols = 95;
  CHECK(fp4::cpu::check_pack(p.rows, p.packed).code == fp4::errc::shape_mismatch);
  CHECK(fp4::cpu::check_pack(p.rows, p.packed).value == 95);
  CHECK(fp4::cpu::check_unpack(p.packed, p.rows).value == 96);
  p.packed.cols = 96, p.packed.rows = 17;
  CHECK(fp4::cpu::check_pack(p.rows, p.packed).value == 17);
  p.packed.rows = 20;
  p.packed.scales = p.codes + 1024;
  CHECK(fp4::cpu::check_pack(p.rows, p.packed).code == fp4::errc::overlapping_output);
  CHECK(fp4::cpu::check_unpack(p.packed, p.rows).ok());  // both are read
  p.packed.scales = p.scales, p.rows.scales = p.rows.codes;
  CHECK(fp4::cpu::check_pack(p.rows, p.packed).ok());
  CHECK(fp4::cpu::check_unpack(p.packed, p.rows).code == fp4::errc::overlapping_output);
}
