// SPDX-License-Identifier: Apache-2.0
//
// mma.sync: D = A B + C on fragments of 16 x K and K x 8.
//
// With e elements in a 32-bit register, lane 4 g + t holds, in its register i at position j:
//   A: row g + 8 (i & 1), k = e t + 4 e (i >> 1) + j      B: column g, k = e t + 4 e i + j
//   C, D of 32 bits: row g + 8 (i >> 1), column 2 t + (i & 1);  of 16 bits: row g + 8 i, column 2 t + j
// Products are exact; sums are made in double and rounded once. The ISA leaves the order of accumulation open.
#include <vector>

#include "execute/access.hpp"
#include "execute/floats.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

enum class kind_of_mma : std::uint8_t { plain, f8f6f4, mxf8f6f4, mxf4, mxf4nvf4 };

/// Which shapes, kinds and types belong together; a and b may differ where the types are small floats.
struct mma_row {
  std::string_view shape;
  kind_of_mma kind;
  std::string_view elements;  ///< types of A and of B
  std::uint8_t k, bits;       ///< depth, and width of an element in a register
  std::uint8_t scales;        ///< of one row: scale_vec::NX; zero without
  std::string_view scale_type, accumulators;
};

constexpr std::string_view small = "e4m3 e5m2 e3m2 e2m3 e2m1";
constexpr mma_row rows[] = {
    {"m16n8k8", kind_of_mma::plain, "f16", 8, 16, 0, "", "f32 f16"},
    {"m16n8k16", kind_of_mma::plain, "f16", 16, 16, 0, "", "f32 f16"},
    {"m16n8k8", kind_of_mma::plain, "bf16", 8, 16, 0, "", "f32"},
    {"m16n8k16", kind_of_mma::plain, "bf16", 16, 16, 0, "", "f32"},
    {"m16n8k4", kind_of_mma::plain, "tf32", 4, 32, 0, "", "f32"},
    {"m16n8k8", kind_of_mma::plain, "tf32", 8, 32, 0, "", "f32"},
    {"m16n8k16", kind_of_mma::plain, "e4m3 e5m2", 16, 8, 0, "", "f32 f16"},
    {"m16n8k32", kind_of_mma::plain, "e4m3 e5m2", 32, 8, 0, "", "f32 f16"},
    {"m16n8k32", kind_of_mma::f8f6f4, small, 32, 8, 0, "", "f32 f16"},
    {"m16n8k32", kind_of_mma::mxf8f6f4, small, 32, 8, 1, "ue8m0", "f32"},
    {"m16n8k64", kind_of_mma::mxf4, "e2m1", 64, 4, 2, "ue8m0", "f32"},
    {"m16n8k64", kind_of_mma::mxf4nvf4, "e2m1", 64, 4, 2, "ue8m0", "f32"},
    {"m16n8k64", kind_of_mma::mxf4nvf4, "e2m1", 64, 4, 4, "ue4m3", "f32"},
};

bool has_word(std::string_view list, std::string_view word) {
  std::string const padded = " " + std::string(list) + " ";
  return padded.find(" " + std::string(word) + " ") != std::string::npos;
}

/// An element's value from its bits in the register.
double element_value(type t, std::uint32_t bits, unsigned width) {
  if (t == type::tf32) { bits >>= 13; }
  if (t == type::e2m1 && width == 8) { bits >>= 2; }  // in bits 5 to 2 of its byte
  return from_bits<double>(pack(f64_format, unpack(format_of(t), bits), {}));
}

double scale_value(type t, std::uint32_t byte) {
  if (t == type::ue8m0) { return byte == 0xFF ? std::nan("") : std::ldexp(1.0, static_cast<int>(byte) - 127); }
  return element_value(type::e4m3, byte & 0x7F, 8);
}

/// Where an instruction's operands begin.
struct layout {
  int d, a, b, c, scale_a, scale_b, registers_a, registers_b, registers_c;
};
layout layout_of(mma_row const& r, bool half) {
  layout o{};
  o.registers_a = r.k * r.bits / 64;
  o.registers_b = r.k * r.bits / 128;
  o.registers_c = half ? 2 : 4;
  o.a = o.registers_c;
  o.b = o.a + o.registers_a;
  o.c = o.b + o.registers_b;
  o.scale_a = o.c + o.registers_c;
  o.scale_b = o.scale_a + 3;
  return o;
}

