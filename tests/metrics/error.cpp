// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fp4/fp4.hpp>
#include <limits>
#include <vector>

#include "catch.hpp"

namespace {

fp4::matrix_view<float const> row(std::vector<float> const& values) {
  return {values.data(), 1, static_cast<std::int64_t>(values.size())};
}

}  // namespace

TEST_CASE("error measures on hand-made numbers") {
  std::vector<float> const x{3, 4, 0, -5}, y{3, 3, 1, -5};
  auto const report = fp4::measure_error(row(x), row(y));  // errors 0 -1 1 0, signal 50
  CHECK(report.values == 4);
  CHECK(report.signal == 50.0);
  CHECK(report.noise == 2.0);
  CHECK(report.max_error == 1.0);
  CHECK(report.mean_square == 0.5);
  CHECK(report.relative_l2 == Approx(0.2));
  CHECK(report.sqnr_db == Approx(10 * std::log10(25.0)));
  CHECK(report.cosine == Approx(46.0 / std::sqrt(50.0 * 44.0)));
}

TEST_CASE("error measures leave out what is not finite, and have limits without error") {
  float const nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  auto const report = fp4::measure_error(row({nan, infinity, 2, 2}), row({6, 6, 2, 2}));
  CHECK(report.values == 2);
  CHECK(report.max_error == 0.0);
  CHECK(std::isinf(report.sqnr_db));
  CHECK(report.relative_l2 == 0.0);
  CHECK(report.cosine == Approx(1.0));
  auto const zeros = fp4::measure_error(row({0, 0}), row({0, 0}));
  CHECK(zeros.relative_l2 == 0.0);
  CHECK(zeros.cosine == 1.0);
  CHECK(zeros.sqnr_db > 1e300);
}

TEST_CASE("without a pair that can be compared there is no ratio") {
  float const nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (auto const& x : {std::vector<float>{}, std::vector<float>{nan, infinity}}) {
    auto const report = fp4::measure_error(row(x), row(x));
    CHECK(report.values == 0);
    CHECK(std::isnan(report.sqnr_db));
    CHECK(report.signal == 0.0);
    CHECK(report.noise == 0.0);
    CHECK(report.mean_square == 0.0);
  }
}

TEST_CASE("inspection counts NaN, infinities, clipped and underflowed blocks") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(64, 0.0f);
  x[0] = 2688.0f * 4;         // under a tensor scale of 1: clipped to 2688
  x[16] = 1.0f, x[17] = nan;  // fine but for the NaN
  x[32] = 1e-6f;              // underflows
  auto const scale = fp4::tensor_scale::from_decode(1.0f);
  auto const q = fp4::quantize<fp4::nvfp4>(row(x), scale);
  auto const y = fp4::dequantize<float>(q);
  auto const found = fp4::inspect(row(x), q.view(), row(y));
  CHECK(found.values == 64);
  CHECK(found.blocks == 4);
  CHECK(found.nan_values == 1);
  CHECK(found.infinite_values == 0);
  CHECK(found.saturated_blocks == 1);
  CHECK(found.underflowed_blocks == 1);
  x[48] = std::numeric_limits<float>::infinity();
  CHECK(fp4::inspect(row(x), q.view(), row(y)).infinite_values == 1);
}
