// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A table of calls in which every legal pair of choices occurs: 28 schemes x 6 transforms are types, the
/// rest of each row follows from the two. tests/bytes/coverage.cpp proves the coverage; each input type has
/// its own program.

#include "catch.hpp"
#include "contract.hpp"

namespace test::pairs {

using transforms = std::tuple<fp4::no_transform, fp4::hadamard<16>, fp4::hadamard<32>, fp4::hadamard<64>,
                              fp4::hadamard<128>, fp4::hadamard<256>>;
using roundings = std::tuple<fp4::nearest_even, fp4::stochastic, fp4::toward_zero>;
using layouts = std::tuple<fp4::linear_scales, fp4::tiled_128x4_scales, fp4::tiled_8x4_scales>;
using inputs = std::tuple<float, fp4::float16, fp4::bfloat16>;
using shapes = std::tuple<fp4::blocks_1d, fp4::blocks_2d>;
using directions = std::tuple<fp4::rowwise, fp4::columnwise>;

/// Rows and columns of the result; columns are rounded up to the transform's size. Parts of a thread hold at
/// least 32768 values, so the fourth and the fifth take several threads.
inline constexpr std::int64_t sizes[][2] = {{0, 32},    {1, 16}, {1, 17},   {33, 1040},
                                            {200, 330}, {5, 0},  {16, 256}, {130, 48}};
inline constexpr int size_count = 8;

/// One row: an index into each list.
enum factor : int { scheme, transform, rounding, layout, input, shape, direction, size, data, scale, factors };
inline constexpr int levels[factors] = {scheme_count, 6, 3, 3, 3, 2, 2, size_count, data_kinds, scale_kinds};
struct row {
  int at[factors];
};

template <int S>
using format_of = typename std::tuple_element_t<S, std::remove_const_t<decltype(schemes)>>::format;
template <int S>
using scaling_of = typename std::tuple_element_t<S, std::remove_const_t<decltype(schemes)>>::scaling;

/// What a scheme allows.
struct limits {
  bool stochastic, other_roundings, blocks_2d;
};
template <int... S>
constexpr std::array<limits, scheme_count> make_limits(std::integer_sequence<int, S...>) {
  return {limits{std::is_same_v<typename format_of<S>::element, fp4::e2m1>, !std::is_same_v<scaling_of<S>, fp4::ggml>,
                 std::is_same_v<format_of<S>, fp4::nvfp4> || std::is_same_v<format_of<S>, fp4::nvfp4_ue5m3>}...};
}
inline constexpr auto limits_of = make_limits(std::make_integer_sequence<int, scheme_count>{});

/// Levels are never illegal alone: two of them are, where this says so.
constexpr bool legal(factor a, int x, factor b, int y) {
  if (a == scheme && b == rounding) {
    return y == 0 || (limits_of[static_cast<size_t>(x)].other_roundings &&
                      (y == 2 || limits_of[static_cast<size_t>(x)].stochastic));
  }
  if (a == scheme && b == shape) { return y == 0 || limits_of[static_cast<size_t>(x)].blocks_2d; }
  if (a == shape && b == scale) { return x == 0 || static_cast<scale_kind>(y) != scale_kind::per_row; }
  return true;
}

/// Row `i` (a size) of scheme s under transform t.
constexpr row row_at(int s, int t, int i) {
  row r{{s, t, (t + s) % 3, (t / 2 + s) % 3, (t + t / 3 + s / 3) % 3, (t / 3 + s) % 2, (t + s / 2) % 2, i,
         (i + s + 2 * t) % 6, (2 * i + i / 5 + s + t) % 5}};
  if (r.at[rounding] == 1 && !legal(scheme, s, rounding, 1)) { r.at[rounding] = (s + t) % 2 * 2; }
  if (!legal(scheme, s, rounding, r.at[rounding])) { r.at[rounding] = 0; }
  if (!legal(scheme, s, shape, r.at[shape])) { r.at[shape] = 0; }
  if (!legal(shape, r.at[shape], scale, r.at[scale])) { r.at[scale] = 0; }
  return r;
}

/// Runs the rows of one scheme and transform, if they take this input type.
template <class In, int S, int T>
void run() {
  constexpr row r = row_at(S, T, 0);
  if constexpr (std::is_same_v<std::tuple_element_t<r.at[input], inputs>, In>) {
    using format = format_of<S>;
    for (int i = 0; i < size_count; ++i) {
      row const now = row_at(S, T, i);
      situation const s{sizes[i][0], sizes[i][1], static_cast<data_kind>(now.at[data]),
                        static_cast<scale_kind>(now.at[scale]), S + T + i};
      std::string const text =
          broken<In, format, std::tuple_element_t<r.at[layout], layouts>, scaling_of<S>,
                 std::tuple_element_t<r.at[rounding], roundings>, std::tuple_element_t<T, transforms>,
                 std::tuple_element_t<r.at[shape], shapes>, std::tuple_element_t<r.at[direction], directions>>(s);
      if (!text.empty()) {
        FAIL_CHECK(std::get<S>(schemes).name << ", transform of " << std::tuple_element_t<T, transforms>::size
                                             << ", rounding " << r.at[rounding] << ", layout " << r.at[layout]
                                             << ", shape " << r.at[shape] << ", direction " << r.at[direction] << "; "
                                             << describe(s) << ": " << text);
      }
    }
  }
}

template <class In, int... I>
void run_all(std::integer_sequence<int, I...>) {
  (run<In, I / 6, I % 6>(), ...);
  SUCCEED();
}
template <class In>
void run_all() {
  run_all<In>(std::make_integer_sequence<int, scheme_count * 6>{});
}

}  // namespace test::pairs
