// SPDX-License-Identifier: Apache-2.0
// Loads and stores of all widths, state spaces, addresses, packing, initial values of variables, cp.async.
#include "instructions/reference.hpp"

using namespace ptx::test;

namespace {

table const numbers = [] {
  table t = all(
      {{0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, word{1} << 63, ~word{0}}});
  return t += random(50, 1);
}();

word extended(word w, int width, bool is_signed) {
  if (width == 64) { return w; }
  w &= (word{1} << width) - 1;
  return is_signed && (w >> (width - 1)) != 0 ? w | ~word{0} << width : w;
}

}  // namespace

TEST_CASE("a load extends to its register as its type says; a store cuts", "[ptx]") {
  for (int width : {8, 16, 32, 64}) {
    for (char type : {'u', 's', 'b'}) {
      for (int holder : {16, 32, 64}) {
        if (holder < width) { continue; }
        std::string const t = "." + std::string(1, type) + std::to_string(width);
        std::string const r = holder == 16 ? "%h0" : holder == 32 ? "%t0" : "%l0";
        std::string const widen =
            holder == 64 ? "mov.b64 %d, %l0;"
                         : (type == 's' ? "cvt.s64.s" : "cvt.u64.u") + std::to_string(holder) + " %d, " + r + ";";
        check_each({"ld.global" + t + " " + r + ", [%from]; " + widen, "b64 = b64"}, numbers,
                   [&](word a) { return extended(a, width, type == 's'); });
      }
    }
    std::string const w = std::to_string(width);
    check_each({"mov.u64 %l0, 0; st.global.b64 [%to], %l0; st.global.b" + w + " [%to], %a; ld.global.b64 %d, [%to];",
                "b64 = b64"},
               numbers, [&](word a) { return extended(a, width, false); });
  }
}

TEST_CASE("all ways to load the same", "[ptx]") {
  for (char const* load :
       {"ld.global.nc.u32", "ld.volatile.global.u32", "ld.relaxed.gpu.global.u32", "ld.acquire.sys.global.u32",
        "ld.global.ca.u32", "ld.global.cg.u32", "ld.global.cs.u32", "ld.global.lu.u32", "ld.global.cv.u32",
        "ld.global.L1::no_allocate.u32", "ld.global.nc.L1::evict_last.L2::128B.u32", "ld.u32", "ld.weak.global.u32",
        "ld.global.f32"}) {
    check_each({std::string(load) + " %d, [%from];", "b32 = b32"}, numbers, [](word a) { return a; });
  }
  for (char const* store :
       {"st.global.wb.u32", "st.global.cg.u32", "st.global.cs.u32", "st.global.wt.u32", "st.volatile.global.u32",
        "st.relaxed.sys.global.u32", "st.release.gpu.global.u32", "st.global.L1::evict_first.u32", "st.u32"}) {
    check_each({std::string(store) + " [%to], %a; ld.global.u32 %d, [%to+0];", "b32 = b32"}, numbers,
               [](word a) { return a; });
  }
  check_each({"add.u64 %l0, %from, 64; ld.global.u32 %d, [%l0+-64]; prefetch.global.L2 [%l0+-64];", "b32 = b32"},
             numbers, [](word a) { return a; });
}

