// SPDX-License-Identifier: Apache-2.0
// Matrices in fragment order: a lane's operand is 16 consecutive bytes, its scales are 4, and both are the registers
// that the fragments ask for.
#include <set>
#include <vector>

#include "catch.hpp"

#include <fp4/layout/fragment_order.hpp>
#include <fp4/layout/shared_memory.hpp>

namespace {

using k64 = fp4::mma_m16n8k64;
using atoms_128 = fp4::tcgen05_codes<>;
using atoms_none = fp4::tcgen05_codes<fp4::swizzle::none, 64, 64>;

}  // namespace

TEMPLATE_TEST_CASE("each byte of a tiled code matrix has one owner", "[layout]", fp4::fragment_codes_a,
                   fp4::fragment_codes_b, atoms_128, atoms_none) {
  for (std::int64_t const rows : {1, 16, 17, 150}) {
    for (std::int64_t const columns : {1, 64, 65, 300}) {
      CAPTURE(rows, columns);
      std::vector<int> owners(static_cast<std::size_t>(TestType::bytes(rows, columns)));
      int wrong = 0;
      for (std::int64_t r = 0; r < fp4::detail::round_up_to(rows, TestType::tile_rows); ++r) {
        for (std::int64_t c = 0; c < fp4::detail::round_up_to(columns, TestType::tile_columns); c += 2) {
          auto const offset = TestType::offset(r, c, columns);
          ++owners.at(static_cast<std::size_t>(offset));
          auto const back = TestType::position(offset, columns);
          wrong += back.row != r || back.column != c || TestType::offset(r, c + 1, columns) != offset;
        }
      }
      CHECK(wrong == 0);
      CHECK(std::set<int>(owners.begin(), owners.end()) == std::set<int>{1});
    }
  }
}

TEST_CASE("a lane's 16 bytes of A are its four registers", "[layout]") {
  for (int lane = 0; lane < 32; ++lane) {
    for (int reg = 0; reg < 4; ++reg) {
      for (int nibble = 0; nibble < 8; ++nibble) {
        auto const at = k64::a::position({lane, reg, nibble});
        CHECK(fp4::fragment_codes_a::offset(at.row, at.column, 64) == lane * 16 + reg * 4 + nibble / 2);
        // Tile (1, 2) of a matrix of 3 tiles a row is the sixth.
        CHECK(fp4::fragment_codes_a::offset(16 + at.row, 128 + at.column, 190) ==
              5 * 512 + lane * 16 + reg * 4 + nibble / 2);
      }
    }
  }
}

TEST_CASE("a lane's 16 bytes of B are the registers of two n8", "[layout]") {
  for (int lane = 0; lane < 32; ++lane) {
    for (int half = 0; half < 2; ++half) {
      for (int reg = 0; reg < 2; ++reg) {
        for (int nibble = 0; nibble < 8; ++nibble) {
          auto const at = k64::b::position({lane, reg, nibble});
          CHECK(fp4::fragment_codes_b::offset(8 * half + at.row, at.column, 64) ==
                lane * 16 + half * 8 + reg * 4 + nibble / 2);
        }
      }
    }
  }
}

TEST_CASE("one word of scales a lane serves two tiles of A and four of B", "[layout]") {
  using scales = fp4::tiled_32x4_scales;
  for (int row = 0; row < 32; ++row) {
    for (int block = 0; block < 4; ++block) {
      auto const a = k64::scales_a<>::place(row % 16, block, {row / 16, 0});
      auto const b = k64::scales_b<>::place(row % 8, block, {row / 8, 0});
      CHECK(scales::offset(row, block, 4) == a.lane * 4 + a.slot);
      CHECK(scales::offset(row, block, 4) == b.lane * 4 + b.slot);
    }
  }
}
