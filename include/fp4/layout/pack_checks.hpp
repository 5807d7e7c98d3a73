// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The preconditions of moving codes and scales between layouts. Host only.

#include "packed_view.hpp"

FP4_EXACT_BEGIN
namespace fp4 {
namespace detail {

/// What pack and unpack ask for besides two views that are right in themselves.
template <class Rows, class Tiles, class Written, class Read>
check_result check_move(Rows const& rows, Tiles const& tiles, Written const& to, Read const& from) noexcept {
  if (auto const found = check_quantized(rows); !found.ok()) { return found; }
  if (auto const found = fp4::check(tiles); !found.ok()) { return found; }
  if (auto const found = check_same_shape(to.rows, to.cols, from.rows, from.cols); !found.ok()) { return found; }
  address_range const row_codes =
      rows_range(rows.codes, rows.rows, rows.code_stride, Rows::format::row_bytes(rows.cols));
  address_range const row_scales = rows_range(rows.scales, 1, 0, rows.scale_bytes_needed());
  address_range const tile_codes = rows_range(tiles.codes, 1, 0, tiles.code_bytes_needed());
  address_range const tile_scales = rows_range(tiles.scales, 1, 0, tiles.scale_bytes_needed());
  constexpr bool writes_tiles = std_types::is_same<Written, Tiles>::value;
  address_range const written[2] = {writes_tiles ? tile_codes : row_codes, writes_tiles ? tile_scales : row_scales};
  address_range const read[2] = {writes_tiles ? row_codes : tile_codes, writes_tiles ? row_scales : tile_scales};
  for (address_range const output : written) {
    for (address_range const input : read) {
      if (auto const found = check_apart(output, input); !found.ok()) { return found; }
    }
  }
  return check_apart(written[0], written[1]);
}

}  // namespace detail

/// Every precondition of pack(from, to).
template <class Format, class From, class Byte, class Codes, class To>
check_result check_pack(quantized_view<Format, From, Byte> from, packed_view<Format, Codes, To> to) noexcept {
  return detail::check_move(from, to, to, from);
}

/// Every precondition of unpack(from, to).
template <class Format, class Codes, class From, class Byte, class To>
check_result check_unpack(packed_view<Format, Codes, From, Byte> from, quantized_view<Format, To> to) noexcept {
  return detail::check_move(to, from, to, from);
}

/// Every precondition of relayout_scales<From, To>: sizes, memory that suffices and does not overlap.
template <class From, class To>
check_result check_relayout(uint8_t const* from, int64_t from_bytes, uint8_t const* to, int64_t to_bytes, int64_t rows,
                            int64_t blocks) noexcept {
  using namespace detail;
  if (auto const found = check_size(rows, blocks); !found.ok()) { return found; }
  if (auto const found = check_extent(rows, blocks); !found.ok()) { return found; }
  int64_t const from_needed = From::bytes(rows, blocks), to_needed = To::bytes(rows, blocks);
  if (from_bytes < from_needed) {
    return broken(errc::scale_buffer_too_small, as_double(from_bytes), as_double(from_needed));
  }
  if (to_bytes < to_needed) { return broken(errc::scale_buffer_too_small, as_double(to_bytes), as_double(to_needed)); }
  if (rows == 0 || blocks == 0) { return {}; }
  if (from == nullptr || to == nullptr) { return broken(errc::null_data, 0, as_double(rows)); }
  return check_apart(rows_range(to, 1, 0, to_needed), rows_range(from, 1, 0, from_needed));
}

}  // namespace fp4
FP4_EXACT_END
