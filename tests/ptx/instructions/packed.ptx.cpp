// SPDX-License-Identifier: Apache-2.0
// f16, bf16 and their pairs, f32x2, pairs of 16-bit integers, and sums of mixed precision.
#include "instructions/reference.hpp"

using namespace ptx::test;

namespace {

struct half_type {
  std::string name;
  float_format format;
  std::string pair() const { return name + "x2"; }
};
half_type const halves[] = {{"f16", f16}, {"bf16", bf16}};

enum class kind { add, sub, mul, fma };
struct operation {
  char const* name;
  kind what;
};
constexpr operation operations[] = {
    {"add.rn", kind::add}, {"sub.rn", kind::sub}, {"mul.rn", kind::mul}, {"fma.rn", kind::fma}};

/// One rounding of the exact result; products of two halves are exact in double.
double exact(kind what, double a, double b, double c) {
  switch (what) {
    case kind::add: return sum_to_odd(a, b);
    case kind::sub: return sum_to_odd(a, -b);
    case kind::mul: return a * b;
    default: return sum_to_odd(a * b, c);
  }
}

table samples(half_type const& t, std::size_t inputs) {
  table in = all(std::vector<column>(inputs, special_codes(t.format)));
  in += random(500, inputs, 0xFFFF);
  table near = random(500, inputs, 0xFFFF);  // of about the same size
  word const one = encode(t.format, 1.0);
  for (word& w : near.words) { w = (w & (t.format.sign() | 0x1FF)) | one; }
  return in += near;
}

/// Scalars from a table, two rows in one: the row in the high half, the one before it in the low half.
table packed(table const& t) {
  table p{t.width, t.words};
  for (std::size_t i = 0; i < t.words.size(); ++i) {
    p.words[i] = t.words[i] << 16 | t.words[(i + t.words.size() - 7 * t.width) % t.words.size()];
  }
  return p;
}

using scalar = std::function<word(word a, word b, word c)>;

/// The scalar instruction, and the packed one on both halves.
void check_both(half_type const& t, std::string const& name, std::size_t inputs, std::string const& target,
                scalar const& f) {
  std::string const operands[] = {" %d, %a;", " %d, %a, %b;", " %d, %a, %b, %c;"};
  std::string const scalars[] = {"b16 = b16", "b16 = b16 b16", "b16 = b16 b16 b16"};
  std::string const pairs[] = {"b32 = b32", "b32 = b32 b32", "b32 = b32 b32 b32"};
  auto const at = [&](word const* in, std::size_t i) { return i < inputs ? in[i] : 0; };
  table const rows = samples(t, inputs);
  check({name + "." + t.name + operands[inputs - 1], scalars[inputs - 1], target}, rows,
        [&](word const* in, word* out) { out[0] = f(in[0], at(in, 1), at(in, 2)); });
  check({name + "." + t.pair() + operands[inputs - 1], pairs[inputs - 1], target}, packed(rows),
        [&](word const* in, word* out) {
          word const low = f(in[0] & 0xFFFF, at(in, 1) & 0xFFFF, at(in, 2) & 0xFFFF);
          word const high = f(in[0] >> 16, at(in, 1) >> 16, at(in, 2) >> 16);
          out[0] = low == unspecified || high == unspecified ? unspecified : high << 16 | low;
        });
}

}  // namespace

TEST_CASE("halves: add, sub, mul, fma round once, in both lanes", "[ptx]") {
  for (half_type const& t : halves) {
    for (operation const& o : operations) {
      std::size_t const inputs = o.what == kind::fma ? 3 : 2;
      auto const result = [&](word a, word b, word c) {
        return exact(o.what, decode(t.format, a), decode(t.format, b), decode(t.format, c));
      };
      check_both(t, o.name, inputs, t.name == "f16" || inputs == 3 ? "sm_80" : "sm_90",
                 [&](word a, word b, word c) { return encode(t.format, result(a, b, c)); });
      if (o.what == kind::fma) {
        check_both(t, "fma.rn.relu", 3, "sm_80", [&](word a, word b, word c) {
          double const x = result(a, b, c);
          return x <= 0 ? 0 : encode(t.format, x);
        });
      }
      if (t.name == "bf16") { continue; }  // has neither .sat nor .ftz
      check_both(t, o.name + std::string(".sat"), inputs, "sm_80", [&](word a, word b, word c) {
        double const x = result(a, b, c);
        if (x == 0 && std::signbit(x)) { return unspecified; }
        return x > 0 ? encode(t.format, std::min(x, 1.0)) : word{0};
      });
      check_both(t, o.name + std::string(".ftz"), inputs, "sm_80", [&](word a, word b, word c) {
        auto const flush = [](word w) { return (w & 0x7C00) == 0 ? w & 0x8000 : w; };
        double const x = result(flush(a), flush(b), flush(c));
        bool const borderline = std::fabs(x) < 0x1p-14 && (encode(f16, x) & 0x7FFF) == 0x400;
        return borderline ? unspecified : flush(encode(f16, x));
      });
    }
  }
}

TEST_CASE("halves: neg and abs", "[ptx]") {
  for (half_type const& t : halves) {
    std::string const scalar_types = t.name + " = " + t.name;
    table const in = all({range(0x10000)});
    check_each({"neg." + t.name + " %d, %a;", scalar_types}, in, [](word a) { return a ^ 0x8000; });
    check_each({"abs." + t.name + " %d, %a;", scalar_types}, in, [](word a) { return a & 0x7FFF; });
    column numbers = special_codes(t.format);
    numbers.resize(numbers.size() - 4);  // no NaN
    check_each({"neg." + t.pair() + " %d, %a;", "b32 = b32"}, packed(all({numbers})),
               [](word a) { return a ^ 0x80008000; });
    check_each({"abs." + t.pair() + " %d, %a;", "b32 = b32"}, packed(all({numbers})),
               [](word a) { return a & 0x7FFF7FFF; });
  }
}

