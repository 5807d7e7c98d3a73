// SPDX-License-Identifier: Apache-2.0
// What reports say: places, also of inlined code and of endless loops; words; and what clocks show.
#include "one_kernel.hpp"

#include "catch.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace one_kernel;

TEST_CASE("a clock moves from instruction to instruction") {
  auto const r =
      run(kernel("mov.u64 %d1, %clock64; mov.u64 %d2, %clock64; sub.u64 %d3, %d2, %d1; cvt.u32.u64 %r1, %d3;\n"
                 "mov.u64 %d4, %globaltimer; nanosleep.u32 1000; mov.u64 %d5, %globaltimer;\n"
                 "sub.u64 %d6, %d5, %d4; cvt.u32.u64 %r2, %d6;\n"
                 "mov.u64 %d7, %clock64; setp.lt.u64 %p1, %d7, %d5; selp.u32 %r3, 1, 0, %p1;\n"
                 "st.global.u32 [%out], %r1; st.global.u32 [%out+4], %r2; st.global.u32 [%out+8], %r3;"),
          1);
  REQUIRE_FALSE(r.report.problem);
  CHECK(r.words[0] == 1);
  CHECK(r.words[1] >= 1000);
  CHECK(r.words[2] == 0);  // never back
}

TEST_CASE("a loop until a clock has moved comes to its end") {
  CHECK(found("mov.u64 %d1, %clock64; LOOP: mov.u64 %d2, %clock64; sub.u64 %d3, %d2, %d1; setp.lt.u64 %p1, %d3, 5000;\n"
              "@%p1 bra LOOP;") == std::nullopt);
}

TEST_CASE("a timeout names the places where threads are") {
  ptx::machine gpu(ptx::target::parse("sm_90"));
  gpu.options().step_limit = 100000;
  auto const module =
      gpu.load(kernel("setp.eq.u32 %p1, %t, 3; @%p1 bra HERE; bar.warp.sync -1; ret;\n"
                      "HERE: add.u32 %r1, %t, 1;\nbra HERE;"));
  ptx::launch_request request{"k", {1, 1, 1}, {32, 1, 1}};
  request.parameters.resize(8);
  auto const report = gpu.launch(module, request);
  REQUIRE(report.problem);
  CHECK(report.problem->kind == problem::timeout);
  CHECK_THAT(report.problem->message, ContainsSubstring("lanes 0x00000008") && ContainsSubstring("bar.warp.sync"));
  CHECK(report.problem->line >= 8);
}

TEST_CASE("a finding in inlined code names the caller's line too") {
  std::string const files = ".file 1 \"user.cu\"\n.file 2 \"header.h\"\n.file 3 \"deep.h\"\n";
  auto const r =
      run(kernel(".loc 1 10 3\n.loc 2 20 5, function_name $L+0, inlined_at 1 10 3\n"
                 ".loc 3 30 7, function_name $L+4, inlined_at 2 20 5\nst.global.u32 [%mine+4096], %t;\n"
                 ".loc 1 11 3\nmov.u32 %r1, 0;",
                 files));
  REQUIRE(r.report.problem);
  CHECK(r.report.problem->source == "deep.h:30\n  inlined at header.h:20\n  inlined at user.cu:10");
  auto const race =
      run(kernel(".loc 1 10 3\n.loc 2 20 5, function_name $L+0, inlined_at 1 10 3\n"
                 "st.global.u32 [%out], %t;\n",
                 files));
  REQUIRE(race.found(problem::race));
  CHECK_THAT(race.report.problem->other_where, ContainsSubstring("(header.h:20, inlined at user.cu:10)"));
}

TEST_CASE("constant memory is called so") {
  auto const r = run(kernel("mov.u64 %d1, table; ld.const.u32 %r1, [%d1+64];", ".const .align 4 .b8 table[16];\n"));
  CHECK_THAT(r.message(), ContainsSubstring("of constant memory") && ContainsSubstring("behind the end"));
}

TEST_CASE("a failed assertion says what it asserts") {
  std::string const before =
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
      ".param .b64 e);\n.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".global .align 1 .b8 what[6] = {120, 32, 62, 32, 48, 0};\n"
      ".global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n";
  std::string const call =
      "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
      "mov.u64 %d1, what; st.param.b64 [a], %d1; mov.u64 %d2, file; st.param.b64 [b], %d2;\n"
      "st.param.b32 [c], 12; st.param.b64 [d], %d2; st.param.b64 [e], 1;\n"
      "call __assertfail, (a, b, c, d, e); }";
  auto const r = run(kernel(call, before));
  CHECK(r.found(problem::trap));
  CHECK_THAT(r.message(), ContainsSubstring("assertion failed: x > 0, a.cu:12"));
  auto const print =
      run(kernel("{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], 0; st.param.b64 [b], 0;\n"
                 "call (r), vprintf, (a, b); }",
                 before));
  CHECK_THAT(print.message(), ContainsSubstring("printf is not supported"));
}
