// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the emulated device counted (docs/ptx_interpreter.md). A real device counts nothing.

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "ptx/programs/check.hpp"

namespace test {

/// The emulated device, or nothing on a real one.
inline std::string emulated_target() {
  char const* const name = std::getenv("FP4_PTX_TARGET");
  return name == nullptr ? "" : name;
}

/// Sums over launches.
struct counts {
  struct space {
    long read = 0, written = 0;                  ///< bytes that threads asked for
    long sectors_read = 0, sectors_written = 0;  ///< of 32 bytes, in each request
    long bank_conflicts = 0;                     ///< extra passes
  };
  std::map<std::string, long> instructions;  ///< of threads, by kind
  long thread_instructions = 0;
  space global, shared;

  /// Instructions whose kind contains `part`.
  [[nodiscard]] long of(std::string const& part) const {
    long n = 0;
    for (auto const& [kind, count] : instructions) {
      if (kind.find(part) != std::string::npos) { n += count; }
    }
    return n;
  }
};

/// Runs `run` and waits; what its kernels did.
template <class Run>
counts counts_of(Run const& run) {
  std::string const file = emulated_target() + ".report";
  std::remove(file.c_str());
  setenv("FP4_PTX_REPORT", file.c_str(), 1);
  run();
  CUDA(cudaDeviceSynchronize());
  unsetenv("FP4_PTX_REPORT");
  counts found;
  counts::space none, *space = &none;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    long a = 0, b = 0;
    std::istringstream words(line);
    std::string kind, unit;
    if (line.find("  global: ") == 0) { space = &found.global; }
    if (line.find("  shared: ") == 0) { space = &found.shared; }
    if (line.find("  local: ") == 0) { space = &none; }
    if (std::sscanf(line.c_str(), "  %*[a-z]: %ld bytes read in %*d requests, %ld written", &a, &b) == 2) {
      space->read += a, space->written += b;
    } else if (std::sscanf(line.c_str(), "    32-byte sectors: %ld read, %ld written", &a, &b) == 2) {
      space->sectors_read += a, space->sectors_written += b;
    } else if (std::sscanf(line.c_str(), "    bank conflicts: %ld", &a) == 1) {
      space->bank_conflicts += a;
    } else if (words >> a >> kind) {
      words >> unit;
      (kind == "thread" && unit == "instructions," ? found.thread_instructions : found.instructions[kind]) += a;
    }
  }
  std::remove(file.c_str());
  return found;
}

}  // namespace test
