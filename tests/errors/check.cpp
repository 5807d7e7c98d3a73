// SPDX-License-Identifier: Apache-2.0
// Every rule that check() knows: which code it reports, the value that broke it, and the bound.
#include <limits>

#include <fp4/quantize.hpp>

#include "catch.hpp"
#include "errors/quantize_problem.hpp"
#include "support/bits.hpp"

namespace {

using fp4::errc;
using problem = test::quantize_problem<>;

template <class Rounding, class Shape = fp4::blocks_1d, class Direction = fp4::rowwise>
using rounding_problem =
    test::quantize_problem<fp4::nvfp4, fp4::linear_scales,
                           fp4::choices<fp4::transformer_engine, Rounding, fp4::no_transform, Shape, Direction>>;

void check_broken(fp4::check_result found, errc code, double value, double bound) {
  CHECK(found.code == code);
  CHECK_FALSE(found.ok());
  CHECK(found.value == value);
  CHECK(found.bound == bound);
}

constexpr double rows = problem::rows, cols = problem::cols;

}  // namespace

TEST_CASE("nothing is wrong with a right problem, nor with an empty one", "[errors]") {
  problem p;
  CHECK(p.check().ok());
  CHECK(p.check().code == errc::ok);
  p.in = {nullptr, 0, 32};
  p.out = {nullptr, nullptr, 0, 0, 32};
  CHECK(p.check().ok());
  p.in = {nullptr, 5, 0};
  p.out = {nullptr, nullptr, 0, 5, 0};
  CHECK(p.check().ok());
}

TEST_CASE("negative sizes are refused", "[errors]") {
  check_broken(fp4::check(fp4::matrix_view<float>(nullptr, -1, 16)), errc::negative_size, -1, 0);
  check_broken(fp4::check(fp4::matrix_view<float>(nullptr, 3, -7)), errc::negative_size, -7, 0);
  problem p;
  p.in.rows = -2;
  check_broken(p.check(), errc::negative_size, -2, 0);
}

TEST_CASE("more elements than can be addressed are refused, before any product overflows", "[errors]") {
  constexpr std::int64_t wide = std::int64_t{1} << 40, most = std::int64_t{1} << 56;
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  check_broken(fp4::check(fp4::matrix_view<float>(nullptr, wide, wide)), errc::too_large, 0x1p80, 0x1p56);
  check_broken(fp4::check(fp4::matrix_view<float>(nullptr, 2, 1, huge)), errc::too_large, 0x1p64, 0x1p56);
  check_broken(fp4::check(fp4::matrix_view<float>(nullptr, 0, huge)), errc::too_large, 0x1p63, 0x1p56);
  check_broken(fp4::check(fp4::matrix_view<float>(nullptr, huge, 0)), errc::too_large, 0x1p63, 0x1p56);
  check_broken(fp4::check(fp4::matrix_view<float>(nullptr, most, 1)), errc::null_data, 0, 0x1p56);
  CHECK_THROWS_WITH(fp4::quantize<fp4::nvfp4>(fp4::matrix_view<float const>(nullptr, wide, wide)),
                    Catch::Matchers::ContainsSubstring("fp4::quantize: a matrix must have at most 2^56 elements"));
  auto const product = fp4::transformer_engine::decoding;
  CHECK_THROWS_AS(fp4::quantized<fp4::nvfp4>(wide, wide, product), fp4::precondition_error);
  CHECK_THROWS_AS(fp4::quantized<fp4::nvfp4>(wide, wide, product, {}, {}, {}), fp4::precondition_error);
  CHECK_THROWS_AS(fp4::quantized<fp4::mxfp8_e4m3>(0, huge, fp4::mx_floor::decoding), fp4::precondition_error);

  problem p;
  SECTION("a code stride") {
    p.out.code_stride = huge / 2;
    check_broken(p.check(), errc::too_large, rows * 0x1p62, 0x1p56);
  }
  SECTION("codes") {
    float value = 0;
    fp4::quantized_view<fp4::nvfp4, fp4::linear_scales, std::uint8_t const> const q(nullptr, nullptr, 0, wide, wide);
    check_broken(fp4::check(q, p.scales, fp4::matrix_view<float>(&value, 1, 1)), errc::too_large, 0x1p80, 0x1p56);
  }
}

