// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the example programs measure of a quantization, and how they print it.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fp4/fp4.hpp>
#include <functional>
#include <string>
#include <vector>

#include "io/table.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace report {

/// Median duration of up to 9 runs; one run, and no more once `budget` seconds are spent.
template <class Work>
[[nodiscard]] double median_seconds(double budget, Work const& work) {
  std::vector<double> runs;
  double spent = 0;
  do {
    auto const begin = std::chrono::steady_clock::now();
    work();
    std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - begin;
    runs.push_back(taken.count());
    spent += taken.count();
  } while (spent < budget && runs.size() < 9);
  std::sort(runs.begin(), runs.end());
  return runs[runs.size() / 2];
}

/// What a quantization did to a tensor, or to several: sums, so that outcomes can be added.
struct outcome {
  double bits = 0;              ///< Codes and block scales, padding included.
  std::int64_t compared = 0;    ///< Values that are finite and decode to finite ones.
  double signal = 0;            ///< Sum of x^2 over them.
  double noise = 0;             ///< Sum of (y - x)^2 over them.
  fp4::inspection found;        ///< Unusual blocks and values.
  double quantize_seconds = 0;  ///< The pass for the tensor's largest magnitude included.
  double dequantize_seconds = 0;

  outcome& operator+=(outcome const& other) {
    bits += other.bits, compared += other.compared, signal += other.signal, noise += other.noise;
    found.values += other.found.values;
    found.nan_values += other.found.nan_values;
    found.infinite_values += other.found.infinite_values;
    found.blocks += other.found.blocks;
    found.saturated_blocks += other.found.saturated_blocks;
    found.underflowed_blocks += other.found.underflowed_blocks;
    quantize_seconds += other.quantize_seconds, dequantize_seconds += other.dequantize_seconds;
    return *this;
  }

  /// Bytes of the values as fp32.
  [[nodiscard]] double bytes() const { return static_cast<double>(found.values) * sizeof(float); }
  [[nodiscard]] double sqnr_db() const { return 10 * std::log10(signal / noise); }
};

/// Memory that is used again from one measurement to the next.
struct scratch {
  std::vector<float> decoded;
  std::vector<float> transformed;
};

/// Calls `quantize`, which fills `q` from `in` after `transform` and returns the tensor scales, decodes, and
/// compares. Both are repeated as often as `budget` seconds allow, at least once. The transform is undone
/// before errors are measured; that is not part of the time.
template <class Format, class Transform>
[[nodiscard]] outcome measure(fp4::matrix_view<float const> in, Transform const& transform, fp4::quantized<Format>& q,
                              scratch& memory, double budget,
                              std::function<std::vector<fp4::tensor_scale>()> const& quantize) {
  auto const count = static_cast<std::size_t>(in.size());
  memory.decoded.resize(count);
  fp4::matrix_view<float> const decoded(memory.decoded.data(), in.rows, in.cols);
  outcome result;
  result.quantize_seconds = median_seconds(budget, [&] { q.set_tensor_scales(quantize()); });
  result.dequantize_seconds = median_seconds(budget, [&] { fp4::dequantize(q, decoded); });

  if constexpr (fp4::is_transformed_v<Transform>) {
    memory.transformed.resize(count);
    fp4::matrix_view<float> const transformed(memory.transformed.data(), in.rows, in.cols);
    fp4::cpu::transform(in, transform, transformed);
    result.found = fp4::inspect(transformed, q.view(), decoded);
    fp4::inspection const original = fp4::inspect(in, q.view(), decoded);
    result.found.nan_values = original.nan_values;  // of the input, before the transform spreads them
    result.found.infinite_values = original.infinite_values;
    fp4::cpu::inverse_transform(decoded, transform);
  } else {
    result.found = fp4::inspect(in, q.view(), decoded);
  }
  fp4::error_report const error = fp4::measure_error(in, decoded);
  result.bits = q.bits_per_value() * static_cast<double>(count);
  result.compared = error.values, result.signal = error.signal, result.noise = error.noise;
  return result;
}

/// The columns of accuracy(), which every table of these programs has.
[[nodiscard]] inline std::vector<io::column> accuracy_columns() {
  return {{"bits/", "value"},      {"SQNR", "dB", 5},         {"rel.", "L2", 6},
          {"saturated", "blocks"}, {"underflowed", "blocks"}, {"NaN, inf", "inputs"}};
}

/// One cell a column; "-" for an error where no value could be compared.
[[nodiscard]] inline std::vector<std::string> accuracy(outcome const& result) {
  auto const values = static_cast<double>(result.found.values);
  bool const is_compared = result.compared != 0;
  bool const is_exact = result.noise == 0;
  return {io::fixed(result.bits / values, 2),
          !is_compared ? "-"
          : is_exact   ? "exact"
                       : io::fixed(result.sqnr_db(), 2),
          !is_compared ? "-"
          : is_exact   ? "0"
                       : io::fixed(std::sqrt(result.noise / result.signal), 4),
          std::to_string(result.found.saturated_blocks),
          std::to_string(result.found.underflowed_blocks),
          std::to_string(result.found.nan_values + result.found.infinite_values)};
}

/// Tensors of fewer bytes (as float32) are too small to time.
inline constexpr double least_timed_bytes = 1e6;

/// "12.34" for `bytes` in `seconds`, "-" where they are too few.
[[nodiscard]] inline std::string gigabytes_per_second(double bytes, double seconds) {
  return bytes < least_timed_bytes ? "-" : io::fixed(bytes / seconds / 1e9, 2);
}

/// "2 threads": those that the library's default execution takes.
[[nodiscard]] inline std::string threads_text() {
#ifdef _OPENMP
  int const threads = omp_get_max_threads();
  return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
#else
  return "1 thread";
#endif
}

}  // namespace report
