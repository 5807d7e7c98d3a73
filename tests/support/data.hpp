// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Matrices to quantize, the same on every run: what separates two almost equal quantizers, and what breaks
/// one.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fp4/format/half.hpp>

#include "bits.hpp"

namespace test {

/// Uniform 64-bit numbers from a seed (splitmix64): no generator of <random>, since distributions differ
/// between libraries.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  /// 0 to n - 1.
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  /// In (0, 1).
  double uniform() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }
  /// Student's t with three degrees of freedom.
  double student_t3() {
    double chi2 = 0;
    for (int i = 0; i < 3; ++i) {
      double const n = normal();
      chi2 += n * n;
    }
    return normal() / std::sqrt(chi2 / 3);
  }
  float signed_float(double magnitude) { return static_cast<float>(next() % 2 == 0 ? magnitude : -magnitude); }

 private:
  std::uint64_t state_;
};

enum class data_kind {
  tie_aligned,   ///< Block scales and elements on midpoints and one ulp beside them, under a round amax.
  decades,       ///< Blocks from the amax down to 1e-14 of it, so that scales underflow.
  normal,        ///< N(0, 1).
  heavy_tailed,  ///< Student's t, three degrees of freedom.
  specials,      ///< Normal, with NaN, infinities, zeros, subnormals and FLT_MAX strewn in.
  extremes,      ///< As decades, under an amax from 1e-45 to FLT_MAX.
};
inline constexpr int data_kinds = 6;

inline char const* name(data_kind kind) {
  constexpr char const* names[] = {"tie_aligned", "decades", "normal", "heavy_tailed", "specials", "extremes"};
  return names[static_cast<int>(kind)];
}

/// The rows and columns over which a block scale is shared, so that ties can be aimed at.
struct block_extent {
  int rows = 1;
  int cols = 16;
};

/// Row-major, without gaps.
struct matrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<float> values;

  float& at(std::int64_t r, std::int64_t c) { return values[static_cast<std::size_t>(r * cols + c)]; }
};

/// An amax A for which 2688 / A has few bits. All products below are bfloat16 numbers.
inline float round_amax(int i) {
  constexpr float amaxes[] = {10.5f, 7.0f, 5.25f, 2688.0f, 0.65625f, 1344.0f, 448.0f, 1.0f, 0.125f, 1024.0f};
  return amaxes[i % 10];
}

namespace detail {

/// |x| one fp32 step up, down, or as it is.
inline float nudged(float x, int choice) {
  std::uint32_t const bits = bits_of(x);
  return choice == 0 || x == 0 ? x : float_of(choice == 1 ? bits + 1 : bits - 1);
}

inline double e4m3_value(int code) { return code < 8 ? std::ldexp(code, -9) : std::ldexp(8 + code % 8, code / 8 - 10); }

/// One block on the grid of a scale far above b / 6: its largest value is 1.5, 2, 3 or 4 times that scale.
template <class Store>
void fill_coarse_block(random_numbers& random, double amax, int count, Store store) {
  constexpr double e2m1_values[] = {0, 0.5, 1, 1.5, 2, 3, 4};
  double const sf = e4m3_value(64 + random.below(40));
  int const last = 3 + random.below(4);
  for (int i = 0; i < count; ++i) {
    double const q = e2m1_values[i == 0 ? last : random.below(last + 1)];
    store(i, random.signed_float(q * sf * amax / 2688));
  }
}

/// One block whose b / 6 * (2688 / A) is a midpoint of e4m3, elements on midpoints of e2m1 under either
/// neighbour.
template <class Store>
void fill_tie_block(random_numbers& random, double amax, int count, Store store) {
  constexpr double e2m1_points[] = {0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6};
  int const code = random.below(8) == 0 ? random.below(16) : 64 + random.below(62);
  double const low = e4m3_value(code), high = e4m3_value(code + 1);
  double const b = (low + high) / 2 * amax / 448;
  double const sf = random.below(2) == 0 ? low : high;
  int const largest = random.below(count);
  for (int i = 0; i < count; ++i) {
    double const x = e2m1_points[random.below(15)] * sf * amax / 2688;
    float const nudged_x = nudged(static_cast<float>(x), random.below(3));
    float const nudged_b = nudged(static_cast<float>(b), random.below(4) == 0 ? 1 + random.below(2) : 0);
    store(i, random.signed_float(static_cast<double>(i == largest ? nudged_b : std::min(nudged_x, nudged_b))));
  }
}

inline float special_value(random_numbers& random, bool with_infinity) {
  switch (random.below(with_infinity ? 12 : 10)) {
    case 0: return float_of(0x7FC00000u);
    case 1: return float_of(0xFFC00000u);
    case 2: return float_of(0x7F800001u);  // signalling
    case 3: return -0.0f;
    case 4: return 0.0f;
    case 5: return float_of(0x00000001u);
    case 6: return float_of(0x807FFFFFu);
    case 7: return random.signed_float(1e-30);
    case 8: return random.signed_float(0.25);
    case 9: return random.signed_float(with_infinity ? static_cast<double>(float_of(0x7F7FFFFFu)) : 1e4);
    case 10: return float_of(0x7F800000u);
    default: return float_of(0xFF800000u);
  }
}

}  // namespace detail

