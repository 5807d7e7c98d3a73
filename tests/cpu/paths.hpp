// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Comparing every path that this processor has with the scalar one.

#include <string>
#include <vector>

#include <fp4/cpu/amax.hpp>
#include <fp4/cpu/quantize.hpp>

#include "support/buffer.hpp"
#include "support/data.hpp"
#include "support/environment.hpp"

namespace test {

using fp4::cpu::path;

/// The paths to compare with the scalar one.
inline std::vector<path> fast_paths() {
  std::vector<path> paths;
  for (path const p : {path::portable, path::avx2, path::neon}) {
    if (fp4::cpu::available(p)) { paths.push_back(p); }
  }
  return paths;
}

/// Remembers the first difference. Templates report here, since a macro of Catch2 in each of them compiles
/// slowly.
struct outcome {
  std::string first;

  void add(std::string const& difference, path p, data_kind kind, std::uint64_t seed) {
    if (difference.empty() || !first.empty()) { return; }
    first = std::string(fp4::cpu::name(p)) + ", " + name(kind) + ", seed " + std::to_string(seed) + ": " + difference;
  }
};

template <class T>
std::string difference(std::vector<T> const& got, std::vector<T> const& wanted) {
  return first_difference(reinterpret_cast<std::uint8_t const*>(got.data()),
                          reinterpret_cast<std::uint8_t const*>(wanted.data()),
                          static_cast<std::int64_t>(got.size() * sizeof(T)), 64);
}

/// A tensor scale, made from an amax or from a factor by turns.
inline fp4::tensor_scale scale_for(float amax, std::uint64_t seed) {
  bool const usable = amax > 1e-30f && amax < 1e30f;
  if (seed % 4 == 2 && usable) { return fp4::tensor_scale::from_encode(2688.0f / amax); }
  if (seed % 4 == 3 && usable) { return fp4::tensor_scale::from_decode(amax / 2688.0f); }
  return fp4::tensor_scale::from_amax(amax);
}

/// What one path makes of a matrix.
template <class Format>
struct quantized_bytes {
  std::vector<std::uint8_t> codes, scales;
  float amax = 0;

  template <class In, class How>
  quantized_bytes(fp4::matrix_view<In const> in, How const& how, std::uint64_t seed, path p) {
    constexpr bool turned = How::is_columnwise;
    std::int64_t const rows = turned ? in.cols : in.rows, cols = turned ? in.rows : in.cols;
    codes.resize(static_cast<std::size_t>(rows * Format::row_bytes(cols)), 0xA5);
    scales.resize(Format::has_block_scale ? static_cast<std::size_t>(rows * Format::blocks(cols)) : 0, 0x5A);
    amax = fp4::cpu::amax(in, how.transform, how.direction, fp4::sequential{}, p);
    fp4::tensor_scale const scale = scale_for(amax, seed);
    fp4::quantized_view<Format> const out(codes.data(), scales.data(), static_cast<std::int64_t>(scales.size()), rows,
                                          cols);
    fp4::cpu::quantize(in, out, {&scale, 1}, how, fp4::sequential{}, p);
  }
};

#ifdef FP4_TEST_QUICK
inline constexpr std::uint64_t seeds = 2;
#else
inline constexpr std::uint64_t seeds = 8;
#endif

/// Quantizes matrices of every kind on every path.
template <class Format, class In, class How>
void compare_paths(outcome& found, How const& how, std::int64_t rows, std::int64_t cols) {
  for (int kind = 0; kind < data_kinds; ++kind) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      auto const k = static_cast<data_kind>(kind);
      auto const m = make_data(k, rows, cols, seed, {1, Format::block_size > 1 ? Format::block_size : 16});
      auto const values = as_values<In>(m, cols + 5);
      fp4::matrix_view<In const> const in(values.data(), rows, cols, cols + 5);
      quantized_bytes<Format> const wanted(in, how, seed, path::scalar);
      for (path const p : fast_paths()) {
        quantized_bytes<Format> const got(in, how, seed, p);
        found.add(difference(got.codes, wanted.codes), p, k, seed);
        found.add(difference(got.scales, wanted.scales), p, k, seed);
        found.add(bits_of(got.amax) == bits_of(wanted.amax) ? "" : "another amax", p, k, seed);
      }
    }
  }
}

/// Empty when every path gives the same bytes.
template <class Format, class In, class Scaling, class Rounding = fp4::nearest_even>
std::string quantized(Rounding rounding = {}) {
  fp4::choices<Scaling, Rounding> const how{Scaling(), rounding};
  constexpr std::int64_t ragged = 1024 + 7 * 32 + 19;  // more than a tile, and a last block that is not full
  outcome found;
  compare_paths<Format, In>(found, how, 2, ragged);
  compare_paths<Format, In>(found, how, 3, 7);
  return found.first;
}

}  // namespace test
