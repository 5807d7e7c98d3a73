// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The preconditions of views: sizes, strides, memory. Host only.

#include "../error.hpp"
#include "quantized_view.hpp"

FP4_EXACT_BEGIN
namespace fp4 {
namespace detail {

constexpr check_result broken(errc code, double value, double bound) noexcept { return {code, value, bound}; }
constexpr double as_double(int64_t x) noexcept { return static_cast<double>(x); }

/// Half-open range of addresses.
struct address_range {
  char const* first;
  char const* last;
  /// Bytes that both hold.
  [[nodiscard]] size_t shared(address_range other) const noexcept {
    auto const number = [](char const* p) { return reinterpret_cast<size_t>(p); };
    size_t const begin = number(first) > number(other.first) ? number(first) : number(other.first);
    size_t const end = number(last) < number(other.last) ? number(last) : number(other.last);
    return begin < end ? end - begin : 0;
  }
};

inline check_result check_apart(address_range output, address_range other) noexcept {
  size_t const shared = output.shared(other);
  if (shared > 0) { return broken(errc::overlapping_output, static_cast<double>(shared), 0); }
  return {};
}

constexpr check_result check_same_shape(int64_t rows, int64_t cols, int64_t wanted_rows, int64_t wanted_cols) noexcept {
  if (rows != wanted_rows) { return broken(errc::shape_mismatch, as_double(rows), as_double(wanted_rows)); }
  if (cols != wanted_cols) { return broken(errc::shape_mismatch, as_double(cols), as_double(wanted_cols)); }
  return {};
}

template <class T>
address_range rows_range(T const* data, int64_t rows, int64_t stride, int64_t used) noexcept {
  char const* const first = reinterpret_cast<char const*>(data);
  if (rows == 0 || used == 0) { return {first, first}; }
  return {first, first + ((rows - 1) * stride + used) * static_cast<int64_t>(sizeof(T))};
}

/// What no process can address. Up to here no size in bits, bytes or padded bytes overflows.
inline constexpr int64_t most_elements = int64_t{1} << 56;

constexpr check_result check_size(int64_t rows, int64_t cols) noexcept {
  if (rows < 0 || cols < 0) { return broken(errc::negative_size, as_double(rows < cols ? rows : cols), 0); }
  int64_t const longer = rows > cols ? rows : cols;
  if (longer > most_elements) { return broken(errc::too_large, as_double(longer), as_double(most_elements)); }
  return {};
}
/// `stride` is at least the length of a row.
constexpr check_result check_extent(int64_t rows, int64_t stride) noexcept {
  if (rows > 1 && stride > most_elements / rows) {
    return broken(errc::too_large, as_double(rows) * as_double(stride), as_double(most_elements));
  }
  return {};
}

template <class Format, class Layout, class Byte>
check_result check_quantized(quantized_view<Format, Layout, Byte> q) noexcept {
  if (auto const found = check_size(q.rows, q.cols); !found.ok()) { return found; }
  if (q.code_stride < Format::row_bytes(q.cols)) {
    return broken(errc::code_stride_too_small, as_double(q.code_stride), as_double(Format::row_bytes(q.cols)));
  }
  if (auto const found = check_extent(q.rows, q.code_stride > q.cols ? q.code_stride : q.cols); !found.ok()) {
    return found;
  }
  if (q.scale_bytes < q.scale_bytes_needed()) {
    return broken(errc::scale_buffer_too_small, as_double(q.scale_bytes), as_double(q.scale_bytes_needed()));
  }
  bool const empty = q.rows == 0 || q.cols == 0;
  if (!empty && (q.codes == nullptr || (Format::has_block_scale && q.scales == nullptr))) {
    return broken(errc::null_data, 0, as_double(q.rows));
  }
  return {};
}

}  // namespace detail

/// The preconditions of a view of values: sizes, stride, data.
template <class T>
check_result check(matrix_view<T> view) noexcept {
  using namespace detail;
  if (auto const found = check_size(view.rows, view.cols); !found.ok()) { return found; }
  if (view.stride < view.cols) {
    return broken(errc::row_stride_too_small, as_double(view.stride), as_double(view.cols));
  }
  if (auto const found = check_extent(view.rows, view.stride); !found.ok()) { return found; }
  if (view.data == nullptr && view.size() > 0) { return broken(errc::null_data, 0, as_double(view.size())); }
  return {};
}

}  // namespace fp4
FP4_EXACT_END