/// A matrix of one kind. Another seed takes another amax as well.
inline matrix make_data(data_kind kind, std::int64_t rows, std::int64_t cols, std::uint64_t seed,
                        block_extent block = {}) {
  matrix m{rows, cols, std::vector<float>(static_cast<std::size_t>(rows * cols))};
  random_numbers random(seed * 1000003 + static_cast<std::uint64_t>(kind));
  constexpr float extreme_amax[] = {1e-45f, 1e-42f, 1.1754944e-38f, 2e-37f,  7.8e-36f, 8e-36f,       1e-30f,
                                    1e-10f, 1e20f,  7.5e35f,        7.7e35f, 1e37f,    3.4028235e38f};
  double amax = static_cast<double>(round_amax(random.below(10)));
  if (kind == data_kind::extremes) { amax = static_cast<double>(extreme_amax[seed % 13]); }
  bool const with_infinity = seed % 2 == 0;
  bool first = true;
  for (std::int64_t top = 0; top < rows; top += block.rows) {
    for (std::int64_t left = 0; left < cols; left += block.cols) {
      std::int64_t const height = std::min<std::int64_t>(block.rows, rows - top);
      std::int64_t const width = std::min<std::int64_t>(block.cols, cols - left);
      auto const store = [&](int i, float x) { m.at(top + i / width, left + i % width) = x; };
      int const count = static_cast<int>(height * width);
      if (kind == data_kind::tie_aligned) {
        if (random.below(8) == 0) {
          detail::fill_coarse_block(random, amax, count, store);
        } else {
          detail::fill_tie_block(random, amax, count, store);
        }
        if (random.below(10) == 0) {
          for (int i = 0; i < count; ++i) { store(i, random.signed_float(0)); }
        }
        if (first) { store(0, static_cast<float>(amax)); }
        first = false;
        continue;
      }
      double const scale = first ? amax : amax * std::pow(10, -14 * random.uniform());
      bool const is_zero = kind == data_kind::specials && random.below(8) == 0;
      bool const is_ordinary = kind == data_kind::specials && random.below(2) == 0;
      for (int i = 0; i < count; ++i) {
        double x = 0;
        switch (kind) {
          case data_kind::normal: x = random.normal(); break;
          case data_kind::heavy_tailed: x = random.student_t3(); break;
          case data_kind::specials: x = random.normal(); break;
          default: x = first && i == 0 ? amax : scale * (2 * random.uniform() - 1); break;
        }
        store(i, is_zero ? random.signed_float(0) : static_cast<float>(x));
        if (kind == data_kind::specials && !is_zero && !is_ordinary && random.below(6) == 0) {
          store(i, detail::special_value(random, with_infinity));
        }
      }
      first = false;
    }
  }
  return m;
}

/// The values as T, `stride` apart; gaps hold NaN, which nobody may read.
template <class T>
std::vector<T> as_values(matrix const& m, std::int64_t stride) {
  T const gap = fp4::detail::from_float_to<T>(nan());
  std::vector<T> values(static_cast<std::size_t>(m.rows * stride), gap);
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (std::int64_t c = 0; c < m.cols; ++c) {
      float const x = m.values[static_cast<std::size_t>(r * m.cols + c)];
      values[static_cast<std::size_t>(r * stride + c)] = fp4::detail::from_float_to<T>(x);
    }
  }
  return values;
}

}  // namespace test
