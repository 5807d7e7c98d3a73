// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ptx {

enum class space : std::uint8_t { global, shared, local, generic };

/// Generic addresses: shared and local memory have windows where no host allocation can be, all else is global.
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << 56;
inline constexpr std::uint64_t local_window = std::uint64_t{2} << 56;

/// Weak accesses of two threads to a byte are a race unless ordered. `relaxed` stands for .relaxed, .volatile, .mmio
/// and every atom or red without an order; acquire, release and acq_rel are relaxed, and synchronise.
enum class order : std::uint8_t { weak, relaxed, acquire, release, acq_rel };
enum class scope : std::uint8_t { block, cluster, device, system };

/// One memory instruction, executed by some lanes of a warp.
struct request {
  space where = space::global;
  order ordering = order::weak;
  scope reach = scope::device;
  std::uint8_t bytes = 4;          ///< of one lane, all vector elements together: 1, 2, 4, 8, 16 or 32
  std::uint8_t alignment = 0;      ///< that is demanded; 0: `bytes`
  std::uint32_t lanes = 0;         ///< bit i: lane i takes part
  std::uint32_t instruction = 0;   ///< comes back in findings
  std::uint64_t address[32] = {};  ///< offsets in shared and local space, else generic or global addresses
};

/// One thread's cp.async: `bytes` bytes of shared memory become `source_bytes` of global memory and zeros.
struct async_copy {
  std::uint64_t to = 0, from = 0;
  std::uint32_t instruction = 0;
  std::uint8_t bytes = 0, source_bytes = 0;
};

}  // namespace ptx