TEST_CASE("pairs of halves: min, max, comparisons", "[ptx]") {
  for (half_type const& t : halves) {
    table const in = packed(samples(t, 2));
    auto const value = [&](word w, int lane) { return decode(t.format, w >> (16 * lane) & 0xFFFF); };
    for (bool larger : {false, true}) {
      check_each({std::string(larger ? "max.NaN." : "min.NaN.") + t.pair() + " %d, %a, %b;", "b32 = b32 b32", "sm_80"},
                 in, [&](word a, word b) {
                   word d = 0;
                   for (int lane : {0, 1}) {
                     double const x = value(a, lane), y = value(b, lane);
                     bool const first = x < y || (x == y && std::signbit(x));
                     word const pick = (first != larger ? a : b) >> (16 * lane) & 0xFFFF;
                     // Equal zeros of one sign are the same either way.
                     d |= (x != x || y != y ? 0x7FFF : pick) << (16 * lane);
                   }
                   return d;
                 });
    }
    check(
        {"setp.lt." + t.pair() + " %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; selp.u32 %e, 1, 0, %q;", "b32 b32 = b32 b32"},
        in, [&](word const* i, word* out) {
          out[0] = value(i[0], 0) < value(i[1], 0), out[1] = value(i[0], 1) < value(i[1], 1);
        });
    check_each({"set.geu." + t.pair() + "." + t.pair() + " %d, %a, %b;"}, in, [&](word a, word b) {
      word const one = encode(t.format, 1.0);
      return (!(value(a, 1) < value(b, 1)) ? one << 16 : 0) | (!(value(a, 0) < value(b, 0)) ? one : 0);
    });
  }
}

TEST_CASE("f32x2: both lanes, all roundings", "[ptx]") {
  table in = random(2000, 3);
  for (std::size_t i = 0; i < in.words.size() / 2; ++i) {
    in.words[i] = (in.words[i] & 0x81FF'FFFF'81FF'FFFF) | 0x3E00'0000'3E00'0000;
  }
  for (operation const& o : operations) {
    for (auto const& r : roundings) {
      bool const three = o.what == kind::fma;
      std::string const name =
          std::string(o.name).substr(0, 3) + r.name + ".f32x2 %d, %a, %b" + (three ? ", %c;" : ";");
      check({name, "b64 = b64 b64 b64", "sm_100"}, in, [&](word const* i, word* out) {
        for (int lane : {0, 32}) {
          float volatile a = as_f32(i[0] >> lane), b = as_f32(i[1] >> lane), c = as_f32(i[2] >> lane);
          float const d = rounded(r.mode, [&] {
            float volatile x = o.what == kind::add   ? a + b
                               : o.what == kind::sub ? a - b
                               : o.what == kind::mul ? a * b
                                                     : std::fma(a, b, c);
            return float{x};
          });
          out[0] |= bits(d) << lane;
        }
      });
    }
  }
}

TEST_CASE("sums and products of halves in f32", "[ptx]") {
  for (half_type const& t : halves) {
    table in = all({special_codes(t.format), special_codes(f32)});
    check_each({"add.f32." + t.name + " %d, %a, %b;", "b32 = b16 b32", "sm_100"}, in,
               [&](word a, word b) { return bits(static_cast<float>(decode(t.format, a)) + as_f32(b)); });
    check_each({"sub.f32." + t.name + " %d, %a, %b;", "b32 = b16 b32", "sm_100"}, in,
               [&](word a, word b) { return bits(static_cast<float>(decode(t.format, a)) - as_f32(b)); });
    table const three = all({special_codes(t.format), special_codes(t.format), special_codes(f32)});
    check_each({"fma.rn.f32." + t.name + " %d, %a, %b, %c;", "b32 = b16 b16 b32", "sm_100"}, three,
               [&](word a, word b, word c) {
                 return bits(std::fma(static_cast<float>(decode(t.format, a)), static_cast<float>(decode(t.format, b)),
                                      as_f32(c)));
               });
  }
}

TEST_CASE("pairs of 16-bit integers", "[ptx]") {
  table in =
      all({{0, 0x7FFF8000, 0xFFFF0001, 0x80007FFF, 0x12345678}, {0x00010001, 0xFFFFFFFF, 0x80008000, 0x7FFF7FFF}});
  in += random(200, 2, 0xFFFF'FFFF);
  for (bool is_signed : {false, true}) {
    std::string const type = is_signed ? ".s16x2 %d, %a, %b;" : ".u16x2 %d, %a, %b;";
    auto const lanes = [&](word a, word b, auto f) {
      auto const number = [&](word w) {
        return is_signed ? static_cast<std::int16_t>(w) : static_cast<int>(w & 0xFFFF);
      };
      return static_cast<word>(f(number(a >> 16), number(b >> 16)) & 0xFFFF) << 16 |
             static_cast<word>(f(number(a), number(b)) & 0xFFFF);
    };
    check_each({"add" + type}, in, [&](word a, word b) { return lanes(a, b, [](int x, int y) { return x + y; }); });
    check_each({"min" + type}, in,
               [&](word a, word b) { return lanes(a, b, [](int x, int y) { return std::min(x, y); }); });
    check_each({"max" + type}, in,
               [&](word a, word b) { return lanes(a, b, [](int x, int y) { return std::max(x, y); }); });
    if (!is_signed) { continue; }
    check_each({"max.relu" + type}, in, [&](word a, word b) {
      return lanes(a, b, [](int x, int y) { return std::max({x, y, 0}); });
    });
  }
}
