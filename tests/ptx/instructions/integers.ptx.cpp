// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic, against the host's integers with room to spare.
#include "instructions/program.hpp"

using namespace ptx::test;

namespace {

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;
using i32 = std::int32_t;
using u32 = std::uint32_t;

column const ends16{0, 1, 2, 3, 7, 0x7F, 0x80, 0xFF, 0x100, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xAAAA, 0xFFFE, 0xFFFF};
column const ends32{0,           1,           2,           3,           5,          31,
                    32,          33,          0xFF,        0xFFFF,      0x10000,    0x7FFFFF,
                    0x800000,    0xFFFFFF,    0x1000000,   0x55555555,  0x7FFFFFFE, 0x7FFF'FFFF,
                    0x8000'0000, 0x8000'0001, 0xAAAA'AAAA, 0xFFFF'FF80, 0xFFFFFFFE, 0xFFFFFFFF};
column const ends64{0,
                    1,
                    2,
                    7,
                    0x7FFF'FFFF,
                    0x8000'0000,
                    0xFFFF'FFFF,
                    0x1'0000'0000,
                    0x7FFF'FFFF'FFFF'FFFF,
                    0x8000'0000'0000'0000,
                    0x8000'0000'0000'0001,
                    0xFFFF'FFFF'8000'0000,
                    0xFFFF'FFFF'FFFF'FFFE,
                    0xFFFF'FFFF'FFFF'FFFF,
                    0x0123'4567'89AB'CDEF};

column const& ends(int width) { return width == 16 ? ends16 : width == 32 ? ends32 : ends64; }

table samples(int width, std::size_t inputs) {
  table t = all(std::vector<column>(inputs, ends(width)));
  return t += random(200, inputs);
}

/// The number that a register of that width holds.
wide value(word w, int width, bool is_signed) {
  wide const low = static_cast<wide>(width == 64 ? w : w & ((word{1} << width) - 1));
  return is_signed && (low >> (width - 1)) != 0 ? low - (static_cast<wide>(1) << width) : low;
}

struct int_type {
  char const* name;
  int width;
  bool is_signed;
};
constexpr int_type types[] = {{".u16", 16, false}, {".s16", 16, true},  {".u32", 32, false},
                              {".s32", 32, true},  {".u64", 64, false}, {".s64", 64, true}};

std::string signature(int width, int inputs, int result_width = 0) {
  std::string s = "b" + std::to_string(result_width != 0 ? result_width : width) + " =";
  for (int i = 0; i < inputs; ++i) { s += " b" + std::to_string(width); }
  return s;
}

struct operation {
  char const* name;
  wide (*expect)(wide a, wide b);
};
wide magnitude(wide a) { return a < 0 ? -a : a; }

}  // namespace

TEST_CASE("integer operations of two operands, all types", "[ptx]") {
  constexpr operation operations[] = {
      {"add", [](wide a, wide b) { return a + b; }},
      {"sub", [](wide a, wide b) { return a - b; }},
      {"mul.lo", [](wide a, wide b) { return static_cast<wide>(static_cast<word>(a) * static_cast<word>(b)); }},
      {"min", [](wide a, wide b) { return a < b ? a : b; }},
      {"max", [](wide a, wide b) { return a < b ? b : a; }},
  };
  for (int_type const& t : types) {
    for (operation const& o : operations) {
      check_each(
          {std::string(o.name) + t.name + " %d, %a, %b;", signature(t.width, 2)}, samples(t.width, 2),
          [&](word a, word b) { return o.expect(value(a, t.width, t.is_signed), value(b, t.width, t.is_signed)); });
    }
  }
}

TEST_CASE("division truncates and the remainder has the dividend's sign", "[ptx]") {
  for (int_type const& t : types) {
    auto const quotient = [&](word a, word b) {  // by zero: any value, but the launch goes on
      wide const d = value(b, t.width, t.is_signed);
      return d == 0 ? unspecified : static_cast<word>(value(a, t.width, t.is_signed) / d);
    };
    auto const rest = [&](word a, word b) {
      wide const d = value(b, t.width, t.is_signed);
      return d == 0 ? unspecified : static_cast<word>(value(a, t.width, t.is_signed) % d);
    };
    check_each({std::string("div") + t.name + " %d, %a, %b;", signature(t.width, 2)}, samples(t.width, 2), quotient);
    check_each({std::string("rem") + t.name + " %d, %a, %b;", signature(t.width, 2)}, samples(t.width, 2), rest);
  }
}

TEST_CASE("one operand: neg, abs", "[ptx]") {
  for (int_type const& t : types) {
    if (!t.is_signed) { continue; }
    check_each({std::string("neg") + t.name + " %d, %a;", signature(t.width, 1)}, samples(t.width, 1),
               [&](word a) { return -value(a, t.width, true); });
    check_each({std::string("abs") + t.name + " %d, %a;", signature(t.width, 1)}, samples(t.width, 1),
               [&](word a) { return magnitude(value(a, t.width, true)); });
  }
}

TEST_CASE("products: high half, wide, and with an addend", "[ptx]") {
  for (int_type const& t : types) {
    auto const product = [&](word a, word b) {
      // 64-bit unsigned products fill the 128 bits: the shift below has to be unsigned.
      return static_cast<unsigned_wide>(value(a, t.width, t.is_signed) * value(b, t.width, t.is_signed));
    };
    check_each({std::string("mul.hi") + t.name + " %d, %a, %b;", signature(t.width, 2)}, samples(t.width, 2),
               [&](word a, word b) { return product(a, b) >> t.width; });
    check_each({std::string("mad.lo") + t.name + " %d, %a, %b, %c;", signature(t.width, 3)}, samples(t.width, 3),
               [&](word a, word b, word c) { return static_cast<word>(product(a, b)) + c; });
    check_each({std::string("mad.hi") + t.name + " %d, %a, %b, %c;", signature(t.width, 3)}, samples(t.width, 3),
               [&](word a, word b, word c) { return static_cast<word>(product(a, b) >> t.width) + c; });
    if (t.width == 64) { continue; }
    check_each({std::string("mul.wide") + t.name + " %d, %a, %b;", signature(t.width, 2, 2 * t.width)},
               samples(t.width, 2), product);
    std::string const in = "b" + std::to_string(t.width), out = "b" + std::to_string(2 * t.width);
    check_each({std::string("mad.wide") + t.name + " %d, %a, %b, %c;", out + " = " + in + " " + in + " " + out},
               samples(t.width, 3), [&](word a, word b, word c) { return static_cast<word>(product(a, b)) + c; });
  }
}

TEST_CASE("saturating and clamping forms", "[ptx]") {
  auto const clamp = [](wide x) { return std::min<wide>(std::max<wide>(x, INT32_MIN), INT32_MAX); };
  auto const s = [](word w) { return value(w, 32, true); };
  check_each({"add.sat.s32 %d, %a, %b;"}, samples(32, 2), [&](word a, word b) { return clamp(s(a) + s(b)); });
  check_each({"sub.sat.s32 %d, %a, %b;"}, samples(32, 2), [&](word a, word b) { return clamp(s(a) - s(b)); });
  check_each({"mad.hi.sat.s32 %d, %a, %b, %c;", signature(32, 3)}, samples(32, 3),
             [&](word a, word b, word c) { return clamp((s(a) * s(b) >> 32) + s(c)); });
  check_each({"min.relu.s32 %d, %a, %b;"}, samples(32, 2),
             [&](word a, word b) { return std::max<wide>(std::min(s(a), s(b)), 0); });
  check_each({"max.relu.s32 %d, %a, %b;"}, samples(32, 2),
             [&](word a, word b) { return std::max<wide>(std::max(s(a), s(b)), 0); });
}

TEST_CASE("carry chains", "[ptx]") {
  std::string const quads = "b32 b32 = b32 b32 b32 b32";
  auto const pair = [](word low, word high) { return static_cast<wide>(high << 32 | (low & 0xFFFF'FFFF)); };
  auto const store = [](wide x, word* out) {
    out[0] = static_cast<word>(x);
    out[1] = static_cast<word>(x >> 32);
  };
  column const few{0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF};
  table in = all({few, few, few, few});
  in += random(300, 4, 0xFFFF'FFFF);
  check({"add.cc.u32 %d, %a, %c; addc.u32 %e, %b, %x;", quads}, in,
        [&](word const* i, word* out) { store(pair(i[0], i[1]) + pair(i[2], i[3]), out); });
  check({"sub.cc.u32 %d, %a, %c; subc.u32 %e, %b, %x;", quads}, in,
        [&](word const* i, word* out) { store(pair(i[0], i[1]) - pair(i[2], i[3]), out); });
  // a * b + (x : c), and the carry out of it in the third word.
  check({"mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.cc.u32 %e, %a, %b, %x; addc.u32 %f, 0, 0;",
         "b32 b32 b32 = b32 b32 b32 b32"},
        in, [&](word const* i, word* out) {
          wide const x = static_cast<wide>(i[0] * i[1]) + pair(i[2], i[3]);
          store(x, out);
          out[2] = static_cast<word>(x >> 64);
        });
  check({"add.cc.s32 %d, %a, %c; addc.cc.s32 %e, %b, %x; addc.u32 %f, 0, 0;", "b32 b32 b32 = b32 b32 b32 b32"}, in,
        [&](word const* i, word* out) {
          wide const x = pair(i[0], i[1]) + pair(i[2], i[3]);
          store(x, out);
          out[2] = static_cast<word>(x >> 64);
        });
  check({"add.cc.u64 %d, %a, %c; addc.u64 %e, %b, %x;", "b64 b64 = b64 b64 b64 b64"}, random(300, 4),
        [&](word const* i, word* out) {
          out[0] = i[0] + i[2];
          out[1] = i[1] + i[3] + (out[0] < i[0] ? 1 : 0);
        });
}

TEST_CASE("after a subtraction the flag is the carry of a + ~b + 1", "[ptx]") {
  // The ISA says "borrow-out", and subc takes it as such; for an addition that follows, ptxas folds it to "no borrow".
  check_each({"sub.cc.u32 %t0, %a, %b; addc.u32 %d, 16, 0;"}, samples(32, 2),
             [](word a, word b) { return static_cast<u32>(a) >= static_cast<u32>(b) ? 17 : 16; });
  check_each({"sub.cc.u32 %t0, %a, %b; subc.u32 %d, 16, 0;"}, samples(32, 2),
             [](word a, word b) { return static_cast<u32>(a) >= static_cast<u32>(b) ? 16 : 15; });
}

TEST_CASE("dot products of bytes", "[ptx]") {
  for (bool sa : {false, true}) {
    for (bool sb : {false, true}) {
      std::string const type = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      table in =
          all({{0, 0x80808080, 0x7F7F7F7F, 0xFFFFFFFF, 0x01FF7F80}, {0x80808080, 0xFFFFFFFF, 0x12345678}, ends32});
      in += random(300, 3);
      check_each({"dp4a" + type + " %d, %a, %b, %c;", signature(32, 3)}, in, [&](word a, word b, word c) {
        wide sum = static_cast<wide>(c);
        for (int i = 0; i < 32; i += 8) { sum += value(a >> i, 8, sa) * value(b >> i, 8, sb); }
        return sum;
      });
    }
  }
}
