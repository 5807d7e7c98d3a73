// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// multiply_tile on the host: the lanes of a warp are an array, the instruction is reference::mma_m16n8k64.

#include <fp4/reference/mma.hpp>

#include "readable.cuh"

namespace gemm {

/// A warp whose lanes are taken one after another.
struct model_warp {
  template <class Fragment>
  using registers = fp4::reference::warp_registers<Fragment>;

  template <class Body>
  static void each_lane(Body const& body) {
    for (int lane = 0; lane < 32; ++lane) { body(lane); }
  }
  template <class Fragment>
  static __host__ __device__ fp4::lane_registers<Fragment>& at(registers<Fragment>& held, int lane) {
    return held.lane[lane];
  }
  template <class... Operands>
  static registers<mma::c> multiply(Operands const&... operands) {
    return fp4::reference::mma_m16n8k64(operands...);
  }
};

/// D = alpha A B^T of packed operands in host memory.
inline void multiply_in_model(operand_a a, operand_b b, float alpha, fp4::matrix_view<bfloat16> d) {
  for (int64_t i = 0; i < (d.rows + 15) / 16; ++i) {
    for (int64_t j = 0; j < (d.cols + 15) / 16; ++j) { multiply_tile<model_warp>(a, b, alpha, d, i, j); }
  }
}

}  // namespace gemm
