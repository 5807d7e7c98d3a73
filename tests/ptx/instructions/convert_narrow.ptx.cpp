// SPDX-License-Identifier: Apache-2.0
// cvt to and from e4m3, e5m2, e2m3, e3m2, e2m1 and ue8m0, and stochastic rounding.
#include "instructions/reference.hpp"

using namespace ptx::test;

namespace {

struct narrow {
  std::string name;
  float_format format;
  std::string target;
  bool nibble() const { return name == "e2m1"; }
};
narrow const formats[] = {{"e4m3", e4m3, "sm_89"},
                          {"e5m2", e5m2, "sm_89"},
                          {"e2m3", e2m3, "sm_100a"},
                          {"e3m2", e3m2, "sm_120f"},
                          {"e2m1", e2m1, "sm_103a"}};

table paired(column const& c, std::size_t distance = 1) {
  table t{2};
  for (std::size_t i = 0; i < c.size(); ++i) {
    t.words.push_back(c[i]), t.words.push_back(c[(i + distance) % c.size()]);
  }
  return t;
}

/// cvt.rn.satfinite{.relu}: NaN of either sign is the format's canonical code (+6 for e2m1).
word narrowed(float_format const& f, double x, bool relu = false) {
  return relu && x <= 0 ? 0 : encode(f, x, rounding::nearest, true);
}
word pair_of(narrow const& n, word high, word low) { return n.nibble() ? high << 4 | low : high << 8 | low; }

/// Wraps the instruction so that its 8-bit operand, where it has one, is the low byte of %d or %a.
std::string to_pair(narrow const& n, std::string const& modifiers, std::string const& source,
                    std::string const& operands) {
  std::string const text = "cvt.rn.satfinite" + modifiers + "." + n.name + "x2." + source;
  return n.nibble() ? text + " %n0, " + operands + "; mov.b16 %d, {%n0, 0};" : text + " %d, " + operands + ";";
}

word reversed(word w, int bits) {
  word r = 0;
  for (int i = 0; i < bits; ++i) { r |= (w >> i & 1) << (bits - 1 - i); }
  return r;
}

/// Adds `random` (of `width` bits) to the part that rounding toward zero drops, cut to as many bits; a carry rounds up.
word stochastic(float_format const& f, double x, word random, int width, bool relu) {
  if (relu && x <= 0) { return 0; }
  word const down = encode(f, x, rounding::zero, true);
  double const largest = decode(f, f.largest());
  if (x != x || std::fabs(x) >= largest) { return encode(f, x, rounding::nearest, true); }
  double const lo = std::fabs(decode(f, down)), hi = std::fabs(decode(f, down + 1));
  auto const part = static_cast<word>(std::floor(std::ldexp((std::fabs(x) - lo) / (hi - lo), width)));
  return down + ((part + random) >> width);
}

}  // namespace

TEST_CASE("f32 to pairs: ties, saturation, NaN, relu", "[ptx]") {
  for (narrow const& n : formats) {
    for (bool relu : {false, true}) {
      check_each({to_pair(n, relu ? ".relu" : "", "f32", "%a, %b"), "b16 = b32 b32", n.target}, paired(aimed(n.format)),
                 [&](word a, word b) {
                   return pair_of(n, narrowed(n.format, decode(f32, a), relu),
                                  narrowed(n.format, decode(f32, b), relu));
                 });
    }
  }
}

TEST_CASE("all halves to e4m3, e5m2 and e2m1", "[ptx]") {
  column both;
  for (word w = 0; w < 0x10000; ++w) { both.push_back(w | (w * 0x9E37 & 0xFFFF) << 16); }
  for (narrow const& n : {formats[0], formats[1], formats[4]}) {
    for (bool relu : {false, true}) {
      check_each({to_pair(n, relu ? ".relu" : "", "f16x2", "%a"), "b16 = b32", n.target}, all({both}), [&](word a) {
        return pair_of(n, narrowed(n.format, decode(f16, a >> 16), relu),
                       narrowed(n.format, decode(f16, a & 0xFFFF), relu));
      });
    }
  }
}

TEST_CASE("all codes to halves", "[ptx]") {
  for (narrow const& n : formats) {
    word const codes = 2 * n.format.sign(), shift = n.nibble() ? 4 : 8;
    column pairs;
    for (word a = 0; a < codes; ++a) {
      for (word b = 0; b < codes; ++b) { pairs.push_back(a << shift | b); }
    }
    for (bool relu : {false, true}) {
      auto const wide_code = [&](word code) {
        double const x = decode(n.format, code);
        return relu && x <= 0 ? 0 : encode(f16, x);
      };
      std::string const name = std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2." + n.name + "x2 %d, ";
      std::string const body = n.nibble() ? "mov.b16 {%n0, %n1}, %a; " + name + "%n0;" : name + "%a;";
      check_each({body, "b32 = b16", n.target}, all({pairs}),
                 [&](word a) { return wide_code(a >> shift) << 16 | wide_code(a & (codes - 1)); });
    }
  }
}

