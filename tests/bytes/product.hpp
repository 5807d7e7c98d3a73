// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The product of all choices for one scheme and one input type. CMakeLists.txt makes a source of each. The
/// layout turns with the input type and the rest, so every combination of the other choices meets all three.

#include "pairs.hpp"

namespace test::product {

using namespace pairs;

constexpr bool is_legal(int s, int r, int sh) {
  return legal(pairs::scheme, s, pairs::rounding, r) && legal(pairs::scheme, s, pairs::shape, sh);
}

/// I counts transforms x roundings x shapes x directions.
template <class In, int Input, int S, int I>
void run_one() {
  constexpr int t = I % 6, r = I / 6 % 3, sh = I / 18 % 2, d = I / 36;
  if constexpr (is_legal(S, r, sh)) {
    for (int i = 0; i < data_kinds; ++i) {
      constexpr std::int64_t product_sizes[][2] = {{33, 1040}, {1, 17}, {200, 80}};
      auto const& size = product_sizes[(i + I) % 3];
      auto scale = static_cast<scale_kind>((i + I + S) % scale_kinds);
      if (sh == 1 && scale == scale_kind::per_row) { scale = scale_kind::amax; }
      situation const now{size[0], size[1], static_cast<data_kind>(i), scale, i + I};
      std::string const text =
          broken<In, format_of<S>, std::tuple_element_t<(I + I / 6 + Input) % 3, layouts>, scaling_of<S>,
                 std::tuple_element_t<r, roundings>, std::tuple_element_t<t, transforms>,
                 std::tuple_element_t<sh, shapes>, std::tuple_element_t<d, directions>>(now);
      if (!text.empty()) {
        FAIL_CHECK(std::get<S>(schemes).name << ", transform of " << std::tuple_element_t<t, transforms>::size
                                             << ", rounding " << r << ", shape " << sh << ", direction " << d << "; "
                                             << describe(now) << ": " << text);
      }
    }
  }
}

template <class In, int Input, int S, int... I>
void run(std::integer_sequence<int, I...>) {
  (run_one<In, Input, S, I>(), ...);
  SUCCEED();
}

/// Input is an index into `inputs`, S one into `schemes`.
template <int Input, int S>
void run() {
  run<std::tuple_element_t<Input, inputs>, Input, S>(std::make_integer_sequence<int, 72>{});
}

}  // namespace test::product
