// SPDX-License-Identifier: Apache-2.0
// cvt between f16, bf16, tf32, f32 and f64. Narrower formats: convert_narrow.ptx.cpp.
#include "instructions/reference.hpp"

using namespace ptx::test;

namespace {

struct half_type {
  std::string name;
  float_format format;
};
half_type const halves[] = {{"f16", f16}, {"bf16", bf16}};

/// Every value beside the one before it.
table paired(column const& c) {
  table t{2};
  for (std::size_t i = 1; i < c.size(); ++i) { t.words.push_back(c[i]), t.words.push_back(c[i - 1]); }
  return t;
}

}  // namespace

TEST_CASE("all halves, and all bfloat16, to wider types and back", "[ptx]") {
  table const all_codes = all({range(0x10000)});
  for (half_type const& t : halves) {
    check_each({"cvt.f32." + t.name + " %d, %a;", "f32 = b16"}, all_codes,
               [&](word a) { return bits(static_cast<float>(decode(t.format, a))); });
    check_each({"cvt.f64." + t.name + " %d, %a;", "f64 = b16"}, all_codes,
               [&](word a) { return bits(decode(t.format, a)); });
    check_each({"cvt.f32." + t.name + " %t0, %a; cvt.rn." + t.name + ".f32 %d, %t0;", t.name + " = b16"}, all_codes,
               [](word a) { return a; });
  }
  check_each({"cvt.rn.bf16.f16 %d, %a;", "bf16 = b16"}, all_codes, [](word a) { return encode(bf16, decode(f16, a)); });
  check_each({"cvt.rn.f16.bf16 %d, %a;", "f16 = b16"}, all_codes, [](word a) { return encode(f16, decode(bf16, a)); });
}

