// SPDX-License-Identifier: Apache-2.0
// Bit operations: logic, shifts, permutes, and comparing and selecting integers.
#include "instructions/samples.hpp"

using namespace ptx::test;

namespace {

using i32 = std::int32_t;
using u32 = std::uint32_t;

}  // namespace

TEST_CASE("and, or, xor, not", "[ptx]") {
  for (char const* width : {"16", "32", "64"}) {
    std::string const b(width), two = "b" + b + " = b" + b + " b" + b, one = "b" + b + " = b" + b;
    table in = all({samples64, samples64});
    in += random(50, 2);
    check_each({"and.b" + b + " %d, %a, %b;", two}, in, [](word x, word y) { return x & y; });
    check_each({"or.b" + b + " %d, %a, %b;", two}, in, [](word x, word y) { return x | y; });
    check_each({"xor.b" + b + " %d, %a, %b;", two}, in, [](word x, word y) { return x ^ y; });
    check_each({"not.b" + b + " %d, %a;", one}, all({samples64}), [](word x) { return ~x; });
  }
}

TEST_CASE("logic on predicates", "[ptx]") {
  table const in = all({{0, 1}, {0, 1}});
  std::string const read = "setp.ne.u32 %p, %a, 0; setp.ne.u32 %q, %b, 0; ", write = " selp.u32 %d, 1, 0, %r;";
  check_each({read + "and.pred %r, %p, %q;" + write}, in, [](word a, word b) { return a & b; });
  check_each({read + "or.pred %r, %p, %q;" + write}, in, [](word a, word b) { return a | b; });
  check_each({read + "xor.pred %r, %p, %q;" + write}, in, [](word a, word b) { return a ^ b; });
  check_each({read + "not.pred %r, %p;" + write}, in, [](word a, word) { return 1 - a; });
  check_each({read + "mov.pred %r, %p;" + write}, in, [](word a, word) { return a; });
  check_each({read + "mov.u32 %d, 5; @%p mov.u32 %d, 6; @!%q mov.u32 %d, 7;"}, in,
             [](word a, word b) { return b == 0 ? 7 : 5 + a; });
}

TEST_CASE("shifts clamp the amount at the width", "[ptx]") {
  for (unsigned width : {16U, 32U, 64U}) {
    std::string const w = std::to_string(width), signature = "b" + w + " = b" + w + " b32";
    table const in = all({width == 64 ? samples64 : samples32, amounts});
    word const mask = low_bits(width);
    check_each({"shl.b" + w + " %d, %a, %b;", signature}, in, [&](word a, word n) { return n >= width ? 0 : a << n; });
    check_each({"shr.u" + w + " %d, %a, %b;", signature}, in,
               [&](word a, word n) { return n >= width ? 0 : (a & mask) >> n; });
    check_each({"shr.b" + w + " %d, %a, %b;", signature}, in,
               [&](word a, word n) { return n >= width ? 0 : (a & mask) >> n; });
    check_each({"shr.s" + w + " %d, %a, %b;", signature}, in, [&](word a, word n) {
      bool const negative = (a >> (width - 1) & 1) != 0;
      if (n >= width) { return negative ? ~word{0} : 0; }
      return (a & mask) >> n | (negative ? ~(mask >> n) : 0);
    });
  }
}

TEST_CASE("funnel shifts, clamped and wrapped", "[ptx]") {
  std::string const three = "b32 = b32 b32 b32";
  table const in =
      all({{0x12345678, 0xFEDCBA98, 0, 0xFFFFFFFF, 0x80000001}, {0x9ABCDEF0, 1, 0x80000000, 0xFFFFFFFF}, amounts});
  auto const both = [](word a, word b) { return b << 32 | low32(a); };
  for (bool wrap : {false, true}) {
    std::string const mode = wrap ? ".wrap" : ".clamp";
    auto const amount = [=](word n) { return wrap ? n % 32 : std::min<word>(n, 32); };
    check_each({"shf.l" + mode + ".b32 %d, %a, %b, %c;", three}, in,
               [&](word a, word b, word n) { return both(a, b) >> (32 - amount(n)); });
    check_each({"shf.r" + mode + ".b32 %d, %a, %b, %c;", three}, in,
               [&](word a, word b, word n) { return both(a, b) >> amount(n); });
  }
}

TEST_CASE("lop3: all 256 functions", "[ptx]") {
  table in = all({{0xF0F0F0F0, 0x12345678}, {0xCCCCCCCC, 0x9ABCDEF0}, {0xAAAAAAAA, 0x0F1E2D3C}});
  for (word lut = 0; lut < 256; ++lut) {
    check_each({"lop3.b32 %d, %a, %b, %c, " + std::to_string(lut) + ";", "b32 = b32 b32 b32"}, in,
               [&](word a, word b, word c) {
                 word d = 0;
                 for (int i = 0; i < 32; ++i) {
                   word const index = (a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1);
                   d |= (lut >> index & 1) << i;
                 }
                 return d;
               });
  }
}

