// SPDX-License-Identifier: Apache-2.0
// The six operands under each recipe are what the reference makes of the published table, byte for byte.
#include "operands.hpp"

using namespace fp4;
using test::check_operand;
using test::data_kind;
using test::written;

namespace {

constexpr std::uint64_t seed = 0x123456789ABCDEFu;
constexpr recipe::draw drawn{seed, 1000003};
/// Activation, weight and gradient draw from streams 4 * call, + 1 and + 2.
stochastic const for_gradient(seed, 4 * drawn.call + 2);

constexpr data_kind kinds[] = {data_kind::tie_aligned, data_kind::heavy_tailed, data_kind::specials};

template <class T>
void check_te_nvfp4(test::layer<T> const& layer) {
  auto const rht = hadamard<16>().to_bfloat16();
  transformer_engine const te;
  auto const six =
      recipe::linear_operands<recipe::te_nvfp4>(layer.activation(), layer.weight(), layer.gradient(), drawn);
  check_operand(six.activation.rowwise, layer.activation(), written(te, rowwise()));
  check_operand(six.activation.columnwise, layer.activation(), written(te, columnwise(), rht));
  check_operand(six.weight.rowwise, layer.weight(),
                written(te, rowwise(), no_transform(), nearest_even(), blocks_2d()));
  check_operand(six.weight.columnwise, layer.weight(),
                written(te, columnwise(), no_transform(), nearest_even(), blocks_2d()));
  check_operand(six.gradient.rowwise, layer.gradient(), written(te, rowwise(), no_transform(), for_gradient));
  check_operand(six.gradient.columnwise, layer.gradient(), written(te, columnwise(), rht, for_gradient));
}

template <class T, class Scaling, recipe::table const& Recipe>
void check_nearest(test::layer<T> const& layer) {
  auto const six = recipe::linear_operands<Recipe>(layer.activation(), layer.weight(), layer.gradient(), drawn);
  Scaling const scaling;
  check_operand(six.activation.rowwise, layer.activation(), written(scaling, rowwise()));
  check_operand(six.activation.columnwise, layer.activation(), written(scaling, columnwise()));
  check_operand(six.weight.rowwise, layer.weight(), written(scaling, rowwise()));
  check_operand(six.weight.columnwise, layer.weight(), written(scaling, columnwise()));
  check_operand(six.gradient.rowwise, layer.gradient(), written(scaling, rowwise()));
  check_operand(six.gradient.columnwise, layer.gradient(), written(scaling, columnwise()));
}

}  // namespace

TEMPLATE_TEST_CASE("te_nvfp4", "[recipe]", float, bfloat16) {
  for (auto const kind : kinds) {
    CAPTURE(test::name(kind));
    check_te_nvfp4(test::layer<TestType>(kind, 48, 80, 32, 1));
    check_te_nvfp4(test::layer<TestType>(kind, 272, 21, 35, 2));  // K and N ragged; M takes the transform
    check_te_nvfp4(test::layer<TestType>(kind, 0, 16, 16, 3));
  }
}

TEST_CASE("te_nvfp4 over many parts and threads") {
  test::layer<float> const layer(data_kind::heavy_tailed, 528, 272, 144, 4);
  check_te_nvfp4(layer);
  auto const view = layer.gradient();
  auto const alone = recipe::operands_of<recipe::te_nvfp4, recipe::matrix::gradient>(view, drawn, sequential{});
  check_operand(alone.rowwise, view, written(transformer_engine(), rowwise(), no_transform(), for_gradient));
#if FP4_HAS_OPENMP
  for (int const threads : {2, 3}) {
    auto const shared = recipe::operands_of<recipe::te_nvfp4, recipe::matrix::gradient>(view, drawn, openmp{threads});
    CHECK(shared.rowwise.codes() == alone.rowwise.codes());
    CHECK(shared.columnwise.codes() == alone.columnwise.codes());
    CHECK(shared.columnwise.scales() == alone.columnwise.scales());
  }
#endif
}

