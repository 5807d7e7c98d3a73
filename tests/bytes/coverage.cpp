// SPDX-License-Identifier: Apache-2.0
// The table of pairs.hpp does hold every legal pair of choices, and nothing illegal.
#include <set>

#include "pairs.hpp"

using namespace test::pairs;

namespace {

using pair = std::array<int, 4>;  // factor, level, factor, level

std::set<pair> pairs_of(row const& r) {
  std::set<pair> found;
  for (int a = 0; a < factors; ++a) {
    for (int b = a + 1; b < factors; ++b) { found.insert({a, r.at[a], b, r.at[b]}); }
  }
  return found;
}

std::set<pair> covered(int sizes_tried) {
  std::set<pair> found;
  for (int s = 0; s < levels[scheme]; ++s) {
    for (int t = 0; t < levels[transform]; ++t) {
      for (int i = 0; i < sizes_tried; ++i) { found.merge(pairs_of(row_at(s, t, i))); }
    }
  }
  return found;
}

std::set<pair> wanted() {
  std::set<pair> all;
  for (int a = 0; a < factors; ++a) {
    for (int b = a + 1; b < factors; ++b) {
      for (int x = 0; x < levels[a]; ++x) {
        for (int y = 0; y < levels[b]; ++y) {
          if (legal(static_cast<factor>(a), x, static_cast<factor>(b), y)) { all.insert({a, x, b, y}); }
        }
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("every legal pair of choices occurs, and no other") {
  std::set<pair> const have = covered(size_count), want = wanted();
  CHECK(want.size() > 1000);
  std::vector<pair> missing, illegal;
  std::set_difference(want.begin(), want.end(), have.begin(), have.end(), std::back_inserter(missing));
  std::set_difference(have.begin(), have.end(), want.begin(), want.end(), std::back_inserter(illegal));
  CAPTURE(missing.size(), illegal.size());
  CHECK(missing.empty());
  CHECK(illegal.empty());
}

TEST_CASE("the check of coverage sees a missing pair") { CHECK(covered(size_count - 1).size() < wanted().size()); }

TEST_CASE("the paths tried are those that this processor has, the automatic one among them") {
  auto const paths = test::paths();
  CHECK(paths.size() >= 2);
  CHECK(std::count(paths.begin(), paths.end(), fp4::cpu::path::automatic) == 1);
  CHECK(std::count(paths.begin(), paths.end(), fp4::cpu::best()) == 1);
  for (auto const p : paths) { CHECK(fp4::cpu::available(p)); }
}
