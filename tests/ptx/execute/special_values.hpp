// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program/program.hpp"
#include "program/special.hpp"

namespace ptx {

class block;
class warp;

/// The special registers of a warp, one column each.
[[nodiscard]] columns special_values(block const& home, std::uint32_t warp_index);

/// What %clock and its kin show a running warp now.
[[nodiscard]] std::uint64_t clock_value(special s, warp const& w);

}  // namespace ptx
