// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lanes.hpp"
#include "near.hpp"

#if FP4_HAS_VECTOR_EXTENSIONS

FP4_EXACT_BEGIN
namespace fp4::cpu::detail {

/// GNU vectors of four, on any little-endian target.
struct portable_backend : scalar_backend {
  using floats = lanes<4>::floats;
  using ints = lanes<4>::ints;
  static constexpr bool has_vectors = true;

  static void exact_scales(fp4::detail::exact_tensor const& tensor, int blocks, tile_scales& scales) noexcept {
    exact_scales_in_lanes<4>(tensor, blocks, scales);
  }
  template <class Values>
  static ue4m3 search(fp4::detail::search_tensor const& tensor, Values const& x, int count, float amax) noexcept {
    return search_in_lanes<4>(tensor, x, count, amax);
  }

  template <class Values>
  static void four_over_six_scales(fp4::detail::four_over_six_tensor const& tensor, Values const& values, int blocks,
                                   int count, tile_scales& scales) noexcept {
    four_over_six_in_lanes<4>(tensor, values, blocks, count, scales);
  }

  template <int BlockSize, class In>
  static void block_amax(In const* x, int blocks, tile_scales& scales) noexcept {
    for (int b = 0; b < blocks; ++b) { scales.amax[b] = portable_backend::amax(x + b * BlockSize, BlockSize); }
  }

  template <class In>
  static float amax(In const* x, int count) noexcept {
    ints largest{};
    int const whole = count / 4 * 4;
    for (int i = 0; i < whole; i += 4) {
      ints a;
      load_values(a, x + i);
      a &= static_cast<int32_t>(magnitude_mask);
      largest = a > largest ? a : largest;
    }
    int32_t const m01 = largest[0] > largest[1] ? largest[0] : largest[1];
    int32_t const m23 = largest[2] > largest[3] ? largest[2] : largest[3];
    int32_t const m = m01 > m23 ? m01 : m23;
    // A NaN wins over every number as an integer: then it is left out one by one.
    if (m > static_cast<int32_t>(infinity_bits)) { return scalar_backend::amax(x, count); }
    uint32_t const most = static_cast<uint32_t>(m);
    uint32_t const rest = float_bits(scalar_backend::amax(x + whole, count - whole));
    return bits_float(most < rest ? rest : most);
  }

  template <class Scale, class Tensor>
  static void rounded_scales(Tensor const& tensor, int blocks, tile_scales& scales) noexcept {
    rounded_scales_in_lanes<4, Scale>(tensor, blocks, scales);
  }

  template <class Format, class Out>
  static void decode(block_decoder const& decoder, uint8_t const* codes, int blocks, tile_scales const& scales,
                     Out* out, bool streams) noexcept {
    bool const finite = all_finite(scales.factor, Format::has_block_scale ? blocks : 1);
    if constexpr (std_types::is_same<typename Format::element, e2m1>::value) {
      if (finite) { return decode_e2m1<Format>(decoder, codes, blocks, scales, out); }
    }
    scalar_backend::decode<Format>(decoder, codes, blocks, scales, out, streams);
  }