TEST_CASE("null data is refused where there are elements", "[errors]") {
  check_broken(fp4::check(fp4::matrix_view<float>(nullptr, 3, 16)), errc::null_data, 0, 48);
  SECTION("values") {
    problem p;
    p.in.data = nullptr;
    check_broken(p.check(), errc::null_data, 0, rows * cols);
  }
  SECTION("codes") {
    problem p;
    p.out.codes = nullptr;
    check_broken(p.check(), errc::null_data, 0, rows);
  }
  SECTION("block scales") {
    problem p;
    p.out.scales = nullptr;
    check_broken(p.check(), errc::null_data, 0, rows);
  }
  SECTION("tensor scales") {
    problem p;
    p.scales = {nullptr, 1};
    check_broken(p.check(), errc::null_data, 0, 1);
  }
}

TEST_CASE("a row stride below the row length is refused", "[errors]") {
  problem p;
  p.in.stride = 31;
  check_broken(p.check(), errc::row_stride_too_small, 31, 32);
  p.in.stride = 32;
  CHECK(p.check().ok());
}

TEST_CASE("an output of another shape is refused", "[errors]") {
  problem p;
  p.out.rows = 5;
  check_broken(p.check(), errc::shape_mismatch, 5, 4);
  p.out.rows = 4, p.out.cols = 16;
  check_broken(p.check(), errc::shape_mismatch, 16, 32);
}

TEST_CASE("a column-wise output has the transposed shape", "[errors]") {
  rounding_problem<fp4::nearest_even, fp4::blocks_1d, fp4::columnwise> p;
  check_broken(p.check(), errc::shape_mismatch, 4, 32);
  p.out = {p.bytes.data(), p.bytes.data() + 2048, 2048, 32, 4};
  CHECK(p.check().ok());
}

TEST_CASE("a code stride below a row's bytes is refused", "[errors]") {
  problem p;
  p.out.code_stride = 15;
  check_broken(p.check(), errc::code_stride_too_small, 15, 16);
}

TEST_CASE("a scale buffer must hold the padding too", "[errors]") {
  problem p;
  p.out.scale_bytes = 7;
  check_broken(p.check(), errc::scale_buffer_too_small, 7, 8);
  p.out.scale_bytes = 8;
  CHECK(p.check().ok());

  test::quantize_problem<fp4::nvfp4, fp4::tiled_128x4_scales> tiled;
  tiled.out.scale_bytes = 511;
  check_broken(tiled.check(), errc::scale_buffer_too_small, 511, 512);
  tiled.out.scale_bytes = 512;
  CHECK(tiled.check().ok());

  test::quantize_problem<fp4::fp8_e4m3, fp4::linear_scales, fp4::choices<fp4::tensor_amax>> none;
  none.out.scales = nullptr, none.out.scale_bytes = 0;
  CHECK(none.check().ok());
}

TEST_CASE("output over the input or over other output is refused, next to it is not", "[errors]") {
  problem p;
  auto* const values = reinterpret_cast<std::uint8_t*>(p.values.data());
  constexpr std::int64_t input_bytes = problem::rows * problem::cols * 4;
  SECTION("codes over values") {
    p.out.codes = values + input_bytes - 1;
    check_broken(p.check(), errc::overlapping_output, 1, 0);
    p.out.codes = values + input_bytes;
    CHECK(p.check().ok());
  }
  SECTION("scales over values") {
    p.out.scales = values + input_bytes - 1;
    check_broken(p.check(), errc::overlapping_output, 1, 0);
    p.out.scales = values + input_bytes;
    CHECK(p.check().ok());
  }
  SECTION("scales over codes") {
    p.out.scales = p.out.codes + 63;
    check_broken(p.check(), errc::overlapping_output, 1, 0);
    p.out.scales = p.out.codes + 64;
    CHECK(p.check().ok());
  }
  SECTION("between the rows of a strided output") {  // refused too: ranges are whole
    p.out.code_stride = 32;
    p.out.scales = p.out.codes + 16;
    check_broken(p.check(), errc::overlapping_output, 8, 0);
  }
}

