// SPDX-License-Identifier: Apache-2.0
// The short form of all_floats, for every compiler and its flags.
#if !defined(FP4_TEST_QUICK)
#define FP4_TEST_QUICK
#endif
#include "format/all_floats.exhaustive.cpp"
