// SPDX-License-Identifier: Apache-2.0
// Cases O1 and O3: what tests are made of.
#include <set>

#include "cases/rows.hpp"
#include "support/data.hpp"
#include "support/float_oracle.hpp"

TEST_CASE("O1: the oracle's values come from the definition of the format", "[cases]") {
  test::float_oracle<fp4::e4m3> const oracle;
  CHECK(oracle.values()[0x01] == .001953125);
  CHECK(oracle.values()[0x07] == .013671875);
  CHECK(fp4::e4m3{0x01}.to_float() == .001953125f);
  CHECK(fp4::e4m3{0x07}.to_float() == .013671875f);
}

TEST_CASE("O3: test data are signed and differ from row to row", "[cases]") {
  for (auto const kind : {test::data_kind::normal, test::data_kind::tie_aligned, test::data_kind::decades}) {
    auto const m = test::make_data(kind, 200, 80, 3);
    std::set<std::vector<float>> rows;
    bool negative = false, positive = false;
    for (std::size_t r = 0; r < 200; ++r) {
      rows.insert({m.values.begin() + static_cast<std::ptrdiff_t>(r * 80),
                   m.values.begin() + static_cast<std::ptrdiff_t>(r * 80 + 80)});
    }
    for (float const x : m.values) { negative = negative || x < 0, positive = positive || x > 0; }
    CAPTURE(test::name(kind));
    CHECK(rows.size() == 200);
    CHECK((negative && positive));
  }
}
