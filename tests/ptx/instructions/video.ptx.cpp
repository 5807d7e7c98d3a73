// SPDX-License-Identifier: Apache-2.0
// SIMD video instructions: two halves or four bytes of a register at once.
#include "instructions/program.hpp"

using namespace ptx::test;

namespace {

int part(word w, int width, int i, bool is_signed) {
  auto const x = static_cast<int>(w >> (width * i) & ((1U << width) - 1));
  return is_signed && x >> (width - 1) != 0 ? x - (1 << width) : x;
}

struct operation {
  char const* name;
  int (*f)(int a, int b);
};
constexpr operation operations[] = {{"vadd", [](int a, int b) { return a + b; }},
                                    {"vsub", [](int a, int b) { return a - b; }},
                                    {"vabsdiff", [](int a, int b) { return a < b ? b - a : a - b; }},
                                    {"vmin", [](int a, int b) { return a < b ? a : b; }},
                                    {"vmax", [](int a, int b) { return a < b ? b : a; }}};

}  // namespace

TEST_CASE("video instructions: all parts, with saturation, and their sum", "[ptx]") {
  table in = all({{0x807F00FF, 0x12345678, 0xFFFFFFFF, 0, 0x80008000, 0x7FFF7FFF},
                  {0x017F80FF, 0x80808080, 0xFFFFFFFF, 1, 0x7FFF8000},
                  {0, 1000}});
  in += random(100, 3, 0xFFFF'FFFF);
  for (operation const& o : operations) {
    for (int parts : {2, 4}) {
      for (bool is_signed : {false, true}) {
        for (char const* modifier : {"", ".sat", ".add"}) {
          std::string const m(modifier), t = is_signed ? ".s32" : ".u32";
          int const width = 32 / parts, low = is_signed ? -(1 << (width - 1)) : 0, high = low + (1 << width) - 1;
          check_each({o.name + std::to_string(parts) + t + t + t + m + " %d, %a, %b, %c;", "b32 = b32 b32 b32"}, in,
                     [&](word a, word b, word c) {
                       word packed = 0;
                       for (int i = 0; i < parts; ++i) {
                         int x = o.f(part(a, width, i, is_signed), part(b, width, i, is_signed));
                         if (m == ".sat") { x = std::min(std::max(x, low), high); }
                         packed |= (static_cast<word>(x) & ((word{1} << width) - 1)) << (width * i);
                         c += static_cast<word>(x);
                       }
                       return m == ".add" ? c : packed;
                     });
        }
      }
    }
  }
}
