// SPDX-License-Identifier: Apache-2.0
#include "quantize_operations.hpp"

namespace bench {

std::vector<operation> quantize_fp16_operations() { return quantize_operations<fp4::float16>(); }

}  // namespace bench
