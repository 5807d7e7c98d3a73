// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation.hpp"

namespace bench {

/// Quantization of values of type In with the tensor's amax given.
template <class In, class Layout = fp4::linear_scales, class... Options>
operation quantization(std::string name, fp4::choices<Options...> how, float problem::*amax = &problem::amax,
                       fp4::cpu::path path = fp4::cpu::path::automatic) {
  using choices = fp4::choices<Options...>;
  auto const run = [=](problem const& p, int threads) {
    std::int64_t const rows = choices::is_columnwise ? p.cols : p.rows;
    std::int64_t const cols = choices::is_columnwise ? p.rows : p.cols;
    fp4::quantized_view<fp4::nvfp4, Layout> const result(p.new_codes, p.new_scales, p.values() / fp4::nvfp4::block_size,
                                                         rows, cols);
    fp4::tensor_scale const scale = fp4::tensor_scale::from_amax(p.*amax);
    with_threads(threads, [&](auto execution) {
      fp4::cpu::quantize(p.input<In>(), result, {&scale, 1}, how, execution, path);
    });
  };
  return {"quantize/" + name, type_name<In>(), sizeof(In), 0.5625, limit::read, false, run};
}

/// Quantization that first looks for the tensor's amax.
template <class In>
operation quantization_with_own_amax() {
  auto const run = [](problem const& p, int threads) {
    fp4::quantized_view<fp4::nvfp4> const result(p.new_codes, p.new_scales, p.values() / fp4::nvfp4::block_size, p.rows,
                                                 p.cols);
    with_threads(threads, [&](auto execution) { fp4::quantize(p.input<In>(), result, execution); });
  };
  return {"quantize/nearest_own_amax", type_name<In>(), sizeof(In), 0.5625, limit::read, false, run};
}

template <class In>
std::vector<operation> quantize_operations() {
  using namespace fp4;
  using scaling = transformer_engine;
  std::vector<operation> list;
  list.push_back(quantization<In>("nearest", choices<scaling>{}));
  list.push_back(quantization_with_own_amax<In>());
  list.push_back(quantization<In, tiled_128x4_scales>("nearest_128x4", choices<scaling>{}));
  list.push_back(quantization<In>("stochastic", choices<scaling, stochastic>{{}, stochastic{42}, {}, {}, {}}));
  list.push_back(
      quantization<In>("hadamard_16", choices<scaling, nearest_even, hadamard<16>>{}, &problem::amax_hadamard_16));
  list.push_back(
      quantization<In>("hadamard_128", choices<scaling, nearest_even, hadamard<128>>{}, &problem::amax_hadamard_128));
  list.push_back(quantization<In>("modelopt", choices<modelopt>{}));
  list.push_back(quantization<In>("exact", choices<exact>{}));
  list.push_back(quantization<In>("four_over_six", choices<four_over_six>{}).slow());
  list.push_back(quantization<In>("search", choices<search>{}).slow());
  list.push_back(quantization<In>("columnwise", choices<scaling, nearest_even, no_transform, blocks_1d, columnwise>{}));
  list.push_back(quantization<In>("blocks_2d", choices<scaling, nearest_even, no_transform, blocks_2d>{}));
  return list;
}

}  // namespace bench
