// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Everything for the host: include this, or the headers of the rooms that you need. No CUDA header is behind it.

#include "cpu/amax.hpp"
#include "cpu/both.hpp"
#include "cpu/dequantize.hpp"
#include "cpu/pack.hpp"
#include "cpu/quantize.hpp"
#include "cpu/relayout.hpp"
#include "cpu/rescale.hpp"
#include "cpu/transform.hpp"
#include "layout/descriptor_checks.hpp"
#include "layout/fragment_order.hpp"
#include "layout/gguf.hpp"
#include "layout/shared_memory.hpp"
#include "layout/submatrix.hpp"
#include "layout/tensor_memory.hpp"
#include "metrics/error.hpp"
#include "quantize.hpp"
#include "quantized.hpp"
#include "recipe/linear.hpp"
#include "recipe/with_choices.hpp"
