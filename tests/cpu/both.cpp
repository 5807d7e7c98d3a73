// SPDX-License-Identifier: Apache-2.0
// Two results of one pass are those of two.
#include <fp4/cpu/both.hpp>

#include "bytes/contract.hpp"
#include "catch.hpp"

using namespace fp4;

namespace {

using te = transformer_engine;
using one_choices = choices<te>;
using other_choices = choices<te, stochastic, hadamard<16>, blocks_1d, columnwise>;
using tiled = tiled_128x4_scales;

template <class In>
void check_both_ways(std::int64_t rows, std::int64_t cols, std::int64_t gap, std::uint64_t seed) {
  auto const data = test::make_data(test::data_kind::heavy_tailed, rows, cols, seed);
  auto const values = test::as_values<In>(data, cols + gap);
  matrix_view<In const> const in(values.data(), rows, cols, cols + gap);
  auto const rht = hadamard<16>().to_bfloat16();
  other_choices const how{te(), stochastic(5, 6), rht, blocks_1d(), columnwise()};
  test::for_each_way(static_cast<int>(seed), [&](cpu::path path, auto execution, auto const& name) {
    CAPTURE(rows, cols, name);
    auto const found = cpu::amax_both(in, no_transform(), rht, execution, path);
    CHECK(test::bits_of(found.rowwise) == test::bits_of(cpu::amax(in, no_transform(), rowwise(), sequential())));
    CHECK(test::bits_of(found.columnwise) == test::bits_of(cpu::amax(in, rht, columnwise(), sequential())));
    tensor_scale const a = tensor_scale::from_amax(found.rowwise), b = tensor_scale::from_amax(found.columnwise);
    test::quantized_memory<nvfp4, tiled> one(rows, cols, 3, 0xA5), one_wanted(rows, cols, 3, 0x5A);
    test::quantized_memory<nvfp4, linear_scales> other(cols, rows, 0, 0xA5), other_wanted(cols, rows, 0, 0x5A);
    cpu::quantize_both(in, cpu::quantization<nvfp4, tiled, one_choices>{one.view, {&a, 1}, {}},
                       cpu::quantization<nvfp4, linear_scales, other_choices>{other.view, {&b, 1}, how}, execution,
                       path);
    cpu::quantize(in, one_wanted.view, {&a, 1}, one_choices(), sequential(), cpu::path::scalar);
    cpu::quantize(in, other_wanted.view, {&b, 1}, how, sequential(), cpu::path::scalar);
    CHECK(std::vector<std::uint8_t>(one.scales.data(), one.scales.data() + one.scales.size()) ==
          std::vector<std::uint8_t>(one_wanted.scales.data(), one_wanted.scales.data() + one_wanted.scales.size()));
    for (std::int64_t r = 0; r < rows; ++r) {
      CHECK(test::first_difference(one.view.code_row(r), one_wanted.view.code_row(r), nvfp4::row_bytes(cols), 0) == "");
    }
    CHECK(one.codes.guards_hold());
    CHECK(other.difference(other_wanted) == "");
  });
}

}  // namespace

TEST_CASE("quantize_both writes what two calls write") {
  check_both_ways<float>(0, 16, 0, 1);
  check_both_ways<float>(16, 1, 0, 2);
  check_both_ways<float>(272, 330, 5, 3);
  check_both_ways<bfloat16>(1040, 144, 0, 4);  // three parts
  check_both_ways<float>(16, 9000, 0, 5);
}

TEST_CASE("quantize_both refuses results that share memory") {
  std::vector<float> const values(16 * 32, 1.0f);
  matrix_view<float const> const in(values.data(), 16, 32);
  tensor_scale const scale = tensor_scale::from_amax(1);
  std::vector<std::uint8_t> codes(2 * 256, 0xEE), scales(2 * 32, 0xEE);
  auto const found = [&](std::int64_t codes_at, std::int64_t scales_at) {
    cpu::quantization<nvfp4, linear_scales, one_choices> const one{
        {codes.data(), scales.data(), 32, 16, 32}, {&scale, 1}, {}};
    auto other = one;
    other.out = {codes.data() + codes_at, scales.data() + scales_at, 32, 16, 32};
    return cpu::check_both(in, one, other);
  };
  CHECK(found(256, 32).ok());
  CHECK(found(255, 32).code == errc::overlapping_output);
  CHECK(found(255, 32).value == 1);
  CHECK(found(256, 31).code == errc::overlapping_output);
  cpu::quantization<nvfp4, linear_scales, one_choices> const one{
      {codes.data(), scales.data(), 32, 16, 32}, {&scale, 1}, {}};
  CHECK_THROWS_AS(cpu::quantize_both(in, one, one), precondition_error);
  CHECK(codes == std::vector<std::uint8_t>(512, 0xEE));
}
