// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program/form.hpp"
#include "program/program.hpp"

namespace ptx {

/// Turns a parsed module into code for a target. Variables get device memory and their initial values.
/// \throws error with line and text for an unknown name, opcode, modifier or form, and for what the target lacks
[[nodiscard]] std::unique_ptr<program> decode(ast::module text, target const& which, opcode_table const& opcodes,
                                              memory& device);

}  // namespace ptx
