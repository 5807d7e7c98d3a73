// SPDX-License-Identifier: Apache-2.0
// What lanes hold in mma.sync: each element has one place, places and elements are inverse, and both equal the
// published tables. Case L10.
#include <set>
#include <tuple>
#include <vector>

#include "catch.hpp"
#include "layout/table.hpp"

#include <fp4/layout/fragments.hpp>

namespace {

using fp4::fragment_place;
using fp4::scale_selector;
using fp4::scale_vector;
using k64 = fp4::mma_m16n8k64;
using k32 = fp4::mma_m16n8k32;

constexpr bool same(fragment_place a, fragment_place b) {
  return a.lane == b.lane && a.reg == b.reg && a.slot == b.slot;
}

/// Lane, value of the lane, register, slot, row, column.
template <class Fragment>
void check_table(char const* name, char const* columns) {
  auto const table = test::read_table<6>(name, columns);
  CHECK(static_cast<int>(table.size()) == Fragment::rows * Fragment::columns);
  int wrong = 0;
  for (auto const& [lane, value, reg, slot, row, column] : table) {
    fragment_place const at{lane, reg, slot};
    auto const element = Fragment::position(at);
    wrong += element.row != row || element.column != column || !same(Fragment::place(row, column), at) ||
             value != reg * Fragment::slots + slot;
  }
  CHECK(wrong == 0);
}

/// Lane, k, byte, k inside the block, row, k: every lane, whether it is read or not.
template <class Fragment>
void check_scale_table(char const* name, char const* columns) {
  int const k_of_block = 64 / Fragment::blocks;
  auto const table = test::read_table<6>(name, columns);
  CHECK(table.size() == 32u * 64u);
  int wrong = 0, read = 0;
  for (auto const& [lane, value, byte, inside, row, k] : table) {
    for (int id = 0; id < Fragment::thread_ids; ++id) {
      scale_selector const selector{id, 0};
      if (!Fragment::reads(lane, selector)) { continue; }
      fragment_place const at{lane, 0, byte};
      auto const element = Fragment::position(at, selector);
      wrong += element.row != row || element.column != k / k_of_block || value != k || inside != k % k_of_block ||
               !same(Fragment::place(row, k / k_of_block, selector), at);
      ++read;
    }
  }
  CHECK(wrong == 0);
  CHECK(read == 32 * 64);  // each lane belongs to one thread-id
}

}  // namespace

TEMPLATE_TEST_CASE("each element of a fragment has a place of its own", "[layout]", k64::a, k64::b, k64::c, k32::a,
                   k32::b) {
  std::set<std::tuple<int, int, int>> places;
  for (int row = 0; row < TestType::rows; ++row) {
    for (int column = 0; column < TestType::columns; ++column) {
      auto const at = TestType::place(row, column);
      CHECK((at.lane >= 0 && at.lane < 32 && at.reg >= 0 && at.reg < TestType::registers));
      CHECK((at.slot >= 0 && at.slot < TestType::slots));
      places.insert({at.lane, at.reg, at.slot});
      auto const back = TestType::position(at);
      CHECK((back.row == row && back.column == column));
    }
  }
  CHECK(static_cast<int>(places.size()) == TestType::rows * TestType::columns);
  CHECK(TestType::bytes * 8 == TestType::rows * TestType::columns * TestType::element_bits);
  STATIC_REQUIRE(sizeof(fp4::lane_registers<TestType>) * 32 == TestType::bytes);
}

TEST_CASE("fragments equal the published tables", "[layout]") {
  check_table<k64::a>("sm120_m16n8k64_A.csv", "lane,value,reg,nibble,m,k");
  check_table<k64::b>("sm120_m16n8k64_B.csv", "lane,value,reg,nibble,n,k");
  check_table<k64::c>("sm120_m16n8k64_C.csv", "lane,value,reg,zero,m,n");
  check_table<k32::a>("sm120_m16n8k32_A.csv", "lane,value,reg,byte,m,k");
  check_table<k32::b>("sm120_m16n8k32_B.csv", "lane,value,reg,byte,n,k");
}