/// A as 16 rows of K, or B as 8 columns of K.
std::vector<double> fragments(warp& w, instruction const& i, mma_row const& r, int first, int registers, bool is_a) {
  std::vector<double> out(static_cast<std::size_t>(is_a ? 16 : 8) * r.k);
  type const t = is_a ? i.with.second : i.with.third;
  int const e = 32 / r.bits;
  std::uint32_t const mask = r.bits == 32 ? ~0u : (1u << r.bits) - 1;
  for (int n = 0; n < registers; ++n) {
    std::uint64_t const* const value = w.values(i.operands[first + n]);
    for (int l = 0; l < warp_size; ++l) {
      int const g = l / 4, lane_in_four = l % 4;
      int const line = is_a ? g + 8 * (n & 1) : g;
      int const k0 = e * lane_in_four + 4 * e * (is_a ? n >> 1 : n);
      for (int j = 0; j < e; ++j) {
        auto const bits = static_cast<std::uint32_t>(value[l] >> (r.bits * j)) & mask;
        out[static_cast<std::size_t>(line * r.k + k0 + j)] = element_value(t, bits, r.bits);
      }
    }
  }
  return out;
}

/// The factor of each block of a line (row of A or column of B), and what selects the lanes that supply it.
struct scale_table {
  double of[16][4];
};
scale_table scales(warp& w, instruction const& i, mma_row const& r, int first, bool is_a) {
  scale_table table{};
  auto const byte_id = static_cast<unsigned>(w.values(i.operands[first + 1])[0]);
  auto const thread_id = static_cast<unsigned>(w.values(i.operands[first + 2])[0]);
  bool const right = thread_id < (is_a ? 2u : 4u) && byte_id < 4 && byte_id % r.scales == 0;
  if (!right) { w.fail(i, 0, problem::trap, "byte-id or thread-id of a scale is out of range"); }
  for (unsigned line = 0; line < (is_a ? 16u : 8u); ++line) {
    unsigned const lane = 4 * (line % 8) + (is_a ? 2 * thread_id + line / 8 : thread_id);
    auto const word = static_cast<std::uint32_t>(w.values(i.operands[first])[lane]);
    auto const known_bytes = w.defined(i.operands[first])[lane];
    for (unsigned q = 0; q < r.scales; ++q) {
      if ((known_bytes >> (byte_id + q) & 1) == 0) {
        w.fail(i, static_cast<int>(lane), problem::undefined, "a scale factor was never written");
      }
      table.of[line][q] = scale_value(i.with.fourth, word >> (8 * (byte_id + q)) & 0xFF);
    }
  }
  return table;
}

double accumulator(warp& w, instruction const& i, int first, int row, int column, bool half) {
  int const lane = 4 * (row % 8) + column / 2;
  int const index = half ? row / 8 : 2 * (row / 8) + column % 2;
  std::uint64_t const bits = w.values(i.operands[first + index])[lane] >> (half ? 16 * (column % 2) : 0);
  float_format const& f = half ? f16_format : f32_format;
  return from_bits<double>(pack(f64_format, unpack(f, bits & (half ? 0xFFFFu : 0xFFFFFFFFu)), {}));
}

void set_result(std::uint32_t (&out)[4][32], int row, int column, bool half, double sum) {
  int const lane = 4 * (row % 8) + column / 2;
  auto const code =
      static_cast<std::uint32_t>(pack(half ? f16_format : f32_format, unpack(f64_format, to_bits(sum)), {}));
  if (half) {
    out[row / 8][lane] |= code << (16 * (column % 2));
  } else {
    out[2 * (row / 8) + column % 2][lane] = code;
  }
}

void multiply(warp& w, instruction const& i, lane_set m) {
  if (m != all_lanes) { w.fail(i, __builtin_ctz(m), problem::barrier, "not all 32 lanes execute mma together"); }
  mma_row const& r = rows[i.with.mode];
  bool const half = i.with.first == type::f16;
  layout const at = layout_of(r, half);
  for (int k = at.a; k < at.scale_a; ++k) { w.require(i, k, m, 0x0F); }
  std::vector<double> const a = fragments(w, i, r, at.a, at.registers_a, true);
  std::vector<double> const b = fragments(w, i, r, at.b, at.registers_b, false);
  scale_table scale_a{}, scale_b{};
  if (r.scales != 0) {
    scale_a = scales(w, i, r, at.scale_a, true);
    scale_b = scales(w, i, r, at.scale_b, false);
  }
  int const block = r.scales != 0 ? r.k / r.scales : r.k;
  std::uint32_t out[4][32] = {};
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      double sum = accumulator(w, i, at.c, row, column, half);
      for (int k = 0; k < r.k; ++k) {
        double const factor = r.scales == 0 ? 1.0 : scale_a.of[row][k / block] * scale_b.of[column][k / block];
        sum += a[static_cast<std::size_t>(row * r.k + k)] * b[static_cast<std::size_t>(column * r.k + k)] * factor;
      }
      set_result(out, row, column, half, sum);
    }
  }
  for (int n = 0; n < at.registers_c; ++n) {
    for (int l = 0; l < warp_size; ++l) { w.destination(i.operands[n])[l] = out[n][l]; }
    w.set_defined(i.operands[n], m);
  }
}

