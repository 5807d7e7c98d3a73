// SPDX-License-Identifier: Apache-2.0
#include "execute/special_values.hpp"

#include "execute/block.hpp"

namespace ptx {
namespace {

constexpr std::uint32_t multiprocessors = 132;

/// Values that all threads of a block share.
std::uint64_t of_block(special s, block const& home) {
  launch_state const& launch = home.launch();
  dim3 const n = launch.request.block, grid = launch.request.grid, at = home.position();
  std::uint64_t const shared = launch.kernel.info.static_shared + launch.request.dynamic_shared;
  switch (s) {
    case special::ntid_x: return n.x;
    case special::ntid_y: return n.y;
    case special::ntid_z: return n.z;
    case special::ctaid_x:
    case special::clusterid_x: return at.x;
    case special::ctaid_y:
    case special::clusterid_y: return at.y;
    case special::ctaid_z:
    case special::clusterid_z: return at.z;
    case special::nctaid_x:
    case special::nclusterid_x: return grid.x;
    case special::nctaid_y:
    case special::nclusterid_y: return grid.y;
    case special::nctaid_z:
    case special::nclusterid_z: return grid.z;
    case special::cluster_nctaid_x:
    case special::cluster_nctaid_y:
    case special::cluster_nctaid_z:
    case special::cluster_nctarank: return 1;
    case special::nwarpid: return (n.count() + 31) / 32;
    case special::smid: return home.index() % multiprocessors;
    case special::nsmid: return multiprocessors;
    case special::dynamic_smem_size: return launch.request.dynamic_shared;
    case special::total_smem_size:
    case special::aggr_smem_size: return shared;
    case special::envreg1: return launch.grid_workspace >> 32;
    case special::envreg2: return launch.grid_workspace & 0xFFFFFFFFu;
    case special::dynamic_shared_base: return launch.dynamic_shared_base;
    case special::parameter_base: return launch.parameter_base;
    default: return 0;
  }
}

std::uint64_t of_lane(special s, block const& home, std::uint32_t warp_index, std::uint32_t lane) {
  dim3 const n = home.launch().request.block;
  std::uint64_t const thread = std::uint64_t{warp_index} * 32 + lane;
  std::uint32_t const bit = 1u << lane;
  switch (s) {
    case special::tid_x: return thread % n.x;
    case special::tid_y: return thread / n.x % n.y;
    case special::tid_z: return thread / n.x / n.y;
    case special::laneid: return lane;
    case special::warpid: return warp_index;
    case special::lanemask_eq: return bit;
    case special::lanemask_le: return bit | (bit - 1);
    case special::lanemask_lt: return bit - 1;
    case special::lanemask_ge: return ~(bit - 1);
    case special::lanemask_gt: return ~(bit | (bit - 1));
    default: return 0;
  }
}

bool differs_in_lanes(special s) {
  return s <= special::tid_z || s == special::laneid || s == special::warpid ||
         (s >= special::lanemask_eq && s <= special::lanemask_gt);
}

}  // namespace

columns special_values(block const& home, std::uint32_t warp_index) {
  auto const n = static_cast<std::size_t>(special::count);
  columns c;
  c.defined.assign(n * 32, all_bytes_defined);
  c.values.resize(n * 32);
  for (std::size_t k = 0; k < n; ++k) {
    auto const s = static_cast<special>(k);
    std::uint64_t const shared_by_all = differs_in_lanes(s) ? 0 : of_block(s, home);
    for (std::uint32_t l = 0; l < 32; ++l) {
      c.values[k * 32 + l] = differs_in_lanes(s) ? of_lane(s, home, warp_index, l) : shared_by_all;
    }
  }
  return c;
}

std::uint64_t clock_value(special s, warp const& w) {
  std::uint64_t const now = w.home().launch().ticks + w.spent();
  switch (s) {
    case special::clock:
    case special::globaltimer_lo: return now & 0xFFFFFFFFu;
    case special::clock_hi:
    case special::globaltimer_hi: return now >> 32;
    default: return now;
  }
}

}  // namespace ptx
