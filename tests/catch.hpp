// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The one header through which tests see Catch2, version 2 or 3. Tests use the spelling of version 3
/// (`Catch::Matchers::ContainsSubstring`).

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_session.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
namespace Catch::Matchers {
inline auto ContainsSubstring(std::string const& text) { return Contains(text); }
}  // namespace Catch::Matchers
#endif

#include <cstdio>

/// Set by skip_test; main() turns it into the exit code that ctest counts as skipped.
inline bool test_was_skipped = false;

/// Says that a test cannot run here and why; the test then returns. The program counts as skipped unless it
/// fails.
inline void skip_test(char const* reason) {
  std::printf("skipped: %s\n", reason);
  test_was_skipped = true;
}
