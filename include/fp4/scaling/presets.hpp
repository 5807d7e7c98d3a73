// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Every scaling by name, and the default of each format.

#include "checkpoints.hpp"
#include "decode.hpp"
#include "ggml.hpp"
#include "mx.hpp"
#include "optimal.hpp"
#include "serving.hpp"
#include "transformer_engine.hpp"

namespace fp4 {
namespace detail {

template <class Format>
constexpr auto default_scaling() noexcept {
  if constexpr (!Format::has_block_scale) {
    return tensor_amax{};
  } else if constexpr (!Format::has_tensor_scale) {
    return mx_floor{};
  } else {
    return transformer_engine{};
  }
}

}  // namespace detail

/// transformer_engine for NVFP4 formats, mx_floor for MX formats, tensor_amax for FP8.
template <class Format>
using default_scaling_t = decltype(detail::default_scaling<Format>());

}  // namespace fp4
