// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "machine.hpp"

namespace ptx {

/// Why the target refuses the instruction; empty when it has it.
[[nodiscard]] std::string refusal(std::string_view opcode, std::size_t operands, target const& which);

/// Whether a device runs PTX made for `made_for`: any later one, with suffix f its family, with a only itself.
[[nodiscard]] bool runs_on(target const& device, target const& made_for);

}  // namespace ptx