TEST_CASE("ue8m0: exponents of magnitudes", "[ptx]") {
  column c = special_codes(f32);
  for (word e = 0; e < 256; ++e) {
    for (word w : {e << 23, (e << 23) + 1, (e << 23) - 1, (e << 23) + 0x400000}) {
      c.push_back(w & 0x7FFF'FFFF), c.push_back(w | 0x8000'0000);
    }
  }
  for (bool up : {false, true}) {
    for (bool saturate : {false, true}) {
      std::string const start =
          std::string("cvt") + (up ? ".rp" : ".rz") + (saturate ? ".satfinite" : "") + ".ue8m0x2.";
      check_each({start + "f32 %d, %a, %b;", "b16 = b32 b32", "sm_100a"}, paired(c), [&](word a, word b) {
        return ue8m0_code(decode(f32, a), up, saturate) << 8 | ue8m0_code(decode(f32, b), up, saturate);
      });
      column both;
      for (word w = 0; w < 0x10000; ++w) { both.push_back(w | (w * 0x9E37 & 0xFFFF) << 16); }
      check_each({start + "bf16x2 %d, %a;", "b16 = b32", "sm_121a"}, all({both}), [&](word a) {
        return ue8m0_code(decode(bf16, a >> 16), up, saturate) << 8 |
               ue8m0_code(decode(bf16, a & 0xFFFF), up, saturate);
      });
    }
  }
  check_each({"cvt.rn.bf16x2.ue8m0x2 %d, %a;", "b32 = b16", "sm_110f"}, all({range(0x10000)}), [](word a) {
    auto const value = [](word code) {
      return code == 0xFF ? word{0x7FFF} : encode(bf16, std::ldexp(1.0, static_cast<int>(code) - 127));
    };
    return value(a >> 8) << 16 | value(a & 0xFF);
  });
}

TEST_CASE("stochastic e2m1x4: 16 random bits for each element", "[ptx]") {
  column const values = aimed(e2m1);
  table t{5};
  table const words = random(40 * values.size(), 1);
  for (std::size_t i = 0; i < words.words.size(); ++i) {
    for (std::size_t k = 0; k < 4; ++k) { t.words.push_back(values[(i * (k + 1) + 7 * k) % values.size()]); }
    t.words.push_back(i % 50 == 0 ? 0 : i % 50 == 1 ? 0xFFFFFFFF : words.words[i] & 0xFFFFFFFF);
  }
  for (bool relu : {false, true}) {
    check({std::string("cvt.rs") + (relu ? ".relu" : "") + ".satfinite.e2m1x4.f32 %d, {%a, %b, %c, %x}, %y;",
           "b16 = b32 b32 b32 b32 b32", "sm_100a"},
          t, [&](word const* in, word* out) {
            word byte[4];
            for (int i = 0; i < 4; ++i) { byte[i] = in[4] >> (8 * i) & 0xFF; }
            word const parts[] = {reversed(byte[1], 8) << 8 | reversed(byte[3], 8), byte[3] << 8 | byte[1],
                                  reversed(byte[0], 8) << 8 | reversed(byte[2], 8), byte[2] << 8 | byte[0]};
            for (int i = 0; i < 4; ++i) {
              out[0] = out[0] << 4 | stochastic(e2m1, decode(f32, in[i]), parts[i], 16, relu);
            }
          });
  }
}

TEST_CASE("other stochastic roundings", "[ptx]") {
  for (narrow const& n : {formats[0], formats[1], formats[2], formats[3]}) {
    column const values = aimed(n.format);
    table t{5};
    for (word r : random(8 * values.size(), 1).words) {
      for (word k = 0; k < 4; ++k) { t.words.push_back(values[(r >> 32) * (k + 1) % values.size()]); }
      t.words.push_back(r & 0xFFFF'FFFF);
    }
    check({"cvt.rs.satfinite." + n.name + "x4.f32 %d, {%a, %b, %c, %x}, %y;", "b32 = b32 b32 b32 b32 b32", "sm_103a"},
          t, [&](word const* in, word* out) {
            word const high = in[4] >> 16, low = in[4] & 0xFFFF,
                       parts[] = {reversed(high, 16), high, reversed(low, 16), low};
            for (int i = 0; i < 4; ++i) {
              out[0] = out[0] << 8 | stochastic(n.format, decode(f32, in[i]), parts[i], 16, false);
            }
          });
  }
  // Normal numbers: f16 drops 13 bits, bf16 16, and as many random bits meet them.
  table t = random(2000, 3);
  for (std::size_t i = 0; i < t.words.size(); ++i) {
    if (i % 3 != 2) { t.words[i] = (t.words[i] & 0x85FF'FFFF) | 0x3A00'0000; }
    t.words[i] &= 0xFFFF'FFFF;
  }
  check_each({"cvt.rs.f16x2.f32 %d, %a, %b, %c;", "b32 = b32 b32 b32", "sm_100a"}, t, [](word a, word b, word r) {
    return stochastic(f16, decode(f32, a), r >> 16 & 0x1FFF, 13, false) << 16 |
           stochastic(f16, decode(f32, b), r & 0x1FFF, 13, false);
  });
  check_each({"cvt.rs.bf16x2.f32 %d, %a, %b, %c;", "b32 = b32 b32 b32", "sm_100a"}, t, [](word a, word b, word r) {
    return stochastic(bf16, decode(f32, a), r >> 16, 16, false) << 16 |
           stochastic(bf16, decode(f32, b), r & 0xFFFF, 16, false);
  });
}
