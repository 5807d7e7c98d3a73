// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The presets that are a formula of the block's largest magnitude b. Each preset has
///
///     scale_code<Format>(preset, tensor, block)         the code of the block scale
///     scaled(preset, tensor, block, sf, x)              the fp32 number that is rounded to an element
///
/// where sf is the decoded block scale.

#include "../scaling/presets.hpp"
#include "tensor.hpp"

FP4_EXACT_BEGIN
namespace fp4::reference::detail {

/// The values that share a scale, in row-major order, and their largest magnitude without NaN.
struct block {
  std::vector<float> values;
  float amax = 0;
};

inline constexpr float sixth = 0x1.555556p-3f;  // the fp32 nearest to 1/6

// --- Transformer Engine

inline float transformer_engine_multiplier(tensor_factors const& t, float sf) {
  return smaller(reciprocal(product(sf, reciprocal(t.encode))), largest_float);
}

template <class Format>
int scale_code(transformer_engine const&, tensor_factors const& t, block const& b) {
  return nearest_code<typename Format::scale>(smaller(product(b.amax, product(t.encode, sixth)), largest_float));
}
template <class Format>
int scale_code(transformer_engine_v2_13 const&, tensor_factors const& t, block const& b) {
  return nearest_code<ue4m3>(product(quotient(b.amax, 6), t.encode));
}
template <class Format>
int scale_code(transformer_engine_v2_13_rowwise const&, tensor_factors const& t, block const& b) {
  return nearest_code<ue4m3>(product(product(b.amax, sixth), t.encode));
}

inline float scaled(transformer_engine const&, tensor_factors const& t, block const&, float sf, float x) {
  return product(x, transformer_engine_multiplier(t, sf));
}
inline float scaled(transformer_engine_v2_13 const&, tensor_factors const& t, block const&, float sf, float x) {
  return product(x, transformer_engine_multiplier(t, sf));
}
inline float scaled(transformer_engine_v2_13_rowwise const&, tensor_factors const& t, block const&, float sf, float x) {
  return product(x, transformer_engine_multiplier(t, sf));
}

// --- Serving engines

inline float serving_scale(tensor_factors const& t, block const& b) {
  return product(t.encode, product(b.amax, sixth));
}
inline float serving_multiplier(bool is_zero, tensor_factors const& t, float sf) {
  if (is_zero) { return 0; }
  return reciprocal(product(sf, reciprocal(t.encode)));
}

template <class Format>
int scale_code(trtllm const&, tensor_factors const& t, block const& b) {
  return nearest_code<ue4m3>(serving_scale(t, b));
}
template <class Format>
int scale_code(vllm const&, tensor_factors const& t, block const& b) {
  return nearest_code<ue4m3>(serving_scale(t, b));
}
template <class Format>
int scale_code(flashinfer const&, tensor_factors const& t, block const& b) {
  return nearest_code<ue4m3>(serving_scale(t, b));
}
template <class Format>
int scale_code(vllm_emulation const&, tensor_factors const& t, block const& b) {
  return nearest_code<ue4m3>(smaller(serving_scale(t, b), 448));
}

inline float scaled(trtllm const&, tensor_factors const& t, block const& b, float sf, float x) {
  return product(x, serving_multiplier(serving_scale(t, b) == 0, t, sf));
}
inline float scaled(vllm const&, tensor_factors const& t, block const&, float sf, float x) {
  return product(x, serving_multiplier(sf == 0, t, sf));
}
inline float scaled(flashinfer const&, tensor_factors const& t, block const& b, float sf, float x) {
  return product(x, serving_multiplier(b.amax == 0, t, sf));
}
inline float scaled(vllm_emulation const&, tensor_factors const& t, block const&, float sf, float x) {
  return product(x, serving_multiplier(sf == 0, t, sf));
}

// --- Checkpoint tools

template <class Format>
int scale_code(torchao const&, tensor_factors const& t, block const& b) {
  return nearest_code<ue4m3>(smaller(larger(quotient(quotient(b.amax, 6), t.decode), 0x1p-6f), 448));
}
inline float scaled(torchao const&, tensor_factors const& t, block const&, float sf, float x) {
  return product(x, quotient(reciprocal(t.decode), sf));
}

template <class Format>
int scale_code(modelopt const&, tensor_factors const& t, block const& b) {
  float scale = quotient(b.amax, product(6, t.decode));
  if (scale == 0) { scale = 1; }
  return nearest_code<ue4m3>(smaller(larger(scale, 0x1p-9f), 448));
}
template <class Format>
int scale_code(modelopt_static const&, tensor_factors const& t, block const& b) {
  float scale = quotient(b.amax, 6);
  if (scale == 0) { scale = 1; }
  return nearest_code<ue4m3>(smaller(quotient(product(scale, 448), quotient(t.amax, 6)), 448));
}
inline float scaled(modelopt const&, tensor_factors const& t, block const&, float sf, float x) {
  return quotient(x, product(sf, t.decode));
}
inline float scaled(modelopt_static const&, tensor_factors const& t, block const&, float sf, float x) {
  return quotient(x, product(sf, t.decode));
}

inline int compressed_tensors_scale(tensor_factors const& t, block const& b) {
  int const code = nearest_code<ue4m3>(smaller(product(compressed_tensors_global(t), quotient(b.amax, 6)), 448));
  return code == 0 ? nearest_code<ue4m3>(0.125f) : code;
}
template <class Format>
int scale_code(compressed_tensors const&, tensor_factors const& t, block const& b) {
  return compressed_tensors_scale(t, b);
}
template <class Format>
int scale_code(compressed_tensors_gpu const&, tensor_factors const& t, block const& b) {
  return compressed_tensors_scale(t, b);
}
inline float scaled(compressed_tensors const&, tensor_factors const& t, block const&, float sf, float x) {
  return quotient(x, quotient(sf, compressed_tensors_global(t)));
}
inline float scaled(compressed_tensors_gpu const&, tensor_factors const& t, block const&, float sf, float x) {
  return round_to_bfloat16(quotient(x, quotient(sf, compressed_tensors_global(t))));
}

template <class Format>
int scale_code(jax const&, tensor_factors const& t, block const& b) {
  return nearest_code<ue4m3>(smaller(quotient(quotient(b.amax, t.decode), 6), 448));
}
inline float scaled(jax const&, tensor_factors const& t, block const&, float sf, float x) {
  return quotient(quotient(x, t.decode), sf);
}

// --- Formats with powers of two as scales, and FP8

/// The exponent as an e8m0 code; zero blocks and blocks with an infinity have codes of their own.
inline int power_of_two_code(float amax, int exponent) {
  if (amax == 0) { return 0; }
  if (is_infinite(amax)) { return 0xFE; }
  return (exponent < -127 ? -127 : exponent > 127 ? 127 : exponent) + 127;
}
template <class Format>
int scale_code(mx_floor const&, tensor_factors const&, block const& b) {
  double const largest = magnitudes<typename Format::element>().back();
  return power_of_two_code(b.amax, std::ilogb(static_cast<double>(b.amax)) - std::ilogb(largest));
}
template <class Format>
int scale_code(mx_ceil const&, tensor_factors const&, block const& b) {
  double const largest = magnitudes<typename Format::element>().back();
  int exponent = -127;
  while (exponent < 127 && static_cast<double>(b.amax) > std::ldexp(largest, exponent)) { ++exponent; }
  return power_of_two_code(b.amax, exponent);
}
inline double scaled(mx_floor const&, tensor_factors const&, block const&, float sf, float x) {
  return static_cast<double>(x) / static_cast<double>(sf);  // exact
}
inline double scaled(mx_ceil const&, tensor_factors const&, block const&, float sf, float x) {
  return static_cast<double>(x) / static_cast<double>(sf);  // exact
}
inline float scaled(tensor_amax const&, tensor_factors const& t, block const&, float, float x) {
  return product(x, t.encode);
}

}  // namespace fp4::reference::detail
FP4_EXACT_END
