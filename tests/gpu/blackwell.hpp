// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tests of instructions that some devices alone have.

#include <cuda_runtime_api.h>

#include <cstdio>

#include "ptx/programs/check.hpp"

namespace test {

/// program::run, or a counted skip (77) where the device is not of compute capability `major`.
inline int run_on(int major, int argc, char** argv) {
  int found = 0;
  cudaError_t const code = cudaDeviceGetAttribute(&found, cudaDevAttrComputeCapabilityMajor, 0);
  if (code != cudaSuccess || found != major) {
    std::printf("skipped: this needs a device of compute capability %d, found %d (%s)\n", major, found,
                cudaGetErrorName(code));
    return 77;
  }
  return program::run(argc, argv);
}

}  // namespace test
