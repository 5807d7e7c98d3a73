// SPDX-License-Identifier: Apache-2.0
// An operand that is named at run time gives what operands_of gives.
#include <fp4/recipe/with_choices.hpp>
#include <string>

#include "operands.hpp"

using namespace fp4;
namespace recipe = fp4::recipe;

namespace {

test::layer<float> const layer(test::data_kind::heavy_tailed, 64, 32, 96, 31);
constexpr recipe::draw drawn{8, 9};
constexpr recipe::place where{32, 64, 128, 256};

/// Quantizes `in` as `how` says at run time and compares.
template <class Format>
void check_same(quantized<Format> const& wanted, matrix_view<float const> in, recipe::operand const& how,
                bool is_columnwise, recipe::matrix which) {
  int calls = 0;
  recipe::with_choices(how, is_columnwise, which, drawn, where, [&](auto format, auto const& choices) {
    ++calls;
    REQUIRE(std::is_same_v<decltype(format), Format>);
    if constexpr (std::is_same_v<decltype(format), Format>) {
      quantized<Format> got(wanted.rows(), wanted.cols(), wanted.decoding());
      cpu::quantize(in, got.view(), wanted.tensor_scales_view(), choices);
      CHECK(got.codes() == wanted.codes());
      CHECK(got.scales() == wanted.scales());
    }
  });
  CHECK(calls == 1);
}

template <recipe::table const& Recipe, recipe::matrix Matrix>
void check_matrix(matrix_view<float const> in) {
  CAPTURE(std::string(Recipe.name), static_cast<int>(Matrix));
  auto const both = recipe::operands_with<Recipe, Matrix>(in, recipe::amaxes_of<Recipe, Matrix>(in), drawn, where);
  check_same(both.rowwise, in, Recipe.of(Matrix).rowwise, false, Matrix);
  check_same(both.columnwise, in, Recipe.of(Matrix).columnwise, true, Matrix);
}

template <recipe::table const& Recipe>
void check_recipe() {
  check_matrix<Recipe, recipe::matrix::activation>(layer.activation());
  check_matrix<Recipe, recipe::matrix::weight>(layer.weight());
  check_matrix<Recipe, recipe::matrix::gradient>(layer.gradient());
}

}  // namespace

TEST_CASE("operands named at run time are those of the recipes") {
  check_recipe<recipe::te_nvfp4>();
  check_recipe<recipe::mxfp8>();
  check_recipe<recipe::fp8>();
}

TEST_CASE("what cannot be named at run time is refused") {
  using recipe::number;
  recipe::operand const four{number::nvfp4}, eight{number::fp8_e4m3};
  CHECK(recipe::check(four.stochastic().in_2d().transformed(16)).ok());
  CHECK(recipe::check(eight).ok());
  for (auto const& bad : {four.transformed(32), eight.stochastic(), eight.in_2d(), eight.transformed(16),
                          recipe::operand{}, recipe::operand{number::mxfp8_e5m2}.stochastic()}) {
    CHECK(recipe::check(bad).code == errc::unsupported_operand);
  }
}
