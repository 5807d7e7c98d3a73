// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What tcgen05.mma and TMA are told about packed FP4, as plain values with bits(). Nothing here checks: the functions
/// of descriptor_checks.hpp refuse what the hardware would not take.

#include "shared_memory.hpp"
#include "tensor_memory.hpp"

namespace fp4 {

/// Targets that have tcgen05.
enum class tcgen05_target { sm_100, sm_103, sm_110 };

/// The shape of a dense `tcgen05.mma.kind::mxf4nvf4.block_scale` with K-major operands and fp32 results.
struct mxf4nvf4_instruction {
  int m = 128;
  int n = 256;
  int k = 64;
  int cta_group = 1;                       ///< CTAs that work together, 1 or 2
  scale_vector vector = scale_vector::x4;  ///< x4: blocks of 16; x2: blocks of 32
  bool scales_are_e8m0 = false;            ///< ue8m0 scales, else ue4m3
  int scale_id_a = 0;                      ///< tensor_memory_scales::scale_id
  int scale_id_b = 0;
  bool negate_a = false;
  bool negate_b = false;
  tcgen05_target target = tcgen05_target::sm_100;

  /// The instruction descriptor. Source: PTX ISA 9.7.16.4.2, kind::mxf4nvf4.
  ///
  ///     31     30-29      28-27       23       22-17  14   13   12-10  9-7    5-4
  ///     k=96   SFA id     m / 128     e8m0     n / 8  -B   -A   E2M1   E2M1   SFB id
  [[nodiscard]] FP4_HD FP4_INLINE constexpr uint32_t bits() const noexcept {
    constexpr uint32_t e2m1_type = 1;
    return static_cast<uint32_t>(scale_id_b) << 4 | e2m1_type << 7 | e2m1_type << 10 | uint32_t{negate_a} << 13 |
           uint32_t{negate_b} << 14 | static_cast<uint32_t>(n / 8) << 17 | uint32_t{scales_are_e8m0} << 23 |
           static_cast<uint32_t>(m / 128) << 27 | static_cast<uint32_t>(scale_id_a) << 29 | uint32_t{k == 96} << 31;
  }
};

/// Where an operand lies in shared memory.
struct shared_matrix {
  uint32_t address = 0;        ///< of the first byte, in shared memory
  uint32_t leading_bytes = 0;  ///< between 16-byte chunks along k, without swizzle; else not looked at
  uint32_t stride_bytes = 0;   ///< between groups of 8 rows
  swizzle mode = swizzle::none;

  /// The operand of [rows, 64] that begins `step` steps of k = 64 into a tile of `rows` rows at `address`.
  template <swizzle Mode>
  [[nodiscard]] FP4_HD static constexpr shared_matrix of(k_major_shared<Mode>, uint32_t address, int64_t rows,
                                                         int64_t step = 0) noexcept {
    using map = k_major_shared<Mode>;
    return {address + static_cast<uint32_t>(map::offset(0, 64 * step, rows)),
            Mode == swizzle::none ? static_cast<uint32_t>(map::atom_stride(rows)) : 16u,
            static_cast<uint32_t>(map::row_group_stride), Mode};
  }
  /// The source of tcgen05_scale_copy: 512 bytes at `address`.
  [[nodiscard]] FP4_HD static constexpr shared_matrix of(tcgen05_scale_copy, uint32_t address) noexcept {
    return {address, 0, 128, swizzle::none};
  }

  /// The matrix descriptor. Source: PTX ISA 9.7.16.4.1. Base offset and the mode of the leading dimension are 0: atoms
  /// begin at multiples of their size.
  ///
  ///     63-61     48-46   45-32          29-16           13-0
  ///     swizzle   1       stride / 16    leading / 16    address / 16
  [[nodiscard]] FP4_HD FP4_INLINE constexpr uint64_t bits() const noexcept {
    uint64_t const code = mode == swizzle::bytes_128  ? 2
                          : mode == swizzle::bytes_64 ? 4
                          : mode == swizzle::bytes_32 ? 6
                                                      : 0;
    return uint64_t{encoded(address)} | uint64_t{encoded(leading_bytes)} << 16 | uint64_t{encoded(stride_bytes)} << 32 |
           uint64_t{1} << 46 | code << 61;
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr uint32_t encoded(uint32_t x) noexcept { return (x & 0x3FFFF) >> 4; }
};

/// The arguments of cuTensorMapEncodeTiled for a matrix of packed FP4 codes whose boxes land in k_major_shared. The
/// enumerators' values are those of cuda.h.
struct packed_tensor_map {
  static constexpr int data_type = 13;  ///< CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B: two codes a byte, no gaps
  static constexpr uint32_t rank = 2;
  static constexpr int interleave = 0;  ///< CU_TENSOR_MAP_INTERLEAVE_NONE
  static constexpr int oob_fill = 0;    ///< CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE: codes past the ends arrive as 0

  uint64_t address = 0;      ///< of the first code, in global memory
  uint64_t dims[2] = {};     ///< columns (codes), rows
  uint64_t strides[1] = {};  ///< bytes from row to row
  uint32_t box[2] = {};      ///< columns (codes), rows
  uint32_t element_strides[2] = {1, 1};
  swizzle mode = swizzle::none;
  int l2_promotion = 3;  ///< CU_TENSOR_MAP_L2_PROMOTION_L2_256B

  /// CU_TENSOR_MAP_SWIZZLE_*.
  [[nodiscard]] FP4_HD FP4_INLINE constexpr int swizzle_value() const noexcept {
    return mode == swizzle::bytes_128 ? 3 : mode == swizzle::bytes_64 ? 2 : mode == swizzle::bytes_32 ? 1 : 0;
  }
};

/// A product D[m, n] = A[m, k] B[n, k]^T of cublasLt's NVFP4 path (CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3, A
/// transposed, no tensor scales: they go into alpha).
struct cublaslt_nvfp4_matmul {
  int64_t m = 0, n = 0, k = 0;
  uint64_t a = 0, b = 0, d = 0;         ///< addresses
  uint64_t scales_a = 0, scales_b = 0;  ///< addresses of tiled_128x4_scales
  int output_bits = 16;                 ///< of an element of D, whose columns (m) are contiguous: 4, 16 or 32
};

}  // namespace fp4
