// SPDX-License-Identifier: Apache-2.0
// mma.sync against plain matrix products: which lane holds which element, and which scale belongs to it.
#include "instructions/reference.hpp"

using namespace ptx::test;

namespace {

struct element {
  std::string name;
  float_format format;
  int width;      ///< bits in a register
  int shift = 0;  ///< of the code in that place: 4 bits in a byte are bits 5..2
};
element const h{"f16", f16, 16}, b{"bf16", bf16, 16}, tf{"tf32", tf32, 32, 13};
element const m4e3{"e4m3", e4m3, 8}, m5e2{"e5m2", e5m2, 8}, m2e3{"e2m3", e2m3, 8}, m3e2{"e3m2", e3m2, 8};
element const m2e1{"e2m1", e2m1, 8, 2}, nibble{"e2m1", e2m1, 4};

struct scales {
  std::string type;      ///< empty without scales
  unsigned per_row = 0;  ///< 4 for scale_vec::4X, ...
  unsigned byte_a = 0, lanes_a = 0, byte_b = 0, lanes_b = 0;
  bool ids_in_registers = false;
};

struct product {
  std::string kind;  ///< modifiers between the shape and the types
  unsigned k;
  element a, b;
  std::string target;
  std::string accumulator = "f32";
  scales scale{};
  [[nodiscard]] unsigned a_registers() const { return k * static_cast<unsigned>(a.width) / 64; }
  [[nodiscard]] unsigned b_registers() const { return a_registers() / 2; }
};

/// Six registers of 64 bits: a0 a1, a2 a3, b0 b1, c0 c1, c2 c3, and the scales of A and of B.
std::string body_of(product const& p) {
  auto const list = [](std::string const& name, unsigned first, unsigned count) {
    std::string s = "{";
    for (unsigned i = 0; i < count; ++i) { s += (i == 0 ? "" : ", ") + name + std::to_string(first + i); }
    return s + "}";
  };
  bool const wide = p.accumulator == "f32";
  std::string s =
      "mov.b64 {%t0, %t1}, %a; mov.b64 {%t2, %t3}, %b; mov.b64 {%t4, %t5}, %c; mov.b64 {%t6, %t7}, %x;"
      " mov.b64 {%t8, %t9}, %y; mov.b64 {%t10, %t11}, %z; mov.b32 %f, 0; mov.b32 %g, 0;\n";
  s += "mma.sync.aligned.m16n8k" + std::to_string(p.k) + ".row.col" + p.kind + "." + p.accumulator + "." + p.a.name +
       "." + p.b.name + "." + p.accumulator;
  s += (p.scale.type.empty() ? "" : "." + p.scale.type) + (wide ? " {%d, %e, %f, %g}, " : " {%d, %e}, ");
  s += list("%t", 0, p.a_registers()) + ", " + list("%t", 4, p.b_registers()) + ", " + list("%t", 6, wide ? 4 : 2);
  scales const& sc = p.scale;
  if (!sc.type.empty()) {
    auto const ids = [](unsigned x, unsigned y) { return "{" + std::to_string(x) + ", " + std::to_string(y) + "}"; };
    if (sc.ids_in_registers) {
      s = "mov.u16 %h0, " + std::to_string(sc.byte_a) + "; mov.u16 %h1, " + std::to_string(sc.lanes_a) + "; " + s;
    }
    s += ", %t10, " + (sc.ids_in_registers ? "{%h0, %h1}" : ids(sc.byte_a, sc.lanes_a)) + ", %t11, " +
         ids(sc.byte_b, sc.lanes_b);
  }
  return s + ";";
}

/// A random matrix problem: codes, and what they mean.
struct problem {
  std::vector<word> a, b, sa, sb;  ///< codes: a[m * k + kk], b[n * k + kk], sa[m * per_row + q]
  std::vector<double> c;           ///< c[m * 8 + n]
};

double scale_value(std::string const& type, word code) {
  return type == "ue4m3" ? decode(e4m3, code) : code == 0xFF ? NAN : std::ldexp(1.0, static_cast<int>(code) - 127);
}

class random_problems {
 public:
  /// Multiples of 1/4 up to 8, so that every sum is exact; scales are near 1, too.
  problem operator()(product const& p) {
    problem q;
    for (unsigned i = 0; i < 16 * p.k; ++i) { q.a.push_back(code(p.a)); }
    for (unsigned i = 0; i < 8 * p.k; ++i) { q.b.push_back(code(p.b)); }
    for (unsigned i = 0; i < 16 * p.scale.per_row; ++i) { q.sa.push_back(scale(p.scale.type)); }
    for (unsigned i = 0; i < 8 * p.scale.per_row; ++i) { q.sb.push_back(scale(p.scale.type)); }
    for (unsigned i = 0; i < 16 * 8; ++i) { q.c.push_back(static_cast<double>(below(65)) - 32); }
    return q;
  }
  word below(word n) { return generator_() % n; }
  word code(element const& e) {
    for (;;) {
      word const c =
          e.width < 16 ? below(2 * e.format.sign()) : encode(e.format, (static_cast<double>(below(17)) - 8) / 4);
      double const x = decode(e.format, c);
      if (std::fabs(x) <= 8 && x * 4 == std::floor(x * 4)) { return c; }
    }
  }
  word scale(std::string const& type) { return type == "ue4m3" ? 0x38 + 2 * below(4) : 125 + below(5); }

