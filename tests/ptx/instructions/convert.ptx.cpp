// SPDX-License-Identifier: Apache-2.0
// cvt between integers, and between integers and floats.
#include "instructions/reference.hpp"

using namespace ptx::test;

namespace {

__extension__ typedef __int128 wide;

struct number_type {
  std::string name;
  int width;
  bool is_signed;
  wide lowest() const { return is_signed ? -(static_cast<wide>(1) << (width - 1)) : 0; }
  wide highest() const { return (static_cast<wide>(1) << (is_signed ? width - 1 : width)) - 1; }
  wide value(word w) const {
    wide const low = static_cast<wide>(width == 64 ? w : w & ((word{1} << width) - 1));
    return low > highest() ? low - (static_cast<wide>(1) << width) : low;
  }
};
number_type const integers[] = {{"u8", 8, false},   {"s8", 8, true},   {"u16", 16, false}, {"s16", 16, true},
                                {"u32", 32, false}, {"s32", 32, true}, {"u64", 64, false}, {"s64", 64, true}};

table integer_samples() {
  column c;
  for (int bit = 0; bit <= 64; ++bit) {
    word const w = bit == 64 ? 0 : word{1} << bit;
    for (word x : {w - 1, w, w + 1, w + w / 2, w + w / 1024 + 1, w + w / 2048}) { c.push_back(x), c.push_back(~x + 1); }
  }
  table t = all({c});
  return t += random(300, 1);
}

struct float_type {
  std::string name;
  int width;
  float_format format;
};
float_type const floats[] = {{"f16", 16, f16}, {"bf16", 16, bf16}, {"f32", 32, f32}, {"f64", 64, f32}};

double value_of(float_type const& t, word w) { return t.width == 64 ? as_f64(w) : decode(t.format, w); }

word code_of(float_type const& t, long double x, rounding mode) {
  long double volatile v = x;
  if (t.width == 64) {
    return bits(rounded(mode, [&] {
      double volatile r = static_cast<double>(v);
      return double{r};
    }));
  }
  double const down = rounded(rounding::zero, [&] {
    double volatile r = static_cast<double>(v);
    return double{r};
  });
  bool const odd = (bits(down) & 1) != 0;  // to odd first, so that the next rounding is the only one
  return encode(t.format, down == x || odd ? down : as_f64(bits(down) + 1), mode);
}

/// Codes whose values lie on, around and between integers, and at the ends of every integer type.
column float_samples(float_type const& t) {
  column c;
  auto const add = [&](double x) { c.push_back(t.width == 64 ? bits(x) : encode(t.format, x)); };
  for (double x = 0; x < 6; x += 0.25) { add(x), add(-x); }
  for (int e : {7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64, 127}) {
    double const p = std::ldexp(1.0, e);
    for (double x : {p - 1, p - 0.5, p - 0.25, p, p + 0.5, p + 1, p * 1.75, std::nextafter(p, 0.0)}) {
      add(x), add(-x);
    }
  }
  if (t.width == 64) {
    for (word w : {word{0x7FF0} << 48, word{0xFFF0} << 48, word{0x7FF8} << 48, word{0xFFF4} << 48, word{1}}) {
      c.push_back(w);
    }
    return c;
  }
  for (word w : special_codes(t.format)) { c.push_back(w); }
  return c;
}

double to_integer(double x, rounding mode) {
  switch (mode) {
    case rounding::zero: return std::trunc(x);
    case rounding::down: return std::floor(x);
    case rounding::up: return std::ceil(x);
    default: return std::nearbyint(x);
  }
}

}  // namespace

TEST_CASE("integer to integer: the low bits, extended as the types say", "[ptx]") {
  for (number_type const& to : integers) {
    for (number_type const& from : integers) {
      // Registers may be wider than the types: the result is extended to the register's width.
      check_each({"cvt." + to.name + "." + from.name + " %d, %a;", "b64 = b64"}, integer_samples(),
                 [&](word a) { return to.value(static_cast<word>(from.value(a))); });
      bool const can_overflow = from.lowest() < to.lowest() || from.highest() > to.highest();
      if (!can_overflow) { continue; }  // ptxas refuses .sat there
      check_each({"cvt.sat." + to.name + "." + from.name + " %d, %a;", "b64 = b64"}, integer_samples(),
                 [&](word a) { return std::min(std::max(from.value(a), to.lowest()), to.highest()); });
    }
  }
}

