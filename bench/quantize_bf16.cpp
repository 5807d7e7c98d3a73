// SPDX-License-Identifier: Apache-2.0
#include "quantize_operations.hpp"

namespace bench {

std::vector<operation> quantize_bf16_operations() { return quantize_operations<fp4::bfloat16>(); }

}  // namespace bench
