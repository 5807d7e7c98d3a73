// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "portable.hpp"

#if FP4_HAS_NEON_PATH

namespace fp4::cpu::detail {

struct neon_backend : portable_backend {};

}  // namespace fp4::cpu::detail

#endif
