// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tensor-core instructions by name, on the registers of one lane.

#include "../../layout/fragments.hpp"

namespace fp4::gpu::detail::ptx {

#if FP4_DEVICE_BLOCK_SCALED_MMA
/// D = A B + D of NVFP4: four ue4m3 scales for a row's 64 elements. Thread-ids say which lanes hold them.
__device__ __forceinline__ void mma_m16n8k64(float (&d)[4], uint32_t const (&a)[4], uint32_t const (&b)[2],
                                             uint32_t scales_a, uint16_t thread_id_a, uint32_t scales_b,
                                             uint16_t thread_id_b) {
  asm("{.reg .b16 zero; mov.b16 zero, 0;\n"
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3\n"
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {zero, %11}, %12, {zero, %13};}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(scales_a), "h"(thread_id_a),
        "r"(scales_b), "h"(thread_id_b));
}
/// The same of MXFP4: two ue8m0 scales for a row's 64 elements, from byte-id 0 or 2 on.
__device__ __forceinline__ void mma_m16n8k64_mx(float (&d)[4], uint32_t const (&a)[4], uint32_t const (&b)[2],
                                                uint32_t scales_a, uint16_t byte_id_a, uint16_t thread_id_a,
                                                uint32_t scales_b, uint16_t byte_id_b, uint16_t thread_id_b) {
  asm("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0\n"
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {%11, %12}, %13, {%14, %15};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(scales_a), "h"(byte_id_a),
        "h"(thread_id_a), "r"(scales_b), "h"(byte_id_b), "h"(thread_id_b));
}
#endif

}  // namespace fp4::gpu::detail::ptx
