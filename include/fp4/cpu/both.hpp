// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A matrix quantized in two ways, row-wise and column-wise for instance, while it is read from memory once.

#include "amax.hpp"
#include "quantize.hpp"

FP4_EXACT_BEGIN
namespace fp4::cpu {

/// One of the results of quantize_both: the arguments of cpu::quantize behind its input.
template <class Format, class Layout, class Choices>
struct quantization {
  using format = Format;
  using layout = Layout;
  using chosen = Choices;
  quantized_view<Format, Layout> out;
  tensor_scales_view scales;
  Choices how;
};

/// The largest magnitudes of two directions.
struct both_amaxes {
  float rowwise = 0;
  float columnwise = 0;
};

namespace detail {

/// Values that are worth a part of their own: they stay in a cache between the two ways.
inline constexpr int64_t part_values = int64_t{1} << 16;

/// True where a job makes an fp32 copy first, and so has no pass to share.
template <class Choices>
inline constexpr bool needs_copy_v =
    Choices::is_2d&& Choices::is_columnwise&& is_transformed_v<decltype(Choices::transform)>;

/// What two results of one call must be, beyond what each must be.
template <class First, class Second>
check_result check_results_apart(First const& a, Second const& b) noexcept {
  using namespace fp4::detail;
  auto const codes = [](auto const& out, int64_t row_bytes) {
    return rows_range(out.codes, out.rows, out.code_stride, row_bytes);
  };
  auto const scales = [](auto const& out) { return rows_range(out.scales, 1, 0, out.scale_bytes_needed()); };
  address_range const a_ranges[] = {codes(a.out, First::format::row_bytes(a.out.cols)), scales(a.out)};
  address_range const b_ranges[] = {codes(b.out, Second::format::row_bytes(b.out.cols)), scales(b.out)};
  address_range const a_given = rows_range(a.scales.data, 1, 0, a.scales.count);
  address_range const b_given = rows_range(b.scales.data, 1, 0, b.scales.count);
  for (auto const& x : a_ranges) {
    if (auto const found = check_apart(x, b_given); !found.ok()) { return found; }
    for (auto const& y : b_ranges) {
      if (auto const found = check_apart(x, y); !found.ok()) { return found; }
    }
  }
  for (auto const& y : b_ranges) {
    if (auto const found = check_apart(y, a_given); !found.ok()) { return found; }
  }
  return {};
}

/// Runs part `i` of `parts` of a job: units follow the rows of the input, so equal shares of two jobs lie near.
template <class Job>
void run_share(Job& job, int64_t i, int64_t parts) noexcept {
  int64_t const units = job.units();
  int64_t const first = units / parts * i + units % parts * i / parts;
  int64_t const last = units / parts * (i + 1) + units % parts * (i + 1) / parts;
  if (first < last) { job.run(first, last); }
}

}  // namespace detail

/// Every precondition of quantize_both(in, first, second).
template <class In, class First, class Second>
check_result check_both(matrix_view<In> in, First const& first, Second const& second) noexcept {
  if (auto const found = check(in, first.out, first.scales, first.how); !found.ok()) { return found; }
  if (auto const found = check(in, second.out, second.scales, second.how); !found.ok()) { return found; }
  return detail::check_results_apart(first, second);
}

/// quantize(in, first...) and quantize(in, second...), in one pass over the input.
///
/// \param in      values, [rows, cols], any row stride.
/// \param first, second  results, each fully overwritten; their memory must not overlap.
/// \throws precondition_error when check_both(in, first, second) finds anything; then nothing was written.
/// \note   The bytes of cpu::quantize. Cost: parts of 65536 values are read for the first way and, while they are in a
///         cache, for the second. 2D column-wise with a transform makes an fp32 copy and takes a pass of its own.
template <class In, class First, class Second, class Execution = default_execution>
void quantize_both(matrix_view<In> in, First const& first, Second const& second, Execution execution = {},
                   path p = path::automatic) {
  constexpr char const* where = "fp4::cpu::quantize_both";
  using value = std_types::remove_const_t<In>;
  static_assert(is_value_v<value>, "values are float, fp4::float16 or fp4::bfloat16");
  require(check_both(in, first, second), where);
  require(check(execution), where);
  require(check(p), where);
  if constexpr (detail::needs_copy_v<typename First::chosen> || detail::needs_copy_v<typename Second::chosen>) {
    quantize(in, first.out, first.scales, first.how, execution, p);
    quantize(in, second.out, second.scales, second.how, execution, p);
  } else {
    detail::clear_padding(first.out);
    detail::clear_padding(second.out);
    matrix_view<value const> const values = in;
    int64_t const parts = 1 + values.size() / detail::part_values;
    detail::with_backend(p, [&](auto backend) {
      using backend_t = decltype(backend);
      detail::quantize_job<backend_t, value, typename First::format, typename First::layout, typename First::chosen>
          one(values, first.out, first.scales, first.how);
      detail::quantize_job<backend_t, value, typename Second::format, typename Second::layout, typename Second::chosen>
          other(values, second.out, second.scales, second.how);
      fp4::detail::for_each_part(execution, parts, 1, [&](int64_t from, int64_t to) {
        detail::exact_environment const environment;
        for (int64_t i = from; i < to; ++i) {
          detail::run_share(one, i, parts);
          detail::run_share(other, i, parts);
        }
      });
    });
  }
}

/// amax(in, rowwise_transform, rowwise) and amax(in, columnwise_transform, columnwise), in one pass over the input.
/// \throws precondition_error as amax.
template <class In, class RowTransform, class ColumnTransform, class Execution = default_execution>
[[nodiscard]] both_amaxes amax_both(matrix_view<In> in, RowTransform const& along_rows,
                                    ColumnTransform const& along_columns, Execution execution = {},
                                    path p = path::automatic) {
  constexpr char const* where = "fp4::cpu::amax_both";
  require(check(in), where);
  require(check(along_rows, in.cols), where);
  require(check(along_columns, in.rows), where);
  require(check(execution), where);
  require(check(p), where);
  if constexpr (!is_transformed_v<ColumnTransform> && !is_transformed_v<RowTransform>) {
    float const largest = amax(in, along_rows, rowwise{}, execution, p);
    return {largest, largest};
  } else {
    constexpr int64_t tall = 256;  // a multiple of every Hadamard size
    int64_t const bands = in.size() == 0 ? 0 : (in.rows + tall - 1) / tall;
    std::vector<both_amaxes> found(static_cast<size_t>(bands));
    fp4::detail::for_each_part(execution, bands, 1 + 32768 / (tall * (in.cols + 1)), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        int64_t const left = in.rows - i * tall;
        matrix_view<In> const band(in.row(i * tall), left < tall ? left : tall, in.cols, in.stride);
        found[static_cast<size_t>(i)] = {amax(band, along_rows, rowwise{}, sequential{}, p),
                                         amax(band, along_columns, columnwise{}, sequential{}, p)};
      }
    });
    both_amaxes largest;
    for (both_amaxes const& one : found) {
      if (largest.rowwise < one.rowwise) { largest.rowwise = one.rowwise; }
      if (largest.columnwise < one.columnwise) { largest.columnwise = one.columnwise; }
    }
    return largest;
  }
}

}  // namespace fp4::cpu
FP4_EXACT_END
