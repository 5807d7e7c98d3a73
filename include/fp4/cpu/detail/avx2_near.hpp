// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "near.hpp"

#if FP4_HAS_AVX2_PATH

FP4_EXACT_BEGIN
FP4_AVX2_BEGIN
namespace fp4::cpu::detail::avx2 {

FP4_NOINLINE inline void exact_scales(fp4::detail::exact_tensor const& tensor, int blocks,
                                      tile_scales& scales) noexcept {
  exact_scales_in_lanes<8>(tensor, blocks, scales);
}

template <class Values>
FP4_NOINLINE ue4m3 search(fp4::detail::search_tensor const& tensor, Values const& x, int count, float amax) noexcept {
  return search_in_lanes<8>(tensor, x, count, amax);
}

template <class Values>
FP4_NOINLINE void four_over_six_scales(fp4::detail::four_over_six_tensor const& tensor, Values const& values,
                                       int blocks, int count, tile_scales& scales) noexcept {
  four_over_six_in_lanes<8>(tensor, values, blocks, count, scales);
}

}  // namespace fp4::cpu::detail::avx2
FP4_AVX2_END
FP4_EXACT_END

#endif
