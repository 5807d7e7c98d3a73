// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../execution.hpp"
#include "../path.hpp"
#include "avx2.hpp"
#include "environment.hpp"
#include "neon.hpp"
#include "portable.hpp"
#include "scalar.hpp"

namespace fp4::cpu::detail {

/// Calls work(Backend{}) with the backend of path `p`, which is available.
template <class Work>
void with_backend(path p, Work const& work) {
  switch (p == path::automatic ? best() : p) {
#if FP4_HAS_AVX2_PATH
    case path::avx2: return work(avx2_backend{});
#endif
#if FP4_HAS_NEON_PATH
    case path::neon: return work(neon_backend{});
#endif
#if FP4_HAS_VECTOR_EXTENSIONS
    case path::portable: return work(portable_backend{});
#endif
    default: return work(scalar_backend{});
  }
}

}  // namespace fp4::cpu::detail
