// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Version, compiler and target facts. The only header that reads predefined macros, and the only one through
/// which the rooms `format` to `layout` reach a standard header.

#define FP4_VERSION_MAJOR 0
#define FP4_VERSION_MINOR 1
#define FP4_VERSION_PATCH 0
/// One number that orders versions: 1.2.3 is 1002003.
#define FP4_VERSION (FP4_VERSION_MAJOR * 1000000 + FP4_VERSION_MINOR * 1000 + FP4_VERSION_PATCH)

#if defined(__CUDACC_RTC__)
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>
namespace fp4 {
namespace std_types = ::cuda::std;
}  // namespace fp4
#else
#include <cstddef>
#include <cstdint>
#include <type_traits>
namespace fp4 {
namespace std_types = ::std;
}  // namespace fp4
#endif

namespace fp4 {
using std_types::int16_t;
using std_types::int32_t;
using std_types::int64_t;
using std_types::size_t;
using std_types::uint16_t;
using std_types::uint32_t;
using std_types::uint64_t;
using std_types::uint8_t;
}  // namespace fp4

#if defined(__CUDACC__)
#define FP4_HD __host__ __device__
#define FP4_CUDA_COMPILER 1
#else
#define FP4_HD
#define FP4_CUDA_COMPILER 0
#endif

// What the device that is being compiled for has. Only the bodies of device functions may depend on it: declarations
// and host code are compiled once for all devices. Each is 0 in host code.
//   FP4_DEVICE_E2M1             cvt.rn to and from e2m1x2: every Blackwell as `a` or `f` target
//   FP4_DEVICE_STOCHASTIC_E2M1  cvt.rs to e2m1x4: sm_100a and sm_103a
//   FP4_DEVICE_BLOCK_SCALED_MMA mma.sync with block scales: sm_120 and sm_121 as `a` or `f` target
//   FP4_DEVICE_E4M3             cvt.rn to and from e4m3x2
//   FP4_DEVICE_XORSIGN          min and max with .xorsign.abs
//   FP4_DEVICE_PAIRS            arithmetic on pairs of 16-bit floats, and max that keeps NaN: all but sm_75
//   FP4_DEVICE_F32X2            arithmetic on pairs of floats, min and max of three, fma of halves into a float
#if defined(__CUDA_ARCH__)
#define FP4_DEVICE_CODE 1
#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
#define FP4_DEVICE_FAMILY __CUDA_ARCH_FAMILY_SPECIFIC__
#elif defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM101_ALL) || defined(__CUDA_ARCH_FEAT_SM120_ALL)
#define FP4_DEVICE_FAMILY __CUDA_ARCH__  // CUDA 12.8
#else
#define FP4_DEVICE_FAMILY 0
#endif
#if defined(__CUDA_ARCH_SPECIFIC__)
#define FP4_DEVICE_SPECIFIC __CUDA_ARCH_SPECIFIC__
#elif defined(__CUDA_ARCH_FEAT_SM100_ALL)
#define FP4_DEVICE_SPECIFIC 1000
#else
#define FP4_DEVICE_SPECIFIC 0
#endif
#define FP4_DEVICE_E2M1 (FP4_DEVICE_FAMILY >= 1000 && FP4_DEVICE_FAMILY < 1300)
#define FP4_DEVICE_STOCHASTIC_E2M1 (FP4_DEVICE_SPECIFIC == 1000 || FP4_DEVICE_SPECIFIC == 1030)
#define FP4_DEVICE_BLOCK_SCALED_MMA (FP4_DEVICE_FAMILY >= 1200 && FP4_DEVICE_FAMILY < 1300)
#define FP4_DEVICE_E4M3 (__CUDA_ARCH__ >= 890)
#define FP4_DEVICE_XORSIGN (__CUDA_ARCH__ >= 860)
#define FP4_DEVICE_PAIRS (__CUDA_ARCH__ >= 800)
#define FP4_DEVICE_F32X2 (__CUDA_ARCH__ >= 1000)
#else
#define FP4_DEVICE_CODE 0
#define FP4_DEVICE_E2M1 0
#define FP4_DEVICE_STOCHASTIC_E2M1 0
#define FP4_DEVICE_BLOCK_SCALED_MMA 0
#define FP4_DEVICE_E4M3 0
#define FP4_DEVICE_XORSIGN 0
#define FP4_DEVICE_PAIRS 0
#define FP4_DEVICE_F32X2 0
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define FP4_INLINE __forceinline
#define FP4_NOINLINE __declspec(noinline)
#else
#define FP4_INLINE inline __attribute__((always_inline))
#define FP4_NOINLINE __attribute__((noinline))
#endif

// As FP4_INLINE, for integer-only code that returns a float. With -ffast-math g++ takes the constants +0 and -0 for
// equal wherever that code is inlined, so there it stays a function of its own.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && defined(__FAST_MATH__)
#define FP4_INLINE_TO_FLOAT inline __attribute__((optimize("no-fast-math,fp-contract=off")))
#else
#define FP4_INLINE_TO_FLOAT FP4_INLINE
#endif

// GNU vector extensions: v * c, v < c ? v : c on whole registers. Elsewhere only the scalar path exists.
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(FP4_NO_VECTOR_EXTENSIONS) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FP4_HAS_VECTOR_EXTENSIONS 1
#else
#define FP4_HAS_VECTOR_EXTENSIONS 0
#endif

