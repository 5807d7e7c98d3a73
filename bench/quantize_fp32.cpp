// SPDX-License-Identifier: Apache-2.0
#include "quantize_operations.hpp"

namespace bench {

std::vector<operation> quantize_fp32_operations() {
  auto list = quantize_operations<float>();
  for (auto const path :
       {fp4::cpu::path::scalar, fp4::cpu::path::portable, fp4::cpu::path::avx2, fp4::cpu::path::neon}) {
    if (!fp4::cpu::available(path)) { continue; }
    auto const forced = quantization<float>(std::string("nearest_path_") + fp4::cpu::name(path),
                                            fp4::choices<fp4::transformer_engine>{}, &problem::amax, path);
    list.push_back(path == fp4::cpu::path::scalar ? forced.slow() : forced);
  }
  return list;
}

}  // namespace bench
