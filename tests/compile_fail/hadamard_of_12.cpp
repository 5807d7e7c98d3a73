// SPDX-License-Identifier: Apache-2.0
// CASES H1: sizes that no test has shown to be orthogonal do not exist.
// expected: a Hadamard size is 16, 32, 64, 128 or 256
#include <fp4/transform/hadamard.hpp>

fp4::hadamard<16> const good;
#ifdef FP4_BAD
fp4::hadamard<12> const bad;
#endif
