// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Everything for nvcc: the host library of fp4.hpp, and fp4::gpu.

#include "fp4.hpp"
#include "gpu/amax.cuh"
#include "gpu/block.cuh"
#include "gpu/dequantize.cuh"
#include "gpu/hadamard.cuh"
#include "gpu/mma.cuh"
#include "gpu/pack.cuh"
#include "gpu/quantize.cuh"
#include "gpu/quantize_both.cuh"
#include "gpu/quantize_groups.cuh"
#include "gpu/relayout.cuh"
