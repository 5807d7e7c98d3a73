// SPDX-License-Identifier: Apache-2.0
#include "operations.hpp"

namespace binding {
FP4_BINDING_OPERATIONS(, float)
}  // namespace binding
