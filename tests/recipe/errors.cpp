// SPDX-License-Identifier: Apache-2.0
// Misuse of a recipe: a sentence with the value and the rule.
#include <string>

#include "operands.hpp"

using namespace fp4;
namespace recipe = fp4::recipe;

namespace {

template <class Work>
void check_refused(Work const& work, errc code, double value) {
  try {
    work();
    FAIL_CHECK("not refused: " << rule_of(code));
  } catch (precondition_error const& error) {
    INFO(error.what());
    CHECK(std::string(error.what()).rfind("fp4::", 0) == 0);
    CHECK(error.code() == code);
    CHECK(error.value() == value);
  }
}

test::layer<float> const layer(test::data_kind::normal, 32, 48, 64, 1);
constexpr auto gradient = recipe::matrix::gradient;

}  // namespace

TEST_CASE("matrices that belong to no layer are refused") {
  auto const refused = [](auto x, auto w, auto dy, double value) {
    check_refused([&] { static_cast<void>(recipe::linear_operands<recipe::fp8>(x, w, dy)); }, errc::bad_layer_shape,
                  value);
  };
  auto const x = layer.activation(), w = layer.weight(), dy = layer.gradient();
  refused(matrix_view<float const>(x.data, 32, 40), w, dy, 48);
  refused(matrix_view<float const>(x.data, 16, 48), w, dy, 32);
  refused(x, matrix_view<float const>(w.data, 60, 48), dy, 64);
  CHECK_NOTHROW(recipe::linear_operands<recipe::fp8>(x, w, dy));
}

TEST_CASE("bad draws and places are refused") {
  auto const dy = layer.gradient();
  auto const refused = [&](recipe::draw random, recipe::place where, errc code, double value) {
    check_refused(
        [&] {
          static_cast<void>(recipe::operands_with<recipe::te_nvfp4, gradient>(dy, {1, 1}, random, where));
        },
        code, value);
  };
  refused({1, std::uint64_t{1} << 61}, {}, errc::bad_random_position, 0x1p61);
  refused({}, {8, 0, 128, 64}, errc::misaligned_submatrix, 8);
  refused({}, {0, 24, 32, 128}, errc::misaligned_submatrix, 24);
  refused({}, {0, 0, 16, 64}, errc::submatrix_out_of_range, 32);
  refused({}, {-16, 0, 128, 64}, errc::submatrix_out_of_range, -16);
  CHECK_NOTHROW(recipe::operands_with<recipe::te_nvfp4, gradient>(dy, {1, 1}, {1, 1}, {96, 64, 128, 128}));
  recipe::place const sixteen{16, 64, 128, 128};  // inside a block of 32
  CHECK_NOTHROW(recipe::operands_with<recipe::fp8, gradient>(dy, {1, 1}, {}, sixteen));
  check_refused(
      [&] {
        static_cast<void>(recipe::operands_with<recipe::mxfp8, gradient>(dy, {1, 1}, {}, sixteen));
      },
      errc::misaligned_submatrix, 16);
}

TEST_CASE("what a recipe cannot take is refused") {
  matrix_view<float const> const odd(layer.dy.data(), 24, 64), none(nullptr, 32, 64);
  check_refused([&] { static_cast<void>(recipe::amaxes_of<recipe::te_nvfp4, gradient>(odd)); },
                errc::hadamard_size_does_not_divide, 24);
  check_refused(
      [&] {
        static_cast<void>(recipe::operands_of<recipe::te_nvfp4, gradient>(odd, {1, 1}));
      },
      errc::hadamard_size_does_not_divide, 24);
  check_refused(
      [&] {
        static_cast<void>(recipe::operands_of<recipe::te_nvfp4, gradient>(none, {1, 1}));
      },
      errc::null_data, 0);
  check_refused([&] { static_cast<void>(recipe::operands_of<recipe::bf16, gradient>(none)); }, errc::null_data, 0);
  check_refused(
      [&] {
        static_cast<void>(recipe::operands_with<recipe::te_nvfp4, gradient>(layer.gradient(), {1, -1}));
      },
      errc::bad_tensor_scale, -1);
  CHECK_NOTHROW(recipe::operands_of<recipe::te_nvfp4_no_rht, gradient>(odd));
}