TEST_CASE("vectors: the first element at the lowest address", "[ptx]") {
  // Two words in, reversed element by element through a vector, two words out.
  struct {
    char const* type;
    std::string registers[4];
    int elements, bits;
  } const forms[] = {{".v2.b64", {"%l0", "%l1"}, 2, 64}, {".v4.b32", {"%t0", "%t1", "%t2", "%t3"}, 4, 32},
                     {".v2.b32", {"%t0", "%t1"}, 2, 32}, {".v4.b16", {"%h0", "%h1", "%h2", "%h3"}, 4, 16},
                     {".v2.u16", {"%h0", "%h1"}, 2, 16}, {".v4.u8", {"%h0", "%h1", "%h2", "%h3"}, 4, 8},
                     {".v2.f64", {"%l0", "%l1"}, 2, 64}, {".v4.f32", {"%t0", "%t1", "%t2", "%t3"}, 4, 32}};
  for (auto const& f : forms) {
    std::string forward, backward;
    for (int i = 0; i < f.elements; ++i) {
      forward += (i == 0 ? "" : ", ") + f.registers[i];
      backward += (i == 0 ? "" : ", ") + f.registers[f.elements - 1 - i];
    }
    std::string const body = std::string("ld.global") + f.type + " {" + forward + "}, [%from]; st.global" + f.type +
                             " [%to], {" + backward + "}; ld.global.b64 %d, [%to]; ld.global.b64 %e, [%to+8];";
    check({body, "b64 b64 = b64 b64"}, random(64, 2), [&](word const* in, word* out) {
      int const per_word = 64 / f.bits;
      word const mask = f.bits == 64 ? ~word{0} : (word{1} << f.bits) - 1;
      for (int i = 0; i < f.elements; ++i) {
        int const to = f.elements - 1 - i;
        out[to / per_word] |= (in[i / per_word] >> (i % per_word * f.bits) & mask) << (to % per_word * f.bits);
      }
    });
  }
  check({"ld.global.v2.b32 {_, %d}, [%from]; mov.u32 %e, 3;", "b32 b32 = b64"}, random(64, 1),
        [](word const* in, word* out) { out[0] = in[0] >> 32, out[1] = 3; });
  check({R"(ld.global.v8.b32 {%t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7}, [%from];
            st.global.v4.b64 [%to], {%a, %b, %c, %x}; ld.global.v4.b64 {%l0, %l1, %l2, %l3}, [%to];
            xor.b64 %d, %l0, %l1; mov.b64 %e, {%t4, %t5}; mov.b64 %f, %l2; mov.b64 %g, {%t7, %t6};)",
         "b64 b64 b64 b64 = b64 b64 b64 b64", "sm_100"},
        random(64, 4), [](word const* in, word* out) {
          out[0] = in[0] ^ in[1], out[1] = in[2], out[2] = in[2], out[3] = in[3] << 32 | in[3] >> 32;
        });
}

TEST_CASE("packing and unpacking with mov", "[ptx]") {
  table const in = random(64, 1);
  check_each({"mov.b32 {%h0, %h1}, %a; mov.b32 %d, {%h1, %h0};", "b32 = b32"}, in,
             [](word a) { return a << 16 | (a >> 16 & 0xFFFF); });
  check_each({"mov.b64 {%t0, %t1}, %a; mov.b64 %d, {%t1, %t0};", "b64 = b64"}, in,
             [](word a) { return a << 32 | a >> 32; });
  check_each({"mov.b64 {%h0, %h1, %h2, %h3}, %a; mov.b64 %d, {%h3, %h2, %h1, %h0};", "b64 = b64"}, in,
             [](word a) { return a << 48 | (a & 0xFFFF0000) << 16 | (a >> 16 & 0xFFFF0000) | a >> 48; });
  check_each({"mov.b32 {%n0, %n1, %n2, %n3}, %a; mov.b32 %d, {%n3, %n2, %n1, %n0};", "b32 = b32"}, in,
             [](word a) { return __builtin_bswap32(static_cast<std::uint32_t>(a)); });
  check_each({"mov.b16 {%n0, %n1}, %a; mov.b16 %d, {%n1, %n0};", "b16 = b16"}, in,
             [](word a) { return (a & 0xFF) << 8 | (a >> 8 & 0xFF); });
  check_each(
      {"{ .reg .b128 %w; mov.b128 %w, {%a, %b}; mov.b128 {%l0, %l1}, %w; xor.b64 %d, %l0, %l1; }", "b64 = b64 b64"},
      random(64, 2), [](word a, word b) { return a ^ b; });
}

