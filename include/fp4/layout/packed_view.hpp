// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A quantized matrix whose codes are in the order of a tensor-core instruction.

#include "check.hpp"
#include "fragment_order.hpp"

namespace fp4 {

/// Codes in CodeLayout (fragment_codes_a, fragment_codes_b, tcgen05_codes) and their block scales in ScaleLayout, in
/// somebody else's memory. Byte is uint8_t, or uint8_t const for reading.
///
/// rows, cols  the logical shape; both layouts pad it to whole tiles
/// codes       code_bytes bytes, at least code_bytes_needed(), from a multiple of 16 bytes on
/// scales      scale_bytes bytes, at least scale_bytes_needed()
template <class Format, class CodeLayout, class ScaleLayout, class Byte = uint8_t>
struct packed_view {
  static_assert(Format::storage_bits == 4 && Format::has_block_scale,
                "tensor-core layouts are for packed 4-bit codes with block scales");
  using format = Format;
  using code_layout = CodeLayout;
  using scale_layout = ScaleLayout;

  Byte* codes = nullptr;
  Byte* scales = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t code_bytes = 0;
  int64_t scale_bytes = 0;

  constexpr packed_view() noexcept = default;
  FP4_HD FP4_INLINE constexpr packed_view(Byte* codes_, int64_t code_bytes_, Byte* scales_, int64_t scale_bytes_,
                                          int64_t rows_, int64_t cols_) noexcept
      : codes(codes_), scales(scales_), rows(rows_), cols(cols_), code_bytes(code_bytes_), scale_bytes(scale_bytes_) {}
  /// A view for writing is a view for reading.
  template <class U, class = typename std_types::enable_if<std_types::is_same<U const, Byte>::value>::type>
  FP4_HD FP4_INLINE constexpr packed_view(packed_view<Format, CodeLayout, ScaleLayout, U> other) noexcept
      : packed_view(other.codes, other.code_bytes, other.scales, other.scale_bytes, other.rows, other.cols) {}

  [[nodiscard]] FP4_HD FP4_INLINE constexpr int64_t blocks_per_row() const noexcept { return Format::blocks(cols); }
  [[nodiscard]] FP4_HD FP4_INLINE constexpr int64_t code_bytes_needed() const noexcept {
    return CodeLayout::bytes(rows, cols);
  }
  [[nodiscard]] FP4_HD FP4_INLINE constexpr int64_t scale_bytes_needed() const noexcept {
    return ScaleLayout::bytes(rows, blocks_per_row());
  }
};

/// The preconditions of a packed view: sizes, memory, alignment.
template <class Format, class CodeLayout, class ScaleLayout, class Byte>
check_result check(packed_view<Format, CodeLayout, ScaleLayout, Byte> view) noexcept {
  using namespace detail;
  if (auto const found = check_size(view.rows, view.cols); !found.ok()) { return found; }
  if (auto const found = check_extent(view.rows, view.cols); !found.ok()) { return found; }
  if (view.code_bytes < view.code_bytes_needed()) {
    return broken(errc::code_buffer_too_small, as_double(view.code_bytes), as_double(view.code_bytes_needed()));
  }
  if (view.scale_bytes < view.scale_bytes_needed()) {
    return broken(errc::scale_buffer_too_small, as_double(view.scale_bytes), as_double(view.scale_bytes_needed()));
  }
  if (view.rows == 0 || view.cols == 0) { return {}; }
  if (view.codes == nullptr || view.scales == nullptr) { return broken(errc::null_data, 0, as_double(view.rows)); }
  size_t const past = reinterpret_cast<size_t>(view.codes) % CodeLayout::alignment;
  if (past != 0) { return broken(errc::misaligned_codes, static_cast<double>(past), CodeLayout::alignment); }
  return {};
}

}  // namespace fp4
