// SPDX-License-Identifier: Apache-2.0
#include "execute/instructions.hpp"

namespace ptx {

opcode_table const& all_instructions() {
  static opcode_table const table = [] {
    opcode_table t;
    add_flow(t);
    add_integers(t);
    add_carries(t);
    add_bits(t);
    add_fields(t);
    add_floats(t);
    add_approximate(t);
    add_compare(t);
    add_moves(t);
    add_convert(t);
    add_memory(t);
    add_atomics(t);
    add_warp(t);
    add_matrix_memory(t);
    add_mma(t);
    add_async(t);
    add_mbarrier(t);
    return t;
  }();
  return table;
}

}  // namespace ptx
