// SPDX-License-Identifier: Apache-2.0
// Comparisons, selections, minima and maxima of floats: what NaN, zeros and subnormals do.
#include "instructions/reference.hpp"

using namespace ptx::test;

namespace {

struct float_type {
  std::string name;
  int width;
  float_format format;  ///< of f64 only the name counts
  double value(word w) const { return width == 64 ? as_f64(w) : decode(format, w); }
  word sign() const { return word{1} << (width - 1); }
  word one() const { return width == 64 ? bits(1.0) : encode(format, 1.0); }
};
float_type const f16_type{"f16", 16, f16}, bf16_type{"bf16", 16, bf16}, f32_type{"f32", 32, f32},
    f64_type{"f64", 64, f32};

column codes(float_type const& t) {
  if (t.width != 64) { return special_codes(t.format); }
  column c;
  for (word w : special_codes(f32)) {  // the same numbers, and NaN
    double const x = decode(f32, w);
    c.push_back(bits(x));
  }
  for (word w : {word{1}, word{0x7FF0'0000'0000'0001}, word{0xFFF8'0000'0000'0000}}) { c.push_back(w); }
  return c;
}

struct comparison {
  char const* name;
  bool less, equal, greater, unordered;
  bool operator()(double a, double b) const { return a < b ? less : a == b ? equal : a > b ? greater : unordered; }
};
constexpr comparison comparisons[] = {
    {"eq", false, true, false, false}, {"ne", true, false, true, false},  {"lt", true, false, false, false},
    {"le", true, true, false, false},  {"gt", false, false, true, false}, {"ge", false, true, true, false},
    {"equ", false, true, false, true}, {"neu", true, false, true, true},  {"ltu", true, false, false, true},
    {"leu", true, true, false, true},  {"gtu", false, false, true, true}, {"geu", false, true, true, true},
    {"num", true, true, true, false},  {"nan", false, false, false, true}};

double flush(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

std::string two(std::string const& result, float_type const& t) {
  std::string const b = "b" + std::to_string(t.width);
  return result + " = " + b + " " + b;
}

/// Smaller or larger code, -0 below +0; a NaN yields to a number unless it has to pass on.
word extreme(float_type const& t, bool larger, bool nan_wins, word nan, word a, word b) {
  double const x = t.value(a), y = t.value(b);
  if (x != x || y != y) { return nan_wins || (x != x && y != y) ? nan : x != x ? b : a; }
  bool const a_less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return a_less != larger ? a : b;
}

}  // namespace

TEST_CASE("setp and set, all comparisons of all float types", "[ptx]") {
  for (float_type const& t : {f16_type, bf16_type, f32_type, f64_type}) {
    table const in = all({codes(t), codes(t)});
    for (comparison const& c : comparisons) {
      auto const holds = [&](word a, word b) { return c(t.value(a), t.value(b)); };
      std::string const dot = ".";
      check_each({"setp." + std::string(c.name) + dot + t.name + " %p, %a, %b; selp.u32 %d, 1, 0, %p;", two("b32", t)},
                 in, holds);
      check_each({"set." + std::string(c.name) + ".u32." + t.name + " %d, %a, %b;", two("b32", t)}, in,
                 [&](word a, word b) { return holds(a, b) ? 0xFFFFFFFF : 0; });
      if (t.width == 16) {
        check_each({"set." + std::string(c.name) + dot + t.name + dot + t.name + " %d, %a, %b;", two("b16", t)}, in,
                   [&](word a, word b) { return holds(a, b) ? t.one() : 0; });
        continue;
      }
      check_each({"set." + std::string(c.name) + ".f32." + t.name + " %d, %a, %b;", two("b32", t)}, in,
                 [&](word a, word b) { return holds(a, b) ? bits(1.0F) : 0; });
    }
  }
}

TEST_CASE("comparisons with .ftz take subnormals for zeros", "[ptx]") {
  table const in = all({codes(f32_type), codes(f32_type)});
  for (comparison const& c : comparisons) {
    check_each({"setp." + std::string(c.name) + ".ftz.f32 %p, %a, %b; selp.u32 %d, 1, 0, %p;"}, in,
               [&](word a, word b) { return c(flush(decode(f32, a)), flush(decode(f32, b))); });
  }
}

TEST_CASE("a comparison, its complement and a third predicate", "[ptx]") {
  // The second result is !(a < b), so it holds for NaN.
  check({"setp.ne.u32 %r, %c, 0; setp.lt.and.f32 %p|%q, %a, %b, %r; selp.u32 %d, 1, 0, %p; selp.u32 %e, 1, 0, %q;",
         "b32 b32 = b32 b32 b32"},
        all({codes(f32_type), codes(f32_type), {0, 1}}), [](word const* in, word* out) {
          bool const less = decode(f32, in[0]) < decode(f32, in[1]), c = in[2] != 0;
          out[0] = less && c;
          out[1] = !less && c;
        });
  check_each({"setp.ne.u32 %r, %c, 0; set.gt.or.u32.f32 %d, %a, %b, %r;", "b32 = b32 b32 b32"},
             all({codes(f32_type), codes(f32_type), {0, 1}}),
             [](word a, word b, word c) { return decode(f32, a) > decode(f32, b) || c != 0 ? 0xFFFFFFFF : 0; });
}

TEST_CASE("min and max, plain and .NaN", "[ptx]") {
  for (float_type const& t : {f16_type, bf16_type, f32_type, f64_type}) {
    table const in = all({codes(t), codes(t)});
    word const nan = t.sign() - 1;
    for (bool larger : {false, true}) {
      std::string const name = larger ? "max" : "min";
      std::string const result = t.width == 64 ? "f64" : "b" + std::to_string(t.width);
      check_each({name + "." + t.name + " %d, %a, %b;", two(result, t)}, in, [&](word a, word b) {
        return extreme(t, larger, false, t.width == 64 ? 0x7FF8'0000'0000'0000 : nan, a, b);
      });
      if (t.width == 64) { continue; }
      check_each({name + ".NaN." + t.name + " %d, %a, %b;", two(result, t)}, in,
                 [&](word a, word b) { return extreme(t, larger, true, nan, a, b); });
      // The sign of the result is the xor of the operands' signs, before .abs; a NaN stays as it is.
      for (bool nan_wins : {false, true}) {
        check_each({name + (nan_wins ? ".NaN" : "") + ".xorsign.abs." + t.name + " %d, %a, %b;", two(result, t)}, in,
                   [&](word a, word b) {
                     word const m = extreme(t, larger, nan_wins, nan, a & ~t.sign(), b & ~t.sign());
                     double const x = t.value(m);
                     return x != x ? nan : m | ((a ^ b) & t.sign());
                   });
      }
    }
  }
}

TEST_CASE("min and max with .ftz", "[ptx]") {
  table const in = all({codes(f32_type), codes(f32_type)});
  auto const zero = [](word w) { return (w & 0x7F80'0000) == 0 ? w & 0x8000'0000 : w; };
  for (bool larger : {false, true}) {
    check_each({std::string(larger ? "max" : "min") + ".ftz.f32 %d, %a, %b;"}, in,
               [&](word a, word b) { return extreme(f32_type, larger, false, 0x7FFF'FFFF, zero(a), zero(b)); });
  }
  auto const small = [](word w) { return (w & 0x7C00) == 0 ? w & 0x8000 : w; };
  for (bool larger : {false, true}) {
    check_each({std::string(larger ? "max" : "min") + ".ftz.f16 %d, %a, %b;", "b16 = b16 b16"},
               all({codes(f16_type), codes(f16_type)}),
               [&](word a, word b) { return extreme(f16_type, larger, false, 0x7FFF, small(a), small(b)); });
  }
}

TEST_CASE("min and max of three", "[ptx]") {
  table const in = all({codes(f32_type), codes(f32_type), codes(f32_type)});
  word const nan = 0x7FFF'FFFF;
  for (bool larger : {false, true}) {
    for (bool nan_wins : {false, true}) {
      check_each({std::string(larger ? "max" : "min") + (nan_wins ? ".NaN" : "") + ".f32 %d, %a, %b, %c;",
                  "b32 = b32 b32 b32", "sm_100"},
                 in, [&](word a, word b, word c) {
                   return extreme(f32_type, larger, nan_wins, nan, extreme(f32_type, larger, nan_wins, nan, a, b), c);
                 });
    }
    check_each({std::string(larger ? "max" : "min") + ".abs.f32 %d, %a, %b, %c;", "b32 = b32 b32 b32", "sm_100"}, in,
               [&](word a, word b, word c) {
                 word const m = 0x7FFF'FFFF;
                 return extreme(f32_type, larger, false, nan, extreme(f32_type, larger, false, nan, a & m, b & m),
                                c & m);
               });
  }
}
