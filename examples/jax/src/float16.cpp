// SPDX-License-Identifier: Apache-2.0
#include "operations.hpp"

namespace fp4_jax {
FP4_JAX_OPERATIONS(, fp4::float16)
}  // namespace fp4_jax
