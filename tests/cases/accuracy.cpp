// SPDX-License-Identifier: Apache-2.0
// Cases G4 and G5: every mode is as accurate as it was measured to be over 2000 seeds, and keeps its codes.
#include "cases/rows.hpp"
#include "support/data.hpp"

namespace {

constexpr std::int64_t size = 64;

struct limits {
  double least_error;
  double largest_error;
  double nonzero;  ///< Share of codes.
};
constexpr limits nearest_1d{.090, .101, .90}, stochastic_1d{.125, .150, .90};
constexpr limits nearest_2d{.105, .119, .86}, stochastic_2d{.148, .172, .86};

template <class... Choices>
void check_accuracy(limits within, Choices const&... chosen) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::vector<float> const x = test::make_data(test::data_kind::normal, size, size, seed).values;
    fp4::matrix_view<float const> const view(x.data(), size, size);
    auto const q = fp4::quantize<fp4::nvfp4>(view, chosen...);
    std::vector<float> y = fp4::dequantize<float>(q);
    fp4::matrix_view<float> const decoded(y.data(), size, size);
    auto const how = fp4::detail::bundle<fp4::nvfp4>(chosen...);
    if constexpr (fp4::is_transformed_v<decltype(how.transform)>) {
      fp4::cpu::inverse_transform(decoded, how.transform);
    }
    if constexpr (decltype(how)::is_columnwise) {
      std::vector<float> const transposed = y;
      for (std::size_t i = 0; i < y.size(); ++i) { y[i] = transposed[i % size * size + i / size]; }
    }
    auto const report = fp4::measure_error(view, decoded);
    std::int64_t nonzero = 0;
    for (std::int64_t i = 0; i < size * size; ++i) { nonzero += (fp4::nibble(q.codes().data(), i) & 7) != 0; }
    CAPTURE(seed);
    CHECK(report.relative_l2 > within.least_error);
    CHECK(report.relative_l2 < within.largest_error);
    CHECK(static_cast<double>(nonzero) > within.nonzero * static_cast<double>(size * size));
  }
}

template <class... Choices>
void check_all_roundings(Choices const&... chosen) {
  check_accuracy(nearest_1d, chosen...);
  check_accuracy(stochastic_1d, chosen..., fp4::stochastic{7});
  check_accuracy(nearest_2d, chosen..., fp4::blocks_2d{});
  check_accuracy(stochastic_2d, chosen..., fp4::blocks_2d{}, fp4::stochastic{7});
}

}  // namespace

TEST_CASE("G4 G5: the default is as accurate as measured", "[cases]") { check_all_roundings(); }
TEST_CASE("G5: exact is as accurate as measured", "[cases]") { check_all_roundings(fp4::exact{}); }
TEST_CASE("G5: with a Hadamard transform too", "[cases]") { check_all_roundings(fp4::hadamard<16>{}.to_bfloat16()); }
TEST_CASE("G5: column-wise too", "[cases]") { check_all_roundings(fp4::columnwise{}, fp4::hadamard<16>{}); }
TEST_CASE("G5: with the serving kernels' reciprocals too", "[cases]") { check_accuracy(nearest_1d, fp4::trtllm{}); }
TEST_CASE("G5: under a factor instead of an amax too", "[cases]") {
  check_all_roundings(fp4::tensor_scale::from_decode(4.5f / 2688));
  check_all_roundings(fp4::tensor_scale::from_encode(2688 / 4.5f));
}
