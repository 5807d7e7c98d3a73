// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Scalings of the OCP microscaling formats and of FP8.

#include "../format/block_format.hpp"
#include "scaling.hpp"

FP4_EXACT_BEGIN
namespace fp4 {
namespace detail {

/// Largest exponent of an element format: max_finite = 1.m * 2^max_exponent.
template <class Element>
inline constexpr int max_exponent_v = static_cast<int>(float_bits(Element::max_finite) >> 23) - 127;

template <class Format, bool Ceil>
struct mx_tensor {
  static constexpr element_rule elements = element_rule::multiply;
  static constexpr scale_rule scales = scale_rule::computed;
  using element = typename Format::element;

  [[nodiscard]] FP4_HD constexpr e8m0 scale_for(float block_amax) const noexcept {
    uint32_t const bits = float_bits(block_amax);
    if (bits >= infinity_bits) { return {e8m0::max_code}; }
    if (bits < 0x00800000u) { return {0}; }  // below 2^-126 every rule gives an exponent under -127
    uint32_t const mantissa = bits & 0x7FFFFFu;
    uint32_t const max_mantissa = float_bits(element::max_finite) & 0x7FFFFFu;
    int const exponent = static_cast<int>(bits >> 23) - max_exponent_v<element> + (Ceil && mantissa > max_mantissa);
    return {static_cast<uint8_t>(exponent < 0 ? 0 : exponent)};
  }

  /// v = 1 / v, exact: both are powers of two.
  template <class F>
  FP4_HD FP4_INLINE void factor(F& v, F const& /*amax*/, F const& /*value*/) const noexcept {
    divide_into(v, 1.0f);
  }
};

template <bool Ceil>
struct mx_scaling {
  using choice = scaling_choice;
  static constexpr decode_rule decoding = decode_rule::block_only;
  template <class Format>
  static constexpr bool supports = std_types::is_same<typename Format::scale, e8m0>::value;
  template <class Format>
  [[nodiscard]] FP4_HD static constexpr float range() noexcept {
    return 2688.0f;
  }
  template <class Format>
  [[nodiscard]] FP4_HD constexpr auto for_tensor(tensor_scale) const noexcept {
    return mx_tensor<Format, Ceil>();
  }
};

struct tensor_amax_tensor {
  static constexpr element_rule elements = element_rule::multiply;
  static constexpr scale_rule scales = scale_rule::none;
  float encode;
  FP4_HD explicit constexpr tensor_amax_tensor(tensor_scale scale) noexcept : encode(scale.encode()) {}
};

}  // namespace detail

/// OCP MX: e = floor(log2(b)) - emax, clamped to [-127, 127]; code = x * 2^-e, saturating. A zero block takes byte
/// 0x00, a block with an infinity 0xFE; NaN is ignored in b. Value = q * 2^e.
struct mx_floor : detail::mx_scaling<false> {};

/// The smallest e with b / max_finite <= 2^e, so that nothing saturates: the MXFP8 training recipe's. The rest as
/// mx_floor.
struct mx_ceil : detail::mx_scaling<true> {};

/// FP8 with one scale a tensor: S = min(max_finite / amax, FLT_MAX), 1 for an amax of 0 or infinity; code = x * S.
/// Value = q * (1/S).
struct tensor_amax {
  using choice = scaling_choice;
  static constexpr decode_rule decoding = decode_rule::tensor_only;
  template <class Format>
  static constexpr bool supports = !Format::has_block_scale;
  template <class Format>
  [[nodiscard]] FP4_HD static constexpr float range() noexcept {
    return Format::element::max_finite;
  }
  template <class Format>
  [[nodiscard]] FP4_HD constexpr auto for_tensor(tensor_scale scale) const noexcept {
    return detail::tensor_amax_tensor(scale);
  }
};

}  // namespace fp4
FP4_EXACT_END
