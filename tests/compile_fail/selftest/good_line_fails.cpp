// SPDX-License-Identifier: Apache-2.0
// expected: anything
static_assert(false, "anything");