TEST_CASE("prmt: the general form, all selectors", "[ptx]") {
  auto const general = [](word a, word b, word selector) {
    word const bytes = b << 32 | low32(a);
    word d = 0;
    for (int i = 0; i < 4; ++i) {
      word const nibble = selector >> (4 * i) & 0xF, byte = bytes >> (8 * (nibble & 7)) & 0xFF;
      d |= ((nibble & 8) == 0 ? byte : byte >= 0x80 ? 0xFF : 0) << (8 * i);
    }
    return d;
  };
  check_each({"prmt.b32 %d, %a, %b, %c;", "b32 = b32 b32 b32"}, all({{0x80017F02}, {0x03FE8504}, range(0x10000)}),
             general);
  check_each({"prmt.b32 %d, %a, %b, %c;", "b32 = b32 b32 b32"}, random(200, 3), general);  // bits above 16 do not count
}

TEST_CASE("prmt: the named modes", "[ptx]") {
  // Result bytes 3, 2, 1, 0 for the selectors 0, 1, 2, 3, from the ISA's table.
  struct {
    char const* mode;
    int bytes[4];
  } const modes[] = {{"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
                     {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
                     {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
  for (auto const& m : modes) {
    check_each({std::string("prmt.b32.") + m.mode + " %d, %a, %b, %c;", "b32 = b32 b32 b32"},
               all({{0x13121110, 0x83828180}, {0x17161514}, {0, 1, 2, 3, 4, 0xFFFFFFFE}}), [&](word a, word b, word c) {
                 word const bytes = b << 32 | low32(a);
                 word d = 0;
                 for (int i = 0; i < 4; ++i) {
                   d |= (bytes >> (8 * (m.bytes[c & 3] >> (4 * i) & 7)) & 0xFF) << (8 * i);
                 }
                 return d;
               });
  }
}

TEST_CASE("setp, set and selp on integers", "[ptx]") {
  struct comparison {
    char const* name;
    bool less, equal, greater;
  };
  comparison const comparisons[] = {{"eq", false, true, false}, {"ne", true, false, true},  {"lt", true, false, false},
                                    {"le", true, true, false},  {"gt", false, false, true}, {"ge", false, true, true}};
  for (unsigned width : {16U, 32U, 64U}) {
    std::string const w = std::to_string(width), two = "b32 = b" + w + " b" + w;
    table in = all({samples64, samples64});
    in += all({samples32, samples32});
    for (bool is_signed : {false, true}) {
      auto const ordered = [&](word a, word b) {  // -1, 0, 1: compare in the topmost bits of 64
        a <<= 64 - width, b <<= 64 - width;
        if (is_signed) { a ^= word{1} << 63, b ^= word{1} << 63; }
        return a < b ? -1 : a > b ? 1 : 0;
      };
      for (comparison const& c : comparisons) {
        auto const holds = [&](word a, word b) {
          int const o = ordered(a, b);
          return o < 0 ? c.less : o > 0 ? c.greater : c.equal;
        };
        std::string const form = std::string(".") + c.name + (is_signed ? ".s" : ".u") + w;
        check_each({"setp" + form + " %p, %a, %b; selp.u32 %d, 1, 0, %p;", two}, in, holds);
        std::string const set = std::string("set.") + c.name + ".u32" + (is_signed ? ".s" : ".u") + w;
        check_each({set + " %d, %a, %b;", two}, in, [&](word a, word b) { return holds(a, b) ? 0xFFFFFFFF : 0; });
      }
    }
  }
  // Unsigned comparisons of their own names, and a second predicate combined with a third.
  check_each({"setp.lo.u32 %p, %a, %b; selp.u32 %d, 1, 0, %p;"}, all({samples32, samples32}),
             [](word a, word b) { return a < b; });
  check_each({"setp.hs.u32 %p, %a, %b; selp.u32 %d, 1, 0, %p;"}, all({samples32, samples32}),
             [](word a, word b) { return a >= b; });
  for (char const* o : {"and", "or", "xor"}) {
    for (bool inverted : {false, true}) {
      std::string const third = inverted ? "!%r" : "%r";
      check({std::string("setp.ne.u32 %r, %c, 0; setp.lt.") + o + ".s32 %p|%q, %a, %b, " + third +
                 "; selp.u32 %d, 1, 0, %p; selp.u32 %e, 1, 0, %q;",
             "b32 b32 = b32 b32 b32"},
            all({{1, 2, 0xFFFFFFFF}, {2, 1}, {0, 1}}), [&](word const* in, word* out) {
              bool const t = static_cast<i32>(in[0]) < static_cast<i32>(in[1]), c = (in[2] != 0) != inverted;
              auto const combine = [&](bool x) { return o[0] == 'a' ? x && c : o[0] == 'o' ? x || c : x != c; };
              out[0] = combine(t), out[1] = combine(!t);
            });
    }
  }
}
