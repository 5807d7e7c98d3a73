// SPDX-License-Identifier: Apache-2.0
// expected: the sentence of the library
#ifdef FP4_BAD
static_assert(false, "some other sentence");
#endif