  template <class Format, class Tensor, class Rounding, class In>
  static void convert(Tensor const& tensor, Rounding rounding, random_source random, In const* x, int blocks,
                      tile_scales const& scales, uint8_t* codes) noexcept {
    constexpr bool is_e2m1 = std_types::is_same<typename Format::element, e2m1>::value;
    constexpr bool is_nearest = std_types::is_same<Rounding, nearest_even>::value;
    if constexpr (!is_e2m1 && is_nearest && Tensor::elements == element_rule::multiply) {
      convert_to_bytes<Format>(tensor, x, blocks, scales, codes);
    } else if constexpr (!is_e2m1 || Tensor::elements == element_rule::own) {
      scalar_backend::convert<Format>(tensor, rounding, random, x, blocks, scales, codes);
    } else {
      int const chunks = blocks * Format::block_size / 16;
      for (int chunk = 0; chunk < chunks; ++chunk) {
        float const factor = scales.factor[chunk * 16 / Format::block_size];
        uint32x4 bits{};
        if constexpr (is_stochastic_v<Rounding>) {
          bits = block_bits(random.seed, random.stream, random.position + static_cast<uint64_t>(chunk));
        }
        ints code[4];
        for (int i = 0; i < 4; ++i) {
          ints raw;
          load_values(raw, x + chunk * 16 + i * 4);
          floats z = reinterpret_cast<floats>(raw);
          scale_values<Tensor::elements>(tensor, z, factor);
          if constexpr (std_types::is_same<Rounding, nearest_even>::value) {
            round_nearest(reinterpret_cast<ints>(z), code[i]);
          } else {
            ints random16{};
            if constexpr (is_stochastic_v<Rounding>) { spread_word(bits[i], random16); }
            round_steps(reinterpret_cast<ints>(z), random16, code[i]);
          }
        }
        uint64_t const packed = pack(code);
        std::memcpy(codes + chunk * 8, &packed, 8);
      }
    }
  }

  [[nodiscard]] static bool all_finite(float const* x, int count) noexcept {
    uint32_t largest = 0;
    for (int i = 0; i < count; ++i) {
      uint32_t const a = float_bits(x[i]) & magnitude_mask;
      largest = a > largest ? a : largest;
    }
    return largest < infinity_bits;
  }

 private:
  template <class Format, class Out>
  static void decode_e2m1(block_decoder const& decoder, uint8_t const* codes, int blocks, tile_scales const& scales,
                          Out* out) noexcept {
    bool const divides = decoder.rule == decode_rule::quotient;
    int const elements = blocks * Format::block_size;
    for (int i = 0; i < elements; i += 8) {
      uint32_t word;
      std::memcpy(&word, codes + i / 2, 4);
      float const factor = scales.factor[i / Format::block_size];
      for (int half = 0; half < 2; ++half, word >>= 16) {
        floats v;
        for (int j = 0; j < 4; ++j) { v[j] = values_of<e2m1>.value[word >> (4 * j) & 0xF]; }
        v *= factor;
        if (divides) { v /= decoder.tensor; }
        store_values(out + i + 4 * half, v);
      }
    }
  }

  template <class Out>
  static FP4_INLINE void store_values(Out* out, floats const& v) noexcept {
    if constexpr (std_types::is_same<Out, float>::value) {
      store(out, v);
    } else {
      for (int i = 0; i < 4; ++i) { out[i] = Out::from_float(v[i]); }
    }
  }

  template <class Format, class Tensor, class In>
  static void convert_to_bytes(Tensor const& tensor, In const* x, int blocks, tile_scales const& scales,
                               uint8_t* codes) noexcept {
    int const elements = blocks * Format::block_size, whole = elements / 4 * 4;
    for (int first = 0; first < whole; first += 4) {
      ints raw, code;
      load_values(raw, x + first);
      floats const z =
          reinterpret_cast<floats>(raw) * scales.factor[Format::has_block_scale ? first / Format::block_size : 0];
      round_element<typename Format::element>(z, code);
      for (int i = 0; i < 4; ++i) { codes[first + i] = static_cast<uint8_t>(code[i]); }
    }
    // Only a format without blocks has a rest.
    if (whole < elements) {
      scalar_backend::convert<Format>(tensor, nearest_even{}, {}, x + whole, elements - whole, scales, codes + whole);
    }
  }

