// SPDX-License-Identifier: Apache-2.0
#ifdef FP4_BAD
static_assert(false, "anything");
#endif
