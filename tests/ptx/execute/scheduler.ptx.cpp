// SPDX-License-Identifier: Apache-2.0
// Lanes that run apart, meet, wait for each other, and what is found when they never meet.
#include "one_kernel.hpp"

#include "catch.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace one_kernel;

TEST_CASE("lanes of a branch run apart and together again") {
  auto const r = run(
      kernel("and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN;\n"
             "mov.u32 %r2, 7; activemask.b32 %r3; bra.uni JOIN;\nEVEN: mov.u32 %r2, 5; activemask.b32 %r3;\n"
             "JOIN: activemask.b32 %r4; setp.eq.u32 %p2, %r4, -1; selp.u32 %r5, %r3, 0, %p2; add.u32 %r5, %r5, %r2;\n"
             "st.global.u32 [%mine], %r5;"));
  REQUIRE_FALSE(r.report.problem);
  CHECK(r.words[0] == 0x55555555u + 5);
  CHECK(r.words[1] == 0xAAAAAAAAu + 7);
}

TEST_CASE("a lane that spins lets the lane it waits for go on") {
  // A lock taken by each lane in turn: the owner runs in the same warp as those who spin.
  auto const r = run(kernel("TRY: atom.global.cas.b32 %r1, [%out], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra TRY;\n"
                            "membar.gl; ld.volatile.global.u32 %r2, [%out+4]; add.u32 %r2, %r2, 1;\n"
                            "st.volatile.global.u32 [%out+4], %r2; membar.gl; atom.global.exch.b32 %r3, [%out], 0;"),
                     64, 3);
  CAPTURE(r.message());
  REQUIRE_FALSE(r.report.problem);
  CHECK(r.words[1] == 192);
}

TEST_CASE("a block that spins lets the block it waits for start") {
  auto const r =
      run(kernel("mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra SET;\n"
                 "WAIT: ld.acquire.gpu.global.u32 %r2, [%out]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT; ret;\n"
                 "SET: st.release.gpu.global.u32 [%out], 1;"),
          1, 2);
  CHECK_FALSE(r.report.problem);
}

TEST_CASE("a warp operation waits for the lanes it names, and no longer for those that ended") {
  auto const r =
      run(kernel("setp.gt.u32 %p1, %t, 23; @%p1 exit; setp.gt.u32 %p2, %t, 15; @%p2 bra LATE;\n"
                 "mov.u32 %r1, 1; bra MEET;\nLATE: mov.u32 %r1, 2; mov.u32 %r2, 3; add.u32 %r1, %r1, %r2;\n"
                 "MEET: shfl.sync.idx.b32 %r3, %r1, 20, 31, 0xffffff; st.global.u32 [%mine], %r3;"));
  REQUIRE_FALSE(r.report.problem);
  CHECK(r.words[0] == 5);
  CHECK(r.words[24] == 0);
}

TEST_CASE("a shuffle that a named lane never reaches is found, with both places") {
  auto const r =
      run(kernel("setp.eq.u32 %p1, %t, 3; @%p1 bra OTHER;\n"
                 "shfl.sync.idx.b32 %r3, %t, 0, 31, 0xffffffff; ret;\nOTHER: bar.warp.sync 0xffffffff;"));
  CHECK(r.found(problem::barrier));
  CHECK_THAT(r.message(), ContainsSubstring("shfl.sync.idx") && ContainsSubstring("bar.warp.sync"));
}

TEST_CASE("a membermask without the lane itself is found") {
  CHECK(run(kernel("bar.warp.sync 0x0000ffff;")).found(problem::barrier));
}

TEST_CASE("lanes may come to bar.warp.sync at different places") {
  auto const r = run(
      kernel("setp.eq.u32 %p1, %t, 3; @%p1 bra OTHER;\n"
             "bar.warp.sync 0xffffffff; bra END;\nOTHER: bar.warp.sync 0xffffffff;\nEND: st.global.u32 [%mine], 1;"));
  CAPTURE(r.message());
  CHECK_FALSE(r.report.problem);
}

TEST_CASE("a barrier counts threads that have not ended") {
  auto const r = run(kernel("setp.ge.u32 %p1, %t, 64; @%p1 exit; bar.sync 0; st.global.u32 [%mine], 1;"), 96);
  CHECK_FALSE(r.report.problem);
  CHECK(r.words[63] == 1);
}