TEST_CASE("te_nvfp4_no_rht takes any shape") {
  for (auto const kind : kinds) {
    test::layer<float> const layer(kind, 37, 50, 19, 5);
    CAPTURE(test::name(kind));
    auto const six =
        recipe::linear_operands<recipe::te_nvfp4_no_rht>(layer.activation(), layer.weight(), layer.gradient(), drawn);
    transformer_engine const te;
    check_operand(six.activation.columnwise, layer.activation(), written(te, columnwise()));
    check_operand(six.weight.columnwise, layer.weight(),
                  written(te, columnwise(), no_transform(), nearest_even(), blocks_2d()));
    check_operand(six.gradient.columnwise, layer.gradient(), written(te, columnwise(), no_transform(), for_gradient));
  }
}

TEST_CASE("mxfp8 rounds scales up, in blocks of 32, e4m3 both ways") {
  check_nearest<float, mx_ceil, recipe::mxfp8>(test::layer<float>(data_kind::heavy_tailed, 70, 64, 40, 6));
}

TEST_CASE("fp8 is e4m3 forward and e5m2 for gradients") {
  test::layer<float> const layer(data_kind::heavy_tailed, 33, 64, 40, 7);
  check_nearest<float, tensor_amax, recipe::fp8>(layer);
  auto const six = recipe::linear_operands<recipe::fp8>(layer.activation(), layer.weight(), layer.gradient());
  static_assert(std::is_same_v<decltype(six.activation.rowwise), quantized<fp8_e4m3>>);
  static_assert(std::is_same_v<decltype(six.gradient.columnwise), quantized<fp8_e5m2>>);
}

TEST_CASE("bf16 rounds to bfloat16 and transposes") {
  test::layer<float> const layer(data_kind::normal, 5, 7, 3, 8);
  auto const six = recipe::linear_operands<recipe::bf16>(layer.activation(), layer.weight(), layer.gradient());
  auto const by_row = recipe::decoded<float>(six.activation.rowwise);
  auto const by_column = recipe::decoded<float>(six.activation.columnwise);
  REQUIRE(six.activation.columnwise.rows() == 7);
  REQUIRE(six.activation.columnwise.cols() == 5);
  for (std::size_t r = 0; r < 5; ++r) {
    for (std::size_t c = 0; c < 7; ++c) {
      float const wanted = reference::detail::round_to_bfloat16(layer.x[r * 7 + c]);
      CHECK(by_row[r * 7 + c] == wanted);
      CHECK(by_column[c * 5 + r] == wanted);
    }
  }
}

namespace {

constexpr recipe::table rht_everywhere() {
  auto own = recipe::te_nvfp4;
  own.activation.rowwise = own.activation.rowwise.transformed(16);
  own.weight.rowwise = own.weight.rowwise.transformed(16);
  own.weight.columnwise = own.weight.columnwise.transformed(16).stochastic();
  own.gradient.rowwise = own.gradient.rowwise.transformed(16);
  return own;
}
constexpr recipe::table everywhere = rht_everywhere();

}  // namespace

TEST_CASE("a recipe of one's own: 2D blocks with a transform, stochastic weights, tiled scales") {
  test::layer<float> const layer(data_kind::heavy_tailed, 32, 48, 64, 9);
  auto const six = recipe::linear_operands<everywhere, tiled_128x4_scales>(layer.activation(), layer.weight(),
                                                                           layer.gradient(), drawn);
  auto const rht = hadamard<16>().to_bfloat16();
  transformer_engine const te;
  stochastic const for_weight(seed, 4 * drawn.call + 1);
  check_operand(six.activation.rowwise, layer.activation(), written(te, rowwise(), rht));
  check_operand(six.weight.rowwise, layer.weight(), written(te, rowwise(), rht, nearest_even(), blocks_2d()));
  check_operand(six.weight.columnwise, layer.weight(), written(te, columnwise(), rht, for_weight, blocks_2d()));
  check_operand(six.gradient.rowwise, layer.gradient(), written(te, rowwise(), rht, for_gradient));
}
