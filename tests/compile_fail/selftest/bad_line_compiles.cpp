// SPDX-License-Identifier: Apache-2.0
// expected: anything
#ifdef FP4_BAD
static_assert(true, "anything");
#endif
