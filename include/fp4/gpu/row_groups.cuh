// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Many matrices in one: rows [offset(g), offset(g + 1)) are group g, as mixtures of experts sort their tokens. How many
/// rows a group has only the device knows; how much memory the results take, the host knows from the sum.

#include "../format/block_format.hpp"
#include "../layout/scale_layout.hpp"

namespace fp4::gpu {
namespace detail {

/// Where group `group` begins if each group begins at a multiple of `alignment`: a number that the device computes from
/// the group's offset alone, and behind which the group before it has ended, padded to a multiple.
[[nodiscard]] FP4_HD FP4_INLINE constexpr int64_t aligned_start(int64_t offset, int64_t group,
                                                                int64_t alignment) noexcept {
  return (offset + group * (alignment - 1)) / alignment * alignment;
}

}  // namespace detail

/// `count` groups of rows by `count` + 1 offsets in device memory, read when the kernel runs: not descending, none
/// negative, the last at most the rows of the matrix. Rows in no group are not read.
class row_groups {
 public:
  row_groups(int64_t const* offsets, int64_t count) noexcept : wide_(offsets), count_(count) {}
  row_groups(int32_t const* offsets, int64_t count) noexcept : narrow_(offsets), count_(count) {}

  [[nodiscard]] FP4_HD int64_t count() const noexcept { return count_; }
  [[nodiscard]] bool is_null() const noexcept { return wide_ == nullptr && narrow_ == nullptr; }
  [[nodiscard]] __device__ int64_t offset(int64_t group) const noexcept {
    return wide_ != nullptr ? wide_[group] : narrow_[group];
  }

 private:
  int64_t const* wide_ = nullptr;
  int32_t const* narrow_ = nullptr;
  int64_t count_;
};

/// Where the parts of a grouped result lie. Each group's scales are a layout of their own, padded like that of a matrix.
template <class Format, class Layout>
struct grouped_layout {
  /// Row-wise. Codes lie as those of one matrix [rows, cols]. The scales of a group with first row `first_row` begin at
  /// row scale_row of a layout of grouped_scale_rows rows, that is after Layout::bytes(scale_row, blocks) bytes.
  [[nodiscard]] FP4_HD static constexpr int64_t scale_row(int64_t first_row, int64_t group) noexcept {
    return detail::aligned_start(first_row, group, Layout::bytes(1, 4) / 4);
  }
  [[nodiscard]] static constexpr int64_t scale_bytes(int64_t rows, int64_t cols, int64_t groups) noexcept {
    return Format::has_block_scale ? Layout::bytes(scale_row(rows, groups), Format::blocks(cols)) : 0;
  }

  /// Column-wise, [cols, turned_cols]: each group begins a block, `first_block` is the number of blocks of the groups
  /// before it. Its codes begin at element first_block * block_size of each row, its scales, a layout of [cols, its
  /// blocks], after scale_start bytes.
  [[nodiscard]] FP4_HD static constexpr int64_t scale_start(int64_t cols, int64_t first_block, int64_t group) noexcept {
    int64_t const whole = Layout::bytes(1, 1) == 1 ? 1 : 4;
    return Layout::bytes(cols, 4) / 4 * detail::aligned_start(first_block, group, whole);
  }
  /// Columns of the result: enough for any `groups` groups of together `rows` rows.
  [[nodiscard]] static constexpr int64_t turned_cols(int64_t rows, int64_t groups) noexcept {
    return (rows + groups * (block - 1)) / block * block;
  }
  [[nodiscard]] static constexpr int64_t turned_scale_bytes(int64_t rows, int64_t cols, int64_t groups) noexcept {
    return Format::has_block_scale ? scale_start(cols, turned_cols(rows, groups) / block, groups) : 0;
  }

 private:
  static constexpr int64_t block = Format::has_block_scale ? Format::block_size : 16;
};

}  // namespace fp4::gpu
