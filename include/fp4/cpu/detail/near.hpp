// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Quick ways to scalings that look at more than a block's amax. `exact` and `search` decide in fp32 where its error
/// cannot matter and leave the rest to the scaling's own arithmetic; `four_over_six` takes several blocks at once.

#include "lanes.hpp"
#include "scalar.hpp"

FP4_EXACT_BEGIN
namespace fp4::cpu::detail {

/// Relative error that covers the few fp32 roundings below with room to spare.
inline constexpr float near_above = 1.0f + 0x1p-19f;
inline constexpr float near_below = 1.0f - 0x1p-19f;

/// The block's factor and nothing else.
struct near_multiplier {
  static constexpr element_rule elements = element_rule::multiply;
};

/// Nearest codes under `exact`: where a factor a little smaller and one a little larger give a block the same codes, no
/// element is near a tie; other blocks go element by element.
template <class Backend, class Format, class In>
void exact_codes(fp4::detail::exact_tensor const& tensor, In const* x, int blocks, tile_scales const& scales,
                 uint8_t* codes) noexcept {
  constexpr int size = Format::block_size, bytes = size / 2;
  tile_scales below = scales, above = scales;
  for (int b = 0; b < blocks; ++b) {
    below.factor[b] = scales.factor[b] * near_below;
    above.factor[b] = scales.factor[b] * near_above;
  }
  alignas(64) uint8_t other[tile_elements / 2];
  Backend::template convert<Format>(near_multiplier{}, nearest_even{}, {}, x, blocks, below, codes);
  Backend::template convert<Format>(near_multiplier{}, nearest_even{}, {}, x, blocks, above, other);
  for (int b = 0; b < blocks; ++b) {
    if (std::memcmp(codes + b * bytes, other + b * bytes, bytes) == 0 && scales.factor[b] > 1e-30f) { continue; }
    tile_scales one;
    one.code[0] = scales.code[b];
    one.factor[0] = 0.0f;
    scalar_backend::convert<Format>(tensor, nearest_even{}, {}, x + b * size, 1, one, codes + b * bytes);
  }
}

#if FP4_HAS_VECTOR_EXTENSIONS

/// Scale codes under `exact`, Lanes blocks at a time: certain where both ends of the interval round alike.
/// scales.factor becomes x_factor / (sf * x_divisor) to within a few ulp, or 0 where that is no ordinary number.
template <int Lanes>
FP4_INLINE void exact_scales_in_lanes(fp4::detail::exact_tensor const& tensor, int blocks,
                                      tile_scales& scales) noexcept {
  using F = typename lanes<Lanes>::floats;
  using I = typename lanes<Lanes>::ints;
  float const per_amax = static_cast<float>(tensor.amax_factor / tensor.scale_divisor);
  float const per_value = static_cast<float>(tensor.x_factor / tensor.x_divisor);
  bool const ordinary = per_amax > 1e-30f && per_amax < 1e30f && per_value > 1e-30f && per_value < 1e30f;
  for (int b = 0; b < blocks; b += Lanes) {
    F value;
    load(value, scales.amax + b);
    value *= per_amax;
    F low = value * near_below, high = value * near_above;
    I low_code, high_code;
    round_scale<ue4m3>(low, low_code);
    round_scale<ue4m3>(high, high_code);
    F const quotient = per_value / low;
    I const has_factor = low_code > 0;
    store(scales.factor + b, reinterpret_cast<I>(quotient) & has_factor);
    for (int i = 0; i < Lanes; ++i) { scales.code[b + i] = static_cast<uint8_t>(low_code[i]); }
    I const certain = (low_code == high_code) & (value >= 1e-30f);
    if (ordinary && all_true(certain)) { continue; }
    for (int i = b; i < b + Lanes; ++i) {
      if (ordinary && certain[i - b] != 0) { continue; }
      float own = 0.0f, factor = 0.0f;
      if (i < blocks) { own = scales.amax[i]; }
      ue4m3 const code = tensor.scale_for(own);
      if (ordinary && code.bits != 0) { factor = per_value / code.to_float(); }
      scales.code[i] = code.bits;
      scales.factor[i] = factor;
    }
  }
}

/// The squared error of a block under one candidate in fp32; stops at a sum past `enough`.
template <class Values>
float near_error(Values const& x, int count, float multiplier, float decoded, float enough) noexcept {
  float sum = 0.0f;
  for (int k = 0; k < count && sum <= enough; ++k) {
    float const a = bits_float(float_bits(x(k)) & magnitude_mask);
    float const error = values_of<e2m1>.value[e2m1::from_float(a * multiplier).bits] * decoded - a;
    sum += error * error;
  }
  return sum;
}

/// The values of ue4m3 codes, the largest one again where more are loaded at once.
struct repeating_scale_table {
  float value[ue4m3::max_code + 16]{};
  constexpr repeating_scale_table() noexcept {
    for (int code = 0; code < ue4m3::max_code + 16; ++code) {
      value[code] = ue4m3{static_cast<uint8_t>(code < ue4m3::max_code ? code : ue4m3::max_code)}.to_float();
    }
  }
};
inline constexpr repeating_scale_table scales_to_the_largest{};

/// The scale of a block under `search`. Errors are first summed in fp32 for all candidates at once; those whose sums
/// lie within that arithmetic's error of the least are compared as the scaling says.
template <int Lanes, class Values>
FP4_INLINE ue4m3 search_in_lanes(fp4::detail::search_tensor const& tensor, Values const& x, int count,
                                 float amax) noexcept {
  using F = typename lanes<Lanes>::floats;
  using I = typename lanes<Lanes>::ints;
  constexpr int together = 16;  // the 17th candidate, the coarsest, is seldom close and goes alone
  constexpr int groups = together / Lanes;
  ue4m3 best;
  if (tensor.is_settled(amax, best)) { return best; }
  auto const codes = tensor.candidates(amax);
  int const candidates = codes.last - codes.first + 1;
  float const decode = static_cast<float>(tensor.decode_numerator / tensor.decode_divisor);

  F multiplier[groups], decoded[groups], sum[groups];
  for (int g = 0; g < groups; ++g) {
    load(multiplier[g], scales_to_the_largest.value + codes.first + g * Lanes);
    decoded[g] = multiplier[g] * decode;
    tensor.factor(multiplier[g], multiplier[g], multiplier[g]);
    sum[g] = F{};
  }
  for (int k = 0; k < count; ++k) {
    float const a = bits_float(float_bits(x(k)) & magnitude_mask);
    for (int g = 0; g < groups; ++g) {
      F const z = a * multiplier[g];
      I bounded = reinterpret_cast<I>(z);
      bounded = bounded < 0x40C00000 ? bounded : (I{} + 0x40C00000);
      I exponent = bounded & static_cast<int32_t>(infinity_bits);
      exponent = exponent > 0x3F800000 ? exponent : (I{} + 0x3F800000);
      I const magic = exponent + (22 << 23);
      F const q = (reinterpret_cast<F>(bounded) + reinterpret_cast<F>(magic)) - reinterpret_cast<F>(magic);
      F const error = q - z;  // in units of the decoded scale, since z is a over it to within a few ulp
      sum[g] += error * error;
    }
  }

  alignas(32) float errors[together + 1];
  I least_sum = I{} + static_cast<int32_t>(magnitude_mask);  // as bits: sums are not negative
  for (int g = 0; g < groups; ++g) {
    sum[g] *= decoded[g] * decoded[g];
    store(errors + g * Lanes, sum[g]);
    I const bits = reinterpret_cast<I>(sum[g]);
    least_sum = bits < least_sum ? bits : least_sum;
  }
  int32_t least_bits = least_sum[0];
  for (int i = 1; i < Lanes; ++i) { least_bits = least_sum[i] < least_bits ? least_sum[i] : least_bits; }
  float least_near = bits_float(static_cast<uint32_t>(least_bits));
  float const most_power = amax * amax * static_cast<float>(count);
  auto const bound_of = [most_power](float least) { return least * 1.0001f + most_power * 1e-6f; };
  if (candidates > together) {
    float factor = values_of<ue4m3>.value[codes.last];
    float const value = factor * decode;
    tensor.factor(factor, factor, factor);
    errors[together] = near_error(x, count, factor, value, bound_of(least_near));
    if (errors[together] < least_near) { least_near = errors[together]; }
  }
  float const bound = bound_of(least_near);
  // As integers, so that no flag lets the compiler forget NaN.
  bool const lanes_are_candidates = candidates >= together || codes.last == ue4m3::max_code;
  bool const decides = lanes_are_candidates && float_bits(least_near) < infinity_bits &&
                       float_bits(most_power) > float_bits(1e-25f) && float_bits(most_power) < float_bits(1e30f) &&
                       float_bits(decode) > float_bits(1e-15f) && float_bits(decode) < float_bits(1e15f);
  int survivors = 0, last = 0;
  for (int i = 0; i < candidates; ++i) {
    if (errors[i] <= bound) { ++survivors, last = i; }
  }
  if (decides && survivors == 1) { return {static_cast<uint8_t>(codes.first + last)}; }
  double least = -1.0;
  for (int i = 0; i < candidates; ++i) {
    if (decides && !(errors[i] <= bound)) { continue; }
    tensor.improve(x, count, {static_cast<uint8_t>(codes.first + i)}, best, least);
  }
  return best;
}

/// The scales of Lanes blocks under `four_over_six`, one block a lane; arithmetic and order are those of its choose().
template <int Lanes, class Values>
FP4_INLINE void four_over_six_in_lanes(fp4::detail::four_over_six_tensor const& tensor, Values const& values,
                                       int blocks, int count, tile_scales& scales) noexcept {
  using F = typename lanes<Lanes>::floats;
  using I = typename lanes<Lanes>::ints;
  int32_t volatile every_bit = -1;  // unknown to the compiler: stands between a product and a sum
  I const keep = I{} + every_bit;
  I const magnitude = I{} + static_cast<int32_t>(magnitude_mask);
  for (int first = 0; first < blocks; first += Lanes) {
    F base;
    load(base, scales.amax + first);
    base /= 6.0f;
    base *= tensor.encode;
    F scale[2] = {base * 1.5f, base}, factor[2], sum[2] = {F{}, F{}};
    I code[2];
    for (int k = 0; k < 2; ++k) {
      round_scale<ue4m3>(scale[k], code[k]);
      factor[k] = scale[k];
      tensor.factor(factor[k], factor[k], factor[k]);
    }
    for (int i = 0; i < count; ++i) {
      F x{};
      for (int lane = 0; lane < Lanes && first + lane < blocks; ++lane) { x[lane] = values(first + lane)(i); }
      I const sign = reinterpret_cast<I>(x) & ~magnitude;
      for (int k = 0; k < 2; ++k) {
        F const z = x * factor[k];
        I a = reinterpret_cast<I>(z) & magnitude;
        I const q_sign = a > static_cast<int32_t>(infinity_bits) ? I{} : sign;  // NaN is +6
        a = a < 0x40C00000 ? a : (I{} + 0x40C00000);
        I exponent = a & static_cast<int32_t>(infinity_bits);
        exponent = exponent > 0x3F800000 ? exponent : (I{} + 0x3F800000);
        I const magic = exponent + (22 << 23);
        F q = (reinterpret_cast<F>(a) + reinterpret_cast<F>(magic)) - reinterpret_cast<F>(magic);
        q = reinterpret_cast<F>(reinterpret_cast<I>(q) | q_sign);
        F const error = q * scale[k] * tensor.amax / tensor.range - x;
        F const size = reinterpret_cast<F>(reinterpret_cast<I>(error) & magnitude);
        if (tensor.measure == block_error::largest) {
          I const a_size = reinterpret_cast<I>(size), most = reinterpret_cast<I>(sum[k]);  // NaN is the largest
          sum[k] = reinterpret_cast<F>(a_size > most ? a_size : most);
        } else if (tensor.measure == block_error::mean_absolute) {
          sum[k] = sum[k] + size;
        } else {
          F const square = error * error;
          sum[k] = sum[k] + reinterpret_cast<F>(reinterpret_cast<I>(square) & keep);
        }
      }
    }
    I const to_4 = sum[0] < sum[1];
    code[1] = to_4 ? code[0] : code[1];
    I const chosen = to_4 ? reinterpret_cast<I>(factor[0]) : reinterpret_cast<I>(factor[1]);
    store(scales.factor + first, chosen);
    for (int lane = 0; lane < Lanes; ++lane) { scales.code[first + lane] = static_cast<uint8_t>(code[1][lane]); }
  }
}

#endif

}  // namespace fp4::cpu::detail
FP4_EXACT_END
