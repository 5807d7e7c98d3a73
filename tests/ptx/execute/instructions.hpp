// SPDX-License-Identifier: Apache-2.0
//
// Every instruction: one builder for each opcode, in the file of its kind.
#pragma once

#include "program/form.hpp"

namespace ptx {

void add_flow(opcode_table& t);           ///< bra, call, ret, exit, bar, fence
void add_integers(opcode_table& t);       ///< add, mul, mad, min, rem
void add_carries(opcode_table& t);        ///< addc, subc
void add_bits(opcode_table& t);           ///< and, shl, prmt, lop3
void add_fields(opcode_table& t);         ///< bfe, bfi, popc, clz, dp4a
void add_floats(opcode_table& t);         ///< add, mul, fma, div, sqrt, min, max of all float types
void add_approximate(opcode_table& t);    ///< rcp.approx, ex2.approx, ...
void add_compare(opcode_table& t);        ///< set, setp, selp
void add_moves(opcode_table& t);          ///< mov, cvta, prmt, isspacep
void add_convert(opcode_table& t);        ///< cvt
void add_memory(opcode_table& t);         ///< ld, st, prefetch
void add_atomics(opcode_table& t);        ///< atom, red
void add_warp(opcode_table& t);           ///< shfl, vote, match, redux, activemask, elect
void add_matrix_memory(opcode_table& t);  ///< ldmatrix, stmatrix
void add_mma(opcode_table& t);            ///< mma
void add_async(opcode_table& t);          ///< cp.async
void add_mbarrier(opcode_table& t);       ///< mbarrier

/// All of the above.
[[nodiscard]] opcode_table const& all_instructions();

}  // namespace ptx
