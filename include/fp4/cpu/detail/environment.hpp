// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../config.hpp"

#if FP4_TARGET_X86_64
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace fp4::cpu::detail {

/// Round to nearest, subnormals kept, for the life of the object; then the thread's mode again. What runs
/// under it must be an out-of-line call, since compilers move arithmetic across changes of the mode.
class exact_environment {
 public:
#if FP4_TARGET_X86_64
  exact_environment() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(default_control); }
  ~exact_environment() { _mm_setcsr(saved_); }
#else
  exact_environment() noexcept {
    std::fegetenv(&saved_);
#if FP4_HAS_FPCR
    // fesetenv leaves some control bits alone: alternative half precision and default NaN are two of them.
    control_ = FP4_READ_FPCR();
    FP4_WRITE_FPCR(0);
#else
    std::fesetenv(FE_DFL_ENV);
#endif
  }
  ~exact_environment() {
    std::fesetenv(&saved_);
#if FP4_HAS_FPCR
    FP4_WRITE_FPCR(control_);
#endif
  }
#endif
  exact_environment(exact_environment const&) = delete;
  exact_environment& operator=(exact_environment const&) = delete;

 private:
#if FP4_TARGET_X86_64
  static constexpr unsigned default_control = 0x1F80;  // every exception masked
  unsigned saved_;
#else
  std::fenv_t saved_;
#if FP4_HAS_FPCR
  unsigned control_;
#endif
#endif
};

}  // namespace fp4::cpu::detail
