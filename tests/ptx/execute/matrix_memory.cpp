// SPDX-License-Identifier: Apache-2.0
//
// ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16 bits, whose rows of 16 bytes lie where eight lanes point.
#include "execute/access.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

/// One matrix with what is known of its bytes.
struct matrix {
  std::uint8_t bytes[8][16];
  std::uint32_t written[8];  ///< bit i: byte i of the row
};

void demand_whole_warp(warp& w, instruction const& i, lane_set m) {
  if (m != all_lanes) {
    w.fail(i, __builtin_ctz(m), problem::barrier, "not all 32 lanes execute a matrix instruction together");
  }
}

/// A lane's 32 bits of a matrix: row lane / 4, two columns; transposed: column lane / 4, two rows.
std::uint32_t fragment(matrix const& from, int lane, bool transposed, byte_set& written) {
  std::uint32_t value = 0;
  written = 0xF0;
  for (int k = 0; k < 4; ++k) {
    int const element = 2 * (lane % 4) + k / 2;
    int const r = transposed ? element : lane / 4;
    int const byte = 2 * (transposed ? lane / 4 : element) + k % 2;
    value |= static_cast<std::uint32_t>(from.bytes[r][byte]) << (8 * k);
    written |= static_cast<byte_set>((from.written[r] >> byte & 1) << k);
  }
  return value;
}

void set_fragment(matrix& to, int lane, bool transposed, std::uint32_t value, byte_set written) {
  for (int k = 0; k < 4; ++k) {
    int const element = 2 * (lane % 4) + k / 2;
    int const r = transposed ? element : lane / 4;
    int const byte = 2 * (transposed ? lane / 4 : element) + k % 2;
    to.bytes[r][byte] = static_cast<std::uint8_t>(value >> (8 * k));
    to.written[r] = (to.written[r] & ~(1u << byte)) | static_cast<std::uint32_t>(written >> k & 1) << byte;
  }
}

/// b8x16.b4x16_p64: a row is 16 elements of four bits and eight bytes of padding; each becomes a byte.
void widen_nibbles(matrix& x) {
  for (int r = 0; r < 8; ++r) {
    std::uint8_t narrow[8];
    std::memcpy(narrow, x.bytes[r], sizeof narrow);
    std::uint32_t written = 0;
    for (int k = 0; k < 16; ++k) {
      x.bytes[r][k] = static_cast<std::uint8_t>(narrow[k / 2] >> (4 * (k % 2)) & 0xF);
      written |= (x.written[r] >> (k / 2) & 1) << k;
    }
    x.written[r] = written;
  }
}

/// {d..}, [row address]
void load_matrices(warp& w, instruction const& i, lane_set m) {
  demand_whole_warp(w, i, m);
  int const n = i.count - 1;
  request const all = make_request(w, i, n, m, 16);
  for (int j = 0; j < n; ++j) {
    matrix x{};
    request r = all;
    r.lanes = 0xFFu << (8 * j);
    w.home().memory().load(w.index(), r, [&](unsigned lane, std::byte const* at, std::uint32_t written) {
      std::memcpy(x.bytes[lane % 8], at, 16);
      x.written[lane % 8] = written;
    });
    if (i.with.elements == 4) { widen_nibbles(x); }
    for (int l = 0; l < warp_size; ++l) {
      w.destination(i.operands[j])[l] = fragment(x, l, i.with.mode != 0, w.destination_defined(i.operands[j])[l]);
    }
  }
}

/// [row address], {s..}
void store_matrices(warp& w, instruction const& i, lane_set m) {
  demand_whole_warp(w, i, m);
  request const all = make_request(w, i, 0, m, 16);
  for (int j = 0; j + 1 < i.count; ++j) {
    matrix x{};
    operand const& from = i.operands[1 + j];
    for (int l = 0; l < warp_size; ++l) {
      set_fragment(x, l, i.with.mode != 0, static_cast<std::uint32_t>(w.values(from)[l]), w.defined(from)[l]);
    }
    request r = all;
    r.lanes = 0xFFu << (8 * j);
    w.home().memory().store(w.index(), r, [&](unsigned lane, std::byte* at) {
      std::memcpy(at, x.bytes[lane % 8], 16);
      return x.written[lane % 8];
    });
  }
}

/// d, a: the transposed matrix.
void transpose_matrix(warp& w, instruction const& i, lane_set m) {
  demand_whole_warp(w, i, m);
  matrix x{};
  for (int l = 0; l < warp_size; ++l) {
    set_fragment(x, l, false, static_cast<std::uint32_t>(w.values(i.operands[1])[l]), w.defined(i.operands[1])[l]);
  }
  for (int l = 0; l < warp_size; ++l) {
    w.destination(i.operands[0])[l] = fragment(x, l, true, w.destination_defined(i.operands[0])[l]);
  }
}

constexpr named<std::uint8_t> counts[] = {{"x1", 1}, {"x2", 2}, {"x4", 4}};

void take_whole_warp(form& f) {
  if (!f.take("sync") || !f.take("aligned")) { f.fail("expected .sync.aligned"); }
  f.out.how = flow::meet;
  f.out.target = 1;
}

void build_matrix_access(form& f) {
  bool const loads = f.base() == "ldmatrix";
  take_whole_warp(f);
  bool const nibbles = loads && f.take("m8n16");
  if (!nibbles && !f.take("m8n8")) { f.fail("only .m8n8, and .m8n16 of ldmatrix, are supported"); }
  std::uint8_t n = 1;
  if (!f.take_one(counts, n)) { f.fail("expected .x1, .x2 or .x4"); }
  f.out.with.mode = f.take("trans") ? 1 : 0;
  f.out.with.where = f.take("shared") || f.take("shared::cta") ? space::shared : space::generic;
  if (nibbles) {
    if (!f.take("b8x16") || !f.take("b4x16_p64")) { f.fail("only .b8x16.b4x16_p64 is supported"); }
    f.out.with.elements = 4;
  } else if (f.take_type() != type::b16) {
    f.fail("not for this type");
  }
  if (loads) { f.destinations(type::b32, n); }
  f.address();
  if (!loads) { f.sources(type::b32, n); }
  f.out.run = loads ? load_matrices : store_matrices;
}

void build_movmatrix(form& f) {
  take_whole_warp(f);
  if (!f.take("m8n8") || !f.take("trans") || f.take_type() != type::b16) { f.fail("expected .m8n8.trans.b16"); }
  f.destination(type::b32);
  f.source(type::b32);
  f.out.run = transpose_matrix;
}

}  // namespace

void add_matrix_memory(opcode_table& t) {
  t.add("ldmatrix", build_matrix_access);
  t.add("stmatrix", build_matrix_access);
  t.add("movmatrix", build_movmatrix);
}

}  // namespace ptx