// Names what was compiled in, so that translation units which differ in it share no symbol.
#if FP4_HAS_VECTOR_EXTENSIONS
#define FP4_PATHS_NAMESPACE with_vectors
#else
#define FP4_PATHS_NAMESPACE scalar_only
#endif

#if FP4_HAS_VECTOR_EXTENSIONS && defined(__x86_64__)
#define FP4_HAS_AVX2_PATH 1
#else
#define FP4_HAS_AVX2_PATH 0
#endif
#if FP4_HAS_VECTOR_EXTENSIONS && defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#define FP4_HAS_NEON_PATH 1
#else
#define FP4_HAS_NEON_PATH 0
#endif

#if defined(__x86_64__) || defined(_M_X64)
#define FP4_TARGET_X86_64 1
#else
#define FP4_TARGET_X86_64 0
#endif

// Reads and writes the floating-point control register of 64-bit Arm.
#if defined(__aarch64__) && defined(__clang__)
#define FP4_HAS_FPCR 1
#define FP4_READ_FPCR() static_cast<unsigned>(__builtin_arm_rsr64("fpcr"))
#define FP4_WRITE_FPCR(bits) __builtin_arm_wsr64("fpcr", bits)
#elif defined(__aarch64__) && defined(__GNUC__)
#define FP4_HAS_FPCR 1
#define FP4_READ_FPCR() __builtin_aarch64_get_fpcr()
#define FP4_WRITE_FPCR(bits) __builtin_aarch64_set_fpcr(bits)
#else
#define FP4_HAS_FPCR 0
#endif

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define FP4_HAS_EXCEPTIONS 1
#else
#define FP4_HAS_EXCEPTIONS 0
#endif

#if defined(_OPENMP)
#define FP4_HAS_OPENMP 1
#else
#define FP4_HAS_OPENMP 0
#endif

// FP4_EXACT_BEGIN ... FP4_EXACT_END brackets code whose floating-point operations are rounded one by one in the
// order written, whatever -ffast-math or -ffp-contract says.
// Everything that such code calls must be bracketed too, or be FP4_INLINE and without floating-point operations: g++
// inlines nothing else across the border. Conversions of numbers are the latter, so that they are inlined into code
// outside as well.
// clang -ffp-contract=fast still fuses a product into a sum there (FP4_PRAGMA_STOPS_CONTRACTION is 0; nvcc knows no
// such pragma for host code), so bracketed code never adds an inexact product without a barrier between the two: see
// detail::product in format/bits.hpp.
#if defined(__clang__) || defined(__CUDACC__)
#define FP4_PRAGMA_STOPS_CONTRACTION 0
#else
#define FP4_PRAGMA_STOPS_CONTRACTION 1
#endif
#if defined(__CUDACC__)
#if defined(__FAST_MATH__)
#error "fp4: nvcc cannot restore exact arithmetic in host code; compile without -Xcompiler -ffast-math"
#endif
#define FP4_EXACT_BEGIN
#define FP4_EXACT_END
#elif defined(__clang__)
// clang's -ffast-math still takes the values of ?:, of negations and of calls for finite between these brackets: where
// one may be NaN, infinite or -0, bracketed code chooses with an `if` or on bits.
#if defined(__FAST_MATH__) && !FP4_TARGET_X86_64
#error "fp4: clang's pragmas do not restore exact arithmetic on this processor; compile without -ffast-math"
#endif
#if defined(__aarch64__)  // nothing to restore, and nothing that could be popped again
#define FP4_EXACT_BEGIN
#define FP4_EXACT_END
#else
#define FP4_EXACT_BEGIN \
  _Pragma("float_control(push)") _Pragma("float_control(precise, on)") _Pragma("clang fp contract(off)")
#define FP4_EXACT_END _Pragma("float_control(pop)")
#endif
#elif defined(__GNUC__)
#define FP4_EXACT_BEGIN _Pragma("GCC push_options") _Pragma("GCC optimize(\"no-fast-math,fp-contract=off\")")
#define FP4_EXACT_END _Pragma("GCC pop_options")
#elif defined(_MSC_VER)
#define FP4_EXACT_BEGIN __pragma(float_control(push)) __pragma(float_control(precise, on)) __pragma(fp_contract(off))
#define FP4_EXACT_END __pragma(float_control(pop))
#else
#if defined(__FAST_MATH__)
#error "fp4: this compiler has no pragma that restores exact arithmetic; compile without fast math"
#endif
#define FP4_EXACT_BEGIN
#define FP4_EXACT_END
#endif

// FP4_AVX2_BEGIN ... FP4_AVX2_END compiles what it brackets for AVX2, FMA and F16C in a baseline x86-64 build.
// Include <immintrin.h> before it.
#if FP4_HAS_AVX2_PATH
#if defined(__clang__)
#define FP4_AVX2_BEGIN _Pragma("clang attribute push(__attribute__((target(\"avx2,fma,f16c\"))), apply_to = function)")
#define FP4_AVX2_END _Pragma("clang attribute pop")
#else
#define FP4_AVX2_BEGIN _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,fma,f16c\")")
#define FP4_AVX2_END _Pragma("GCC pop_options")
#endif
#endif
