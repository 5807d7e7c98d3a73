// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Scalings that no fp32 rounding blurs, or that look for the best scale.

#include "transformer_engine.hpp"

FP4_EXACT_BEGIN
namespace fp4 {
namespace detail {

/// z >= 0 in units of 2^-16 of e2m1's step there, as round_stochastic counts it. z is below 6.
FP4_HD inline e2m1 round_positive_stochastic(double z, uint32_t random16) noexcept {
  double const scaled = z * (z < 2 ? 131072.0 : z < 4 ? 65536.0 : 32768.0);
  uint32_t const steps = static_cast<uint32_t>(scaled);
  return {static_cast<uint8_t>(((steps + random16) >> 16) + (z < 2 ? 0u : z < 4 ? 2u : 4u))};
}

/// Exact rational arithmetic in fp64: real scale = amax_factor * b / scale_divisor, real element = x_factor * |x| /
/// (sf * x_divisor). Every product below fits in 53 bits.
struct exact_tensor {
  static constexpr element_rule elements = element_rule::own;
  static constexpr scale_rule scales = scale_rule::computed;
  double amax_factor = 1, scale_divisor = 6, x_factor = 1, x_divisor = 1;

  FP4_HD explicit constexpr exact_tensor(tensor_scale scale) noexcept {
    double const stored = widen(scale.stored());
    if (scale.made_from() == tensor_scale::source::encode) {
      amax_factor = x_factor = stored;
    } else if (scale.made_from() == tensor_scale::source::decode) {
      scale_divisor = 6 * stored, x_divisor = stored;
    } else if (stored > 0 && stored <= widen(float_max)) {
      double const amax = widen(scale.bounded_amax());
      amax_factor = 448, scale_divisor = amax, x_factor = 2688, x_divisor = amax;
    }
  }

  [[nodiscard]] FP4_HD ue4m3 scale_for(float block_amax) const noexcept {
    double const b = widen(block_amax) * amax_factor;
    ue4m3 scale = ue4m3::from_float(narrow(b / scale_divisor));
    while (scale.bits < ue4m3::max_code && above_midpoint(b, scale.bits)) { ++scale.bits; }
    while (scale.bits > 0 && !above_midpoint(b, static_cast<uint8_t>(scale.bits - 1))) { --scale.bits; }
    return scale;
  }

  template <class Rounding>
  [[nodiscard]] FP4_HD e2m1 element(float x, ue4m3 scale, Rounding, uint32_t random16) const noexcept {
    uint32_t const u = float_bits(x);
    uint32_t const a = u & magnitude_mask;
    uint8_t const sign = static_cast<uint8_t>(u >> 28 & 8u);
    if (a > infinity_bits) { return {0x7}; }
    if (a == 0) { return {sign}; }
    double const n = widen(bits_float(a)) * x_factor;
    double const d = widen(scale.to_float()) * x_divisor;
    if (!(n < 6 * d)) { return {static_cast<uint8_t>(0x7 | sign)}; }
    if constexpr (std_types::is_same<Rounding, nearest_even>::value) {
      int const code = (n > 0.25 * d) + (n >= 0.75 * d) + (n > 1.25 * d) + (n >= 1.75 * d) + (n > 2.5 * d) +
                       (n >= 3.5 * d) + (n > 5 * d);
      return {static_cast<uint8_t>(code | sign)};
    } else if constexpr (is_stochastic_v<Rounding>) {
      return {static_cast<uint8_t>(round_positive_stochastic(n / d, random16).bits | sign)};
    } else {
      return {static_cast<uint8_t>(round_positive_stochastic(n / d, 0).bits | sign)};
    }
  }

  template <class F>
  FP4_HD FP4_INLINE void factor(F& v, F const& /*amax*/, F const& /*value*/) const noexcept {
    fill(v, 0.0f);  // elements need the scale itself
  }

 private:
  /// True where b, over the scale divisor, rounds above `code`: past the midpoint of code and code + 1, or on it
  /// where code is odd.
  FP4_HD bool above_midpoint(double b, uint8_t code) const noexcept {
    double const midpoint =
        (widen(ue4m3{code}.to_float()) + widen(ue4m3{static_cast<uint8_t>(code + 1)}.to_float())) / 2;
    double const bound = midpoint * scale_divisor;
    return code % 2 == 0 ? b > bound : b >= bound;
  }
};

struct round_up_tensor : transformer_engine_multiplier {
  static constexpr scale_rule scales = scale_rule::computed;
  using transformer_engine_multiplier::transformer_engine_multiplier;

  [[nodiscard]] FP4_HD ue4m3 scale_for(float block_amax) const noexcept {
    double const needed = widen(block_amax) * widen(encode);
    ue4m3 scale = ue4m3::from_float(narrow(needed / 6));
    while (scale.bits > 0 && covers(static_cast<uint8_t>(scale.bits - 1), needed)) { --scale.bits; }
    while (scale.bits < ue4m3::max_code && !covers(scale.bits, needed)) { ++scale.bits; }
    return scale;
  }

