// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The oracle: quantize, dequantize, transform, amax and matmul as NVFP4's definitions read, one number at a time. It
/// searches value tables in fp64 and shares no formula with the rooms that are tested against it. For tests,
/// never for speed.

#include "dequantize.hpp"
#include "mma.hpp"
#include "quantize.hpp"
#include "transform.hpp"
