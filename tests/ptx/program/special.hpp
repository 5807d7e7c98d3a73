// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace ptx {

/// Special registers, and bases that are known only at launch. Each warp holds a column of them.
enum class special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  dynamic_smem_size,
  total_smem_size,
  aggr_smem_size,
  envreg1,
  envreg2,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  dynamic_shared_base,
  parameter_base,  // no register: addresses of this launch
  count
};

struct special_row {
  std::string_view name;
  std::uint8_t bytes;
};

/// Its name in PTX and its width.
[[nodiscard]] special_row const& row(special s);
/// special::count when no register has this name.
[[nodiscard]] special special_named(std::string_view name);
/// Changes while a kernel runs, so that each read asks anew.
[[nodiscard]] inline bool is_clock(special s) { return s >= special::clock && s <= special::globaltimer_hi; }

}  // namespace ptx