TEST_CASE("a barrier that some warps wait at elsewhere is found") {
  auto const r = run(kernel("setp.ge.u32 %p1, %t, 32; @%p1 bra OTHER; bar.sync 1; ret;\nOTHER: bar.sync 2;"), 64);
  CHECK(r.found(problem::barrier));
  CHECK_THAT(r.message(), ContainsSubstring("bar.sync 1") && ContainsSubstring("bar.sync 2"));
}

TEST_CASE("an aligned barrier that a warp comes to at two places is found, another is not") {
  std::string const body = "setp.eq.u32 %p1, %t, 3; @%p1 bra OTHER; BARRIER 0; bra END;\nOTHER: BARRIER 0;\nEND:";
  auto const with = [&](std::string const& name) {
    std::string text = body;
    while (text.find("BARRIER") != std::string::npos) { text.replace(text.find("BARRIER"), 7, name); }
    return run(kernel(text));
  };
  CHECK(with("bar.sync").found(problem::barrier));
  CHECK_FALSE(with("barrier.sync").report.problem);
}

TEST_CASE("barriers count, arrive and reduce") {
  auto const r = run(
      kernel(
          "setp.ge.u32 %p1, %t, 32; @%p1 bra CONSUMER;\n"
          "mov.b64 %d1, memory; mad.wide.u32 %d2, %t, 4, %d1; st.shared.u32 [%d2], %t; bar.arrive 1, 64; bra END;\n"
          "CONSUMER: bar.sync 1, 64; mov.b64 %d1, memory; ld.shared.u32 %r2, [%d1+124]; st.global.u32 [%mine], %r2;\n"
          "END: setp.lt.u32 %p2, %t, 40; bar.red.popc.u32 %r3, 0, %p2; st.global.u32 [%mine+256], %r3;"),
      64);
  CAPTURE(r.message());
  REQUIRE_FALSE(r.report.problem);
  CHECK(r.words[32] == 31);
  CHECK(r.words[64] == 40);
}

TEST_CASE("functions call themselves, each lane to its own depth") {
  auto const r =
      run(kernel("{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call.uni (b), sum, (a);\n"
                 "ld.param.b32 %r1, [b]; } st.global.u32 [%mine], %r1;",
                 ".func (.param .b32 result) sum(.param .b32 n) { .reg .b32 %r<4>; .reg .pred %p;\n"
                 "ld.param.u32 %r1, [n]; mov.u32 %r2, 0; setp.eq.u32 %p, %r1, 0; @%p bra DONE; sub.u32 %r3, %r1, 1;\n"
                 "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), sum, (a); ld.param.b32 %r2, [b]; }\n"
                 "DONE: add.u32 %r2, %r2, %r1; st.param.b32 [result], %r2; ret; }\n"));
  REQUIRE_FALSE(r.report.problem);
  CHECK(r.words[31] == 31 * 32 / 2);
}

TEST_CASE("an undefined value may be computed with as long as it decides nothing") {
  std::string const load =
      "mov.b64 %d1, memory; mad.wide.u32 %d2, %t, 4, %d1; ld.shared.u32 %r1, [%d2]; add.u32 %r2, %r1, 1;\n";
  CHECK_FALSE(run(kernel(load + "setp.gt.u32 %p1, %r2, 5; setp.gt.u32 %p2, %t, 99; and.pred %p3, %p1, %p2;\n"
                                "@%p3 bra END; selp.u32 %r3, %r2, 7, %p2; st.global.u32 [%mine], %r3;\nEND:"))
                  .report.problem);
  CHECK(run(kernel(load + "setp.gt.u32 %p1, %r2, 5; @%p1 bra END;\nEND:")).found(problem::undefined));
  CHECK(run(kernel(load + "st.global.u32 [%mine], %r2;")).found(problem::undefined));
  CHECK_FALSE(run(kernel(load + "st.global.u32 [%mine], %r1;")).report.problem);  // a copy
  CHECK(run(kernel(load + "cvt.u64.u32 %d3, %r2; add.s64 %d3, %d3, %out; ld.global.u32 %r4, [%d3];"))
            .found(problem::undefined));
}

