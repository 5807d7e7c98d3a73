// SPDX-License-Identifier: Apache-2.0
// Control flow: branches, loops, calls with parameters of all kinds, recursion, calls and branches through a table.
#include "instructions/reference.hpp"

using namespace ptx::test;

TEST_CASE("loops whose lanes leave at different times", "[ptx]") {
  check_each({R"(mov.u32 %d, 0; and.b32 %t0, %a, 63;
                 again: setp.eq.u32 %p, %t0, 0; @%p bra done;
                 add.u32 %d, %d, %t0; sub.u32 %t0, %t0, 1; bra.uni again;
                 done:)",
              "b32 = b32"},
             random(256, 1), [](word a) { return (a & 63) * ((a & 63) + 1) / 2; });
  // Collatz: nested conditions; lanes wander far apart.
  check_each({R"(mov.u32 %d, 0; and.b64 %l0, %a, 1023; add.u64 %l0, %l0, 1;
                 head: setp.eq.u64 %p, %l0, 1; @%p bra done;
                 add.u32 %d, %d, 1; and.b64 %l1, %l0, 1; setp.eq.u64 %q, %l1, 0; @%q bra even;
                 mad.lo.u64 %l0, %l0, 3, 1; bra head;
                 even: shr.u64 %l0, %l0, 1; bra head;
                 done:)",
              "b32 = b64"},
             random(256, 1), [](word a) {
               word steps = 0;
               for (word n = (a & 1023) + 1; n != 1; ++steps) { n = n % 2 == 0 ? n / 2 : 3 * n + 1; }
               return steps;
             });
}

TEST_CASE("lanes that end early", "[ptx]") {
  check({R"(mov.u32 %d, 1; st.global.u32 [%to], %d; setp.lt.u32 %p, %a, 5; @%p exit;
            setp.lt.u32 %q, %a, 9; @%q ret; mov.u32 %d, 2;)",
         "b32 = b32"},
        table{1, range(64)}, [](word const* in, word* out) { out[0] = in[0] < 9 ? 1 : 2; });
}

TEST_CASE("calls: values, structures, no result", "[ptx]") {
  std::string const functions = R"(
    .func (.param .b32 result) twice(.param .b32 x) {
      .reg .b32 %v; ld.param.b32 %v, [x]; add.u32 %v, %v, %v; st.param.b32 [result], %v; ret;
    }
    .func (.param .align 8 .b8 result[16]) swap(.param .align 8 .b8 pair[16]) {
      .reg .b64 %v<2>; ld.param.b64 %v0, [pair]; ld.param.b64 %v1, [pair+8];
      st.param.b64 [result], %v1; st.param.b64 [result+8], %v0; ret;
    }
    .func store(.param .b64 where, .param .b8 what) {
      .reg .b64 %w; .reg .b16 %v; ld.param.b64 %w, [where]; ld.param.u8 %v, [what]; st.u8 [%w], %v; ret;
    })";
  check_each({"{ .param .b32 in0; .param .b32 out0; st.param.b32 [in0], %a; call.uni (out0), twice, (in0); "
              "ld.param.b32 %d, [out0]; }",
              "b32 = b32", "sm_90", functions},
             random(64, 1), [](word a) { return 2 * a; });
  check(
      {R"({ .param .align 8 .b8 in0[16]; .param .align 8 .b8 out0[16]; st.param.b64 [in0], %a; st.param.b64 [in0+8], %b;
             call (out0), swap, (in0); ld.param.v2.b64 {%d, %e}, [out0]; })",
       "b64 b64 = b64 b64", "sm_90", functions},
      random(64, 2), [](word const* in, word* out) { out[0] = in[1], out[1] = in[0]; });
  check_each({"{ .param .b64 p0; .param .b8 p1; st.param.b64 [p0], %to; st.param.b8 [p1], %h0; } mov.u64 %d, 0; "
              "st.global.u64 [%to], %d; cvt.u16.u64 %h0, %a;"
              " { .param .b64 p0; .param .b8 p1; st.param.b64 [p0], %to; st.param.b8 [p1], %h0; call store, (p0, p1); "
              "} ld.global.u64 %d, [%to];",
              "b64 = b64", "sm_90", functions},
             random(64, 1), [](word a) { return a & 0xFF; });
}

