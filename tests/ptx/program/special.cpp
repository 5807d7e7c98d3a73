// SPDX-License-Identifier: Apache-2.0
#include "program/special.hpp"

#include <iterator>

namespace ptx {
namespace {

constexpr special_row rows[] = {
    {"%tid.x", 4},
    {"%tid.y", 4},
    {"%tid.z", 4},
    {"%ntid.x", 4},
    {"%ntid.y", 4},
    {"%ntid.z", 4},
    {"%ctaid.x", 4},
    {"%ctaid.y", 4},
    {"%ctaid.z", 4},
    {"%nctaid.x", 4},
    {"%nctaid.y", 4},
    {"%nctaid.z", 4},
    {"%laneid", 4},
    {"%warpid", 4},
    {"%nwarpid", 4},
    {"%smid", 4},
    {"%nsmid", 4},
    {"%gridid", 8},
    {"%lanemask_eq", 4},
    {"%lanemask_le", 4},
    {"%lanemask_lt", 4},
    {"%lanemask_ge", 4},
    {"%lanemask_gt", 4},
    {"%clusterid.x", 4},
    {"%clusterid.y", 4},
    {"%clusterid.z", 4},
    {"%nclusterid.x", 4},
    {"%nclusterid.y", 4},
    {"%nclusterid.z", 4},
    {"%cluster_ctaid.x", 4},
    {"%cluster_ctaid.y", 4},
    {"%cluster_ctaid.z", 4},
    {"%cluster_nctaid.x", 4},
    {"%cluster_nctaid.y", 4},
    {"%cluster_nctaid.z", 4},
    {"%cluster_ctarank", 4},
    {"%cluster_nctarank", 4},
    {"%is_explicit_cluster", 1},
    {"%dynamic_smem_size", 4},
    {"%total_smem_size", 4},
    {"%aggr_smem_size", 4},
    {"%envreg1", 4},
    {"%envreg2", 4},
    {"%clock", 4},
    {"%clock_hi", 4},
    {"%clock64", 8},
    {"%globaltimer", 8},
    {"%globaltimer_lo", 4},
    {"%globaltimer_hi", 4},
    {"dynamic shared base", 8},
    {"parameter base", 8},
};
static_assert(std::size(rows) == static_cast<std::size_t>(special::count));

}  // namespace

special_row const& row(special s) { return rows[static_cast<int>(s)]; }

special special_named(std::string_view name) {
  for (int i = 0; i < static_cast<int>(special::count); ++i) {
    if (rows[i].name == name) { return static_cast<special>(i); }
  }
  return special::count;
}

}  // namespace ptx
