// SPDX-License-Identifier: Apache-2.0
// The main() of every test program.
#define CATCH_CONFIG_RUNNER
#include "catch.hpp"

int main(int argc, char** argv) {
  constexpr int skipped = 77;  // SKIP_RETURN_CODE in CMakeLists.txt
  int const failures = Catch::Session().run(argc, argv);
  return failures == 0 && test_was_skipped ? skipped : failures;
}