TEST_CASE("scale fragments equal the published tables", "[layout]") {
  check_scale_table<k64::scales_a<>>("sm120_m16n8k64_SFA.csv", "lane,value_k,byte,k_in_block,m,k");
  check_scale_table<k64::scales_b<>>("sm120_m16n8k64_SFB.csv", "lane,value_k,byte,k_in_block,n,k");
  auto const one_scale = test::read_table<6>("sm120_m16n8k32_SFA.csv", "lane,value_k,byte,k_in_block,m,k");
  CHECK(one_scale.size() == 32u * 32u);
  for (auto const& [lane, value, byte, inside, row, k] : one_scale) {
    CHECK((byte == 0 && inside == k && value == k));
    CHECK(k32::scales_a::position({lane, 0, 0}, {lane % 4 / 2, 0}).row == row);
  }
}

TEST_CASE("a row held by a lane is the PTX ISA's", "[layout]") {
  // The ISA writes them as conditions on the element's number in the lane.
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 32; ++i) {
      auto const at = k64::a::position({lane, i / 8, i % 8});
      CHECK(at.row == lane / 4 + ((i < 8) || (i >= 16 && i < 24) ? 0 : 8));
      CHECK(at.column == lane % 4 * 8 + i % 8 + (i < 16 ? 0 : 32));
    }
  }
}

TEMPLATE_TEST_CASE("selectors share a register out among tiles", "[layout]", (k64::scales_a<scale_vector::x4>),
                   (k64::scales_b<scale_vector::x4>), (k64::scales_a<scale_vector::x2>),
                   (k64::scales_b<scale_vector::x2>), k32::scales_a, k32::scales_b) {
  // All selectors together use every byte of the 32 registers once.
  std::set<std::pair<int, int>> places;
  int valid = 0;
  for (int id = 0; id < 4; ++id) {
    for (int byte = 0; byte < 4; ++byte) {
      scale_selector const selector{id, byte};
      if (!TestType::valid(selector)) { continue; }
      ++valid;
      for (int row = 0; row < TestType::rows; ++row) {
        for (int block = 0; block < TestType::blocks; ++block) {
          auto const at = TestType::place(row, block, selector);
          CHECK((at.lane < 32 && at.slot < 4 && at.reg == 0 && TestType::reads(at.lane, selector)));
          auto const back = TestType::position(at, selector);
          CHECK((back.row == row && back.column == block));
          places.insert({at.lane, at.slot});
        }
      }
    }
  }
  CHECK(valid == TestType::thread_ids * TestType::byte_ids);
  CHECK(places.size() == 128);
}

TEST_CASE("selectors out of range are not valid", "[layout]") {
  using a4 = k64::scales_a<scale_vector::x4>;
  using b4 = k64::scales_b<scale_vector::x4>;
  using a2 = k64::scales_a<scale_vector::x2>;
  STATIC_REQUIRE((a4::valid({0, 0}) && a4::valid({1, 0}) && b4::valid({3, 0}) && a2::valid({1, 2})));
  STATIC_REQUIRE_FALSE((a4::valid({2, 0}) || a4::valid({-1, 0}) || b4::valid({4, 0}) || b4::valid({-1, 0})));
  STATIC_REQUIRE_FALSE((a4::valid({0, 1}) || a4::valid({0, 2}) || a4::valid({0, 4}) || a4::valid({0, -1})));
  STATIC_REQUIRE_FALSE((a2::valid({0, 1}) || a2::valid({0, 3}) || a2::valid({0, 4}) || a2::valid({0, -2})));
  STATIC_REQUIRE((k32::scales_b::valid({3, 3}) && !k32::scales_b::valid({3, 4}) && !k32::scales_a::valid({2, 3})));
  constexpr scale_selector selected = a2::select<1, 2>();
  STATIC_REQUIRE((selected.thread_id == 1 && selected.byte_id == 2));
}

TEST_CASE("a code in a container of 8 bits is in bits 2 to 5", "[layout]") {
  for (int code = 0; code < 16; ++code) {
    CHECK(k32::container(static_cast<std::uint8_t>(code)) == code * 4);
    CHECK(k32::code(static_cast<std::uint8_t>(code * 4)) == code);
    CHECK(k32::code(static_cast<std::uint8_t>(code * 4 + 0xC3)) == code);  // the other bits do not count
  }
}
