// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "../../config.hpp"

namespace fp4::gpu::detail {

template <class T>
constexpr T larger(T a, T b) noexcept {
  return a > b ? a : b;
}

/// How many thread blocks a device is given at most: what keeps it busy.
inline int64_t most_thread_blocks(int multiprocessors) noexcept { return int64_t{8} * multiprocessors; }

/// As many thread blocks as there are tiles across; down the rows no more than keep the device busy.
inline dim3 grid_of_tiles(int64_t across, int64_t down, int64_t most) noexcept {
  int64_t const enough = 1 + most / across;
  int64_t const rows = down < enough ? down : enough;
  return {static_cast<unsigned>(across), static_cast<unsigned>(rows < 65535 ? rows : 65535), 1};
}

}  // namespace fp4::gpu::detail
