// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "../layout/check.hpp"

FP4_EXACT_BEGIN
namespace fp4 {

namespace detail {

/// By the bits: under -ffast-math comparisons and calls take every number for finite.
FP4_INLINE bool is_finite(float x) noexcept { return (float_bits(x) & magnitude_mask) < infinity_bits; }

}  // namespace detail

/// How far decoded values are from the originals. Pairs in which either is not finite are left out of the sums.
struct error_report {
  int64_t values = 0;      ///< pairs compared
  double signal = 0;       ///< sum x^2; sums of parts of a tensor add up to those of the whole
  double noise = 0;        ///< sum (y - x)^2
  double sqnr_db = 0;      ///< 10 log10(signal / noise); infinite without any error, NaN if no pair was compared
  double relative_l2 = 0;  ///< sqrt(noise / signal); 0 for an all-zero original without error
  double cosine = 0;       ///< sum x y / (|x| |y|); 1 where both are zero
  double max_error = 0;    ///< largest |y - x|
  double mean_square = 0;  ///< noise / values
};

namespace detail {
template <class T, class U>
check_result check_pair(matrix_view<T> original, matrix_view<U> decoded) noexcept {
  if (auto const found = check(original); !found.ok()) { return found; }
  if (auto const found = check(decoded); !found.ok()) { return found; }
  return check_same_shape(decoded.rows, decoded.cols, original.rows, original.cols);
}
}  // namespace detail

/// Compares [rows, cols] values with what they decoded to. Sums in fp64, row by row. \throws precondition_error for a
/// bad view or unequal shapes.
template <class T, class U>
[[nodiscard]] error_report measure_error(matrix_view<T> original, matrix_view<U> decoded) {
  require(detail::check_pair(original, decoded), "fp4::measure_error");
  double signal = 0, noise = 0, cross = 0, power = 0, largest = 0;
  int64_t count = 0;
  for (int64_t r = 0; r < original.rows; ++r) {
    for (int64_t c = 0; c < original.cols; ++c) {
      float const before = detail::as_float(original.row(r)[c]), after = detail::as_float(decoded.row(r)[c]);
      if (!detail::is_finite(before) || !detail::is_finite(after)) { continue; }
      double const x = static_cast<double>(before), y = static_cast<double>(after);
      double const error = y - x;
      signal += x * x, power += y * y, cross += x * y, noise += error * error;
      largest = largest < std::fabs(error) ? std::fabs(error) : largest;
      ++count;
    }
  }
  error_report report;
  report.values = count;
  report.signal = signal;
  report.noise = noise;
  report.max_error = largest;
  report.mean_square = count > 0 ? noise / static_cast<double>(count) : 0;
  constexpr double infinite = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  report.sqnr_db = none;
  if (noise > 0) {
    report.sqnr_db = 10 * std::log10(signal / noise);
  } else if (count > 0) {
    report.sqnr_db = infinite;
  }
  report.relative_l2 = noise == 0 ? 0 : std::sqrt(noise / signal);
  report.cosine = signal == 0 && power == 0 ? 1 : cross / std::sqrt(signal * power);
  return report;
}

/// What quantization did to unusual data, so that bad data is seen and not just survived.
struct inspection {
  int64_t values = 0;
  int64_t nan_values = 0;       ///< NaN inputs: they decode to numbers
  int64_t infinite_values = 0;  ///< infinite inputs
  int64_t blocks = 0;
  /// Blocks with a value clipped: held at the largest element while more than 6.5/6 of what it decodes to, which no
  /// rounding of the scale explains.
  int64_t saturated_blocks = 0;
  int64_t underflowed_blocks = 0;  ///< blocks with a non-zero value that decode to zeros alone
};

/// Inspects a quantization of [rows, cols] values, row-wise: the originals, the codes, and what they decode to. A
/// format without block scales has blocks of one value. \throws precondition_error for a bad view or unequal shapes, as
/// those of a column-wise result are.
template <class T, class Format, class Layout, class Byte, class U>
[[nodiscard]] inspection inspect(matrix_view<T> original, quantized_view<Format, Layout, Byte> q,
                                 matrix_view<U> decoded) {
  constexpr char const* where = "fp4::inspect";
  require(detail::check_pair(original, decoded), where);
  require(detail::check_quantized(q), where);
  require(detail::check_same_shape(q.rows, q.cols, original.rows, original.cols), where);
  using element = typename Format::element;
  inspection found;
  for (int64_t r = 0; r < original.rows; ++r) {
    for (int64_t first = 0; first < original.cols; first += Format::block_size) {
      int64_t const last = first + Format::block_size < original.cols ? first + Format::block_size : original.cols;
      bool saturated = false, any = false, kept = false;
      for (int64_t c = first; c < last; ++c) {
        float const x = detail::as_float(original.row(r)[c]), y = detail::as_float(decoded.row(r)[c]);
        uint32_t const a = detail::float_bits(x) & detail::magnitude_mask;
        found.nan_values += a > detail::infinity_bits;
        found.infinite_values += a == detail::infinity_bits;
        if (a > detail::infinity_bits) { continue; }
        element const code = element_at<Format>(q.code_row(r), c);
        bool const largest = (code.bits & element::magnitude_bits) == element::max_code;
        float const size = detail::bits_float(a),
                    held = detail::bits_float(detail::float_bits(y) & detail::magnitude_mask);
        saturated = saturated || (largest && static_cast<double>(size) > 6.5 / 6 * static_cast<double>(held));
        any = any || a != 0;
        kept = kept || y != 0.0f;
      }
      found.underflowed_blocks += any && !kept;
      found.saturated_blocks += saturated && kept;
      ++found.blocks;
    }
  }
  found.values = original.size();
  return found;
}

}  // namespace fp4
FP4_EXACT_END
