// SPDX-License-Identifier: Apache-2.0
// Every scaling with rounding nearest, row-wise, against the reference.
#include "contract.cuh"

#ifndef FIRST
#define FIRST 0
#define COUNT test::scheme_count
#endif

CASE(scalings) { test::run_schemes<0, FIRST>(std::make_integer_sequence<int, COUNT>{}); }

int main(int argc, char** argv) { return program::run(argc, argv); }