TEST_CASE("wider floats to narrower ones: between all neighbours, on the tie and beside it", "[ptx]") {
  for (half_type const& t : halves) {
    column ties;
    for (word code = 0; code < t.format.infinity(); ++code) {
      double const tie = (decode(t.format, code) + decode(t.format, code + 1)) / 2;
      if (tie > 3e38) { break; }
      word const w = bits(static_cast<float>(tie));  // exact: one more bit
      for (word x : {w - 1, w, w + 1}) { ties.push_back(code % 2 == 0 ? x : x | 0x8000'0000); }
    }
    ties.insert(ties.end(),
                {0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x477FF000, 0x477FEFFF});
    for (auto const& r : roundings) {
      bool const directed = r.mode == rounding::down || r.mode == rounding::up;
      std::string const text = std::string("cvt") + r.name;
      table const in = all({ties});
      auto const code = [&](word a) { return encode(t.format, decode(f32, a), r.mode); };
      check_each({text + "." + t.name + ".f32 %d, %a;", t.name + " = b32"}, in, code);
      if (directed) { continue; }
      check_each({text + ".relu." + t.name + ".f32 %d, %a;", "b16 = b32"}, in,
                 [&](word a) { return (a >> 31) != 0 && code(a) != t.format.nan() ? 0 : code(a); });
      check_each({text + "." + t.name + "x2.f32 %d, %a, %b;", "b32 = b32 b32"}, paired(ties),
                 [&](word a, word b) { return code(a) << 16 | code(b); });
      check_each({text + ".satfinite." + t.name + ".f32 %d, %a;", t.name + " = b32"}, in,
                 [&](word a) { return encode(t.format, decode(f32, a), r.mode, true); });
    }
  }
}

TEST_CASE("f64 to f32, f16 and bf16", "[ptx]") {
  column c{0,         1,         word{1} << 63,  bits(1e300), bits(-1e-300), bits(INFINITY),
           bits(NAN), bits(0.1), bits(-65520.0), bits(3.4e38)};
  for (word w : special_codes(f32)) { c.push_back(bits(decode(f32, w))); }
  for (word w : special_codes(f16)) { c.push_back(bits(decode(f16, w))); }
  table in = all({c});
  for (std::size_t i = 0, n = in.words.size(); i < n; ++i) {
    in.words.push_back(in.words[i] + 1), in.words.push_back(in.words[i] - 1);
  }
  for (word i = 0; i < 200; ++i) {
    in.words.push_back(bits(std::ldexp(1 + static_cast<double>(i) / 256, static_cast<int>(i) - 160) * (1 + 0x1p-24)));
  }
  for (auto const& r : roundings) {
    std::string const text = std::string("cvt") + r.name;
    check_each({text + ".f32.f64 %d, %a;", "f32 = b64"}, in, [&](word a) { return encode(f32, as_f64(a), r.mode); });
    check_each({text + ".f16.f64 %d, %a;", "f16 = b64"}, in, [&](word a) { return encode(f16, as_f64(a), r.mode); });
  }
  check_each({"cvt.rn.bf16.f64 %d, %a;", "bf16 = b64"}, in, [&](word a) { return encode(bf16, as_f64(a)); });
  check_each({"cvt.f64.f32 %d, %a;", "f64 = b32"}, all({special_codes(f32)}),
             [](word a) { return bits(decode(f32, a)); });
  check_each({"cvt.ftz.f64.f32 %d, %a;", "f64 = b32"}, all({special_codes(f32)}), [](word a) {
    double const x = decode(f32, a);
    return bits(std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x);
  });
}

TEST_CASE("tf32 keeps ten bits of the fraction", "[ptx]") {
  table in = all({special_codes(f32)});
  in += random(300, 1);
  for (word w : {word{0x3F801000}, word{0x3F800FFF}, word{0x3F801001}, word{0x3F803000}, word{0xBF801000}}) {
    in.words.push_back(w);
  }
  struct {
    char const* name;
    rounding mode;
  } const modes[] = {{"rna", rounding::away}, {"rn", rounding::nearest}, {"rz", rounding::zero}};
  for (auto const& m : modes) {
    check_each({std::string("cvt.") + m.name + ".tf32.f32 %d, %a; and.b32 %d, %d, 0xFFFFE000;", "f32 = b32"}, in,
               [&](word a) {
                 double const x = decode(f32, a);
                 return x != x ? 0x7FFFE000 : encode(tf32, x, m.mode) << 13;
               });
  }
}

TEST_CASE("modifiers together", "[ptx]") {
  column values = special_codes(f32);
  for (word w : {0x477FE000, 0x477FEFFF, 0x477FF000, 0x7F7FFFFF, 0x33000001, 0x387FE000}) {
    values.push_back(w), values.push_back(w | 0x8000'0000);
  }
  for (half_type const& h : halves) {
    auto const code = [&](word a) {
      double const x = decode(f32, a);
      return x <= 0 ? 0 : encode(h.format, x, rounding::nearest, true);
    };
    check_each({"cvt.rn.relu.satfinite." + h.name + "x2.f32 %d, %a, %b;", "b32 = b32 b32"}, paired(values),
               [&](word a, word b) { return code(a) << 16 | code(b); });
  }
  check_each({"cvt.rn.sat.f16.f32 %d, %a;", "b16 = b32"}, all({values}), [](word a) {
    double const x = decode(f32, a);
    return a == 0x8000'0000 ? unspecified : x > 0 ? encode(f16, std::min(x, 1.0)) : 0;
  });
  check_each({"cvt.rn.sat.f32.s32 %d, %a;", "b32 = b32"}, all({{0, 1, 2, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000}}),
             [](word a) { return bits(a != 0 && a < 0x8000'0000 ? 1.0F : 0.0F); });
  check_each({"cvt.rn.ftz.f16.f32 %d, %a;", "f16 = b32"}, all({values}), [](word a) {
    return encode(f16, (a & 0x7F80'0000) == 0 ? std::copysign(0.0, decode(f32, a)) : decode(f32, a));
  });
  check_each({"cvt.rn.ftz.f32.f64 %d, %a;", "f32 = b64"},
             all({{bits(0x1p-127), bits(-0x1.8p-140), bits(0x1p-126), bits(1.5), bits(-0x1p-160)}}), [](word a) {
               double const x = as_f64(a);
               return bits(static_cast<float>(std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x));
             });
}
