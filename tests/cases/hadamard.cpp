// SPDX-License-Identifier: Apache-2.0
// Cases H1, H2 and H4: the Hadamard transform.
#include <cmath>

#include "cases/rows.hpp"
#include "support/data.hpp"

#include <fp4/reference/reference.hpp>

namespace {

template <class Hadamard>
Hadamard without_signs() {
  Hadamard h;
  for (std::uint32_t& word : h.signs) { word = 0; }
  return h;
}

std::vector<float> transformed(fp4::hadamard<16> const& h, std::vector<float> x) {
  x.resize(16, 0.0f);
  h.apply(x.data());
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("H1: every size is orthogonal", "[cases]", fp4::hadamard<16>, fp4::hadamard<32>, fp4::hadamard<64>,
                   fp4::hadamard<128>, fp4::hadamard<256>) {
  constexpr std::size_t n = TestType::size;
  auto const h = without_signs<TestType>();
  std::vector<std::vector<float>> columns(n, std::vector<float>(n, 0.0f));
  for (std::size_t j = 0; j < n; ++j) {
    columns[j][j] = 1;
    h.apply(columns[j].data());
  }
  double const scale = static_cast<double>(columns[0][0]);  // fl(n^-1/2)
  double worst = 0;
  int wrong = 0;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      double dot = 0, plain = 0;
      for (std::size_t i = 0; i < n; ++i) {
        double const x = static_cast<double>(columns[a][i]), y = static_cast<double>(columns[b][i]);
        dot += x * y;
        plain += std::round(x / scale) * std::round(y / scale);
      }
      wrong += plain != (a == b ? static_cast<double>(n) : 0);
      worst = std::max(worst, std::fabs(dot - (a == b ? 1 : 0)));
    }
  }
  CHECK(wrong == 0);
  CHECK(worst <= (n == 32 || n == 128 ? 0x1p-23 : 0));
}

TEST_CASE("H2: the transform is H * (n^-1/2 * D * x)", "[cases]") {
  auto h = without_signs<fp4::hadamard<16>>();
  std::vector<float> quarter(16, 0.25f), minus_quarter(16, -0.25f), alternating(16, 0.25f), sum(16, 0.0f);
  for (std::size_t i = 1; i < 16; i += 2) { alternating[i] = -0.25f; }
  sum[0] = 4;
  CHECK(transformed(h, {1}) == quarter);
  CHECK(transformed(h, {0, 1}) == alternating);
  CHECK(transformed(h, std::vector<float>(16, 1.0f)) == sum);
  std::vector<float> counting, wanted(16, 0.0f);
  for (int i = 1; i <= 16; ++i) { counting.push_back(static_cast<float>(i)); }
  wanted[0] = 34, wanted[1] = -2, wanted[2] = -4, wanted[4] = -8, wanted[8] = -16;
  CHECK(transformed(h, counting) == wanted);
  h.signs[0] = 1;  // d0 = -1
  CHECK(transformed(h, {1}) == minus_quarter);
}

TEST_CASE("H4: one bfloat16 step between transform and quantizer decides a code", "[cases]") {
  CHECK(fp4::bfloat16::from_float(1.2578125f).to_float() == 1.2578125f);
  auto const b = test::quantize_row({6, 1.25f, 1.2578125f}, test::unit_scale());
  CHECK(b.elements(3) == test::codes{7, 2, 3});
}

TEST_CASE("H4: all paths round as the reference between transform and quantizer", "[cases]") {
  constexpr std::int64_t size = 256;
  std::vector<fp4::bfloat16> x;
  for (float const v : test::make_data(test::data_kind::normal, size, size, 4).values) {
    x.push_back(fp4::bfloat16::from_float(v));
  }
  fp4::matrix_view<fp4::bfloat16 const> const view(x.data(), size, size);
  auto const check_transform = [&](auto const& transform) {
    auto const scale = fp4::tensor_scale::from_amax(fp4::cpu::amax(view, transform));
    auto const b = test::quantize_everywhere(x, size, size, transform, scale);
    test::bytes wanted{test::octets(size * size / 2), test::octets(size * size / 16)};
    fp4::quantized_view<fp4::nvfp4> const out(wanted.codes.data(), wanted.scales.data(), size * size / 16, size, size);
    fp4::reference::quantize(view, out, {&scale, 1}, fp4::detail::bundle<fp4::nvfp4>(transform));
    CHECK(b == wanted);
  };
  check_transform(fp4::hadamard<16>{}.to_bfloat16());
  check_transform(fp4::hadamard<16>{});
  check_transform(fp4::hadamard<128>{}.to_bfloat16());
}
