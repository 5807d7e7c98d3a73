// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f32 and f64, bit for bit against the host's under all rounding modes.
#include "instructions/reference.hpp"

using namespace ptx::test;

namespace {

word const f32_sign = 0x8000'0000, f64_sign = word{1} << 63;

column f64_codes() {
  word const one = 0x3FF0'0000'0000'0000, normal = 0x0010'0000'0000'0000;
  column c;
  for (word m : {word{0}, word{1}, normal - 1, normal, one - 1, one, one + 1, one + normal / 2,
                 one + 5 * normal + 12345, one + 52 * normal, one + 53 * normal + 1, 0x7FF * normal - 1, 0x7FF * normal,
                 0x7FF * normal + 1, word{0x3FD5'5555'5555'5555}, word{0x3CA0'0000'0000'0000}}) {
    c.push_back(m), c.push_back(m | f64_sign);
  }
  return c;
}

column f32_codes() {
  column c = special_codes(f32);
  // 1/3; 2^23 + 0.5 and 2^24 + 1, where additions tie; 2^-24 and 2^-25, half and quarter of one's last place.
  for (word m : {0x3EAAAAAB, 0x4B000001, 0x4B800000, 0x33800000, 0x33000000}) {
    c.push_back(m), c.push_back(m | f32_sign);
  }
  return c;
}

/// Floats near each other in size, so that roundings are not trivial.
table near_one(std::size_t inputs) {
  table t = random(400, inputs);
  for (word& w : t.words) { w = (w & 0x83FF'FFFF) | 0x3C00'0000; }
  return t;
}
table f32_samples(std::size_t inputs) {
  table t = all(std::vector<column>(inputs, f32_codes()));
  t += near_one(inputs);
  return t += random(400, inputs);
}
table f64_samples(std::size_t inputs) {
  table t = all(std::vector<column>(inputs, f64_codes()));
  table middle = random(400, inputs);
  for (word& w : middle.words) { w = (w & 0x803F'FFFF'FFFF'FFFF) | 0x3FC0'0000'0000'0000; }
  t += middle;
  return t += random(400, inputs);
}

enum class kind { add, sub, mul, div, fma, sqrt, rcp };
struct operation {
  char const* name;
  kind what;
  std::size_t inputs;
};
constexpr operation operations[] = {{"add", kind::add, 2}, {"sub", kind::sub, 2}, {"mul", kind::mul, 2},
                                    {"fma", kind::fma, 3}, {"div", kind::div, 2}, {"sqrt", kind::sqrt, 1},
                                    {"rcp", kind::rcp, 1}};

template <class T>
T compute(kind what, rounding mode, T a, T b, T c) {
  T volatile x = a, y = b, z = c;
  return rounded(mode, [&] {
    T volatile r = 0;
    switch (what) {
      case kind::add: r = x + y; break;
      case kind::sub: r = x - y; break;
      case kind::mul: r = x * y; break;
      case kind::div: r = x / y; break;
      case kind::fma: r = std::fma(x, y, z); break;
      case kind::sqrt: r = std::sqrt(x); break;
      case kind::rcp: r = T(1) / x; break;
    }
    return T{r};
  });
}

std::string form(operation const& o, std::string const& modifiers, std::string const& type) {
  char const* const operands[] = {" %d, %a;", " %d, %a, %b;", " %d, %a, %b, %c;"};
  return std::string(o.name) + modifiers + "." + type + operands[o.inputs - 1];
}
std::string signature(std::string const& result, std::string const& input, std::size_t inputs) {
  std::string s = result + " =";
  for (std::size_t i = 0; i < inputs; ++i) { s += " " + input; }
  return s;
}

bool subnormal(float x) { return std::fpclassify(x) == FP_SUBNORMAL; }
float flush(float x) { return subnormal(x) ? std::copysign(0.0F, x) : x; }

}  // namespace

TEST_CASE("f32 arithmetic, all roundings: the same bits, NaN canonical", "[ptx]") {
  for (operation const& o : operations) {
    for (auto const& r : roundings) {
      check({form(o, r.name, "f32"), signature("b32", "b32", o.inputs)}, f32_samples(o.inputs),
            [&](word const* in, word* out) {
              out[0] = bits(compute(o.what, r.mode, as_f32(in[0]), o.inputs > 1 ? as_f32(in[1]) : 0,
                                    o.inputs > 2 ? as_f32(in[2]) : 0));
            });
    }
  }
}

TEST_CASE("f64 arithmetic, all roundings", "[ptx]") {
  for (operation const& o : operations) {
    for (auto const& r : roundings) {
      check({form(o, r.name, "f64"), signature("f64", "f64", o.inputs)}, f64_samples(o.inputs),
            [&](word const* in, word* out) {
              out[0] = bits(compute(o.what, r.mode, as_f64(in[0]), o.inputs > 1 ? as_f64(in[1]) : 0,
                                    o.inputs > 2 ? as_f64(in[2]) : 0));
            });
    }
  }
}

TEST_CASE(".ftz flushes subnormal operands and results, keeping their signs", "[ptx]") {
  for (operation const& o : operations) {
    for (auto const& r : {roundings[0], roundings[1]}) {
      check({form(o, std::string(r.name) + ".ftz", "f32"), signature("b32", "b32", o.inputs)}, f32_samples(o.inputs),
            [&](word const* in, word* out) {
              float x[3]{};
              for (std::size_t i = 0; i < o.inputs; ++i) { x[i] = flush(as_f32(in[i])); }
              float const result = compute(o.what, r.mode, x[0], x[1], x[2]);
              // Whether a result that rounds up to the smallest normal number was tiny before is not specified.
              bool const was_tiny = subnormal(compute(o.what, rounding::zero, x[0], x[1], x[2])) && !subnormal(result);
              out[0] = was_tiny ? unspecified : bits(flush(result));
            });
    }
  }
}

TEST_CASE(".sat clamps to [0, 1] and turns NaN into +0", "[ptx]") {
  for (operation const& o : operations) {
    if (o.inputs == 1 || o.what == kind::div) { continue; }
    check({form(o, ".rn.sat", "f32"), signature("b32", "b32", o.inputs)}, f32_samples(o.inputs),
          [&](word const* in, word* out) {
            float const x =
                compute(o.what, rounding::nearest, as_f32(in[0]), as_f32(in[1]), o.inputs > 2 ? as_f32(in[2]) : 0);
            bool const negative_zero = x == 0 && std::signbit(x);  // inside the interval or not?
            out[0] = negative_zero ? unspecified : bits(x > 0 ? std::min(x, 1.0F) : 0.0F);
          });
  }
  check_each({"fma.rz.ftz.sat.f32 %d, %a, %b, %c;", "b32 = b32 b32 b32"}, near_one(3), [](word a, word b, word c) {
    float const x = flush(compute(kind::fma, rounding::zero, as_f32(a), as_f32(b), as_f32(c)));
    return bits(x > 0 ? std::min(x, 1.0F) : 0.0F);
  });
}

TEST_CASE("default roundings: add, sub, mul without a modifier round to nearest; mad is fma", "[ptx]") {
  for (operation const& o : {operations[0], operations[1], operations[2]}) {
    check_each({form(o, "", "f32"), signature("b32", "b32", 2)}, f32_samples(2),
               [&](word a, word b) { return bits(compute(o.what, rounding::nearest, as_f32(a), as_f32(b), 0.0F)); });
    check_each({form(o, "", "f64"), signature("f64", "f64", 2)}, f64_samples(2),
               [&](word a, word b) { return bits(compute(o.what, rounding::nearest, as_f64(a), as_f64(b), 0.0)); });
  }
  for (auto const& r : roundings) {
    check_each(
        {std::string("mad") + r.name + ".f32 %d, %a, %b, %c;", "b32 = b32 b32 b32"}, near_one(3),
        [&](word a, word b, word c) { return bits(compute(kind::fma, r.mode, as_f32(a), as_f32(b), as_f32(c))); });
    check_each(
        {std::string("mad") + r.name + ".f64 %d, %a, %b, %c;", "f64 = f64 f64 f64"}, f64_samples(3),
        [&](word a, word b, word c) { return bits(compute(kind::fma, r.mode, as_f64(a), as_f64(b), as_f64(c))); });
  }
}

TEST_CASE("fma rounds once", "[ptx]") {
  // (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24: two roundings lose it.
  check_each({"fma.rn.f32 %d, %a, %a, %b;"}, all({{bits(1 + 0x1p-12F)}, {bits(-(1 + 0x1p-11F))}}),
             [](word, word) { return bits(0x1p-24F); });
  check_each({"mul.rn.f32 %t0, %a, %a; add.rn.f32 %d, %t0, %b;"}, all({{bits(1 + 0x1p-12F)}, {bits(-(1 + 0x1p-11F))}}),
             [](word, word) { return bits(0.0F); });
  check_each({"fma.rn.f64 %d, %a, %a, %b;", "b64 = b64 b64"}, all({{bits(1 + 0x1p-27)}, {bits(-(1 + 0x1p-26))}}),
             [](word, word) { return bits(0x1p-54); });
}

TEST_CASE("abs and neg change the sign bit", "[ptx]") {
  table const singles = all({f32_codes()}), doubles = all({f64_codes()});
  check_each({"abs.f32 %d, %a;", "f32 = f32"}, singles, [](word a) { return a & ~f32_sign; });
  check_each({"neg.f32 %d, %a;", "f32 = f32"}, singles, [](word a) { return a ^ f32_sign; });
  check_each({"abs.ftz.f32 %d, %a;", "f32 = f32"}, singles, [](word a) { return bits(std::fabs(flush(as_f32(a)))); });
  check_each({"neg.ftz.f32 %d, %a;", "f32 = f32"}, singles, [](word a) { return bits(-flush(as_f32(a))); });
  check_each({"abs.f64 %d, %a;", "f64 = f64"}, doubles, [](word a) { return a & ~f64_sign; });
  check_each({"neg.f64 %d, %a;", "f64 = f64"}, doubles, [](word a) { return a ^ f64_sign; });
}

TEST_CASE("copysign takes the first operand's sign and the second's value", "[ptx]") {
  column const singles = f32_codes(), doubles = f64_codes();
  check_each({"copysign.f32 %d, %a, %b;", "f32 = f32 f32"}, all({singles, singles}),
             [](word a, word b) { return (a & f32_sign) | (b & ~f32_sign); });
  check_each({"copysign.f64 %d, %a, %b;", "f64 = f64 f64"}, all({doubles, doubles}),
             [](word a, word b) { return (a & f64_sign) | (b & ~f64_sign); });
}

TEST_CASE("immediates: decimal, 0f and 0d", "[ptx]") {
  check_each({"add.f32 %d, %a, 1.5;", "b32 = b32"}, all({{bits(2.0F)}}), [](word) { return bits(3.5F); });
  check_each({"mul.f32 %d, %a, 0f3F800001;", "b32 = b32"}, all({{bits(1.0F)}}), [](word) { return 0x3F800001; });
  check_each({"mov.f64 %d, 0dBFF0000000000001;", "b64 = b64"}, all({{0}}), [](word) { return 0xBFF0'0000'0000'0001; });
  check_each({"mov.b32 %d, 0x7FC00001;", "b32 = b32"}, all({{0}}), [](word) { return 0x7FC00001; });
  check_each({"add.s32 %d, %a, -7;", "b32 = b32"}, all({{3}}), [](word) { return 0xFFFFFFFC; });
}
