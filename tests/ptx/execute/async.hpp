// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "memory/access.hpp"

namespace ptx {

/// cp.async of one warp's lanes: copies wait in their groups and are made when a lane waits for them, as late as a
/// device may make them, so that a program that reads too early is found out.
struct async_copies {
  using group = std::vector<async_copy>;
  struct of_lane {
    group open{};
    std::vector<group> committed{};  ///< oldest first
  };
  std::array<of_lane, 32> of{};
};

}  // namespace ptx