 private:
  std::mt19937 generator_{7};
};

/// The lanes' registers, by the formulas of the ISA's fragments.
void append_lanes(table& t, product const& p, problem const& q, random_problems& random) {
  unsigned const per = 32 / static_cast<unsigned>(p.a.width);  // elements in a register
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned const g = lane >> 2, l = lane & 3;
    word r[12]{};
    for (unsigned j = 0; j < per; ++j) {
      for (unsigned i = 0; i < p.a_registers(); ++i) {
        unsigned const m = g + 8 * (i & 1), k = per * l + 4 * per * (i >> 1) + j;
        r[i] |= q.a[m * p.k + k] << (p.a.shift + static_cast<int>(j) * p.a.width);
      }
      for (unsigned i = 0; i < p.b_registers(); ++i) {
        r[4 + i] |= q.b[g * p.k + per * l + 4 * per * i + j] << (p.b.shift + static_cast<int>(j) * p.b.width);
      }
    }
    for (unsigned i = 0; i < 4; ++i) {
      double const c = q.c[(g + 8 * (i >> 1)) * 8 + 2 * l + (i & 1)];
      if (p.accumulator == "f32") {
        r[6 + i] = bits(static_cast<float>(c));
      } else {
        r[6 + i / 2] |= encode(f16, c) << (16 * (i & 1));
      }
    }
    r[10] = random.below(0x1'0000'0000), r[11] = random.below(0x1'0000'0000);  // lanes whose scales nobody asks for
    scales const& s = p.scale;
    for (unsigned x = 0; x < s.per_row; ++x) {
      auto const put = [](word& to, unsigned byte, word code) {
        to = (to & ~(word{0xFF} << (8 * byte))) | code << (8 * byte);
      };
      if (l >> 1 == s.lanes_a) { put(r[10], s.byte_a + x, q.sa[(g + 8 * (l & 1)) * s.per_row + x]); }
      if (l == s.lanes_b) { put(r[11], s.byte_b + x, q.sb[g * s.per_row + x]); }
    }
    for (unsigned i = 0; i < 12; i += 2) { t.words.push_back(r[i] | r[i + 1] << 32); }
  }
}

double element_of(product const& p, problem const& q, unsigned m, unsigned n) {
  double sum = q.c[m * 8 + n];
  for (unsigned k = 0; k < p.k; ++k) {
    double factor = 1;
    if (p.scale.per_row != 0) {
      unsigned const block = k / (p.k / p.scale.per_row);
      factor = scale_value(p.scale.type, q.sa[m * p.scale.per_row + block]) *
               scale_value(p.scale.type, q.sb[n * p.scale.per_row + block]);
    }
    sum += decode(p.a.format, q.a[m * p.k + k]) * decode(p.b.format, q.b[n * p.k + k]) * factor;
  }
  return sum;
}

void check_product(product const& p, std::vector<problem> const& problems, random_problems& random) {
  table t{6};
  for (problem const& q : problems) { append_lanes(t, p, q, random); }
  std::string const results = p.accumulator == "f32" ? "f32 f32 f32 f32" : "b32 b32 b32 b32";
  check({body_of(p), results + " = b64 b64 b64 b64 b64 b64", p.target}, t, [&](word const* in, word* out) {
    auto const row = static_cast<std::size_t>(in - t.words.data()) / t.width;
    unsigned const lane = row % 32, g = lane >> 2, l = lane & 3;
    for (unsigned i = 0; i < 4; ++i) {
      double const d = element_of(p, problems[row / 32], g + 8 * (i >> 1), 2 * l + (i & 1));
      if (p.accumulator == "f32") {
        out[i] = bits(static_cast<float>(d));
      } else {
        out[i / 2] |= encode(f16, d) << (16 * (i & 1));
      }
    }
  });
}