TEST_CASE("integer to float, all roundings", "[ptx]") {
  for (float_type const& to : floats) {
    for (number_type const& from : integers) {
      for (auto const& r : roundings) {
        if (to.name == "bf16" && from.width == 8) { continue; }  // only in registers of 8 bits
        std::string const in = from.width == 8 ? "b8" : "b" + std::to_string(from.width);
        check_each({std::string("cvt") + r.name + "." + to.name + "." + from.name + " %d, %a;",
                    "b" + std::to_string(to.width) + " = " + in},
                   integer_samples(),
                   [&](word a) { return code_of(to, static_cast<long double>(from.value(a)), r.mode); });
      }
    }
  }
}

TEST_CASE("float to integer: rounds, clamps, and what NaN becomes", "[ptx]") {
  for (float_type const& from : floats) {
    table const in = all({float_samples(from)});
    for (number_type const& to : integers) {
      for (auto const& r : roundings) {
        if (from.name == "bf16" && to.width == 8) { continue; }
        std::string const result = to.width == 8 ? "b32" : "b" + std::to_string(to.width);
        std::string const text = std::string("cvt") + r.name + "i." + to.name + "." + from.name + " %d, %a;";
        check_each({text, result + " = b" + std::to_string(from.width)}, in, [&](word a) {
          double const x = to_integer(value_of(from, a), r.mode);
          if (x != x) {
            bool const zero = from.width != 64 && to.width != 64;
            return zero ? wide{0} : to.value(word{1} << (to.width - 1));
          }
          if (x >= static_cast<double>(to.highest())) { return to.highest(); }
          return x <= static_cast<double>(to.lowest()) ? to.lowest() : static_cast<wide>(x);
        });
      }
    }
  }
}

TEST_CASE("float to an integral float of the same type", "[ptx]") {
  for (float_type const& t : floats) {
    std::string const same = t.name + " = " + t.name;
    for (auto const& r : roundings) {
      check_each({std::string("cvt") + r.name + "i." + t.name + "." + t.name + " %d, %a;", same},
                 all({float_samples(t)}), [&](word a) {
                   double const x = value_of(t, a), y = std::copysign(to_integer(x, r.mode), x);
                   return t.width == 64 ? bits(y) : encode(t.format, y);
                 });
    }
  }
  check_each({"cvt.rpi.ftz.f32.f32 %d, %a;", "f32 = f32"}, all({{1, 0x80000001, 0x00800000, 0x3F000000, 0x807FFFFF}}),
             [](word a) { return (a & 0x7F80'0000) == 0 ? a & 0x8000'0000 : bits(1.0F); });
  check_each({"cvt.sat.f32.f32 %d, %a;", "b32 = b32"},
             all({{bits(0.25F), bits(1.5F), bits(-2.0F), 0x7FC00000, 0xFF800000, 0x7F800000}}),
             [](word a) { return a == bits(0.25F) ? a : bits(as_f32(a) > 0 ? 1.0F : 0.0F); });
}

TEST_CASE("cvt.pack clamps two integers and packs them above a third", "[ptx]") {
  table in = all({{0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 0xFFFFFFFF, 0xFFFFFF80, 0xFFFFFF7F, 0xFFFF8000,
                   0xFFFF7FFF, 0x80000000},
                  {7, 0xFFFFFFFF, 0x7FFFFFFF},
                  {0x89ABCDEF}});
  for (number_type const& t : {integers[0], integers[1], integers[2], integers[3]}) {
    auto const clamp = [&](word w) {
      wide const x = std::min(std::max(integers[5].value(w), t.lowest()), t.highest());
      return static_cast<word>(x) & ((word{1} << t.width) - 1);
    };
    bool const halves = t.width == 16;
    check_each(
        {"cvt.pack.sat." + t.name + ".s32" + (halves ? " %d, %a, %b;" : ".b32 %d, %a, %b, %c;"), "b32 = b32 b32 b32"},
        in, [&](word a, word b, word c) { return clamp(a) << t.width | clamp(b) | (halves ? 0 : c << 16); });
  }
}
