// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arithmetic.hpp"

FP4_EXACT_BEGIN
namespace fp4 {

/// The fp32 scale of a tensor, or of one of its rows. There is no default and no conversion from float: tools
/// store an amax A, an encode factor (2688/A, "global scale") or a decode factor (A/2688, "scale_2"), and taking one
/// for another yields garbage that loads fine. It remembers what it was made from, since the last bit depends on it.
///
/// `range` is the largest element times the largest block scale that the scaling aims at: 2688 = 6 * 448 unless the
/// scaling says otherwise. Quantizing sets it.
class tensor_scale {
 public:
  enum class source : unsigned char { amax, encode, decode };

  /// From the largest magnitude of the values that are quantized. 0 and infinity are legal and scale by 1. Under an
  /// amax of 0 every value is taken to be 0: what is not decodes to next to nothing.
  [[nodiscard]] FP4_HD static constexpr tensor_scale from_amax(float amax) noexcept { return {source::amax, amax}; }
  /// From a factor that values are multiplied by before quantization (compressed-tensors' `weight_global_scale`).
  [[nodiscard]] FP4_HD static constexpr tensor_scale from_encode(float factor) noexcept {
    return {source::encode, factor};
  }
  /// From a factor that decoded values are multiplied by (ModelOpt's `weight_scale_2`, TensorRT-LLM's).
  [[nodiscard]] FP4_HD static constexpr tensor_scale from_decode(float factor) noexcept {
    return {source::decode, factor};
  }

  [[nodiscard]] FP4_HD constexpr source made_from() const noexcept { return source_; }
  /// The number it was made from.
  [[nodiscard]] FP4_HD constexpr float stored() const noexcept { return value_; }
  [[nodiscard]] FP4_HD constexpr float range() const noexcept { return range_; }
  [[nodiscard]] FP4_HD constexpr tensor_scale with_range(float range) const noexcept {
    tensor_scale changed = *this;
    changed.range_ = range;
    return changed;
  }

  /// The amax; from a factor it is range / encode or decode * range.
  [[nodiscard]] FP4_HD constexpr float amax() const noexcept {
    switch (source_) {
      case source::amax: return value_;
      case source::encode: return detail::quotient(range_, value_);
      default: return detail::scaled_by(value_, range_);
    }
  }

  /// The factor that values are multiplied by: min(range / amax, FLT_MAX), 1 for an amax of 0 or infinity.
  [[nodiscard]] FP4_HD constexpr float encode() const noexcept {
    if (source_ == source::encode) { return value_; }
    if (source_ == source::amax && no_scale()) { return 1.0f; }
    float factor = detail::quotient(source_ == source::amax ? range_ : 1.0f, value_);
    detail::limit(factor, detail::float_max);
    return factor;
  }

  /// The factor that decoded values are multiplied by: bounded amax / range, or 1 / encode; 1 for an amax of 0.
  [[nodiscard]] FP4_HD constexpr float decode() const noexcept {
    if (source_ == source::decode) { return value_; }
    if (source_ == source::amax) {
      if ((detail::float_bits(value_) & detail::magnitude_mask) == 0) { return 1.0f; }
      return detail::quotient(bounded_amax(), range_);
    }
    float factor = detail::quotient(1.0f, value_);
    detail::limit(factor, detail::float_max);
    return factor;
  }

  /// amax(), but where positive at least range * 2^-128, so that decode() never falls below the reciprocal of the
  /// largest encode factor.
  [[nodiscard]] FP4_HD constexpr float bounded_amax() const noexcept {
    float const a = amax();
    float const least = detail::scaled_by(detail::scaled_by(range_, 0x1p-64f), 0x1p-64f);
    uint32_t const bits = detail::float_bits(a);
    if (bits > 0 && bits < detail::float_bits(least)) { return least; }
    return a;
  }

  /// True for an amax that is not negative and not NaN, or a positive finite factor.
  [[nodiscard]] FP4_HD constexpr bool valid() const noexcept {
    uint32_t const bits = detail::float_bits(value_);
    bool const not_negative = bits <= detail::infinity_bits || bits == 0x80000000u;
    if (source_ == source::amax) { return not_negative; }
    return bits > 0 && bits < detail::infinity_bits;
  }

 private:
  FP4_HD constexpr tensor_scale(source s, float value) noexcept : value_(value), source_(s) {}
  FP4_HD constexpr bool no_scale() const noexcept {
    return (detail::float_bits(value_) & detail::magnitude_mask) == 0 ||
           detail::float_bits(value_) == detail::infinity_bits;
  }

  float value_;
  float range_ = 2688.0f;
  source source_;
};

}  // namespace fp4
FP4_EXACT_END
