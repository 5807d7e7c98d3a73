// SPDX-License-Identifier: Apache-2.0
#include "operation.hpp"

namespace bench {

problem problem::part(std::int64_t first, std::int64_t count) const noexcept {
  std::int64_t const before = first * cols;
  problem p = *this;
  p.rows = count;
  p.fp32 += before, p.fp16 += before, p.bf16 += before, p.out += before;
  p.codes += before / 2, p.new_codes += before / 2;
  p.scales += before / fp4::nvfp4::block_size, p.new_scales += before / fp4::nvfp4::block_size;
  return p;
}

std::vector<operation> all_operations() {
  std::vector<operation> all;
  for (auto const& list : {limit_operations(), quantize_fp32_operations(), quantize_bf16_operations(),
                           quantize_fp16_operations(), other_operations(), peer_operations()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace bench
