// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The floating-point mode of the thread. reference/ needs the normal one; programs linked with -ffast-math
/// do not start in it.

#include <cfenv>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace test {

/// Rounding to nearest, subnormals kept, until the end of the scope. What depends on it belongs in a function
/// that is not inlined.
class normal_environment {
 public:
  normal_environment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
#if defined(__x86_64__)
    _mm_setcsr(0x1F80);  // glibc's default environment, which fesetenv does restore; said for other libraries
#endif
  }
  ~normal_environment() { std::fesetenv(&saved_); }
  normal_environment(normal_environment const&) = delete;
  normal_environment& operator=(normal_environment const&) = delete;

 private:
  std::fenv_t saved_;
};

/// The control bits of the thread: rounding mode, flush to zero, denormals are zero.
inline std::uint64_t floating_point_control() {
#if defined(__x86_64__)
  return _mm_getcsr() & 0xFFC0u;  // without the sticky exception flags
#elif defined(__aarch64__)
  std::uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control;
#else
  return static_cast<std::uint64_t>(std::fegetround());
#endif
}

/// Sets flush-to-zero and denormals-are-zero. False where this processor has no such mode that we know.
inline bool flush_subnormals() {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040u);
  return true;
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" ::"r"(floating_point_control() | std::uint64_t{1} << 24));
  return true;
#else
  return false;
#endif
}

}  // namespace test
