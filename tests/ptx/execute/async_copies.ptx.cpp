// SPDX-License-Identifier: Apache-2.0
// cp.async: what may be touched while copies are under way, and what of them must be right.
#include "one_kernel.hpp"

#include "catch.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace one_kernel;

namespace {

/// Each thread copies its 16 bytes of global memory to %d3, then does the rest. 16 threads, 256 bytes.
std::optional<problem> copies(std::string const& rest, std::string const& copy =
                                                           "cp.async.cg.shared.global [%d3], "
                                                           "[%d2], 16;") {
  return found("mul.wide.u32 %d2, %t, 16; mov.b64 %d3, memory; add.s64 %d3, %d3, %d2; add.s64 %d2, %d2, %out;\n" +
                   copy + "\n" + rest,
               16);
}
std::string const commit = "cp.async.commit_group;", all = "cp.async.wait_all;", barrier = "bar.warp.sync 0xffff;";
std::string const read = "ld.shared.u32 %r1, [%d3];", write = "st.shared.u32 [%d3], 1;";

}  // namespace

TEST_CASE("a copy's destination is not touched before the wait") {
  for (auto const& touch : {read, write}) {
    CHECK(copies(all + touch) == std::nullopt);
    CHECK(copies(commit + "cp.async.wait_group 0;" + touch) == std::nullopt);
    CHECK(copies(touch) == problem::race);
    CHECK(copies(commit + touch + all) == problem::race);
    CHECK(copies("cp.async.wait_group 0;" + touch) == problem::race);  // never committed
  }
  auto const r =
      run(kernel("mov.b64 %d3, memory; cp.async.ca.shared.global [%d3], [%out], 4; ld.shared.u32 %r1, [%d3];"), 1);
  CHECK_THAT(r.message(), ContainsSubstring("under way"));
  CHECK_THAT(r.report.problem->other_where, ContainsSubstring("cp.async.ca"));
}

TEST_CASE("waiting for all but n groups leaves n under way") {
  std::string const next = "add.s64 %d4, %d3, 256; cp.async.cg.shared.global [%d4], [%d2], 16;" + commit;
  CHECK(copies(commit + next + "cp.async.wait_group 1;" + read) == std::nullopt);
  CHECK(copies(commit + next + "cp.async.wait_group 2;" + read) == problem::race);
  CHECK(copies(commit + next + "cp.async.wait_group 1; ld.shared.u32 %r1, [%d4];") == problem::race);
  CHECK(copies(commit + next + "cp.async.wait_group 0; ld.shared.u32 %r1, [%d4];") == std::nullopt);
}

TEST_CASE("a copy's source is not written before the wait") {
  std::string const overwrite = "st.global.u32 [%d2+4], 1;";
  CHECK(copies(all + overwrite) == std::nullopt);
  CHECK(copies(overwrite + all) == problem::race);
  CHECK(copies("ld.global.u32 %r1, [%d2+4];" + all) == std::nullopt);
  // The bytes behind the source size are not read. All threads may copy the same bytes.
  std::string const part = "cp.async.ca.shared.global [%d3], [%d2], 4, 2;";
  CHECK(copies("st.global.u8 [%d2+1], 1;", part) == problem::race);
  CHECK(copies("st.global.u8 [%d2+2], 1;", part) == std::nullopt);
  std::string const first_waits = "setp.ne.u32 %p1, %t, 0; @%p1 bra SKIP;" + all + "SKIP: " + barrier;
  std::string const same = "cp.async.cg.shared.global [%d3], [%out], 16;";
  CHECK(copies(all + barrier + "setp.ne.u32 %p1, %t, 0; @!%p1 st.global.u32 [%out], 1;", same) == std::nullopt);
  CHECK(copies(first_waits + "setp.ne.u32 %p1, %t, 0; @!%p1 st.global.u32 [%out], 1;", same) == problem::race);
}

TEST_CASE("others see a copy after its thread's wait and a barrier after that") {
  std::string const neighbour =
      "xor.b32 %r2, %t, 1; mul.wide.u32 %d4, %r2, 16; mov.b64 %d5, memory;\n"
      "add.s64 %d4, %d4, %d5; ld.shared.u32 %r1, [%d4];";
  CHECK(copies(all + barrier + neighbour) == std::nullopt);
  CHECK(copies(all + neighbour) == problem::race);
  CHECK(copies(barrier + all + neighbour) == problem::race);
  CHECK(copies(barrier + neighbour) == problem::race);
  // Nor is it begun while others may still read what it overwrites.
  std::string const again = "cp.async.cg.shared.global [%d3], [%d2], 16;" + all;
  CHECK(copies(all + barrier + neighbour + barrier + again) == std::nullopt);
  CHECK(copies(all + barrier + neighbour + again) == problem::race);
}

TEST_CASE("a copy is checked although nobody waits for it") {
  CHECK(copies("") == std::nullopt);
  CHECK(copies("", "cp.async.cg.shared.global [%d3], [%d2+4096], 16;") == problem::out_of_bounds);
  CHECK(copies("", "cp.async.cg.shared.global [%d3+4096], [%d2], 16;") == problem::out_of_bounds);
  CHECK(copies("", "cp.async.cg.shared.global [%d3], [%d2+8], 16;") == problem::misaligned);
  CHECK(copies("", "cp.async.cg.shared.global [%d3+8], [%d2], 16;") == problem::misaligned);
  CHECK(copies("", "cp.async.cg.shared.global [%d3], [%d2+8], 16, 8;") == problem::misaligned);
  CHECK(copies("", "cp.async.cg.shared.global [%d3], [%d2+4096], 16, 0;") == std::nullopt);  // nothing is read
  CHECK(copies("", "cp.async.cg.shared.global [%d3], [%d6], 16;") == problem::undefined);
}

TEST_CASE("copied bytes that nobody wrote stay undefined") {
  std::string const unwritten = "ld.shared.u32 %r1, [%d3+2048]; st.global.u32 [%d2+4], %r1;";
  std::string const use = all + "ld.shared.u32 %r1, [%d3+4]; setp.eq.u32 %p1, %r1, 0; @%p1 exit;";
  CHECK(copies(use) == std::nullopt);
  CHECK(copies(use, unwritten + "cp.async.cg.shared.global [%d3], [%d2], 16;") == problem::undefined);
  CHECK(copies(use, unwritten + "cp.async.cg.shared.global [%d3], [%d2], 16, 4;") == std::nullopt);  // zeros behind
}
