// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The presets that compare exactly, look at all values of the block, or encode elements in their own way.

#include "scaling.hpp"

FP4_EXACT_BEGIN
namespace fp4::reference::detail {

/// The value of a ue4m3 code, exact in fp32.
inline float scale_value(int code) { return static_cast<float>(value_of<ue4m3>(code)); }
/// The code of an element as the default chooses it, and its value.
inline float default_element(tensor_factors const& t, float sf, float x) {
  float const number = product(x, transformer_engine_multiplier(t, sf));
  return static_cast<float>(value_of<e2m1>(encode<e2m1>(static_cast<double>(number), 1, nearest_even{}, 0)));
}

// --- exact

/// The real block scale is b * scale_factor / scale_divisor, the real element x * x_factor / (sf *
/// x_divisor).
struct exact_factors {
  double scale_factor, scale_divisor, x_factor, x_divisor;
};
inline exact_factors exact_factors_of(tensor_factors const& t) {
  double const stored = static_cast<double>(t.stored);
  if (t.made_from == tensor_scale::source::encode) { return {stored, 6, stored, 1}; }
  if (t.made_from == tensor_scale::source::decode) { return {1, 6 * stored, 1, stored}; }
  if (t.amax == 0 || is_infinite(t.amax)) { return {1, 6, 1, 1}; }
  double const a = static_cast<double>(t.bounded_amax);
  return {448, a, 2688, a};
}

template <class Format>
int scale_code(exact const&, tensor_factors const& t, block const& b) {
  exact_factors const f = exact_factors_of(t);
  return round<ue4m3>(fraction{static_cast<double>(b.amax) * f.scale_factor, f.scale_divisor}, nearest_even{}, 0);
}

// --- round_up and search

template <class Format>
int scale_code(round_up const&, tensor_factors const& t, block const& b) {
  double const needed = static_cast<double>(b.amax) * static_cast<double>(t.encode);  // exact, and so is 6 * value
  int code = 0;
  while (code < largest_code<ue4m3>() && 6 * value_of<ue4m3>(code) < needed) { ++code; }
  return code;
}

/// fp64 sum of the squared errors under a scale code.
inline double squared_error(tensor_factors const& t, block const& b, int code) {
  bool const has_amax = t.made_from == tensor_scale::source::amax && t.amax > 0;
  double numerator = static_cast<double>(t.decode), divisor = 1;
  if (has_amax) { numerator = static_cast<double>(t.bounded_amax), divisor = static_cast<double>(t.range); }
  double total = 0;
  for (float const x : b.values) {
    if (is_nan(x)) { continue; }
    double const q = static_cast<double>(default_element(t, scale_value(code), x));
    double const decoded = round_to_double(q * value_of<ue4m3>(code) * numerator / divisor);
    double const error = round_to_double(decoded - static_cast<double>(x));
    total = round_to_double(total + round_to_double(error * error));
  }
  return total;
}

template <class Format>
int scale_code(search const&, tensor_factors const& t, block const& b) {
  if (b.amax == 0) { return 0; }
  if (is_infinite(b.amax)) { return largest_code<ue4m3>(); }
  int const middle = scale_code<Format>(transformer_engine{}, t, b);
  int best = 0;
  double least = 0;
  for (int code = middle - 4; code <= middle + 12; ++code) {
    if (code < 1 || code > largest_code<ue4m3>()) { continue; }
    double const error = squared_error(t, b, code);
    if (best == 0 || error < least) { best = code, least = error; }
  }
  return best;
}

// --- four_over_six

inline float block_error_of(block_error measure, tensor_factors const& t, block const& b, int code) {
  float const sf = scale_value(code);
  float total = 0;
  for (float const x : b.values) {
    float const decoded = quotient(product(product(default_element(t, sf, x), sf), t.amax), t.range);
    float const error = sum(decoded, negated(x));
    if (is_nan(error)) { return error; }
    switch (measure) {
      case block_error::mean_square: total = sum(total, product(error, error)); break;
      case block_error::mean_absolute: total = sum(total, magnitude(error)); break;
      case block_error::largest: total = larger(total, magnitude(error)); break;
    }
  }
  return total;
}

template <class Format>
int scale_code(four_over_six const& preset, tensor_factors const& t, block const& b) {
  float const base = product(quotient(b.amax, 6), t.encode);
  int const to_4 = nearest_code<ue4m3>(smaller(product(1.5f, base), 448));
  int const to_6 = nearest_code<ue4m3>(smaller(base, 448));
  return block_error_of(preset.measure, t, b, to_4) < block_error_of(preset.measure, t, b, to_6) ? to_4 : to_6;
}

inline float scaled(round_up const&, tensor_factors const& t, block const&, float sf, float x) {
  return product(x, transformer_engine_multiplier(t, sf));
}
inline float scaled(search const&, tensor_factors const& t, block const&, float sf, float x) {
  return product(x, transformer_engine_multiplier(t, sf));
}
inline float scaled(four_over_six const&, tensor_factors const& t, block const&, float sf, float x) {
  return product(x, transformer_engine_multiplier(t, sf));
}

// --- ggml

template <class Format>
int scale_code(ggml const&, tensor_factors const&, block const& b) {
  float const value = quotient(b.amax, 6);
  if (value == 0) { return 0; }
  if (value < 0x1p-6f) {
    double const steps = std::floor(static_cast<double>(sum(product(value, 512), 0.5f)));
    return steps > 7 ? 7 : static_cast<int>(steps);
  }
  if (value >= 256) { return largest_code<ue4m3>(); }
  double const step = std::ldexp(1, std::ilogb(static_cast<double>(value)) - 3);
  double const rounded = std::floor(static_cast<double>(value) / step + 0.5) * step;
  return rounded >= 256 ? largest_code<ue4m3>() : nearest_code<ue4m3>(static_cast<float>(rounded));
}

// --- The code of an element

template <class Element, class Scaling, class Rounding>
int element_code(Scaling const& preset, tensor_factors const& t, block const& b, float sf, float x,
                 Rounding const& rounding, uint32_t random16) {
  return encode<Element>(static_cast<double>(scaled(preset, t, b, sf, x)), 1, rounding, random16);
}

template <class Element, class Rounding>
int element_code(exact const&, tensor_factors const& t, block const&, float sf, float x, Rounding const& rounding,
                 uint32_t random16) {
  if (x == 0 || is_nan(x)) { return encode<e2m1>(static_cast<double>(x), 1, rounding, random16); }
  if (sf == 0) { return x < 0 ? 0xF : 0x7; }
  exact_factors const f = exact_factors_of(t);
  return encode<e2m1>(static_cast<double>(x) * f.x_factor, static_cast<double>(sf) * f.x_divisor, rounding, random16);
}

template <class Element>
int element_code(ggml const&, tensor_factors const&, block const&, float sf, float x, nearest_even, uint32_t) {
  int best = 0;
  for (int code = 1; code < 16; ++code) {
    auto const distance = [&](int c) {
      return magnitude(sum(product(static_cast<float>(value_of<e2m1>(c)), sf), negated(x)));
    };
    if (distance(code) < distance(best)) { best = code; }
  }
  return best;
}

}  // namespace fp4::reference::detail
FP4_EXACT_END