TEST_CASE("an undefined value is told from a copy byte by byte, and keeps its mark in memory") {
  std::string const load =
      "mov.b64 %d1, memory; mad.wide.u32 %d2, %t, 4, %d1; ld.shared.u32 %r1, [%d2]; add.u32 %r2, %r1, 1;\n";
  // A packed pair of which only one half is undefined: stored in parts, that half alone is a finding.
  for (std::string const pack : {"mov.b64 %d3, {%t, %r2};",
                                 "cvt.u64.u32 %d3, %t; cvt.u64.u32 %d4, %r2; shl.b64 %d4, %d4, 32; "
                                 "or.b64 %d3, %d3, %d4;"}) {
    CAPTURE(pack);
    CHECK(found(load + pack + "cvt.u32.u64 %r3, %d3; st.global.u32 [%mine], %r3;") == std::nullopt);
    CHECK(found(load + pack + "shr.u64 %d3, %d3, 32; cvt.u32.u64 %r3, %d3; st.global.u32 [%mine], %r3;") ==
          problem::undefined);
  }
  CHECK(found(load + "prmt.b32 %r3, %r2, %t, 0x7654; st.global.u32 [%mine], %r3;") == std::nullopt);
  CHECK(found(load + "prmt.b32 %r3, %r2, %t, 0x7650; st.global.u32 [%mine], %r3;") == problem::undefined);
  CHECK(found(load + "bfi.b32 %r3, %r2, %t, 16, 16; st.global.u16 [%mine], %r3;") == std::nullopt);
  CHECK(found(load + "bfi.b32 %r3, %r2, %t, 0, 16; st.global.u16 [%mine], %r3;") == problem::undefined);
  CHECK(found(load + "shf.l.wrap.b32 %r3, %r2, %t, 16; st.global.u16 [%mine+2], %r3; shr.u32 %r3, %r3, 16;") ==
        problem::undefined);
  CHECK(found(load + "shf.l.wrap.b32 %r3, %t, %r2, 0; shf.r.wrap.b32 %r4, %t, %r2, 0; st.global.u32 [%mine], %r4;") ==
        std::nullopt);
  // Through shared memory it is still no mere copy.
  CHECK(found(load + "st.shared.u32 [%d2+2048], %r2; ld.shared.u32 %r3, [%d2+2048]; st.global.u32 [%mine], %r3;") ==
        problem::undefined);
  CHECK(found(load + "st.shared.u32 [%d2+2048], %r1; ld.shared.u32 %r3, [%d2+2048]; st.global.u32 [%mine], %r3;") ==
        std::nullopt);
  // What blocks tell each other may be of no use to anybody; who uses it is found.
  std::string const use = "ld.relaxed.gpu.global.u32 %r3, [%mine]; ";
  CHECK(found(load + "st.relaxed.gpu.global.u32 [%mine], %r2;" + use) == std::nullopt);
  CHECK(found(load + "st.relaxed.gpu.global.u32 [%mine], %r2;" + use + "setp.eq.u32 %p1, %r3, 0; @%p1 exit;") ==
        problem::undefined);
  CHECK(found(load + "st.relaxed.gpu.global.u32 [%mine], %r2;" + use + "st.global.u32 [%mine], %r3;") ==
        problem::undefined);
}

TEST_CASE("an exchange may be the first to write") {
  std::string const exchange =
      "mov.b64 %d1, memory; mad.wide.u32 %d2, %t, 4, %d1; atom.shared.exch.b32 %r1, [%d2], %t;\n";
  CHECK(found(exchange + "ld.shared.u32 %r2, [%d2]; setp.eq.u32 %p1, %r2, 0; @%p1 exit;") == std::nullopt);
  CHECK(found(exchange + "setp.eq.u32 %p1, %r1, 0; @%p1 exit;") == problem::undefined);
  CHECK(found("mov.b64 %d1, memory; atom.shared.add.u32 %r1, [%d1], %t;") == problem::undefined);
}

TEST_CASE("a report counts threads, and names the place of a finding") {
  auto const r =
      run(kernel("setp.lt.u32 %p1, %t, 8; @%p1 bra END; add.u32 %r1, %t, 1; st.global.u32 [%mine], %r1;\nEND:"));
  CHECK(r.report.instructions.at("add.u32") == 24);
  CHECK(r.report.instructions.at("st.global") == 24);
  auto const bad = run(kernel("st.global.u32 [%mine+4096], %t;"));
  REQUIRE(bad.found(problem::out_of_bounds));
  CHECK(bad.report.problem->kernel == "k");
  CHECK_THAT(bad.report.problem->text, ContainsSubstring("st.global.u32 [%mine+4096]"));
}