  /// fp32 bits of four values.
  template <class In>
  static FP4_INLINE void load_values(ints& v, In const* x) noexcept {
    if constexpr (std_types::is_same<In, float>::value) {
      load(v, x);
    } else if constexpr (std_types::is_same<In, bfloat16>::value) {
      v = ints{};
      for (int i = 0; i < 4; ++i) { v[i] = static_cast<int32_t>(static_cast<uint32_t>(x[i].bits) << 16); }
    } else {
      ints h{};
      for (int i = 0; i < 4; ++i) { h[i] = x[i].bits; }
      // Exponent and mantissa at fp32's place are the value times 2^-112, also where it is subnormal.
      ints const magnitude = (h & 0x7FFF) << 13;
      floats const value = reinterpret_cast<floats>(magnitude) * 0x1p112f;
      ints const finite = reinterpret_cast<ints>(value);
      ints const special = magnitude | static_cast<int32_t>(infinity_bits);
      v = (magnitude >= 0x0F800000 ? special : finite) | (h & 0x8000) << 16;
    }
  }

  template <element_rule Rule, class Tensor>
  static FP4_INLINE void scale_values(Tensor const& tensor, floats& z, float factor) noexcept {
    if constexpr (Rule == element_rule::multiply) {
      z *= factor;
    } else {
      if constexpr (Rule == element_rule::divide_twice) { z /= tensor.first_divisor; }
      z /= factor;
      if constexpr (Rule == element_rule::divide_to_bfloat16) {
        for (int i = 0; i < 4; ++i) { z[i] = bfloat16::from_float(z[i]).to_float(); }
      }
    }
  }

  /// The power of two of |z|, at least 1, as fp32 bits.
  static FP4_INLINE void binade(ints const& magnitude, ints& exponent) noexcept {
    exponent = magnitude & static_cast<int32_t>(infinity_bits);
    exponent = exponent > 0x3F800000 ? exponent : (ints{} + 0x3F800000);
  }

  /// |z| bounded by 6, and the sign bit of the code: none for NaN.
  static FP4_INLINE void bound(ints const& z, ints& magnitude, ints& sign) noexcept {
    ints const a = z & static_cast<int32_t>(magnitude_mask);
    sign = (z >> 28 & 8) & (a <= static_cast<int32_t>(infinity_bits));
    magnitude = a < 0x40C00000 ? a : (ints{} + 0x40C00000);
  }

  /// Adding 2^22 times the binade rounds |z| to its grid; an even offset of two steps a binade makes the low bits the
  /// code.
  static FP4_INLINE void round_nearest(ints const& z, ints& code) noexcept {
    ints a, sign, exponent;
    bound(z, a, sign);
    binade(a, exponent);
    ints const magic = exponent + (22 << 23) + ((exponent >> 22) - 254);
    floats const rounded = reinterpret_cast<floats>(a) + reinterpret_cast<floats>(magic);
    code = (reinterpret_cast<ints>(rounded) & 7) | sign;
  }

  /// round_stochastic; with random16 = 0 it rounds toward zero.
  static FP4_INLINE void round_steps(ints const& z, ints const& random16, ints& code) noexcept {
    ints a, sign, exponent;
    bound(z, a, sign);
    binade(a, exponent);
    ints const inverse = (254 << 23) - exponent;
    floats const steps = reinterpret_cast<floats>(a) * 0x1p17f * reinterpret_cast<floats>(inverse);
    ints const whole = __builtin_convertvector(steps, ints);
    code = (whole + random16 + (exponent >> 6) - (254 << 16)) >> 16 | sign;
  }

  static FP4_INLINE void spread_word(uint32_t word, ints& random16) noexcept {
    for (int i = 0; i < 4; ++i) { random16[i] = static_cast<int32_t>(element_bits(word, i)); }
  }

  /// Sixteen codes, one a lane, to eight bytes.
  static FP4_INLINE uint64_t pack(ints const (&code)[4]) noexcept {
    typedef uint64_t pairs __attribute__((vector_size(16)));
    pairs sum{};
    for (int i = 0; i < 4; ++i) {
      pairs const c = reinterpret_cast<pairs>(code[i]);
      sum |= ((c | c >> 28) & 0xFF) << (16 * i);  // the odd element above the even one, in each half
    }
    return sum[0] | sum[1] << 8;
  }
};

}  // namespace fp4::cpu::detail
FP4_EXACT_END

#endif