TEST_CASE("a Hadamard size must divide the axis that it runs along", "[errors]") {
  using by_row = fp4::choices<fp4::transformer_engine, fp4::nearest_even, fp4::hadamard<64>>;
  check_broken(test::quantize_problem<fp4::nvfp4, fp4::linear_scales, by_row>().check(),
               errc::hadamard_size_does_not_divide, 32, 64);
  using fits = fp4::choices<fp4::transformer_engine, fp4::nearest_even, fp4::hadamard<32>>;
  CHECK(test::quantize_problem<fp4::nvfp4, fp4::linear_scales, fits>().check().ok());

  using by_column =
      fp4::choices<fp4::transformer_engine, fp4::nearest_even, fp4::hadamard<16>, fp4::blocks_1d, fp4::columnwise>;
  test::quantize_problem<fp4::nvfp4, fp4::linear_scales, by_column> p;
  p.out = {p.bytes.data(), p.bytes.data() + 2048, 2048, 32, 4};
  check_broken(p.check(), errc::hadamard_size_does_not_divide, 4, 16);
  check_broken(fp4::check(fp4::hadamard<16>{}, 40), errc::hadamard_size_does_not_divide, 40, 16);
  CHECK(fp4::check(fp4::no_transform{}, 7).ok());
}

TEST_CASE("factors must be positive and finite, amaxes neither negative nor NaN", "[errors]") {
  using fp4::tensor_scale;
  float const infinity = test::infinity(), nan = test::nan(), denormal = test::float_of(1);
  problem p;
  auto const found = [&p](tensor_scale scale) {
    p.tensor_scales[0] = scale;
    return p.check();
  };
  for (auto const make : {tensor_scale::from_encode, tensor_scale::from_decode}) {
    for (float const bad : {0.0f, -0.0f, -1.0f, infinity, -infinity}) {
      check_broken(found(make(bad)), errc::bad_tensor_scale, static_cast<double>(bad), 0);
    }
    CHECK(found(make(nan)).code == errc::bad_tensor_scale);
    CHECK(std::isnan(found(make(nan)).value));
    for (float const good : {1.0f, denormal, std::numeric_limits<float>::max()}) { CHECK(found(make(good)).ok()); }
  }
  for (float const bad : {-1.0f, -denormal, -infinity}) {
    check_broken(found(tensor_scale::from_amax(bad)), errc::bad_tensor_scale, static_cast<double>(bad), 0);
  }
  CHECK(found(tensor_scale::from_amax(nan)).code == errc::bad_tensor_scale);
  for (float const good : {0.0f, -0.0f, 1.0f, denormal, infinity}) { CHECK(found(tensor_scale::from_amax(good)).ok()); }
}

TEST_CASE("tensor scales are one, or one a row of the result", "[errors]") {
  problem p;
  p.tensor_scales.assign(5, fp4::tensor_scale::from_amax(1.0f));
  for (std::int64_t const count : {0, 2, 3, 5}) {
    p.scales = {p.tensor_scales.data(), count};
    check_broken(p.check(), errc::bad_tensor_scale_count, static_cast<double>(count), rows);
  }
  p.scales = {p.tensor_scales.data(), 4};
  CHECK(p.check().ok());
  p.tensor_scales[3] = fp4::tensor_scale::from_decode(-3.0f);  // the last of them counts too
  check_broken(p.check(), errc::bad_tensor_scale, -3, 0);
}

TEST_CASE("MX formats ask for no tensor scale", "[errors]") {
  test::quantize_problem<fp4::mxfp4, fp4::linear_scales, fp4::choices<fp4::mx_floor>> p;
  p.scales = {};
  CHECK(p.check().ok());
}

TEST_CASE("2D blocks take one tensor scale", "[errors]") {
  rounding_problem<fp4::nearest_even, fp4::blocks_2d> p;
  CHECK(p.check().ok());
  p.tensor_scales.assign(4, fp4::tensor_scale::from_amax(1.0f));
  p.scales = {p.tensor_scales.data(), 4};
  check_broken(p.check(), errc::row_scales_with_2d_blocks, 4, 1);
}

TEST_CASE("random positions lie inside the whole matrix", "[errors]") {
  using stochastic_choices = fp4::choices<fp4::transformer_engine, fp4::stochastic>;
  problem p;
  auto const found = [&p](fp4::stochastic rounding) {
    stochastic_choices const how{{}, rounding, {}, {}, {}};
    return fp4::check(p.in, p.out, p.scales, how);
  };
  fp4::stochastic const whole(1);
  CHECK(found(whole).ok());
  check_broken(found(whole.at(-1, 0, 2)), errc::bad_random_position, -1, 0);
  check_broken(found(whole.at(0, -3, 2)), errc::bad_random_position, -3, 0);
  check_broken(found(whole.at(0, 0, -2)), errc::bad_random_position, -2, 0);
  check_broken(found(whole.at(0, 0, 1)), errc::bad_random_position, 2, 1);
  check_broken(found(whole.at(0, 7, 8)), errc::bad_random_position, 9, 8);
  CHECK(found(whole.at(0, 6, 8)).ok());
  CHECK(found(whole.at(1000, 0, 0)).ok());
  check_broken(found(fp4::stochastic(1, std::uint64_t{1} << 63)), errc::bad_random_position, 0x1p63, 0x1p63);
  CHECK(found(fp4::stochastic(~std::uint64_t{0}, ~std::uint64_t{0} >> 1)).ok());
}

