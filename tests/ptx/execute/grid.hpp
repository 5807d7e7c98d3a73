// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program/program.hpp"

namespace ptx {

/// Runs a kernel to its end or its first finding.  \throws error for a launch that cannot be
[[nodiscard]] launch_report run_grid(program const& code, function_code const& kernel, launch_request const& request,
                                     machine_options const& options, memory& device);

}  // namespace ptx
