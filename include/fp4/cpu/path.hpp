// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../config.hpp"
#include "../error.hpp"

namespace fp4 {

/// Category of a path argument.
struct path_choice {};

namespace cpu {
inline namespace FP4_PATHS_NAMESPACE {

/// Which code runs. All give the same bytes; `automatic` takes the fastest that the processor has, found out once.
enum class path {
  automatic,
  scalar,    ///< plain C++
  portable,  ///< GNU vector extensions on 16-byte registers
  avx2,      ///< AVX2, FMA and F16C
  neon,      ///< 64-bit Arm
};

/// True where the path was compiled in and this processor can run it.
[[nodiscard]] inline bool available(path p) noexcept {
  switch (p) {
    case path::automatic:
    case path::scalar: return true;
    case path::portable: return FP4_HAS_VECTOR_EXTENSIONS != 0;
    case path::neon: return FP4_HAS_NEON_PATH != 0;
    case path::avx2:
#if FP4_HAS_AVX2_PATH
    {
      // Every processor with AVX2 and FMA has F16C, which older compilers cannot ask for.
      static bool const found = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
      return found;
    }
#else
      return false;
#endif
  }
  return false;
}

[[nodiscard]] inline char const* name(path p) noexcept {
  switch (p) {
    case path::automatic: return "automatic";
    case path::scalar: return "scalar";
    case path::portable: return "portable";
    case path::avx2: return "avx2";
    case path::neon: return "neon";
  }
  return "unknown";
}

/// The path that `automatic` stands for here.
[[nodiscard]] inline path best() noexcept {
  for (path p : {path::avx2, path::neon, path::portable}) {
    if (available(p)) { return p; }
  }
  return path::scalar;
}

[[nodiscard]] inline check_result check(path p) noexcept {
  return available(p) ? check_result{} : check_result{errc::path_not_available, static_cast<double>(p), 0};
}

}  // namespace FP4_PATHS_NAMESPACE
}  // namespace cpu
}  // namespace fp4
