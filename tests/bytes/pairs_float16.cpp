// SPDX-License-Identifier: Apache-2.0
#include "pairs.hpp"

TEST_CASE("every pair of choices gives the bytes of the reference: float16") { test::pairs::run_all<fp4::float16>(); }
