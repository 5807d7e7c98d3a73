// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../config.hpp"

#if FP4_TARGET_X86_64
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace fp4::cpu::detail {

/// Round to nearest, subnormals kept, for the life of the object; then the thread's mode again. What runs under it must
/// be an out-of-line call, since compilers move arithmetic across changes of the mode.
class exact_environment {
 public:
#if FP4_TARGET_X86_64
  exact_environment() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(default_control); }
  ~exact_environment() { _mm_setcsr(saved_); }
#else
  exact_environment() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~exact_environment() { std::fesetenv(&saved_); }
#endif
  exact_environment(exact_environment const&) = delete;
  exact_environment& operator=(exact_environment const&) = delete;

 private:
#if FP4_TARGET_X86_64
  static constexpr unsigned default_control = 0x1F80;  // every exception masked
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace fp4::cpu::detail
