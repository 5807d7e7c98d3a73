// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program/program.hpp"
#include "program/scopes.hpp"

namespace ptx {

/// Bytes of a variable or parameter.
[[nodiscard]] std::uint64_t size_of(ast::variable const& v);

/// Offset of a variable placed after `used` bytes, which grow.
std::uint64_t place_after(std::uint32_t& used, ast::variable const& v);

/// A .shared variable: at an offset after `used` bytes, or dynamic.
[[nodiscard]] symbol shared_symbol(ast::variable const& v, std::uint32_t& used);

/// Name, parameters and directives of a kernel.
void describe_kernel(ast::function const& f, kernel_info& info);

/// Gives each .global and .const variable memory, then their initial values; zero without.
void place_variables(program& p, memory& device);
void initialise_variables(program& p, memory& device);

}  // namespace ptx