constexpr named<kind_of_mma> kinds[] = {{"kind::f8f6f4", kind_of_mma::f8f6f4},
                                        {"kind::mxf8f6f4", kind_of_mma::mxf8f6f4},
                                        {"kind::mxf4", kind_of_mma::mxf4},
                                        {"kind::mxf4nvf4", kind_of_mma::mxf4nvf4}};
constexpr named<std::uint8_t> scale_vectors[] = {{"scale_vec::1X", 1}, {"scale_vec::2X", 2}, {"scale_vec::4X", 4}};

/// The row of the table that the modifiers name; types are taken.
std::size_t take_row(form& f) {
  kind_of_mma kind = kind_of_mma::plain;
  f.take_one(kinds, kind);
  bool const scaled = f.take("block_scale");
  std::uint8_t scale_vector = 0;
  f.take_one(scale_vectors, scale_vector);
  if (scaled && scale_vector == 0) {
    scale_vector = kind == kind_of_mma::mxf4 ? 2 : kind == kind_of_mma::mxf8f6f4 ? 1 : 0;
  }
  std::string_view shape;
  for (mma_row const& r : rows) {
    if (shape.empty() && f.take(r.shape)) { shape = r.shape; }
  }
  modifiers& with = f.out.with;
  with.first = f.take_type();
  with.second = f.take_type();
  with.third = f.take_type();
  type const c = f.take_type();
  with.fourth = scaled ? f.take_type() : type::none;
  for (std::size_t k = 0; k < std::size(rows); ++k) {
    mma_row const& r = rows[k];
    bool const types = has_word(r.elements, row(with.second).name) && has_word(r.elements, row(with.third).name);
    bool const scale = r.scales == scale_vector && r.scale_type == row(with.fourth).name;
    bool const accumulators = has_word(r.accumulators, row(with.first).name) && c == with.first;
    if (r.shape == shape && r.kind == kind && types && scale && accumulators) { return k; }
  }
  f.fail("mma of this shape, kind and these types is not supported");
}

/// {byte-id, thread-id} where they are numbers.
void check_selectors(form& f, mma_row const& r, bool is_a) {
  ast::operand const& o = f.peek();
  if (o.parts.size() != 2) { f.fail("expected {byte-id, thread-id}"); }
  auto const number = [&](std::size_t k) {
    return o.parts[k].kind == ast::operand_kind::integer ? o.parts[k].bits : 0;
  };
  if (number(0) > 3 || number(0) % r.scales != 0) { f.fail("byte-id out of range"); }
  if (number(1) >= (is_a ? 2u : 4u)) { f.fail("thread-id out of range"); }
}

void build_mma(form& f) {
  if (!f.take("sync") || !f.take("aligned") || !f.take("row") || !f.take("col")) {
    f.fail("expected .sync.aligned and .row.col");
  }
  std::size_t const k = take_row(f);
  mma_row const& r = rows[k];
  f.out.with.mode = static_cast<std::uint8_t>(k);
  f.out.how = flow::meet;
  f.out.target = 1;
  f.out.run = multiply;
  layout const at = layout_of(r, f.out.with.first == type::f16);
  auto const n = [](int count) { return static_cast<std::size_t>(count); };
  f.destinations(type::b32, n(at.registers_c));
  f.sources(type::b32, n(at.registers_a));
  f.sources(type::b32, n(at.registers_b));
  f.sources(type::b32, n(at.registers_c));
  for (int side = 0; r.scales != 0 && side < 2; ++side) {
    f.source(type::b32);
    check_selectors(f, r, side == 0);
    f.sources(type::u16, 2);
  }
}

}  // namespace

void add_mma(opcode_table& t) { t.add("mma", build_mma); }

}  // namespace ptx
