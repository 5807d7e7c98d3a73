// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "program/form.hpp"

namespace ptx {

/// The number, or the nearest that the integer type holds, as a 64-bit pattern.
[[nodiscard]] std::uint64_t clamped(std::uint64_t magnitude, bool negative, type to);
/// What NaN becomes.
[[nodiscard]] std::uint64_t nan_as_integer(type to, type from);
/// .ftz: a subnormal f32 as zero; other types as they are.
[[nodiscard]] std::uint64_t flushed(modifiers const& with, type t, std::uint64_t bits);
/// .sat: into [0, 1], NaN to zero.
[[nodiscard]] std::uint64_t saturated(type t, std::uint64_t bits);
/// .relu: negative numbers and -0 as +0.
[[nodiscard]] std::uint64_t without_negatives(type t, std::uint64_t bits);

/// cvt where one side is packed; modifiers are taken, operands not yet.
void build_packed_conversion(form& f);

}  // namespace ptx
