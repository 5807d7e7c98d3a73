// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../scaling/arithmetic.hpp"
#include "ptx.cuh"

namespace fp4::gpu::detail {

/// The F of the scale formulas (scaling/arithmetic.hpp) on a device: each operation is rounded by itself and keeps
/// subnormals, whatever -use_fast_math asks for.
struct exact_float {
  float value;

  __device__ __forceinline__ exact_float& operator*=(float b) { return value = ptx::mul(value, b), *this; }
  __device__ __forceinline__ exact_float& operator/=(float b) { return value = ptx::div(value, b), *this; }
  __device__ __forceinline__ exact_float& operator*=(exact_float b) { return *this *= b.value; }
  __device__ __forceinline__ exact_float& operator/=(exact_float b) { return *this /= b.value; }
  __device__ __forceinline__ friend exact_float operator*(exact_float a, float b) { return a *= b; }
  __device__ __forceinline__ friend exact_float operator/(exact_float a, exact_float b) { return a /= b; }
  __device__ __forceinline__ friend exact_float operator+(exact_float a, float b) { return {ptx::add(a.value, b)}; }
};

// Found before the templates of the same names, which these formulas call.
__device__ __forceinline__ void to_magnitude_bits(int32_t& bits, exact_float const& v) {
  bits = __float_as_int(v.value) & static_cast<int32_t>(fp4::detail::magnitude_mask);
}
__device__ __forceinline__ void from_magnitude_bits(exact_float& v, int32_t const& bits) {
  v.value = __int_as_float(bits);
}
__device__ __forceinline__ void limit(exact_float& v, float most) { v.value = ptx::min(v.value, most); }
__device__ __forceinline__ void fill(exact_float& v, float x) { v.value = x; }

/// As exact_float, for the value that is rounded to a scale code: the code saturates, so a limit of FLT_MAX does
/// nothing.
struct scale_float : exact_float {};
__device__ __forceinline__ void to_magnitude_bits(int32_t& bits, scale_float const& v) {
  to_magnitude_bits(bits, static_cast<exact_float const&>(v));
}
__device__ __forceinline__ void from_magnitude_bits(scale_float& v, int32_t const& bits) {
  v.value = __int_as_float(bits);
}
__device__ __forceinline__ void fill(scale_float& v, float x) { v.value = x; }
__device__ __forceinline__ void limit(scale_float& v, float most) {
  if (most < fp4::detail::float_max) { v.value = ptx::min(v.value, most); }
}

}  // namespace fp4::gpu::detail

namespace fp4::detail {
template <>
struct magnitude_bits<gpu::detail::exact_float> {
  using type = int32_t;
};
template <>
struct magnitude_bits<gpu::detail::scale_float> {
  using type = int32_t;
};
}  // namespace fp4::detail
