// SPDX-License-Identifier: Apache-2.0
// Parts of a matrix on several devices give the bytes of the whole: amaxes are reduced, places are said, nothing else.
#include "operands.hpp"

using namespace fp4;
namespace recipe = fp4::recipe;

namespace {

template <class Format>
void check_part(quantized<Format> const& part, quantized<Format> const& whole, std::int64_t row, std::int64_t col) {
  for (std::int64_t r = 0; r < part.rows(); ++r) {
    std::uint8_t const* const codes = whole.view().code_row(row + r) + Format::row_bytes(col);
    CHECK(test::first_difference(part.view().code_row(r), codes, Format::row_bytes(part.cols()), 0) == "");
    std::int64_t const blocks = Format::blocks(part.cols());
    CHECK(test::first_difference(part.scales().data() + r * blocks,
                                 whole.scales().data() + whole.view().scale_offset(row + r, col / Format::block_size),
                                 blocks, 0) == "");
  }
}

/// Cuts a matrix into parts of at most `rows` x `cols`, and compares what each becomes with the whole's.
template <recipe::table const& Recipe, recipe::matrix Matrix>
void check_shards(matrix_view<float const> all, std::int64_t rows, std::int64_t cols) {
  recipe::draw const drawn{77, 9};
  auto const whole = recipe::operands_of<Recipe, Matrix>(all, drawn);
  auto const for_each_part = [&](auto const& work) {
    for (std::int64_t r = 0; r < all.rows; r += rows) {
      for (std::int64_t c = 0; c < all.cols; c += cols) {
        work(matrix_view<float const>(all.row(r) + c, std::min(rows, all.rows - r), std::min(cols, all.cols - c),
                                      all.stride),
             r, c);
      }
    }
  };
  recipe::amaxes reduced;
  for_each_part([&](matrix_view<float const> part, std::int64_t, std::int64_t) {
    recipe::amaxes const found = recipe::amaxes_of<Recipe, Matrix>(part);
    reduced = {std::max(reduced.rowwise, found.rowwise), std::max(reduced.columnwise, found.columnwise)};
  });
  for_each_part([&](matrix_view<float const> part, std::int64_t r, std::int64_t c) {
    CAPTURE(r, c);
    auto const got = recipe::operands_with<Recipe, Matrix>(part, reduced, drawn, {r, c, all.rows, all.cols});
    check_part(got.rowwise, whole.rowwise, r, c);
    check_part(got.columnwise, whole.columnwise, c, r);
  });
}

constexpr recipe::table stochastic_weights() {
  auto own = recipe::te_nvfp4;
  own.weight = {own.weight.rowwise.stochastic(), own.weight.columnwise.stochastic()};
  return own;
}
constexpr recipe::table stochastic_2d = stochastic_weights();

}  // namespace

TEST_CASE("shards give the bytes of the whole") {
  test::layer<float> const layer(test::data_kind::heavy_tailed, 96, 80, 112, 21);
  for (auto const& [rows, cols] : {std::pair{32, 1024}, std::pair{1024, 48}, std::pair{48, 32}}) {
    CAPTURE(rows, cols);
    check_shards<recipe::te_nvfp4, recipe::matrix::activation>(layer.activation(), rows, cols);
    check_shards<recipe::te_nvfp4, recipe::matrix::gradient>(layer.gradient(), rows, cols);
    check_shards<stochastic_2d, recipe::matrix::weight>(layer.weight(), rows, cols);
  }
  check_shards<recipe::mxfp8, recipe::matrix::weight>(layer.weight(), 64, 32);
  test::layer<float> const ragged(test::data_kind::heavy_tailed, 90, 75, 100, 22);
  check_shards<recipe::te_nvfp4_no_rht, recipe::matrix::gradient>(ragged.gradient(), 48, 32);
}
