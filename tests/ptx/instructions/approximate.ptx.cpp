// SPDX-License-Identifier: Apache-2.0
// Approximate instructions: exactly rounded, or on request one unit in the last place below or above; and the values
// that the ISA's tables fix.
#include "instructions/reference.hpp"

using namespace ptx::test;
using ptx::approximate;

namespace {

constexpr float inf = INFINITY;

float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }

struct function {
  std::string name;
  long double (*exact)(long double x);
};
function const functions[] = {
    {"rcp.approx", [](long double x) { return 1 / x; }},
    {"sqrt.approx", [](long double x) { return std::sqrt(x); }},
    {"rsqrt.approx", [](long double x) { return 1 / std::sqrt(x); }},
    {"sin.approx", [](long double x) { return std::sin(x); }},
    {"cos.approx", [](long double x) { return std::cos(x); }},
    {"lg2.approx", [](long double x) { return std::log2(x); }},
    {"ex2.approx", [](long double x) { return std::exp2(x); }},
    {"tanh.approx", [](long double x) { return std::tanh(x); }},
};

/// All exponents, both signs, and the special values.
table samples() {
  column c = special_codes(f32);
  for (word e = 1; e < 255; e += 3) {
    c.push_back(e << 23 | 0x2AAAAB), c.push_back(e << 23 | 0x8055'5555), c.push_back(e << 23);
  }
  for (int i = -40; i <= 40; ++i) { c.push_back(bits(static_cast<float>(i) * 0.37F)); }
  return all({c});
}

/// An ordinal in which neighbouring floats differ by one.
std::int64_t ordinal(word w, word sign) {
  auto const magnitude = static_cast<std::int64_t>(w & (sign - 1));
  return (w & sign) != 0 ? -magnitude : magnitude;
}

}  // namespace

TEST_CASE("approximate functions of f32 are exactly rounded", "[ptx]") {
  for (function const& f : functions) {
    check_each({f.name + ".f32 %d, %a;", "f32 = b32"}, samples(),
               [&](word a) { return bits(static_cast<float>(f.exact(as_f32(a)))); });
    if (f.name == "tanh.approx") { continue; }  // has no .ftz
    check_each({f.name + ".ftz.f32 %d, %a;", "f32 = b32"}, samples(),
               [&](word a) { return bits(flush(static_cast<float>(f.exact(flush(as_f32(a)))))); });
  }
}

TEST_CASE("approximate division", "[ptx]") {
  table in = all({special_codes(f32),
                  {bits(3.0F), bits(-0x1p126F), bits(0x1p-120F), bits(0.0F), bits(-inf), 0x7FC00000, bits(7e-20F)}});
  check_each({"div.approx.f32 %d, %a, %b;", "f32 = b32 b32"}, in,
             [](word a, word b) { return bits(as_f32(a) / as_f32(b)); });
  check_each({"div.full.f32 %d, %a, %b;", "f32 = b32 b32"}, in,
             [](word a, word b) { return bits(as_f32(a) / as_f32(b)); });
  check_each({"div.full.ftz.f32 %d, %a, %b;", "f32 = b32 b32"}, in,
             [](word a, word b) { return bits(flush(flush(as_f32(a)) / flush(as_f32(b)))); });
  // "For 2^126 < |b| < 2^128, if a is infinity, div.approx.f32 delivers NaN, otherwise it delivers 0."
  check_each({"div.approx.f32 %d, %a, %b; abs.f32 %d, %d;", "f32 = b32 b32"},
             all({{bits(1.0F), bits(0x1p127F), bits(-3e38F), bits(inf), bits(-inf)},
                  {bits(0x1.8p126F), bits(-0x1.8p127F), bits(0x1.fffffep127F)}}),
             [](word a, word) { return bits(std::isinf(as_f32(a)) ? NAN : 0.0F); });
}

