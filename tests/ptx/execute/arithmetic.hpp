// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program/form.hpp"

namespace ptx {

// Opcodes that integers and floats share; floats.cpp looks at the type and comes here for integers.
void build_integer_arithmetic(form& f);  ///< add, sub, div, min, max, abs, neg
void build_integer_product(form& f);     ///< mul, mad

/// div, rcp and sqrt with .approx or .full; false, and nothing taken, without these.
bool build_approximate(form& f);

}  // namespace ptx
