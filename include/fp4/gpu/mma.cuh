// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The tensor-core instruction for kernels of one's own: reference::mma_m16n8k64 on a device.

#include "../format/types.hpp"
#include "detail/ptx_matrix.cuh"

namespace fp4::gpu {

/// `mma.sync.aligned.m16n8k64.row.col.block_scale`: D = (A * scales) (B * scales) + C, of 4-bit operands.
/// Vector x4 takes ue4m3 scales for blocks of 16 (`kind::mxf4nvf4`), x2 takes ue8m0 for blocks of 32 (`kind::mxf4`).
///
/// Takes and returns what the calling lane holds; all 32 lanes of the warp call it together, with the same selectors.
/// Give these as constants: in registers they cost five instructions more.
///
/// \pre   Selectors are valid as scale_fragment::valid says, or come from select<>(); check(map, selector) is for the
///        host. Scales of ue4m3 have bit 7 clear.
/// \note  Needs sm_120 or sm_121 as `a` or `f` target: elsewhere a kernel that calls it does not compile.
/// \note  Products are exact. How hardware rounds partial sums is not documented: where each is exact in fp32 the
///        result is that of reference::mma_m16n8k64.
template <class Scale = ue4m3, scale_vector Vector = scale_vector::x4>
[[nodiscard]] __device__ __forceinline__ lane_registers<accumulator_fragment> mma_m16n8k64(
    lane_registers<operand_fragment<16, 64, 4>> const& a, lane_registers<operand_fragment<8, 64, 4>> const& b,
    lane_registers<accumulator_fragment> const& c, lane_registers<scale_fragment<16, Vector>> const& scales_a,
    scale_selector selector_a, lane_registers<scale_fragment<8, Vector>> const& scales_b, scale_selector selector_b) {
  static_assert(Vector == scale_vector::x4 ? std_types::is_same<Scale, ue4m3>::value
                                           : Vector == scale_vector::x2 && std_types::is_same<Scale, e8m0>::value,
                "4X takes ue4m3 scales, 2X takes ue8m0");
  lane_registers<accumulator_fragment> d = c;
#if FP4_DEVICE_BLOCK_SCALED_MMA
  auto const id = [](int x) { return static_cast<uint16_t>(x); };
  if constexpr (Vector == scale_vector::x4) {
    detail::ptx::mma_m16n8k64(d.reg, a.reg, b.reg, scales_a.reg[0], id(selector_a.thread_id), scales_b.reg[0],
                              id(selector_b.thread_id));
  } else {
    detail::ptx::mma_m16n8k64_mx(d.reg, a.reg, b.reg, scales_a.reg[0], id(selector_a.byte_id), id(selector_a.thread_id),
                                 scales_b.reg[0], id(selector_b.byte_id), id(selector_b.thread_id));
  }
#else
  static_assert(
      !FP4_DEVICE_CODE || sizeof(Scale) == 0,
      "fp4::gpu::mma_m16n8k64 needs sm_120 or sm_121 as a or f target: -gencode arch=compute_120a,code=sm_120a");
#endif
  return d;
}

}  // namespace fp4::gpu