TEST_CASE("generic addresses and the space they lie in", "[ptx]") {
  std::string const variables = ".shared .align 8 .b8 block[1024]; .global .align 8 .b8 everywhere[1024];";
  // Through a generic address into shared, local and global memory, and back by the space's own address.
  check(
      {R"(.local .align 8 .b8 mine[16];
            mov.u32 %t0, %tid.x;
            mov.u64 %l0, block; mad.wide.u32 %l0, %t0, 8, %l0; cvta.shared.u64 %l1, %l0; st.u64 [%l1], %a; ld.shared.u64 %d, [%l0];
            mov.u64 %l2, mine; cvta.local.u64 %l3, %l2; st.u64 [%l3+8], %a; ld.local.u64 %e, [%l2+8];
            cvta.to.local.u64 %l4, %l3; ld.local.u64 %f, [%l4+8]; cvta.to.shared.u64 %l5, %l1; ld.shared.u64 %g, [%l5];)",
       "b64 b64 b64 b64 = b64", "sm_90", variables},
      random(64, 1), [](word const* in, word* out) { out[0] = out[1] = out[2] = out[3] = in[0]; }, 64);
  struct {
    char const *to_generic, *space;
  } const places[] = {{"mov.u64 %l0, block; cvta.shared.u64 %l0, %l0;", "shared"},
                      {"mov.u64 %l0, everywhere; cvta.global.u64 %l0, %l0;", "global"},
                      {".local .b8 mine[4]; mov.u64 %l0, mine; cvta.local.u64 %l0, %l0;", "local"},
                      {"mov.u64 %l0, %from;", "global"}};
  for (auto const& p : places) {
    for (std::string const space : {"shared", "global", "local"}) {
      check_each({std::string(p.to_generic) + " isspacep." + space + " %p, %l0; selp.u32 %d, 1, 0, %p;", "b32 = b32",
                  "sm_90", variables},
                 table{1, {0}}, [&](word) { return space == p.space; });
    }
  }
}

TEST_CASE("generic addresses of constants", "[ptx]") {
  std::string const variables = ".const .align 4 .u32 fixed = 7; .global .align 4 .u32 everywhere = 8;";
  for (bool constant : {false, true}) {
    std::string const address = constant ? "mov.u64 %l0, fixed; cvta.const.u64 %l0, %l0;"
                                         : "mov.u64 %l0, everywhere; cvta.global.u64 %l0, %l0;";
    check({address + " isspacep.const %p, %l0; selp.u32 %d, 1, 0, %p; ld.u32 %e, [%l0];", "b32 b32 = b32", "sm_90",
           variables},
          table{1, {0}}, [&](word const*, word* out) { out[0] = constant, out[1] = constant ? 7 : 8; });
  }
}

TEST_CASE("local memory belongs to the thread, and a frame may be indexed", "[ptx]") {
  check({R"(.local .align 16 .b8 depot[64];
            .reg .b64 %SP, %SPL;
            mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL;
            st.local.u32 [%SPL+4], %a; st.u32 [%SP+8], %b; st.local.v2.u32 [depot+16], {%b, %a};
            and.b32 %t0, %a, 1; mul.wide.u32 %l0, %t0, 4; add.u64 %l1, %SPL, %l0;
            ld.local.u32 %d, [%l1+4]; ld.local.u32 %t1, [%SPL+8];
            setp.eq.u32 %p, %t0, 0; @%p mov.u32 %t1, %t1; ld.local.u32 %e, [%SPL+20];)",
         "b32 b32 = b32 b32"},
        random(128, 2), [](word const* in, word* out) { out[0] = (in[0] & 1) != 0 ? in[1] : in[0], out[1] = in[0]; });
}

