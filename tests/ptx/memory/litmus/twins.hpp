// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "block.hpp"
#include "catch.hpp"

namespace litmus {

/// `program(true)` is right; `program(false)` races.
inline void check_twins(std::function<void(launch&, bool)> const& program, std::uint32_t blocks = 3) {
  auto const run = [&](bool right) {
    launch l(blocks);
    return found([&] { program(l, right); });
  };
  CHECK(run(true) == std::nullopt);
  CHECK(run(false) == problem::race);
}

/// Not CHECK(l.read(...) == wanted), which would catch the fault.
inline void expect(std::uint32_t got, std::uint32_t wanted) { CHECK(got == wanted); }

}  // namespace litmus
