// SPDX-License-Identifier: Apache-2.0
// The named recipes are the published tables, row by row.
#include <fp4/recipe/table.hpp>
#include <string>

#include "catch.hpp"

using namespace fp4::recipe;

namespace {

struct expected_row {
  char const* numbers;
  char const* rounding;
  char const* block;
  int hadamard;
};

char const* name_of(number n) {
  constexpr char const* names[] = {"bf16", "nvfp4", "mxfp8_e4m3", "mxfp8_e5m2", "fp8_e4m3", "fp8_e5m2"};
  return names[static_cast<int>(n)];
}

void check_row(operand const& got, expected_row const& wanted) {
  CHECK(std::string(name_of(got.format)) == wanted.numbers);
  CHECK(got.is_stochastic == (std::string(wanted.rounding) == "stochastic"));
  CHECK(got.is_2d == (std::string(wanted.block) == "16x16"));
  CHECK(got.hadamard == wanted.hadamard);
  CHECK(got.to_bfloat16 == (wanted.hadamard != 0));
}

/// Rows in the order activation, weight, gradient, each row-wise and column-wise.
void check_table(table const& got, char const* name, expected_row const (&wanted)[6]) {
  CHECK(std::string(got.name) == name);
  operand const rows[] = {got.activation.rowwise, got.activation.columnwise, got.weight.rowwise,
                          got.weight.columnwise,  got.gradient.rowwise,      got.gradient.columnwise};
  for (int i = 0; i < 6; ++i) {
    CAPTURE(name, i);
    check_row(rows[i], wanted[i]);
  }
}

}  // namespace

TEST_CASE("the named recipes are the published ones") {
  check_table(te_nvfp4, "te_nvfp4",
              {{"nvfp4", "nearest", "1x16", 0},
               {"nvfp4", "nearest", "1x16", 16},
               {"nvfp4", "nearest", "16x16", 0},
               {"nvfp4", "nearest", "16x16", 0},
               {"nvfp4", "stochastic", "1x16", 0},
               {"nvfp4", "stochastic", "1x16", 16}});
  check_table(te_nvfp4_no_rht, "te_nvfp4_no_rht",
              {{"nvfp4", "nearest", "1x16", 0},
               {"nvfp4", "nearest", "1x16", 0},
               {"nvfp4", "nearest", "16x16", 0},
               {"nvfp4", "nearest", "16x16", 0},
               {"nvfp4", "stochastic", "1x16", 0},
               {"nvfp4", "stochastic", "1x16", 0}});
  expected_row const e4m3{"fp8_e4m3", "nearest", "", 0}, e5m2{"fp8_e5m2", "nearest", "", 0};
  check_table(fp8, "fp8", {e4m3, e4m3, e4m3, e4m3, e5m2, e5m2});
  expected_row const mx{"mxfp8_e4m3", "nearest", "", 0};
  check_table(mxfp8, "mxfp8", {mx, mx, mx, mx, mx, mx});
  expected_row const none{"bf16", "nearest", "", 0};
  check_table(bf16, "bf16", {none, none, none, none, none, none});
}

TEST_CASE("a recipe of one's own is a copy with a change") {
  auto own = te_nvfp4;
  own.gradient.rowwise = own.gradient.rowwise.stochastic(false);
  CHECK(own.gradient.rowwise == te_nvfp4.activation.rowwise);
  CHECK(own.gradient.rowwise != te_nvfp4.gradient.rowwise);
  CHECK(own.of(matrix::gradient).columnwise == te_nvfp4.gradient.columnwise);
  CHECK(own.of(matrix::activation).columnwise.transformed(0) == te_nvfp4_no_rht.activation.columnwise);
  CHECK(own.of(matrix::weight).rowwise.in_2d(false) == te_nvfp4.activation.rowwise);
}
