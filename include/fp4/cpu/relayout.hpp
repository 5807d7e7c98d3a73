// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "../choices.hpp"
#include "execution.hpp"

namespace fp4::cpu {
namespace detail {

/// Copies the scales of rows [first, last), four blocks at a time where they lie together on both sides.
template <class From, class To>
void relayout_rows(uint8_t const* from, uint8_t* to, int64_t first, int64_t last, int64_t blocks) noexcept {
  for (int64_t row = first; row < last; ++row) {
    int64_t block = 0;
    for (; block + 4 <= blocks; block += 4) {
      std::memcpy(to + To::offset(row, block, blocks), from + From::offset(row, block, blocks), 4);
    }
    for (; block < blocks; ++block) { to[To::offset(row, block, blocks)] = from[From::offset(row, block, blocks)]; }
  }
}

}  // namespace detail

/// Copies block scales from one layout to another, [rows, blocks] logical; padding of `to` is written as 0x00.
/// \param from  at least From::bytes(rows, blocks) bytes; `from_bytes` is what is there.
/// \param to    at least To::bytes(rows, blocks) bytes; `to_bytes` is what is there.
/// \throws precondition_error when a buffer is null, too small or overlaps the other; then nothing was written.
template <class From, class To, class Execution = default_execution>
void relayout_scales(uint8_t const* from, int64_t from_bytes, uint8_t* to, int64_t to_bytes, int64_t rows,
                     int64_t blocks, Execution execution = {}) {
  using namespace fp4::detail;
  constexpr char const* where = "fp4::cpu::relayout_scales";
  int64_t const from_needed = From::bytes(rows, blocks), to_needed = To::bytes(rows, blocks);
  if (rows < 0 || blocks < 0) {
    require(broken(errc::negative_size, as_double(rows < blocks ? rows : blocks), 0), where);
  }
  if (from_bytes < from_needed) {
    require(broken(errc::scale_buffer_too_small, as_double(from_bytes), as_double(from_needed)), where);
  }
  if (to_bytes < to_needed) {
    require(broken(errc::scale_buffer_too_small, as_double(to_bytes), as_double(to_needed)), where);
  }
  require(check(execution), where);
  if (rows == 0 || blocks == 0) { return; }
  if (from == nullptr || to == nullptr) { require(broken(errc::null_data, 0, as_double(rows)), where); }
  if (rows_range(from, 1, 0, from_needed).overlaps(rows_range(to, 1, 0, to_needed))) {
    require(broken(errc::overlapping_output, 0, 0), where);
  }
  if (to_needed != rows * blocks) { std::memset(to, 0, static_cast<size_t>(to_needed)); }
  int64_t const tiles = (rows + 127) / 128;
  for_each_part(execution, tiles, 1 + 65536 / (128 * blocks), [&](int64_t first, int64_t last) {
    detail::relayout_rows<From, To>(from, to, first * 128, last * 128 < rows ? last * 128 : rows, blocks);
  });
}

}  // namespace fp4::cpu
