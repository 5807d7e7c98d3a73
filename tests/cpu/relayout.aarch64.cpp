// SPDX-License-Identifier: Apache-2.0
#include <fp4/cpu/relayout.hpp>
#include <vector>

#include "catch.hpp"

namespace {

using linear = fp4::linear_scales;
using tiles_128 = fp4::tiled_128x4_scales;
using tiles_8 = fp4::tiled_8x4_scales;
using tiles_32 = fp4::tiled_32x4_scales;

/// A scale matrix in a layout, padding 0, no scale 0 and neighbours different.
template <class Layout>
std::vector<std::uint8_t> scale_matrix(std::int64_t rows, std::int64_t blocks) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(Layout::bytes(rows, blocks)), 0);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      bytes[static_cast<std::size_t>(Layout::offset(r, b, blocks))] =
          static_cast<std::uint8_t>(1 + (r * 31 + b * 7 + r / 32) % 255);
    }
  }
  return bytes;
}

template <class From, class To>
bool converts(std::int64_t rows, std::int64_t blocks) {
  auto const from = scale_matrix<From>(rows, blocks);
  std::vector<std::uint8_t> to(static_cast<std::size_t>(To::bytes(rows, blocks)), 0x7F);
  fp4::cpu::relayout_scales<From, To>(from.data(), static_cast<std::int64_t>(from.size()), to.data(),
                                      static_cast<std::int64_t>(to.size()), rows, blocks);
  return to == scale_matrix<To>(rows, blocks);
}

}  // namespace

TEST_CASE("relayout moves every scale and writes the padding, between all layouts") {
  for (std::int64_t const rows : {0, 1, 5, 127, 128, 129, 300}) {
    for (std::int64_t const blocks : {0, 1, 3, 4, 5, 16, 17, 33, 64, 70}) {
      CAPTURE(rows, blocks);
      CHECK(converts<linear, tiles_128>(rows, blocks));
      CHECK(converts<tiles_128, linear>(rows, blocks));
      CHECK(converts<linear, tiles_8>(rows, blocks));
      CHECK(converts<tiles_8, linear>(rows, blocks));
      CHECK(converts<tiles_8, tiles_128>(rows, blocks));
      CHECK(converts<tiles_128, tiles_8>(rows, blocks));
      CHECK(converts<linear, tiles_32>(rows, blocks));
      CHECK(converts<tiles_32, linear>(rows, blocks));
      CHECK(converts<tiles_32, tiles_128>(rows, blocks));
      CHECK(converts<tiles_128, tiles_32>(rows, blocks));
      CHECK(converts<tiles_32, tiles_8>(rows, blocks));
      CHECK(converts<tiles_8, tiles_32>(rows, blocks));
      CHECK(converts<linear, linear>(rows, blocks));
    }
  }
}

TEST_CASE("relayout refuses buffers that are too small or overlap, and writes nothing") {
  std::vector<std::uint8_t> from(64, 1), to(512, 0x7F);
  auto const code_of = [](auto const& call) {
    try {
      call();
    } catch (fp4::precondition_error const& error) { return error.code(); }
    return fp4::errc::ok;
  };
  CHECK(code_of([&] { fp4::cpu::relayout_scales<linear, tiles_128>(from.data(), 63, to.data(), 512, 16, 4); }) ==
        fp4::errc::scale_buffer_too_small);
  CHECK(code_of([&] { fp4::cpu::relayout_scales<linear, tiles_128>(from.data(), 64, to.data(), 511, 16, 4); }) ==
        fp4::errc::scale_buffer_too_small);
  CHECK(code_of([&] { fp4::cpu::relayout_scales<linear, tiles_128>(nullptr, 64, to.data(), 512, 16, 4); }) ==
        fp4::errc::null_data);
  CHECK(code_of([&] { fp4::cpu::relayout_scales<linear, linear>(to.data(), 64, to.data() + 32, 480, 16, 4); }) ==
        fp4::errc::overlapping_output);
  CHECK(code_of([&] { fp4::cpu::relayout_scales<linear, tiles_128>(from.data(), 64, to.data(), 512, -1, 4); }) ==
        fp4::errc::negative_size);
  CHECK(to == std::vector<std::uint8_t>(512, 0x7F));
}