TEST_CASE("the neighbours on request, where the result is an ordinary number", "[ptx]") {
  for (function const& f : functions) {
    for (approximate which : {approximate::below, approximate::above}) {
      program const p{f.name + ".f32 %d, %a;", "f32 = b32", "sm_90", "", which};
      check_each(p, samples(), [&](word a) {
        auto const x = static_cast<float>(f.exact(as_f32(a)));
        if (!std::isnormal(x)) { return x == x && !std::isinf(x) && x != 0 ? unspecified : bits(x); }
        if (std::fabs(x) == 0x1p-126F || std::fabs(x) > 3.4e38F) { return unspecified; }
        return bits(std::nextafter(x, which == approximate::below ? -inf : inf));
      });
    }
  }
  // Instructions that are not approximate stay as they are.
  for (char const* exact : {"rcp.rn.f32 %d, %a;", "rcp.rn.ftz.f32 %d, %a;"}) {
    check_each({exact, "f32 = b32", "sm_90", "", approximate::above}, all({{bits(3.0F), bits(-7.0F)}}),
               [](word a) { return bits(1 / as_f32(a)); });
  }
}

TEST_CASE("approximate functions of halves, all inputs", "[ptx]") {
  struct {
    std::string name, target;
    float_format format;
  } const forms[] = {{"ex2.approx.f16", "sm_75", f16},
                     {"ex2.approx.ftz.bf16", "sm_90", bf16},
                     {"tanh.approx.f16", "sm_75", f16},
                     {"tanh.approx.bf16", "sm_90", bf16}};
  for (auto const& f : forms) {
    auto const exact = [&](word a) {
      double const x = decode(f.format, a & 0xFFFF);
      long double const y =
          f.name[0] == 'e' ? std::exp2(static_cast<long double>(x)) : std::tanh(static_cast<long double>(x));
      word const code = encode(f.format, static_cast<double>(y));
      bool const flushes = f.name.find(".ftz") != std::string::npos && (code & f.format.infinity()) == 0;
      return flushes ? code & 0x8000 : code;
    };
    std::string const type = f.name.substr(f.name.rfind('.') + 1), target = f.target == "sm_75" ? "sm_80" : f.target;
    check_each({f.name + " %d, %a;", type + " = b16", target}, all({range(0x10000)}), exact);
    column pairs;
    for (word w = 0; w < 0x7C00; w += 3) { pairs.push_back(w << 16 | (w ^ 0x8421)); }
    if (type == "f16") {
      for (word& w : pairs) { w = (w & 0x7FFF) > 0x7C00 ? w ^ 0x0400 : w; }  // no NaN in the low half
    }
    check_each({f.name + "x2 %d, %a;", "b32 = b32", target}, all({pairs}), [&](word a) {
      bool const nan = std::isnan(decode(f.format, a & 0xFFFF)) || std::isnan(decode(f.format, a >> 16));
      return nan ? unspecified : exact(a >> 16) << 16 | exact(a);
    });
  }
}

TEST_CASE("rcp and rsqrt of f64 give the upper half", "[ptx]") {
  column c;
  for (int e = -300; e <= 300; e += 7) {
    c.push_back(bits(std::ldexp(1.2345678, e))), c.push_back(bits(std::ldexp(1.0, e)));
  }
  for (bool root : {false, true}) {
    auto const got = run({(root ? "rsqrt" : "rcp") + std::string(".approx.ftz.f64 %d, %a;"), "f64 = b64"}, all({c}));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < c.size() && !got.empty(); ++i) {
      double const x = as_f64(c[i]), y = root ? 1 / std::sqrt(x) : 1 / x;
      bool const close = std::llabs(ordinal(got[i], word{1} << 63) - ordinal(bits(y), word{1} << 63)) <= std::int64_t{1}
                                                                                                             << 32;
      wrong += (got[i] & 0xFFFF'FFFF) != 0 || !close;
    }
    CHECK(wrong == 0);
  }
}
