// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The choices of one quantization as a bundle, and the preconditions of every quantizer, written once.
/// Every implementation takes the same bundle and gives the same bytes.

#include "layout/blocks.hpp"
#include "layout/check.hpp"
#include "rounding/rounding.hpp"
#include "scaling/presets.hpp"
#include "transform/hadamard.hpp"

FP4_EXACT_BEGIN
namespace fp4 {

/// transform -> scaling -> rounding, over a block shape, along a direction. (The layout is the output's type.)
template <class Scaling, class Rounding = nearest_even, class Transform = no_transform, class Shape = blocks_1d,
          class Direction = rowwise>
struct choices {
  Scaling scaling{};
  Rounding rounding{};
  Transform transform{};
  Shape shape{};
  Direction direction{};

  static constexpr bool is_2d = std_types::is_same<Shape, blocks_2d>::value;
  static constexpr bool is_columnwise = std_types::is_same<Direction, columnwise>::value;
};

/// One tensor scale for the whole matrix, or one for each row of the result.
struct tensor_scales_view {
  tensor_scale const* data = nullptr;
  int64_t count = 0;

  [[nodiscard]] constexpr tensor_scale of_row(int64_t row) const noexcept { return data[count == 1 ? 0 : row]; }
};

namespace detail {

/// Refuses, at compile time, combinations that have no meaning.
template <class Format, class Choices>
constexpr void require_supported() noexcept {
  using scaling = decltype(Choices::scaling);
  using rounding = decltype(Choices::rounding);
  static_assert(scaling::template supports<Format>, "this scaling is not defined for this block format");
  static_assert(!is_stochastic_v<rounding> || std_types::is_same<typename Format::element, e2m1>::value,
                "stochastic rounding is defined for e2m1 elements alone");
  static_assert(!std_types::is_same<scaling, ggml>::value || std_types::is_same<rounding, nearest_even>::value,
                "ggml's quantizer rounds to nearest alone");
  static_assert(
      !Choices::is_2d || std_types::is_same<Format, nvfp4>::value || std_types::is_same<Format, nvfp4_ue5m3>::value,
      "2D blocks are 16 x 16: an NVFP4 format with blocks of 16");
}

inline check_result check_tensor_scales(tensor_scales_view scales, int64_t rows) noexcept {
  if (scales.count != 1 && scales.count != rows) {
    return broken(errc::bad_tensor_scale_count, as_double(scales.count), as_double(rows));
  }
  if (scales.data == nullptr && scales.count > 0) { return broken(errc::null_data, 0, as_double(scales.count)); }
  for (int64_t i = 0; i < scales.count; ++i) {
    if (!scales.data[i].valid()) {
      return broken(errc::bad_tensor_scale, static_cast<double>(scales.data[i].stored()), 0);
    }
  }
  return {};
}

}  // namespace detail

/// The precondition of a transform along an axis of `length` elements.
template <class Transform>
check_result check(Transform const&, int64_t length) noexcept {
  if (length % Transform::size != 0) {
    return detail::broken(errc::hadamard_size_does_not_divide, detail::as_double(length), Transform::size);
  }
  return {};
}

/// Every precondition of quantize(in, out, scales, choices).
template <class T, class Format, class Layout, class... Options>
check_result check(matrix_view<T> in, quantized_view<Format, Layout> out, tensor_scales_view scales,
                   choices<Options...> const& how) noexcept {
  using namespace detail;
  using chosen = choices<Options...>;
  require_supported<Format, chosen>();
  if (auto const found = check(in); !found.ok()) { return found; }
  int64_t const rows = chosen::is_columnwise ? in.cols : in.rows;
  int64_t const cols = chosen::is_columnwise ? in.rows : in.cols;
  if (auto const found = check_same_shape(out.rows, out.cols, rows, cols); !found.ok()) { return found; }
  if (auto const found = check_quantized(out); !found.ok()) { return found; }
  if (auto const found = check(how.transform, cols); !found.ok()) { return found; }
  if (Format::has_tensor_scale) {
    if (auto const found = check_tensor_scales(scales, rows); !found.ok()) { return found; }
    if (chosen::is_2d && scales.count != 1) {
      return broken(errc::row_scales_with_2d_blocks, as_double(scales.count), 1);
    }
  }
  if constexpr (is_stochastic_v<decltype(chosen::rounding)>) {
    auto const& r = how.rounding;
    int64_t const blocks = chosen::is_2d && chosen::is_columnwise ? Format::blocks(in.cols) : Format::blocks(cols);
    int64_t const positions[] = {r.first_row, r.first_block, r.blocks_per_row};
    for (int64_t const position : positions) {
      if (position < 0) { return broken(errc::bad_random_position, as_double(position), 0); }
      if (position > most_elements) {
        return broken(errc::bad_random_position, as_double(position), as_double(most_elements));
      }
    }
    bool const is_part = r.blocks_per_row > 0;
    if (r.first_block + (is_part ? blocks : 0) > r.blocks_per_row) {
      return broken(errc::bad_random_position, as_double(r.first_block + blocks), as_double(r.blocks_per_row));
    }
    int64_t const row_blocks = is_part ? r.blocks_per_row : blocks;
    if (row_blocks > 0 && r.first_row > most_elements / row_blocks) {
      return broken(errc::bad_random_position, as_double(r.first_row), as_double(most_elements / row_blocks));
    }
    if (r.stream >> 63 != 0) { return broken(errc::bad_random_position, static_cast<double>(r.stream), 0x1p63); }
  }
  auto const input = rows_range(in.data, in.rows, in.stride, in.cols);
  auto const codes = rows_range(out.codes, out.rows, out.code_stride, Format::row_bytes(out.cols));
  auto const block_scales = rows_range(out.scales, 1, 0, out.scale_bytes_needed());
  auto const given = rows_range(scales.data, 1, 0, scales.count);
  address_range const others[] = {input, given, block_scales};
  for (auto const other : others) {
    if (auto const found = check_apart(codes, other); !found.ok()) { return found; }
  }
  address_range const inputs[] = {input, given};
  for (auto const other : inputs) {
    if (auto const found = check_apart(block_scales, other); !found.ok()) { return found; }
  }
  return {};
}

/// Every precondition of dequantize(in, scales, out).
template <class T, class Format, class Layout>
check_result check(quantized_view<Format, Layout, uint8_t const> in, tensor_scales_view scales,
                   matrix_view<T> out) noexcept {
  using namespace detail;
  if (auto const found = check(out); !found.ok()) { return found; }
  if (auto const found = check_quantized(in); !found.ok()) { return found; }
  if (auto const found = check_same_shape(out.rows, out.cols, in.rows, in.cols); !found.ok()) { return found; }
  if (Format::has_tensor_scale) {
    if (auto const found = check_tensor_scales(scales, in.rows); !found.ok()) { return found; }
  }
  auto const values = rows_range(out.data, out.rows, out.stride, out.cols);
  auto const codes = rows_range(in.codes, in.rows, in.code_stride, Format::row_bytes(in.cols));
  auto const block_scales = rows_range(in.scales, 1, 0, in.scale_bytes_needed());
  auto const given = rows_range(scales.data, 1, 0, scales.count);
  address_range const inputs[] = {codes, block_scales, given};
  for (auto const other : inputs) {
    if (auto const found = check_apart(values, other); !found.ok()) { return found; }
  }
  return {};
}

}  // namespace fp4
FP4_EXACT_END
