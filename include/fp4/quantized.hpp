// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "choices.hpp"

namespace fp4 {

/// A quantized matrix that owns its bytes: codes, block scales, tensor scales, and the rule by which its scaling
/// decodes.
template <class Format, class ScaleLayout = linear_scales>
class quantized {
 public:
  using format = Format;
  using scale_layout = ScaleLayout;

  /// A matrix of zeros, [rows, cols].
  quantized(std::int64_t rows, std::int64_t cols, decode_rule decoding)
      : rows_(rows), cols_(cols), decoding_(decoding) {
    require(check_shape(rows, cols), "fp4::quantized");
    auto const sizes = view();
    codes_.resize(static_cast<std::size_t>(sizes.code_bytes_needed()));
    scales_.resize(static_cast<std::size_t>(sizes.scale_bytes_needed()));
    tensor_scales_.assign(1, fp4::tensor_scale::from_amax(0.0f));
  }

  /// Takes bytes from elsewhere, a file for instance. \throws precondition_error when a size does not fit the shape or
  /// a tensor scale is not valid.
  quantized(std::int64_t rows, std::int64_t cols, decode_rule decoding, std::vector<std::uint8_t> codes,
            std::vector<std::uint8_t> scales, std::vector<fp4::tensor_scale> tensor_scales)
      : rows_(rows),
        cols_(cols),
        decoding_(decoding),
        codes_(std::move(codes)),
        scales_(std::move(scales)),
        tensor_scales_(std::move(tensor_scales)) {
    constexpr char const* where = "fp4::quantized";
    require(check_shape(rows, cols), where);
    auto const sizes = view();
    require(check_bytes(codes_.size(), sizes.code_bytes_needed()), where);
    require(check_bytes(scales_.size(), sizes.scale_bytes_needed()), where);
    require(detail::check_tensor_scales(tensor_scales_view(), rows), where);
  }

  /// The shape of the quantized matrix: that of the transpose where it was quantized column-wise.
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t cols() const noexcept { return cols_; }
  /// Rows of Format::row_bytes(cols()) bytes without gaps.
  [[nodiscard]] std::vector<std::uint8_t> const& codes() const noexcept { return codes_; }
  /// Block scales in ScaleLayout, padding included; empty for formats without.
  [[nodiscard]] std::vector<std::uint8_t> const& scales() const noexcept { return scales_; }
  /// The tensor scale; the first row's where every row has its own. \throws precondition_error where there is none: no
  /// rows of their own scales, or a result that was moved from.
  [[nodiscard]] fp4::tensor_scale tensor_scale() const {
    if (tensor_scales_.empty()) { require({errc::bad_tensor_scale_count, 0, 1}, "fp4::quantized::tensor_scale"); }
    return tensor_scales_.front();
  }
  /// One, or one a row.
  [[nodiscard]] std::vector<fp4::tensor_scale> const& tensor_scales() const noexcept { return tensor_scales_; }
  [[nodiscard]] fp4::tensor_scales_view tensor_scales_view() const noexcept {
    return {tensor_scales_.data(), static_cast<std::int64_t>(tensor_scales_.size())};
  }
  [[nodiscard]] decode_rule decoding() const noexcept { return decoding_; }

  [[nodiscard]] quantized_view<Format, ScaleLayout> view() noexcept {
    return {codes_.data(), scales_.data(), static_cast<std::int64_t>(scales_.size()), rows_, cols_};
  }
  [[nodiscard]] quantized_view<Format, ScaleLayout, std::uint8_t const> view() const noexcept {
    return {codes_.data(), scales_.data(), static_cast<std::int64_t>(scales_.size()), rows_, cols_};
  }
  /// Replaces the tensor scales, one or one a row.
  void set_tensor_scales(std::vector<fp4::tensor_scale> scales) {
    require(detail::check_tensor_scales({scales.data(), static_cast<std::int64_t>(scales.size())}, rows_),
            "fp4::quantized::set_tensor_scales");
    tensor_scales_ = std::move(scales);
  }

  /// Replaces the rule of decoding: that of the scaling which wrote through view().
  void set_decoding(decode_rule decoding) noexcept { decoding_ = decoding; }

  /// Bits that a value takes on average: codes and block scales with their padding.
  [[nodiscard]] double bits_per_value() const noexcept {
    double const values = static_cast<double>(rows_) * static_cast<double>(cols_);
    return values == 0 ? 0 : 8.0 * static_cast<double>(codes_.size() + scales_.size()) / values;
  }

 private:
  static check_result check_shape(std::int64_t rows, std::int64_t cols) noexcept {
    auto const found = detail::check_size(rows, cols);
    return found.ok() ? detail::check_extent(rows, cols) : found;
  }
  static check_result check_bytes(std::size_t got, std::int64_t needed) noexcept {
    if (static_cast<std::int64_t>(got) == needed) { return {}; }
    return detail::broken(errc::wrong_buffer_size, static_cast<double>(got), detail::as_double(needed));
  }

  std::int64_t rows_;
  std::int64_t cols_;
  decode_rule decoding_;
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint8_t> scales_;
  std::vector<fp4::tensor_scale> tensor_scales_;
};

}  // namespace fp4
