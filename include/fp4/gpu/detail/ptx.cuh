// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Instructions by name: assembly is found here and in ptx_matrix.cuh alone. Arithmetic here is rounded as PTX says and
/// keeps subnormals, whatever -use_fast_math or -fmad ask for. min and max return the number where one operand is NaN.

#include "../../format/half.hpp"

namespace fp4::gpu::detail::ptx {

// --- fp32 ----------------------------------------------------------------------------------------------------

__device__ __forceinline__ float mul(float a, float b) {
  float d;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
__device__ __forceinline__ float add(float a, float b) {
  float d;
  asm("add.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
__device__ __forceinline__ float sub(float a, float b) {
  float d;
  asm("sub.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
__device__ __forceinline__ float div(float a, float b) {
  float d;
  asm("div.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
__device__ __forceinline__ float fma(float a, float b, float c) {
  float d;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}
/// Rounded toward zero.
__device__ __forceinline__ float fma_rz(float a, float b, float c) {
  float d;
  asm("fma.rz.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}
__device__ __forceinline__ float min(float a, float b) {
  float d;
  asm("min.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
__device__ __forceinline__ float max(float a, float b) {
  float d;
  asm("max.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
__device__ __forceinline__ float abs(float a) {
  float d;
  asm("abs.f32 %0, %1;" : "=f"(d) : "f"(a));
  return d;
}
/// True for a < b; false where one is NaN. Subnormals count.
__device__ __forceinline__ bool less(float a, float b) {
  uint32_t d;
  asm("{.reg .pred p; setp.lt.f32 p, %1, %2; selp.u32 %0, 1, 0, p;}" : "=r"(d) : "f"(a), "f"(b));
  return d != 0;
}

/// The larger of |a| and `floor` > 0, with the sign of a. a is a number.
__device__ __forceinline__ float at_least_in_magnitude(float a, float floor) {
  float d;
#if FP4_DEVICE_XORSIGN
  asm("max.xorsign.abs.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(floor));
#else
  asm("{.reg .f32 t; abs.f32 t, %1; max.f32 t, t, %2; copysign.f32 %0, %1, t;}" : "=f"(d) : "f"(a), "f"(floor));
#endif
  return d;
}
/// The smaller of |a| and `bound` > 0, with the sign of a. a is a number.
__device__ __forceinline__ float at_most_in_magnitude(float a, float bound) {
  float d;
#if FP4_DEVICE_XORSIGN
  asm("min.xorsign.abs.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(bound));
#else
  asm("{.reg .f32 t; abs.f32 t, %1; min.f32 t, t, %2; copysign.f32 %0, %1, t;}" : "=f"(d) : "f"(a), "f"(bound));
#endif
  return d;
}

/// The larger magnitude, positive. NaN wins under KeepNan, else the number does.
template <bool KeepNan>
__device__ __forceinline__ float max_magnitude(float a, float b) {
  float d;
  if constexpr (KeepNan) {
#if FP4_DEVICE_PAIRS
    asm("{.reg .f32 s, t; abs.f32 s, %1; abs.f32 t, %2; max.NaN.f32 %0, s, t;}" : "=f"(d) : "f"(a), "f"(b));
#else
    uint32_t const x = __float_as_uint(a) & 0x7FFFFFFFu, y = __float_as_uint(b) & 0x7FFFFFFFu;
    d = __uint_as_float(x > y ? x : y);
#endif
  } else {
    asm("{.reg .f32 s, t; abs.f32 s, %1; abs.f32 t, %2; max.f32 %0, s, t;}" : "=f"(d) : "f"(a), "f"(b));
  }
  return d;
}

/// {a0 * b, a1 * b}.
__device__ __forceinline__ void mul_pair(float& a0, float& a1, float b) {
#if FP4_DEVICE_F32X2
  asm("{.reg .b64 s, t; mov.b64 s, {%0, %1}; mov.b64 t, {%2, %2}; mul.rn.f32x2 s, s, t; mov.b64 {%0, %1}, s;}"
      : "+f"(a0), "+f"(a1)
      : "f"(b));
#else
  a0 = mul(a0, b), a1 = mul(a1, b);
#endif
}

/// a +- b of two pairs of numbers: {a0 + b0, a1 + b1} to a, {a0 - b0, a1 - b1} to b.
__device__ __forceinline__ void butterfly_pair(float& a0, float& a1, float& b0, float& b1) {
#if FP4_DEVICE_F32X2
  asm("{.reg .b64 a, b, s; mov.b64 a, {%0, %1}; mov.b64 b, {%2, %3}; add.rn.f32x2 s, a, b; mov.b64 {%0, %1}, s;\n"
      "fma.rn.f32x2 s, b, %4, a; mov.b64 {%2, %3}, s;}"
      : "+f"(a0), "+f"(a1), "+f"(b0), "+f"(b1)
      : "l"(0xBF800000BF800000ull));  // a - b is -1 * b + a: the product is exact
#else
  float const s0 = add(a0, b0), s1 = add(a1, b1);
  b0 = sub(a0, b0), b1 = sub(a1, b1);
  a0 = s0, a1 = s1;
#endif
}

// --- 16-bit floats, two in a word ----------------------------------------------------------------------------

/// max_magnitude_x2 where no instruction does it. Bits of magnitudes order as these do, NaN above infinity.
template <bool KeepNan>
__device__ __forceinline__ uint32_t max_magnitude_by_bits(uint32_t a, uint32_t b, uint32_t infinity) {
  auto const larger = [infinity](uint32_t x, uint32_t y) {
    if constexpr (!KeepNan) {
      if (x > infinity) { return y > infinity ? 0u : y; }
      if (y > infinity) { return x; }
    }
    return x > y ? x : y;
  };
  return larger(a & 0x7FFFu, b & 0x7FFFu) | larger(a >> 16 & 0x7FFFu, b >> 16 & 0x7FFFu) << 16;
}

/// In each half the larger magnitude with some sign. NaN wins under KeepNan, else the number does.
template <bool KeepNan>
__device__ __forceinline__ uint32_t max_magnitude_x2(bfloat16, uint32_t a, uint32_t b) {
  uint32_t d;
#if FP4_DEVICE_XORSIGN
  if constexpr (KeepNan) {
    asm("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  } else {
    asm("max.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  }
#elif !FP4_DEVICE_PAIRS
  d = max_magnitude_by_bits<KeepNan>(a, b, 0x7F80u);
#else
  if constexpr (KeepNan) {
    asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a & 0x7FFF7FFFu), "r"(b & 0x7FFF7FFFu));
  } else {
    asm("max.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a & 0x7FFF7FFFu), "r"(b & 0x7FFF7FFFu));
  }
#endif
  return d;
}
template <bool KeepNan>
__device__ __forceinline__ uint32_t max_magnitude_x2(float16, uint32_t a, uint32_t b) {
  uint32_t d;
#if FP4_DEVICE_XORSIGN
  if constexpr (KeepNan) {
    asm("max.NaN.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  } else {
    asm("max.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  }
#elif !FP4_DEVICE_PAIRS
  d = max_magnitude_by_bits<KeepNan>(a, b, 0x7C00u);
#else
  if constexpr (KeepNan) {
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a & 0x7FFF7FFFu), "r"(b & 0x7FFF7FFFu));
  } else {
    asm("max.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a & 0x7FFF7FFFu), "r"(b & 0x7FFF7FFFu));
  }
#endif
  return d;
}

/// The low or the high half as fp32, exactly.
template <bool High>
__device__ __forceinline__ float half_of(bfloat16, uint32_t word) {
  return __uint_as_float(High ? word & 0xFFFF0000u : word << 16);
}
template <bool High>
__device__ __forceinline__ float half_of(float16, uint32_t word) {
  float d;
  if constexpr (High) {
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, h;}" : "=f"(d) : "r"(word));
  } else {
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l;}" : "=f"(d) : "r"(word));
  }
  return d;
}

/// Both to nearest even, `low` in the low half.
__device__ __forceinline__ uint32_t pack(bfloat16, float low, float high) {
#if FP4_DEVICE_PAIRS
  uint32_t d;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
  return d;
#else
  return bfloat16::from_float(low).bits | uint32_t{bfloat16::from_float(high).bits} << 16;
#endif
}
__device__ __forceinline__ uint32_t pack(float16, float low, float high) {
  uint32_t d;
#if FP4_DEVICE_PAIRS
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
#else
  asm("{.reg .b16 l, h; cvt.rn.f16.f32 l, %2; cvt.rn.f16.f32 h, %1; mov.b32 %0, {l, h};}"
      : "=r"(d)
      : "f"(high), "f"(low));
#endif
  return d;
}

#if FP4_DEVICE_F32X2
/// {x0 * f + x1 * f, x0 * f - x1 * f} of a pair of halves, each rounded once where the products are exact in fp32.
/// `factors` is {f, -f}.
__device__ __forceinline__ void butterfly_of_halves(bfloat16, uint32_t x, uint32_t factors, float& sum,
                                                    float& difference) {
  asm("{.reg .b16 a, b, f, n; .reg .f32 t; mov.b32 {a, b}, %2; mov.b32 {f, n}, %3;\n"
      "fma.rn.f32.bf16 t, a, f, %4; fma.rn.f32.bf16 %0, b, f, t; fma.rn.f32.bf16 %1, b, n, t;}"
      : "=&f"(sum), "=f"(difference)
      : "r"(x), "r"(factors), "f"(-0.0f));
}
__device__ __forceinline__ void butterfly_of_halves(float16, uint32_t x, uint32_t factors, float& sum,
                                                    float& difference) {
  asm("{.reg .b16 a, b, f, n; .reg .f32 t; mov.b32 {a, b}, %2; mov.b32 {f, n}, %3;\n"
      "fma.rn.f32.f16 t, a, f, %4; fma.rn.f32.f16 %0, b, f, t; fma.rn.f32.f16 %1, b, n, t;}"
      : "=&f"(sum), "=f"(difference)
      : "r"(x), "r"(factors), "f"(-0.0f));
}
#endif

// --- Conversions that not every device has -------------------------------------------------------------------

#if FP4_DEVICE_E2M1
/// Eight e2m1 codes, x[0] in the lowest nibble: nearest even, saturating, NaN gives 0x7.
__device__ __forceinline__ uint32_t e2m1_x8(float const (&x)[8]) {
  uint32_t d;
  asm("{.reg .b8 a, b, c, d; cvt.rn.satfinite.e2m1x2.f32 a, %2, %1; cvt.rn.satfinite.e2m1x2.f32 b, %4, %3;\n"
      "cvt.rn.satfinite.e2m1x2.f32 c, %6, %5; cvt.rn.satfinite.e2m1x2.f32 d, %8, %7; mov.b32 %0, {a, b, c, d};}"
      : "=r"(d)
      : "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]), "f"(x[4]), "f"(x[5]), "f"(x[6]), "f"(x[7]));
  return d;
}
/// Eight e2m1 codes to four words of two halves.
__device__ __forceinline__ void from_e2m1_x8(uint32_t codes, uint32_t (&half2)[4]) {
  asm("{.reg .b8 a, b, c, d; mov.b32 {a, b, c, d}, %4; cvt.rn.f16x2.e2m1x2 %0, a; cvt.rn.f16x2.e2m1x2 %1, b;\n"
      "cvt.rn.f16x2.e2m1x2 %2, c; cvt.rn.f16x2.e2m1x2 %3, d;}"
      : "=r"(half2[0]), "=r"(half2[1]), "=r"(half2[2]), "=r"(half2[3])
      : "r"(codes));
}
#endif

#if FP4_DEVICE_STOCHASTIC_E2M1
/// Eight e2m1 codes, x[0] in the lowest nibble, by the bits of one word for each four.
__device__ __forceinline__ uint32_t e2m1_x8_stochastic(float const (&x)[8], uint32_t bits0, uint32_t bits1) {
  uint32_t d;
  asm("{.reg .b16 l, h; cvt.rs.satfinite.e2m1x4.f32 l, {%4, %3, %2, %1}, %9;\n"
      "cvt.rs.satfinite.e2m1x4.f32 h, {%8, %7, %6, %5}, %10; mov.b32 %0, {l, h};}"
      : "=r"(d)
      : "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]), "f"(x[4]), "f"(x[5]), "f"(x[6]), "f"(x[7]), "r"(bits0), "r"(bits1));
  return d;
}
#endif

#if FP4_DEVICE_E4M3
/// Four e4m3 codes, x0 in the lowest byte: nearest even, saturating, NaN gives 0x7F.
__device__ __forceinline__ uint32_t e4m3_x4(float x0, float x1, float x2, float x3) {
  uint32_t d;
  asm("{.reg .b16 l, h; cvt.rn.satfinite.e4m3x2.f32 l, %2, %1; cvt.rn.satfinite.e4m3x2.f32 h, %4, %3;\n"
      "mov.b32 %0, {l, h};}"
      : "=r"(d)
      : "f"(x0), "f"(x1), "f"(x2), "f"(x3));
  return d;
}
/// One e4m3 code.
__device__ __forceinline__ uint32_t e4m3(float x) {
  uint32_t d;
  asm("{.reg .b16 l, h; mov.b16 h, 0; cvt.rn.satfinite.e4m3x2.f32 l, %2, %1; mov.b32 %0, {l, h};}"
      : "=r"(d)
      : "f"(x), "f"(0.0f));
  return d;
}
/// Four e4m3 codes to two words of two halves.
__device__ __forceinline__ void from_e4m3_x4(uint32_t codes, uint32_t (&half2)[2]) {
  asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.rn.f16x2.e4m3x2 %0, l; cvt.rn.f16x2.e4m3x2 %1, h;}"
      : "=r"(half2[0]), "=r"(half2[1])
      : "r"(codes));
}
#endif

__device__ __forceinline__ uint64_t mul_wide(uint32_t a, uint32_t b) {
  uint64_t d;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(d) : "r"(a), "r"(b));
  return d;
}
/// Byte i of the result is the byte of {a, b} that nibble i of `which` names; 8 more than its number gives its top bit
/// eight times.
__device__ __forceinline__ uint32_t permute(uint32_t a, uint32_t b, uint32_t which) {
  uint32_t d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(which));
  return d;
}

// --- Memory --------------------------------------------------------------------------------------------------

/// 16 bytes that nobody writes while the kernel runs.
__device__ __forceinline__ uint4 load_16(void const* p) {
  uint4 v;
  asm("ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}

__device__ __forceinline__ uint2 load_8(void const* p) {
  uint2 v;
  asm("ld.global.nc.v2.b32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
  return v;
}
__device__ __forceinline__ uint32_t load_1(void const* p) {
  uint32_t v;
  asm("ld.global.nc.u8 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}

/// Where a shared variable lies in the shared window.
__device__ __forceinline__ uint32_t shared_address(void const* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
/// A float of shared memory that was written before the last barrier and stays.
__device__ __forceinline__ float load_shared(uint32_t address) {
  float v;
  asm("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address));
  return v;
}

/// 16 bytes of it, where they are asked for: never held in registers from one round of a loop to the next.
__device__ __forceinline__ uint4 load_shared_16(uint32_t address) {
  uint4 v;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address));
  return v;
}

/// The same object, of which the compiler knows nothing: what is read from it is read here, and held nowhere before.
template <class T>
__device__ __forceinline__ T const& hidden(T const& x) {
  T const* p = &x;
  asm volatile("" : "+l"(p));
  return *p;
}
/// Hides from the compiler where a number comes from, so that it stays in its register.
__device__ __forceinline__ void keep_in_register(uint32_t& x) { asm("" : "+r"(x)); }
/// Two words to shared memory, in one instruction whatever branches they come from.
__device__ __forceinline__ void store_shared(void* to, uint32_t x, uint32_t y) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" : : "r"(shared_address(to)), "r"(x), "r"(y) : "memory");
}

/// The same number, from where the compiler cannot see it: what is computed from it is computed here and not before a
/// loop, where it would take a register for all of it.
__device__ __forceinline__ uint32_t computed_here(uint32_t x) {
  asm volatile("" : "+r"(x));
  return x;
}
/// Says that what lies at shared address `x` may have changed: loads from it stay behind the last barrier.
__device__ __forceinline__ void order_after_barrier(uint32_t& x) { asm volatile("" : "+r"(x) : : "memory"); }

}  // namespace fp4::gpu::detail::ptx
