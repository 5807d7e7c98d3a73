// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program/program.hpp"
#include "program/special.hpp"

namespace ptx {

class block;

/// The special registers of a warp, one column each.
[[nodiscard]] columns special_values(block const& home, std::uint32_t warp_index);

/// What %clock and its kin show now.
[[nodiscard]] std::uint64_t clock_value(special s, block const& home);

}  // namespace ptx
