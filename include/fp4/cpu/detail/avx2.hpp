// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "portable.hpp"

#if FP4_HAS_AVX2_PATH

namespace fp4::cpu::detail {

struct avx2_backend : portable_backend {};

}  // namespace fp4::cpu::detail

#endif