TEST_CASE("2D blocks count random positions along rows in both directions", "[errors]") {
  problem p;
  p.out = {p.bytes.data(), p.bytes.data() + 2048, 2048, 32, 4};
  fp4::choices<fp4::transformer_engine, fp4::stochastic, fp4::no_transform, fp4::blocks_2d, fp4::columnwise> const how{
      {}, fp4::stochastic(1).at(0, 0, 1), {}, {}, {}};
  check_broken(fp4::check(p.in, p.out, p.scales, how), errc::bad_random_position, 2,
               1);  // 32 columns: 2 blocks a row
}

TEST_CASE("dequantize checks its output against its input", "[errors]") {
  problem p;
  using reading = fp4::quantized_view<fp4::nvfp4, fp4::linear_scales, std::uint8_t const>;
  reading codes = p.out;
  fp4::matrix_view<float> out(p.values.data(), 4, 32);
  auto const found = [&] { return fp4::check(codes, p.scales, out); };
  CHECK(found().ok());
  SECTION("shape") {
    out.rows = 3;
    check_broken(found(), errc::shape_mismatch, 3, 4);
    out.rows = 4, out.cols = 31;
    check_broken(found(), errc::shape_mismatch, 31, 32);
  }
  SECTION("output view") {
    out.stride = 16;
    check_broken(found(), errc::row_stride_too_small, 16, 32);
    out = {nullptr, 4, 32};
    check_broken(found(), errc::null_data, 0, 128);
  }
  SECTION("codes and scales") {
    codes.code_stride = 1;
    check_broken(found(), errc::code_stride_too_small, 1, 16);
    codes = p.out, codes.scale_bytes = 0;
    check_broken(found(), errc::scale_buffer_too_small, 0, 8);
    codes = p.out, codes.rows = -1;
    check_broken(found(), errc::negative_size, -1, 0);
  }
  SECTION("tensor scales") {
    p.scales.count = 3;
    check_broken(found(), errc::bad_tensor_scale_count, 3, 4);
    p.scales.count = 1, p.tensor_scales[0] = fp4::tensor_scale::from_decode(0.0f);
    check_broken(found(), errc::bad_tensor_scale, 0, 0);
  }
  SECTION("overlap") {
    codes.codes = reinterpret_cast<std::uint8_t const*>(p.values.data()) + 511;
    check_broken(found(), errc::overlapping_output, 1, 0);
    codes = p.out, codes.scales = reinterpret_cast<std::uint8_t const*>(p.values.data());
    check_broken(found(), errc::overlapping_output, 8, 0);
  }
}

TEST_CASE("a forced path must exist on this processor", "[errors]") {
  int refused = 0;
  for (auto const p : {fp4::cpu::path::automatic, fp4::cpu::path::scalar, fp4::cpu::path::portable,
                       fp4::cpu::path::avx2, fp4::cpu::path::neon}) {
    auto const found = fp4::cpu::check(p);
    CHECK(found.ok() == fp4::cpu::available(p));
    if (!found.ok()) {
      check_broken(found, errc::path_not_available, static_cast<double>(p), 0);
      ++refused;
    }
  }
  CHECK(refused > 0);  // no processor has both AVX2 and NEON
  CHECK(fp4::cpu::check(fp4::cpu::path::automatic).ok());
}

TEST_CASE("a number of threads is not negative", "[errors]") {
  CHECK(fp4::check(fp4::sequential{}).ok());
#if FP4_HAS_OPENMP
  CHECK(fp4::check(fp4::openmp{}).ok());
  CHECK(fp4::check(fp4::openmp{2}).ok());
  check_broken(fp4::check(fp4::openmp{-2}), errc::bad_thread_count, -2, 0);
#endif
}
