// SPDX-License-Identifier: Apache-2.0
// Bit fields, masks, counts and positions of bits.
#include "instructions/samples.hpp"

using namespace ptx::test;

namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using u32 = std::uint32_t;

int position_of_highest(word a) {
  int at = -1;
  for (int i = 0; i < 64; ++i) { at = (a >> i & 1) != 0 ? i : at; }
  return at;
}

}  // namespace

TEST_CASE("bit fields", "[ptx]") {
  column const places{0, 1, 5, 16, 31, 32, 33, 63, 64, 255, 256 + 4};
  for (unsigned width : {32U, 64U}) {
    std::string const w = std::to_string(width), triple = "b" + w + " = b" + w + " b32 b32";
    table const in = all({width == 64 ? samples64 : samples32, places, places});
    for (bool is_signed : {false, true}) {
      check_each({(is_signed ? "bfe.s" : "bfe.u") + w + " %d, %a, %b, %c;", triple}, in,
                 [&](word a, word pos, word len) {
                   pos &= 0xFF, len &= 0xFF;  // the ISA's pseudo code, bit by bit
                   word const msb = width - 1;
                   word const sign_at = std::min(pos + len - 1, msb);
                   bool const sign = is_signed && len != 0 && (a >> sign_at & 1) != 0;
                   word d = 0;
                   for (word i = 0; i <= msb; ++i) {
                     bool const bit = i < len && pos + i <= msb ? (a >> (pos + i) & 1) != 0 : sign;
                     d |= word{bit} << i;
                   }
                   return d;
                 });
    }
    check({"bfi.b" + w + " %d, %a, %b, %c, %x;", "b" + w + " = b" + w + " b" + w + " b32 b32"},
          all({width == 64 ? samples64 : samples32, {0, ~word{0}, 0x1234'5678'9ABC'DEF0}, places, places}),
          [&](word const* in4, word* out) {
            word const pos = in4[2] & 0xFF, len = in4[3] & 0xFF;
            out[0] = in4[1];
            for (word i = 0; i < len && pos + i < width; ++i) {
              word const bit = word{1} << (pos + i);
              out[0] = (out[0] & ~bit) | ((in4[0] >> i & 1) != 0 ? bit : 0);
            }
          });
  }
}

TEST_CASE("counts and positions", "[ptx]") {
  for (unsigned width : {32U, 64U}) {
    std::string const w = std::to_string(width), one = "b32 = b" + w, same = "b" + w + " = b" + w;
    word const mask = low_bits(width);
    table in = all({width == 64 ? samples64 : samples32});
    in += random(100, 1);
    for (unsigned i = 0; i < 64; ++i) { in.words.push_back(word{1} << i), in.words.push_back(~word{0} << i); }
    check_each({"popc.b" + w + " %d, %a;", one}, in, [&](word a) { return __builtin_popcountll(a & mask); });
    check_each({"clz.b" + w + " %d, %a;", one}, in,
               [&](word a) { return static_cast<int>(width) - 1 - position_of_highest(a & mask); });
    check_each({"brev.b" + w + " %d, %a;", same}, in, [&](word a) {
      word d = 0;
      for (unsigned i = 0; i < width; ++i) { d |= (a >> i & 1) << (width - 1 - i); }
      return d;
    });
    for (bool is_signed : {false, true}) {
      auto const highest = [&](word a) {
        a &= mask;
        return position_of_highest(is_signed && (a >> (width - 1)) != 0 ? ~a & mask : a);
      };
      std::string const type = (is_signed ? ".s" : ".u") + w;
      check_each({"bfind" + type + " %d, %a;", one}, in, highest);
      check_each({"bfind.shiftamt" + type + " %d, %a;", one}, in,
                 [&](word a) { return highest(a) < 0 ? -1 : static_cast<int>(width) - 1 - highest(a); });
    }
  }
}

TEST_CASE("masks", "[ptx]") {
  for (bool wrap : {false, true}) {
    std::string const mode = wrap ? ".wrap" : ".clamp";
    auto const clip = [=](word n) { return wrap ? n % 32 : std::min<word>(n, 32); };
    check_each({"bmsk" + mode + ".b32 %d, %a, %b;"}, all({amounts, amounts}), [&](word pos, word len) {
      word const p = clip(pos), n = clip(len);
      return p >= 32 ? 0 : low_bits(n) << p;
    });
  }
}