TEST_CASE("calls whose parameters are registers", "[ptx]") {
  std::string const functions =
      ".func (.reg .b32 %r) add3(.reg .b32 %x, .reg .b32 %y, .reg .b32 %z) { add.u32 %r, %x, %y; add.u32 %r, %r, %z; "
      "ret; }";
  check_each({"call (%d), add3, (%a, %b, 7);", "b32 = b32 b32", "sm_90", functions}, random(64, 2),
             [](word a, word b) { return a + b + 7; });
}

TEST_CASE("recursion: each call has registers and local memory of its own", "[ptx]") {
  std::string const function = R"(
    .func (.param .b64 result) fibonacci(.param .b32 n) {
      .local .align 8 .b8 kept[8];
      .reg .b32 %n; .reg .b64 %f<3>; .reg .pred %small;
      ld.param.b32 %n, [n]; cvt.u64.u32 %f0, %n;
      setp.lt.u32 %small, %n, 2; @%small bra end;
      sub.u32 %n, %n, 1;
      { .param .b32 p; .param .b64 r; st.param.b32 [p], %n; call (r), fibonacci, (p); ld.param.b64 %f1, [r]; }
      st.local.u64 [kept], %f1;
      sub.u32 %n, %n, 1;
      { .param .b32 p; .param .b64 r; st.param.b32 [p], %n; call (r), fibonacci, (p); ld.param.b64 %f2, [r]; }
      ld.local.u64 %f1, [kept]; add.u64 %f0, %f1, %f2;
      end: st.param.b64 [result], %f0; ret;
    })";
  check_each({"{ .param .b32 p; .param .b64 r; st.param.b32 [p], %a; call (r), fibonacci, (p); ld.param.b64 %d, [r]; }",
              "b64 = b32", "sm_90", function},
             table{1, range(14)}, [](word n) {
               word x = 0, y = 1;
               for (; n != 0; --n) { y += x, x = y - x; }
               return x;
             });
}

TEST_CASE("calls through registers, and through a table of functions, lanes apart", "[ptx]") {
  std::string const functions = R"(
    .func (.param .b32 r) plus(.param .b32 x) { .reg .b32 %v; ld.param.b32 %v, [x]; add.u32 %v, %v, 100; st.param.b32 [r], %v; ret; }
    .func (.param .b32 r) times(.param .b32 x) { .reg .b32 %v; ld.param.b32 %v, [x]; mul.lo.u32 %v, %v, 3; st.param.b32 [r], %v; ret; }
    .global .align 8 .u64 table[2] = {plus, times};)";
  std::string const prototype = "prototype: .callprototype (.param .b32 _) _ (.param .b32 _);";
  std::string const call =
      "{ .param .b32 p; .param .b32 r; st.param.b32 [p], %a; call (r), %l0, (p), prototype; ld.param.b32 %d, [r]; }";
  check_each(
      {prototype + "mov.u64 %l0, plus; and.b32 %t0, %a, 1; setp.ne.u32 %p, %t0, 0; @%p mov.u64 %l0, times;" + call,
       "b32 = b32", "sm_90", functions},
      random(64, 1), [](word a) { return a % 2 == 0 ? a + 100 : 3 * a; });
  check_each(
      {prototype + "and.b32 %t0, %a, 1; mov.u64 %l1, table; mad.wide.u32 %l1, %t0, 8, %l1; ld.global.u64 %l0, [%l1];" +
           call,
       "b32 = b32", "sm_90", functions},
      random(64, 1), [](word a) { return a % 2 == 0 ? a + 100 : 3 * a; });
  check_each({R"(and.b32 %t0, %a, 3; setp.eq.u32 %p, %t0, 3; @%p mov.u32 %t0, 0;
                 places: .branchtargets zero, one, two;
                 brx.idx %t0, places;
                 zero: mov.u32 %d, 10; bra end;
                 one: mov.u32 %d, 11; bra end;
                 two: mov.u32 %d, 12;
                 end:)",
              "b32 = b32"},
             random(64, 1), [](word a) { return a % 4 == 3 ? 10 : 10 + a % 4; });
}
