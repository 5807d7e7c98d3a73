// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a launch moved, counted for each warp instruction as the hardware would split it.

#include <array>
#include <cstdint>

#include "access.hpp"

namespace ptx {

struct space_counts {
  static constexpr std::array<unsigned, 6> widths{1, 2, 4, 8, 16, 32};

  std::uint64_t read_requests = 0, write_requests = 0;         ///< warp instructions; an atomic counts as a write
  std::array<std::uint64_t, 6> bytes_read{}, bytes_written{};  ///< by the width of one lane's access
  std::uint64_t sectors_read = 0, sectors_written = 0;  ///< 32-byte sectors, summed over requests (not in shared)
  std::uint64_t bank_conflicts = 0;                     ///< extra passes beyond the unavoidable (shared only)

  [[nodiscard]] std::uint64_t total_read() const;
  [[nodiscard]] std::uint64_t total_written() const;
};

struct traffic {
  space_counts global, shared, local;
  std::uint64_t atomics = 0;  ///< by thread

  void add(request const& r, space where, bool writes, bool atomic);
};

/// Distinct 32-byte sectors that the lanes touch.
std::uint32_t sectors(request const& r);
/// Passes that shared memory's 32 banks need beyond one for every 128 bytes asked for.
std::uint32_t bank_conflicts(request const& r);

}  // namespace ptx
