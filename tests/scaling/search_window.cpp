// SPDX-License-Identifier: Apache-2.0
// `search` looks at 17 codes around the default's. On ordinary data the best of all 126 is one of them.
#include <cstdint>
#include <limits>
#include <vector>

#include <fp4/fp4.hpp>
#include <fp4/reference/reference.hpp>

#include "catch.hpp"
#include "support/data.hpp"

namespace {

using namespace fp4;
namespace oracle = fp4::reference::detail;

struct window {
  int default_code, best;  // of all codes from 0x01 to 0x7E
};

window best_of_all(std::vector<float> const& values, oracle::tensor_factors const& t) {
  oracle::block const b{values, oracle::largest_magnitude(values)};
  window w{oracle::scale_code<nvfp4>(transformer_engine{}, t, b), 1};
  double least = oracle::squared_error(t, b, 1);
  for (int code = 2; code <= 0x7E; ++code) {
    double const error = oracle::squared_error(t, b, code);
    if (error < least) { least = error, w.best = code; }
  }
  return w;
}

}  // namespace

TEST_CASE("the best scale lies in the window that search looks at") {
#ifdef FP4_TEST_QUICK
  constexpr int blocks = 300;
#else
  constexpr int blocks = 3000;
#endif
  test::random_numbers random(2026);
  for (int kind = 0; kind < 4; ++kind) {
    int lowest = 0, highest = 0, moved = 0;
    for (int n = 0; n < blocks; ++n) {
      std::vector<float> x;
      for (int i = 0; i < 16; ++i) {
        double const u = random.uniform();
        double const value = kind == 0   ? random.normal()
                             : kind == 1 ? random.student_t3()
                             : kind == 2 ? 2 * u - 1
                                         : -std::log(u) * (random.below(2) == 0 ? 1 : -1);
        x.push_back(bfloat16::from_float(static_cast<float>(value)).to_float());
      }
      auto const t = oracle::factors_of(tensor_scale::from_amax(4 * oracle::largest_magnitude(x)), 2688);
      window const w = best_of_all(x, t);
      lowest = std::min(lowest, w.best - w.default_code);
      highest = std::max(highest, w.best - w.default_code);
      moved += w.best != w.default_code;
    }
    CAPTURE(kind, lowest, highest);
    CHECK(lowest >= -4);
    CHECK(highest <= 12);
    CHECK(moved > blocks / 2);  // the search is worth it
  }
}

TEST_CASE("search leaves a NaN out: the scale is that of the block with a zero in its place", "[scaling]") {
  std::vector<float> values, with_nan;
  std::uint32_t state = 1;
  for (int i = 0; i < 64 * 16; ++i) {
    state = state * 1664525u + 1013904223u;
    bool const is_nan = i % 16 == i / 16 % 16;  // one a block
    values.push_back(is_nan ? 0.0f : static_cast<float>(static_cast<int>(state >> 16) - 32768) * 0.001f);
    with_nan.push_back(is_nan ? std::numeric_limits<float>::quiet_NaN() : values.back());
  }
  auto const scale = fp4::tensor_scale::from_amax(100.0f);
  for (auto const path : {fp4::cpu::path::scalar, fp4::cpu::path::portable, fp4::cpu::path::automatic}) {
    if (!fp4::cpu::available(path)) { continue; }
    auto const clean = fp4::quantize<fp4::nvfp4>(fp4::matrix_view<float const>(values.data(), 64, 16), fp4::search{},
                                                 scale, fp4::cpu::path::scalar);
    auto const found =
        fp4::quantize<fp4::nvfp4>(fp4::matrix_view<float const>(with_nan.data(), 64, 16), fp4::search{}, scale, path);
    CHECK(found.scales() == clean.scales());
  }
}