void check_random(product const& p, int count = 10) {
  random_problems random;
  std::vector<problem> problems;
  for (int i = 0; i < count; ++i) { problems.push_back(random(p)); }
  check_product(p, problems, random);
}

std::string const nv4 = ".kind::mxf4nvf4.block_scale.scale_vec::4X", nv2 = ".kind::mxf4nvf4.block_scale.scale_vec::2X";
std::string const mx2 = ".kind::mxf4.block_scale.scale_vec::2X", mx1 = ".kind::mxf8f6f4.block_scale.scale_vec::1X";

}  // namespace

TEST_CASE("halves, bfloat16 and tf32", "[ptx]") {
  for (product const& p :
       {product{"", 16, h, h, "sm_80"}, product{"", 16, b, b, "sm_80"}, product{"", 8, h, h, "sm_80"},
        product{"", 8, b, b, "sm_80"}, product{"", 16, h, h, "sm_90", "f16"}, product{"", 8, h, h, "sm_120a", "f16"},
        product{"", 8, tf, tf, "sm_80"}, product{"", 4, tf, tf, "sm_80"}}) {
    check_random(p);
  }
}

TEST_CASE("bytes and smaller formats in bytes", "[ptx]") {
  for (product const& p : {product{"", 32, m4e3, m4e3, "sm_89"}, product{"", 32, m5e2, m4e3, "sm_90"},
                           product{"", 16, m4e3, m5e2, "sm_89"}, product{"", 32, m4e3, m4e3, "sm_89", "f16"}}) {
    check_random(p);
  }
  for (element const& a : {m4e3, m5e2, m2e3, m3e2, m2e1}) {
    for (element const& c : {m4e3, m3e2, m2e1}) {
      check_random({".kind::f8f6f4", 32, a, c, "sm_120a"}, 3);
      check_random({mx1, 32, a, c, "sm_121f", "f32", {"ue8m0", 1, 3, 1, 2, 3}}, 3);
    }
  }
}

TEST_CASE("e2m1 with a scale for 16 or 32 elements: all selectors", "[ptx]") {
  for (unsigned lanes_a : {0U, 1U}) {
    for (unsigned lanes_b : {0U, 1U, 2U, 3U}) {
      check_random({nv4, 64, nibble, nibble, "sm_120a", "f32", {"ue4m3", 4, 0, lanes_a, 0, lanes_b}});
      for (unsigned byte : {0U, 2U}) {
        check_random({mx2, 64, nibble, nibble, "sm_120f", "f32", {"ue8m0", 2, byte, lanes_a, 2 - byte, lanes_b}}, 4);
        check_random({nv2, 64, nibble, nibble, "sm_121a", "f32", {"ue8m0", 2, byte, lanes_a, byte, lanes_b}}, 4);
      }
    }
  }
  check_random({nv4, 64, nibble, nibble, "sm_120a", "f32", {"ue4m3", 4, 0, 1, 0, 2, true}});
  check_random({".kind::mxf4.block_scale", 64, nibble, nibble, "sm_120a", "f32", {"ue8m0", 2, 2, 0, 0, 1, true}});
}

TEST_CASE("every ue4m3 scale, NaN included, meets its own block", "[ptx]") {
  product const p{nv4, 64, nibble, nibble, "sm_120a", "f32", {"ue4m3", 4}};
  random_problems random;
  std::vector<problem> problems;
  for (word code = 0; code < 0x80; ++code) {
    // One element of each row in the block of the scale, so that the product has 12 bits and no sum.
    problem q = random(p);
    std::fill(q.a.begin(), q.a.end(), 0), std::fill(q.b.begin(), q.b.end(), word{5}),
        std::fill(q.c.begin(), q.c.end(), 0.0);
    for (unsigned m = 0; m < 16; ++m) {
      unsigned const k = (code * 17 + m * 5) % 64;
      q.a[m * 64 + k] = (code + m) % 16;
      q.sa[m * 4 + k / 16] = code;
    }
    for (word& s : q.sb) { s = random.below(0x7F); }
    problems.push_back(q);
  }
  check_product(p, problems, random);
}