 private:
  FP4_HD static bool covers(uint8_t code, double needed) noexcept {
    return 6 * widen(ue4m3{code}.to_float()) >= needed;
  }
};

struct search_tensor : transformer_engine_tensor<sixth_order::with_scale> {
  static constexpr scale_rule scales = scale_rule::chosen;
  double decode_numerator;
  double decode_divisor;

  FP4_HD explicit constexpr search_tensor(tensor_scale scale) noexcept
      : transformer_engine_tensor(scale), decode_numerator(widen(scale.decode())), decode_divisor(1) {
    if (scale.made_from() == tensor_scale::source::amax && widen(scale.stored()) > 0) {
      decode_numerator = widen(scale.bounded_amax());
      decode_divisor = widen(scale.range());
    }
  }

  /// Codes to try, both ends included.
  struct window {
    int first, last;
  };
  [[nodiscard]] FP4_HD window candidates(float block_amax) const noexcept {
    float value = block_amax;
    scale_value(value);
    int const middle = ue4m3::from_float(value).bits;
    return {middle - 4 > 1 ? middle - 4 : 1, middle + 12 < ue4m3::max_code ? middle + 12 : ue4m3::max_code};
  }

  /// True where the choice needs no errors: then `scale` is it.
  [[nodiscard]] FP4_HD static bool is_settled(float block_amax, ue4m3& scale) noexcept {
    bool const is_zero = (float_bits(block_amax) & magnitude_mask) == 0;
    scale = {is_zero ? uint8_t{0} : ue4m3::max_code};
    return is_zero || float_bits(block_amax) >= infinity_bits;
  }

  template <class Values>
  [[nodiscard]] FP4_HD ue4m3 choose(Values const& x, int count, float block_amax) const noexcept {
    ue4m3 best;
    if (is_settled(block_amax, best)) { return best; }
    window const codes = candidates(block_amax);
    double least = -1.0;
    for (int code = codes.first; code <= codes.last; ++code) {
      improve(x, count, {static_cast<uint8_t>(code)}, best, least);
    }
    return best;
  }

  /// Makes `scale` the best if it errs less than `least`, or if there is none yet (`least` is negative).
  template <class Values>
  FP4_HD void improve(Values const& x, int count, ue4m3 scale, ue4m3& best, double& least) const noexcept {
    double const error = error_of(x, count, scale, least);
    if (least < 0 || error < least) { best = scale, least = error; }
  }

 private:
  /// The block's squared error under `scale`; stops early at a sum that is not below `enough` (if that is not
  /// negative), since adding squares never lowers it.
  template <class Values>
  FP4_HD double error_of(Values const& x, int count, ue4m3 scale, double enough) const noexcept {
    float const sf = scale.to_float();
    float multiplier = sf;
    factor(multiplier, multiplier, multiplier);
    // Values of 1 and 1.5; the others are these times a power of two, exactly.
    double const one = widen(sf) * decode_numerator / decode_divisor;
    double const three_halves = 1.5 * widen(sf) * decode_numerator / decode_divisor;
    double const decoded[8] = {0, one / 2, one, three_halves, 2 * one, 2 * three_halves, 4 * one, 4 * three_halves};
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      uint32_t const a = float_bits(x(i)) & magnitude_mask;
      if (a > infinity_bits) { continue; }
      float const value = bits_float(a);
      double const error = decoded[e2m1::from_float(scaled_by(value, multiplier)).bits] - widen(value);
      sum = sum + product(error, error);
      if (enough >= 0 && !(sum < enough)) { return sum; }
    }
    return sum;
  }
};

template <class Tensor>
struct nvfp4_default_decode_scaling {
  using choice = scaling_choice;
  static constexpr decode_rule decoding = decode_rule::amax_over_range;
  template <class Format>
  static constexpr bool supports = is_nvfp4_v<Format>;
  template <class Format>
  [[nodiscard]] FP4_HD static constexpr float range() noexcept {
    return 2688.0f;
  }
  template <class Format>
  [[nodiscard]] FP4_HD constexpr auto for_tensor(tensor_scale scale) const noexcept {
    return Tensor(scale);
  }
};

}  // namespace detail

/// Both roundings exact: sf is the nearest even of the real b * 448 / amax, an element the nearest even of the real
/// x * 2688 / (sf * amax); from a stored factor likewise. Other roundings of elements take that quotient in fp64.
struct exact : detail::nvfp4_default_decode_scaling<detail::exact_tensor> {};

/// cuDNN's documented rule: sf is the smallest code not below the real b * S / 6, 448 if none is. The rest as the
/// default.
struct round_up : detail::nvfp4_default_decode_scaling<detail::round_up_tensor> {};

/// Of the codes from 4 below to 12 above the default's, the one with the least squared error (fp64 sums from element 0
/// on, nearest codes by the default's multiplier, lowest code wins). A zero block takes 0x00, a block with an infinity
/// 0x7E; NaN is left out. The rest as the default. About 25 times the default's time.
struct search : detail::nvfp4_default_decode_scaling<detail::search_tensor> {};

}  // namespace fp4
FP4_EXACT_END
