// SPDX-License-Identifier: Apache-2.0
// The kernels whose issue slots bench/issue_slots.py counts: bfloat16, linear scales, the default scaling.
#include <fp4/gpu/dequantize.cuh>
#include <fp4/gpu/quantize.cuh>

namespace fp4::gpu::detail {

template <class Rounding, class Transform = no_transform>
using hot_task = rows_task<nvfp4, linear_scales, bfloat16, transformer_engine, Rounding, Transform>;

template __global__ void quantize_rows(hot_task<nearest_even> const __grid_constant__);
template __global__ void quantize_rows(hot_task<stochastic> const __grid_constant__);
template __global__ void quantize_rows(hot_task<nearest_even, hadamard<16>> const __grid_constant__);
template __global__ void quantize_rows(hot_task<stochastic, hadamard<16>> const __grid_constant__);
template __global__ void dequantize_rows(decode_task<nvfp4, linear_scales, bfloat16, false> const __grid_constant__);

}  // namespace fp4::gpu::detail
