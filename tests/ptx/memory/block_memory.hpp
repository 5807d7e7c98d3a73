// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the threads of one block do to memory, checked and counted. The interpreter holds one block_memory for each
/// resident block and calls it once for each warp instruction.

#include <cstdint>
#include <vector>

#include "access.hpp"
#include "clocks.hpp"
#include "memory.hpp"
#include "traffic.hpp"

namespace ptx {

/// Of one launch: the clocks that order its threads, and what it moved.
class launch_memory {
 public:
  launch_memory(memory& device, std::uint64_t blocks, std::uint32_t threads_per_block);
  memory& device;
  launch_clocks clocks;
  traffic counts;
  bool check_races = true;
};

class block_memory {
 public:
  /// Shared memory starts undefined, local memory too (`local_bytes` for each thread).
  block_memory(launch_memory& launch, std::uint32_t block, std::uint32_t shared_bytes, std::uint32_t local_bytes);

  /// For each lane of the request, after its checks: visit(lane, std::byte const* at, std::uint32_t defined), where bit
  /// i of `defined` tells whether byte i was ever written. All throw `fault` with a finding.
  template <class Visit>
  void load(std::uint32_t warp, request const& r, Visit&& visit);

  /// visit(lane, std::byte* at) -> std::uint32_t: writes the bytes; bit i of the result: byte i is defined.
  template <class Visit>
  void store(std::uint32_t warp, request const& r, Visit&& visit);

  /// visit(lane, std::byte* at) reads and replaces the bytes; lanes come one after the other. Undefined bytes are a
  /// finding.
  template <class Visit>
  void atomic(std::uint32_t warp, request const& r, Visit&& visit);

  /// Lanes met: a warp operation or bar.warp.sync.
  void warp_sync(std::uint32_t warp, std::uint32_t lanes);
  /// A barrier of all threads of the block that have not ended.
  void barrier();
  /// A barrier of some: bit i of lanes[w] is lane i of warp w. bar.arrive: only in `arrived`, not in `waited`.
  void barrier(std::vector<std::uint32_t> const& arrived, std::vector<std::uint32_t> const& waited);
  /// fence, membar.
  void fence(std::uint32_t warp, std::uint32_t lanes, scope reach);

 private:
  launch_memory* launch_;
  block_clocks clocks_;
};

}  // namespace ptx
