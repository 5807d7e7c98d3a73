// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ptx {

/// cp.async of one warp's lanes: copies wait in their groups and are made when a lane waits for them, as late as a
/// device may make them, so that a program that reads too early is found out.
struct async_copies {
  struct copy {
    std::uint64_t to, from;
    std::uint32_t instruction;
    std::uint8_t bytes, source_bytes;  ///< the rest is filled with zeros
  };
  using group = std::vector<copy>;
  struct of_lane {
    group open{};
    std::vector<group> committed{};  ///< oldest first
  };
  std::array<of_lane, 32> of{};
};

}  // namespace ptx
