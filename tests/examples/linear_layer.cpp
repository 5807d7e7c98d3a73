// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "programs.hpp"

namespace {

/// Percentages of a line, in order.
std::vector<double> percentages(std::string const& line) {
  std::vector<double> found;
  auto const words = io_test::split(line, ' ');
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "%") { found.push_back(std::atof(words[i - 1].c_str())); }
  }
  return found;
}

}  // namespace

TEST_CASE("linear_layer prints three errors a recipe, in the order of their bits", "[examples]") {
  io_test::ending const ended = io_test::run({});
  CHECK(ended.code == 0);
  CHECK(ended.err.empty());
  std::map<std::string, std::vector<double>> errors;
  for (std::string const& line : io_test::split(ended.out, '\n')) {
    auto const found = percentages(line);
    if (!found.empty()) { errors[line.substr(0, line.find("  "))] = found; }
  }
  REQUIRE(errors.size() == 6);
  // Least and most that the formats allow, in percent: bf16 has 8 bits of precision, e4m3 4, e5m2 3, e2m1 2.
  struct bounds {
    char const* recipe;
    double least, most;
  };
  for (bounds const b :
       {bounds{"bf16", 0.1, 0.4}, bounds{"mxfp8", 2, 5}, bounds{"fp8", 2, 8}, bounds{"te_nvfp4", 8, 22},
        bounds{"te_nvfp4_no_rht", 8, 22}, bounds{"te_nvfp4, nearest", 7, 18}}) {
    CAPTURE(b.recipe);
    REQUIRE(errors[b.recipe].size() == 3);
    for (double const error : errors[b.recipe]) {
      CHECK(error > b.least);
      CHECK(error < b.most);
    }
  }
  CHECK(errors["te_nvfp4"][0] == errors["te_nvfp4_no_rht"][0]);  // the transform is the weight gradient's alone
  CHECK(errors["te_nvfp4"][1] == errors["te_nvfp4_no_rht"][1]);
  CHECK(errors["te_nvfp4"][2] != errors["te_nvfp4_no_rht"][2]);
  CHECK(errors["te_nvfp4, nearest"][0] == errors["te_nvfp4"][0]);
  CHECK(errors["te_nvfp4, nearest"][1] < errors["te_nvfp4"][1]);
  CHECK(errors["fp8"][1] > errors["fp8"][0]);  // e5m2
}
