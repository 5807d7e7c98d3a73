// SPDX-License-Identifier: Apache-2.0
// Operands of tcgen05.mma in shared memory, and scales in tensor memory: each byte has one owner, and the maps equal
// the published tables.
#include <set>
#include <tuple>
#include <vector>

#include "catch.hpp"
#include "layout/table.hpp"

#include <fp4/layout/shared_memory.hpp>
#include <fp4/layout/tensor_memory.hpp>

namespace {

using fp4::scale_vector;
using fp4::swizzle;
using none = fp4::k_major_shared<swizzle::none>;
using sw32 = fp4::k_major_shared<swizzle::bytes_32>;
using sw64 = fp4::k_major_shared<swizzle::bytes_64>;
using sw128 = fp4::k_major_shared<swizzle::bytes_128>;

template <class Map>
void check_table(char const* name) {
  auto const table = test::read_table<4>(name, "row,k,byte_offset,nibble");
  CHECK(static_cast<int>(table.size()) == 8 * Map::atom_columns);
  int wrong = 0;
  for (auto const& [row, k, offset, high] : table) {
    auto const back = Map::position(offset, 8);
    wrong += Map::offset(row, k, 8) != offset || back.row != row || back.column + high != k;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("atoms of shared memory equal the published tables", "[layout]") {
  check_table<none>("smem_kmajor_none_e2m1.csv");
  check_table<sw32>("smem_kmajor_sw32_e2m1.csv");
  check_table<sw64>("smem_kmajor_sw64_e2m1.csv");
  check_table<sw128>("smem_kmajor_sw128_e2m1.csv");
}

TEMPLATE_TEST_CASE("each byte of a tile in shared memory has one owner", "[layout]", none, sw32, sw64, sw128) {
  for (int const rows : {8, 24, 128}) {
    for (int const columns : {64, 256, 320}) {
      CAPTURE(rows, columns);
      auto const bytes = TestType::bytes(rows, columns);
      std::vector<int> owners(static_cast<std::size_t>(bytes));
      int wrong = 0;
      for (int row = 0; row < rows; ++row) {
        for (int k = 0; k < fp4::detail::round_up_to(columns, TestType::atom_columns); k += 2) {
          auto const offset = TestType::offset(row, k, rows);
          ++owners.at(static_cast<std::size_t>(offset));
          auto const back = TestType::position(offset, rows);
          wrong += back.row != row || back.column != k || TestType::offset(row, k + 1, rows) != offset;
        }
      }
      CHECK(wrong == 0);
      CHECK(std::set<int>(owners.begin(), owners.end()) == std::set<int>{1});
    }
  }
}

TEMPLATE_TEST_CASE("tiles in shared memory round up to atoms", "[layout]", none, sw32, sw64, sw128) {
  CHECK(TestType::bytes(1, 1) == TestType::atom_bytes);
  CHECK(TestType::bytes(9, TestType::atom_columns + 1) == 4 * TestType::atom_bytes);
  CHECK(TestType::bytes(0, 64) == 0);
  CHECK(TestType::offset(8, 0, 128) == TestType::row_group_stride);
  CHECK(TestType::offset(0, TestType::atom_columns, 100) == TestType::atom_stride(100));
  CHECK(TestType::atom_stride(100) == 104 * TestType::row_bytes);
  CHECK((TestType::alignment == TestType::atom_bytes || TestType::mode == swizzle::none));
}

TEMPLATE_TEST_CASE("a step of k = 64 starts 32 bytes further inside an atom", "[layout]", sw64, sw128) {
  // What the descriptor's start address relies on: the swizzle acts on the address, so that row 0 is where it was.
  for (int k = 0; k < TestType::atom_columns; k += 64) { CHECK(TestType::offset(0, k, 128) == k / 2); }
}

TEST_CASE("tiles in a matrix are those of shared memory, one after another", "[layout]") {
  using codes = fp4::tcgen05_codes<swizzle::bytes_128, 128, 512>;
  CHECK(codes::tile_bytes == sw128::bytes(128, 512));
  CHECK(codes::bytes(129, 513) == 4 * codes::tile_bytes);
  for (std::int64_t const row : {0, 1, 77, 127, 128, 200, 255}) {
    for (std::int64_t const column : {0, 2, 255, 256, 511, 512, 1000, 1023}) {
      auto const offset = codes::offset(row, column, 1000);
      CHECK(offset == (row / 128 * 2 + column / 512) * codes::tile_bytes + sw128::offset(row % 128, column % 512, 128));
      auto const back = codes::position(offset, 1000);
      CHECK((back.row == row && back.column == column / 2 * 2));
    }
  }
}

TEST_CASE("scales in tensor memory equal the published table", "[layout]") {
  using map = fp4::tensor_memory_scales<scale_vector::x4>;
  auto const table =
      test::read_table<6>("tmem_sfa_M128_K64.csv", "row,kblock,replica_warp,tmem_lane,tmem_col_word,byte_in_word");
  CHECK(table.size() == 128u * 4u * 4u);
  int wrong = 0;
  for (auto const& [row, block, replica, lane, column, byte] : table) {
    auto const at = map::place(row, block, replica, 128);
    auto const back = map::position({lane, column, byte}, 128);
    wrong += at.lane != lane || at.column != column || at.byte != byte || back.row != row || back.block != block;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("scales fill their columns of tensor memory", "[layout]",
                   (fp4::tensor_memory_scales<scale_vector::x4>), (fp4::tensor_memory_scales<scale_vector::x2>)) {
  for (int const rows : {128, 256}) {
    constexpr int blocks = 16;
    std::set<std::tuple<int, int, int>> places;
    for (int row = 0; row < rows; ++row) {
      for (int block = 0; block < blocks; ++block) {
        for (int replica = 0; replica < 4; ++replica) {
          auto const at = TestType::place(row, block, replica, rows);
          CHECK((at.lane < 128 && at.column < TestType::columns(rows, blocks) && at.byte < 4));
          places.insert({at.lane, at.column, at.byte});
          auto const back = TestType::position(at, rows);
          CHECK((back.row == row && back.block == block));
          // The step that a block belongs to finds it from its first column and scale id on.
          int const step = block / TestType::blocks_per_step;
          CHECK(at.column == TestType::first_column(step, rows) + row / 32);
          CHECK(at.byte == TestType::scale_id(step) + block % TestType::blocks_per_step);
        }
      }
    }
    CHECK(static_cast<int>(places.size()) == rows * blocks * 4);
    CHECK(static_cast<int>(places.size()) == 128 * 4 * TestType::columns(rows, blocks));
  }
}

TEST_CASE("scales of 192 rows take the columns of 256", "[layout]") {
  using map = fp4::tensor_memory_scales<scale_vector::x4>;
  STATIC_REQUIRE(map::column_stride(192) == 8);
  STATIC_REQUIRE(map::columns(192, 8) == 16);
  STATIC_REQUIRE(map::columns(64, 1) == 4);
  STATIC_REQUIRE(map::place(33, 6, 2, 128).address() == (65u << 16 | 5u));
}

TEST_CASE("one tile of 128x4 scales is one copy to tensor memory", "[layout]") {
  using tile = fp4::tiled_128x4_scales;
  using map = fp4::tensor_memory_scales<scale_vector::x4>;
  STATIC_REQUIRE(fp4::tcgen05_scale_copy::bytes == tile::bytes(128, 4));
  for (int row = 0; row < 128; ++row) {
    for (int block = 0; block < 4; ++block) {
      int const source = static_cast<int>(tile::offset(row, block, 4));
      for (int replica = 0; replica < 4; ++replica) {
        auto const wanted = map::place(row, block, replica, 128);
        auto const got = fp4::tcgen05_scale_copy::place(source, replica);
        CHECK((got.lane == wanted.lane && got.column == wanted.column && got.byte == wanted.byte));
        CHECK(fp4::tcgen05_scale_copy::offset(wanted) == source);
      }
    }
  }
}

TEST_CASE("scales in global memory equal the published table", "[layout]") {
  auto const table = test::read_table<3>("sf_global_layout_M256_K128.csv", "row,kblock,byte_offset");
  CHECK(table.size() == 256u * 8u);
  int wrong = 0;
  for (auto const& [row, block, offset] : table) {
    auto const back = fp4::tiled_128x4_scales::position(offset, 8);
    wrong += fp4::tiled_128x4_scales::offset(row, block, 8) != offset || back.row != row || back.block != block;
  }
  CHECK(wrong == 0);
}
