// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Registers of floats and ints as GNU vectors, and the arithmetic of scales on them. Vectors travel by reference:
/// passing a 32-byte vector by value is an ABI question where AVX is off.

#include "scalar.hpp"

#if FP4_HAS_VECTOR_EXTENSIONS

FP4_EXACT_BEGIN
namespace fp4::cpu::detail {

template <int Lanes>
struct lanes;
template <>
struct lanes<4> {
  typedef float floats __attribute__((vector_size(16)));
  typedef int32_t ints __attribute__((vector_size(16)));
};
template <>
struct lanes<8> {
  typedef float floats __attribute__((vector_size(32)));
  typedef int32_t ints __attribute__((vector_size(32)));
};

template <class V, class T>
FP4_INLINE void load(V& v, T const* from) noexcept {
  std::memcpy(&v, from, sizeof v);
}
template <class V, class T>
FP4_INLINE void store(T* to, V const& v) noexcept {
  std::memcpy(to, &v, sizeof v);
}

/// True where every lane of a comparison holds.
template <class I>
FP4_INLINE bool all_true(I const& mask) noexcept {
  constexpr int words = sizeof(I) / 8;
  uint64_t word[words];
  std::memcpy(word, &mask, sizeof mask);
  for (int i = 1; i < words; ++i) { word[0] &= word[i]; }
  return word[0] == ~uint64_t{0};
}

/// v >= 0 becomes the nearest value of an unsigned scale format, ties to even, saturating; `code` its code.
/// Adding E * 2^(23 - mantissa bits), E the power of two of v but at least that of the smallest normal, rounds v to its
/// step and leaves the count of steps in the low bits.
template <class Scale, class F, class I>
FP4_INLINE void round_scale(F& v, I& code) noexcept {
  constexpr int32_t min_normal_exponent = (128 - Scale::bias) << 23;
  constexpr int32_t to_magic = (23 - Scale::mantissa_bits) << 23;
  fp4::detail::limit(v, Scale::max_finite);
  I exponent = reinterpret_cast<I>(v) & static_cast<int32_t>(infinity_bits);
  exponent = exponent > min_normal_exponent ? exponent : (I{} + min_normal_exponent);
  I const magic = exponent + to_magic;
  F const shifted = v + reinterpret_cast<F>(magic);
  v = shifted - reinterpret_cast<F>(magic);
  code = (reinterpret_cast<I>(shifted) - magic) + (exponent >> (23 - Scale::mantissa_bits)) -
         (min_normal_exponent >> (23 - Scale::mantissa_bits));
}

/// Nearest even codes of a signed format whose elements take a byte, saturating; NaN as Element::from_float has it.
template <class Element, class F, class I>
FP4_INLINE void round_element(F const& z, I& code) noexcept {
  constexpr int32_t min_normal_exponent = (128 - Element::bias) << 23;
  constexpr int32_t to_magic = (23 - Element::mantissa_bits) << 23;
  constexpr int32_t largest =
      static_cast<int32_t>(fp4::detail::decode_magnitude(Element::max_code, Element::mantissa_bits, Element::bias));
  I const bits = reinterpret_cast<I>(z);
  I const magnitude = bits & static_cast<int32_t>(magnitude_mask);
  I const bounded = magnitude < largest ? magnitude : (I{} + largest);
  I exponent = bounded & static_cast<int32_t>(infinity_bits);
  exponent = exponent > min_normal_exponent ? exponent : (I{} + min_normal_exponent);
  I const magic = exponent + to_magic;
  F const shifted = reinterpret_cast<F>(bounded) + reinterpret_cast<F>(magic);
  code = (reinterpret_cast<I>(shifted) - magic) + (exponent >> (23 - Element::mantissa_bits)) -
         (min_normal_exponent >> (23 - Element::mantissa_bits));
  code |= bits >> (32 - Element::width) & Element::sign_bit;
  code = magnitude > static_cast<int32_t>(infinity_bits)
             ? I{} + (Element::has_nan ? Element::nan_code : Element::max_code)
             : code;
}

/// scalar_backend::rounded_scales, Lanes blocks at a time; computes on past `blocks` to a multiple of Lanes.
template <int Lanes, class Scale, class Tensor>
FP4_INLINE void rounded_scales_in_lanes(Tensor const& tensor, int blocks, tile_scales& scales) noexcept {
  using F = typename lanes<Lanes>::floats;
  using I = typename lanes<Lanes>::ints;
  for (int b = 0; b < blocks; b += Lanes) {
    F amax;
    load(amax, scales.amax + b);
    F value = amax;
    tensor.scale_value(value);
    F factor = value;
    I code;
    round_scale<Scale>(factor, code);
    tensor.factor(factor, amax, value);
    store(scales.factor + b, factor);
    for (int i = 0; i < Lanes; ++i) { scales.code[b + i] = static_cast<uint8_t>(code[i]); }
  }
}

}  // namespace fp4::cpu::detail
FP4_EXACT_END

#endif
