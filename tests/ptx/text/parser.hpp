// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "text/ast.hpp"

namespace ptx {

/// Reads a whole PTX module.  \throws error with line and text where the syntax is not PTX.
[[nodiscard]] ast::module parse(std::string_view text);

}  // namespace ptx