TEST_CASE("initial values of variables", "[ptx]") {
  std::string const variables = R"(
    .global .align 4 .u32 words[4] = {1, 0x80000000, -2};
    .const .align 8 .f64 doubles[2] = {0d3FF8000000000000, 0d4004000000000000};
    .global .align 4 .f32 singles[2] = {0f40490FDB, 0fBFC00000};
    .global .align 1 .b8 bytes[8] = {1, 2, 255, 4, 5, 6, 7};
    .global .align 8 .u64 pointers[2] = {words, generic(bytes)+2};
    .global .align 2 .s16 shorts[2] = {-3, 7};
    .const .align 4 .u32 alone = 77;
    .global .align 4 .u32 later;)";
  struct {
    char const* body;
    word value;
  } const reads[] = {{"ld.global.u32 %t0, [words+4]; cvt.u64.u32 %d, %t0;", 0x80000000},
                     {"ld.global.s32 %d, [words+8];", ~word{1}},
                     {"ld.global.u32 %t0, [words+12]; cvt.u64.u32 %d, %t0;", 0},
                     {"ld.const.f64 %d, [doubles];", bits(1.5)},
                     {"ld.const.f64 %d, [doubles+8];", bits(2.5)},
                     {"ld.global.b32 %t0, [singles]; cvt.u64.u32 %d, %t0;", 0x40490FDB},
                     {"ld.global.b32 %t0, [singles+4]; cvt.u64.u32 %d, %t0;", bits(-1.5F)},
                     {"ld.global.b64 %d, [bytes];", 0x0007'0605'04FF'0201},
                     {"ld.global.u64 %l0, [pointers]; ld.global.u32 %t0, [%l0]; cvt.u64.u32 %d, %t0;", 1},
                     {"ld.global.u64 %l0, [pointers+8]; ld.u8 %h0, [%l0]; cvt.u64.u16 %d, %h0;", 255},
                     {"ld.global.s16 %d, [shorts];", ~word{2}},
                     {"mov.u64 %l0, alone; ld.const.u32 %t0, [%l0]; cvt.u64.u32 %d, %t0;", 77},
                     {"ld.global.u32 %t0, [later]; cvt.u64.u32 %d, %t0;", 0}};  // without a value: zero
  for (auto const& r : reads) {
    check_each({r.body, "b64 = b64", "sm_90", variables}, table{1, {0}}, [&](word) { return r.value; });
  }
}

TEST_CASE("initial values in decimal", "[ptx]") {
  std::string const variables =
      ".global .align 8 .f64 doubles[2] = {1.0, -2.5}; .global .align 4 .f32 singles[2] = {0.1, -1.5e3};";
  check({"ld.global.f64 %d, [doubles+8]; ld.global.f32 %e, [singles]; ld.global.f32 %f, [singles+4];",
         "b64 b32 b32 = b32", "sm_90", variables},
        table{1, {0}},
        [](word const*, word* out) { out[0] = bits(-2.5), out[1] = bits(0.1F), out[2] = bits(-1500.0F); });
}

TEST_CASE("cp.async: copies, zero fill, groups", "[ptx]") {
  std::string const block = ".shared .align 16 .b8 block[1024];";
  std::string const own =
      "mov.u32 %t0, %tid.x; mov.u64 %l0, block; mad.wide.u32 %l0, %t0, 16, %l0; mov.u64 %l1, -1; st.shared.v2.b64 "
      "[%l0], {%l1, %l1};";
  std::string const read = " ld.shared.v2.b64 {%d, %e}, [%l0];";
  auto const both = [&](std::string const& copy, auto expect) {
    check({own + copy + read, "b64 b64 = b64 b64", "sm_80", block}, random(64, 2), expect, 64);
  };
  both("cp.async.cg.shared.global [%l0], [%from], 16; cp.async.commit_group; cp.async.wait_group 0;",
       [](word const* in, word* out) { out[0] = in[0], out[1] = in[1]; });
  both("cp.async.ca.shared.global.L2::128B [%l0], [%from], 8; cp.async.wait_all;",
       [](word const* in, word* out) { out[0] = in[0], out[1] = ~word{0}; });
  both("cp.async.ca.shared.global [%l0+4], [%from+8], 4; cp.async.commit_group; cp.async.wait_group 0;",
       [](word const* in, word* out) { out[0] = in[1] << 32 | 0xFFFFFFFF, out[1] = ~word{0}; });
  both("mov.u32 %t1, 5; cp.async.cg.shared.global [%l0], [%from], 16, %t1; cp.async.wait_all;",
       [](word const* in, word* out) { out[0] = in[0] & 0xFF'FFFF'FFFF, out[1] = 0; });
  both("cp.async.cg.shared.global [%l0], [%from], 16, 0; cp.async.wait_all;",
       [](word const*, word* out) { out[0] = 0, out[1] = 0; });
}
