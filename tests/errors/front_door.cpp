// SPDX-License-Identifier: Apache-2.0
// Misuse of the functions that users meet first: a precondition_error with their name, before anything is read or
// written, also where sizes would overflow.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fp4/fp4.hpp>

#include "catch.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

using namespace fp4;
constexpr std::int64_t huge = std::int64_t{1} << 40, last = std::numeric_limits<std::int64_t>::max();

std::vector<float> const values(4 * 64, 1.5f);
matrix_view<float const> const x(values.data(), 4, 64);

template <class Work>
void check_refused(Work const& work, char const* where, errc code) {
  try {
    work();
    FAIL_CHECK(where << ": not refused: " << rule_of(code));
  } catch (precondition_error const& error) {
    CHECK(std::string(error.what()).rfind(std::string(where) + ": ", 0) == 0);
    INFO(error.what());
    CHECK(error.code() == code);
  }
}

}  // namespace

TEST_CASE("given tensor scales are checked before they are read") {
  auto const refused = [](tensor_scales_view given, errc code) {
    check_refused([&] { static_cast<void>(quantize<nvfp4>(x, given)); }, "fp4::quantize", code);
    auto q = quantize<nvfp4>(x);
    auto const codes = q.codes();
    check_refused([&] { quantize(x, q.view(), given); }, "fp4::quantize", code);
    check_refused([&] { quantize(x, q, given); }, "fp4::quantize", code);
    CHECK(q.codes() == codes);
  };
  tensor_scale const one = tensor_scale::from_amax(1.0f), bad = tensor_scale::from_decode(0.0f);
  refused({nullptr, 4}, errc::null_data);
  refused({nullptr, 1}, errc::null_data);
  refused({&one, huge}, errc::bad_tensor_scale_count);
  refused({&one, -1}, errc::bad_tensor_scale_count);
  refused({&one, 0}, errc::bad_tensor_scale_count);
  refused({&bad, 1}, errc::bad_tensor_scale);
}

TEST_CASE("errors name the function that was called") {
  matrix_view<float const> const odd(values.data(), 4, 60);
  check_refused([&] { static_cast<void>(quantize<nvfp4>(odd, hadamard<16>{})); }, "fp4::quantize",
                errc::hadamard_size_does_not_divide);
  auto const missing = cpu::available(cpu::path::neon) ? cpu::path::avx2 : cpu::path::neon;
  check_refused([&] { static_cast<void>(quantize<nvfp4>(x, missing)); }, "fp4::quantize", errc::path_not_available);
  check_refused([&] { static_cast<void>(cpu::row_amaxes(matrix_view<float const>(nullptr, 1, 16))); },
                "fp4::cpu::row_amaxes", errc::null_data);
}

TEST_CASE("sizes that overflow are refused everywhere") {
  for (std::int64_t const rows : {huge, std::int64_t{1} << 32, std::int64_t{1} << 38}) {
    check_refused([&] { static_cast<void>(cpu::amax(matrix_view<float const>(values.data(), rows, 2 * huge))); },
                  "fp4::cpu::amax", errc::too_large);
    std::vector<std::uint8_t> from(4096), to(4096, 0xA5);
    check_refused(
        [&] {
          cpu::relayout_scales<linear_scales, tiled_128x4_scales>(from.data(), 4096, to.data(), 4096, rows, 2 * huge);
        },
        "fp4::cpu::relayout_scales", errc::too_large);
    CHECK(to == std::vector<std::uint8_t>(4096, 0xA5));
  }
  for (std::int64_t const cols : {last, std::numeric_limits<std::int64_t>::min(), -last}) {  // no overflow on the way
    quantized_view<nvfp4, linear_scales> const q(nullptr, nullptr, 0, 1, cols);
    quantized_view<mxfp8_e4m3, linear_scales> const r(nullptr, nullptr, 0, 1, cols);
    CHECK(fp4::detail::check_quantized(q).code == (cols > 0 ? errc::too_large : errc::negative_size));
    CHECK(fp4::detail::check_quantized(r).code == (cols > 0 ? errc::too_large : errc::negative_size));
  }
}

TEST_CASE("an empty matrix of many rows takes no memory for them") {
  auto const q = quantize<nvfp4>(matrix_view<float const>(nullptr, huge, 0));
  CHECK(q.rows() == huge);
  CHECK(q.codes().empty());
  CHECK(quantize<nvfp4>(matrix_view<float const>(nullptr, huge, 0), columnwise{}).cols() == huge);
}

TEST_CASE("random positions cannot wrap around") {
  auto const refused = [](stochastic rounding) {
    check_refused([&] { static_cast<void>(quantize<nvfp4_block32>(x, rounding)); }, "fp4::cpu::quantize",
                  errc::bad_random_position);
  };
  stochastic const whole(7);
  refused(whole.at(0, last, 4));
  refused(whole.at(last, 0, 4));
  refused(whole.at(3, 0, last));
  refused(whole.at(std::int64_t{1} << 30, 0, std::int64_t{1} << 40));
  refused(whole.at(0, 5, 0));  // a whole row has no first block but its own
  CHECK_NOTHROW(quantize<nvfp4>(x, whole.at(1000, 12, 16)));
}

TEST_CASE("metrics check their views") {
  matrix_view<float const> const small(values.data(), 1, 16), none(nullptr, 4, 64);
  check_refused([&] { static_cast<void>(measure_error(x, small)); }, "fp4::measure_error", errc::shape_mismatch);
  check_refused([&] { static_cast<void>(measure_error(x, none)); }, "fp4::measure_error", errc::null_data);
  auto const q = quantize<nvfp4>(x, columnwise{});
  check_refused([&] { static_cast<void>(inspect(x, q.view(), x)); }, "fp4::inspect", errc::shape_mismatch);
  check_refused([&] { static_cast<void>(inspect(x, q.view(), small)); }, "fp4::inspect", errc::shape_mismatch);
}

TEST_CASE("a result without a tensor scale says so") {
  auto const where = "fp4::quantized::tensor_scale";
  auto const empty = quantize<nvfp4>(matrix_view<float const>(nullptr, 0, 16), per_row_scale{});
  check_refused([&] { static_cast<void>(empty.tensor_scale()); }, where, errc::bad_tensor_scale_count);
  auto q = quantize<nvfp4>(x);
  auto const moved = std::move(q);
  check_refused([&] { static_cast<void>(q.tensor_scale()); }, where, errc::bad_tensor_scale_count);
  CHECK(moved.tensor_scale().amax() == 1.5f);
  check_refused([] { quantized<nvfp4>(2, 16, transformer_engine::decoding, std::vector<std::uint8_t>(15), {}, {}); },
                "fp4::quantized", errc::wrong_buffer_size);
}

TEST_CASE("output over the tensor scales is refused") {
  std::vector<tensor_scale> scales(64, tensor_scale::from_amax(1.5f));
  std::vector<tensor_scale> const before = scales;
  std::vector<std::uint8_t> block_scales(16);
  auto* const codes = reinterpret_cast<std::uint8_t*>(scales.data());
  choices<transformer_engine> const how{};
  check_refused(
      [&] {
        cpu::quantize(x, quantized_view<nvfp4>(codes, block_scales.data(), 16, 4, 64), {scales.data(), 4}, how);
      },
      "fp4::cpu::quantize", errc::overlapping_output);
  for (std::size_t i = 0; i < scales.size(); ++i) { CHECK(scales[i].stored() == before[i].stored()); }
}
