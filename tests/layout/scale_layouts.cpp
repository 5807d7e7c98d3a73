// SPDX-License-Identifier: Apache-2.0
// Where block scales lie. (CASES L3 and L4 are in tests/cases.)
#include <vector>

#include "catch.hpp"

#include <fp4/layout/scale_layout.hpp>

namespace {

// The layouts a second time, as nested loops in the order of memory: what offset() must invert.
template <class Visit>
void walk(fp4::linear_scales, std::int64_t rows, std::int64_t blocks, Visit visit) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t b = 0; b < blocks; ++b) { visit(r, b); }
  }
}
template <class Visit>
void walk(fp4::tiled_128x4_scales, std::int64_t rows, std::int64_t blocks, Visit visit) {
  for (std::int64_t r = 0; r < rows; r += 128) {
    for (std::int64_t b = 0; b < blocks; b += 4) {
      for (std::int64_t low = 0; low < 32; ++low) {
        for (std::int64_t high = 0; high < 4; ++high) {
          for (std::int64_t k = 0; k < 4; ++k) { visit(r + 32 * high + low, b + k); }
        }
      }
    }
  }
}
template <class Visit>
void walk(fp4::tiled_8x4_scales, std::int64_t rows, std::int64_t blocks, Visit visit) {
  for (std::int64_t r = 0; r < rows; r += 8) {
    for (std::int64_t b = 0; b < blocks; b += 4) {
      for (std::int64_t i = 0; i < 8; ++i) {
        for (std::int64_t k = 0; k < 4; ++k) { visit(r + i, b + k); }
      }
    }
  }
}
template <class Visit>
void walk(fp4::tiled_32x4_scales, std::int64_t rows, std::int64_t blocks, Visit visit) {
  for (std::int64_t r = 0; r < rows; r += 32) {
    for (std::int64_t b = 0; b < blocks; b += 4) {
      for (std::int64_t group = 0; group < 8; ++group) {
        for (std::int64_t quad = 0; quad < 4; ++quad) {
          for (std::int64_t k = 0; k < 4; ++k) { visit(r + 8 * quad + group, b + k); }
        }
      }
    }
  }
}

#define LAYOUTS fp4::linear_scales, fp4::tiled_128x4_scales, fp4::tiled_8x4_scales, fp4::tiled_32x4_scales

}  // namespace

TEMPLATE_TEST_CASE("offsets count through memory, padding included", "[layout]", LAYOUTS) {
  for (std::int64_t const rows : {1, 7, 8, 9, 127, 128, 129, 200, 300}) {
    for (std::int64_t const blocks : {1, 3, 4, 5, 8, 13}) {
      std::int64_t next = 0, wrong_offsets = 0, wrong_positions = 0;
      walk(TestType{}, rows, blocks, [&](std::int64_t r, std::int64_t b) {
        wrong_offsets += TestType::offset(r, b, blocks) != next;
        auto const at = TestType::position(next, blocks);
        wrong_positions += at.row != r || at.block != b;
        ++next;
      });
      CAPTURE(rows, blocks);
      CHECK(wrong_offsets == 0);
      CHECK(wrong_positions == 0);
      CHECK(TestType::bytes(rows, blocks) == next);
    }
  }
}

TEMPLATE_TEST_CASE("every logical scale has a byte of its own inside the buffer", "[layout]", LAYOUTS) {
  constexpr std::int64_t rows = 201, blocks = 9;
  std::vector<int> owners(static_cast<std::size_t>(TestType::bytes(rows, blocks)));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t b = 0; b < blocks; ++b) { ++owners.at(static_cast<std::size_t>(TestType::offset(r, b, blocks))); }
  }
  std::int64_t owned = 0;
  for (int const count : owners) {
    REQUIRE(count <= 1);
    owned += count;
  }
  CHECK(owned == rows * blocks);
}

TEST_CASE("tiles are padded to whole ones", "[layout]") {
  STATIC_REQUIRE(fp4::linear_scales::bytes(200, 5) == 1000);
  STATIC_REQUIRE(fp4::tiled_128x4_scales::bytes(1, 1) == 512);
  STATIC_REQUIRE(fp4::tiled_128x4_scales::bytes(200, 5) == 2048);
  STATIC_REQUIRE(fp4::tiled_8x4_scales::bytes(1, 1) == 32);
  STATIC_REQUIRE(fp4::tiled_8x4_scales::bytes(9, 5) == 128);
  STATIC_REQUIRE(fp4::tiled_32x4_scales::bytes(1, 1) == 128);
  STATIC_REQUIRE(fp4::tiled_32x4_scales::bytes(33, 5) == 512);
  STATIC_REQUIRE(fp4::tiled_128x4_scales::bytes(0, 5) == 0);
  STATIC_REQUIRE(fp4::tiled_128x4_scales::bytes(128, 0) == 0);
}

TEST_CASE("rows of 8x4 tiles follow each other", "[layout]") {
  STATIC_REQUIRE(fp4::tiled_8x4_scales::offset(1, 0, 8) == 4);
  STATIC_REQUIRE(fp4::tiled_8x4_scales::offset(7, 3, 8) == 31);
  STATIC_REQUIRE(fp4::tiled_8x4_scales::offset(0, 4, 8) == 32);
  STATIC_REQUIRE(fp4::tiled_8x4_scales::offset(8, 0, 8) == 64);
  STATIC_REQUIRE(fp4::tiled_8x4_scales::offset(8, 0, 5) == 64);  // five blocks take two tiles
}

TEST_CASE("offsets past 2^31 and 2^32 do not wrap", "[layout]") {
  constexpr std::int64_t blocks = std::int64_t{1} << 20, row = (std::int64_t{1} << 20) + 33, block = blocks - 3;
  STATIC_REQUIRE(fp4::linear_scales::offset(row, block, blocks) == row * blocks + block);
  STATIC_REQUIRE(fp4::linear_scales::bytes(row, blocks) == (std::int64_t{1} << 40) + 33 * blocks);
  // Row 2^20 + 33 is row 33 of tile row 8192, which starts at byte 2^40; the block is number 1 of the last
  // tile.
  STATIC_REQUIRE(fp4::tiled_128x4_scales::offset(row, block, blocks) ==
                 (std::int64_t{1} << 40) + (blocks / 4 - 1) * 512 + 16 + 4 + 1);
  STATIC_REQUIRE(fp4::tiled_8x4_scales::offset(row, block, blocks) ==
                 (std::int64_t{1} << 40) + (4 * (blocks / 4) + blocks / 4 - 1) * 32 + 4 + 1);
  constexpr auto back = fp4::tiled_128x4_scales::position(fp4::tiled_128x4_scales::offset(row, block, blocks), blocks);
  STATIC_REQUIRE((back.row == row && back.block == block));
  constexpr auto near = fp4::tiled_8x4_scales::position(fp4::tiled_8x4_scales::offset(row, block, blocks), blocks);
  STATIC_REQUIRE((near.row == row && near.block == block));
}
