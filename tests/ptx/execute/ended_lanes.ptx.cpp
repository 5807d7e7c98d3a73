// SPDX-License-Identifier: Apache-2.0
// Lanes that end before others come to where they are expected.
#include "one_kernel.hpp"

#include "catch.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace one_kernel;

namespace {

/// Lanes from 24 on end; those who stay do `what`, which names them by MASK.
std::string after_some_ended(std::string what, std::string const& mask) {
  if (auto const at = what.find("MASK"); at != std::string::npos) { what.replace(at, 4, mask); }
  return "setp.gt.u32 %p1, %t, 23; @%p1 exit; " + what;
}

}  // namespace

TEST_CASE("a warp operation that a named lane ends before is found") {
  for (char const* what :
       {"shfl.sync.idx.b32 %r3, %t, 0, 31, MASK;", "redux.sync.add.u32 %r3, %t, MASK;", "bar.warp.sync MASK;",
        "setp.eq.u32 %p2, %t, 3; vote.sync.ballot.b32 %r3, %p2, MASK;", "match.any.sync.b32 %r3, %t, MASK;"}) {
    CAPTURE(what);
    CHECK(found(after_some_ended(what, "0x00ffffff")) == std::nullopt);
    CHECK(found(after_some_ended(what, "0xffffffff")) == problem::barrier);
    CHECK(found(after_some_ended(what, "0xffffffff"), 24) == std::nullopt);  // lanes that never were are not waited for
  }
  auto const r = run(kernel(after_some_ended("bar.warp.sync 0xffffffff;", "")));
  CHECK_THAT(r.message(), ContainsSubstring("0xff000000"));
}

TEST_CASE("it makes no difference whether a named lane ends before or after the others come") {
  std::string const late =
      "setp.lt.u32 %p1, %t, 8; @%p1 bra MEET; mov.u32 %r1, 0; bra END;\n"
      "MEET: shfl.sync.idx.b32 %r3, %t, 0, 31, MASK;\nEND:";
  auto const with = [&](std::string const& mask) {
    std::string text = late;
    return found(text.replace(text.find("MASK"), 4, mask));
  };
  CHECK(with("0xff") == std::nullopt);
  CHECK(with("0xffffffff") == problem::barrier);
}

TEST_CASE("a barrier of all threads does not wait for ended ones, a counted one does") {
  std::string const ends = "setp.ge.u32 %p1, %t, 40; @%p1 exit; ";
  CHECK(found(ends + "bar.sync 0;", 96) == std::nullopt);
  CHECK(found("bar.sync 0, 96;", 96) == std::nullopt);
  CHECK(found(ends + "bar.sync 0, 96;", 96) == problem::barrier);
  CHECK(found("bar.sync 0, 90;", 96) == problem::barrier);
}

TEST_CASE("a barrier says nothing of what ended threads did") {
  std::string const write = "mov.b64 %d1, memory; mad.wide.u32 %d2, %t, 4, %d1; st.shared.u32 [%d2], %t;\n";
  std::string const read = "\nld.shared.u32 %r2, [%d1+160]; st.global.u32 [%mine], %r2;";  // of thread 40
  std::string const some_end = "setp.ge.u32 %p1, %t, 33; @%p1 exit; ";
  CHECK(found(write + "bar.sync 0;" + some_end + "bar.sync 0;" + read, 96) == std::nullopt);
  CHECK(found(write + some_end + "bar.sync 0;" + read, 96) == problem::race);
  CHECK(found(write + some_end + "bar.sync 0; bar.sync 0;" + read, 96) == problem::race);
  // What thread 32 heard of it before, it tells the others at the barrier.
  CHECK(found(write + "bar.warp.sync -1;" + some_end + "bar.sync 0;" + read, 96) == std::nullopt);
  std::string const whole_warp_ends = "setp.ge.u32 %p1, %t, 32; @%p1 exit; ";
  CHECK(found(write + "bar.warp.sync -1;" + whole_warp_ends + "bar.sync 0;" + read, 96) == problem::race);
}

TEST_CASE("what a block with ended threads releases says nothing of them") {
  auto const with = [](std::string const& before_end) {
    // Thread 40 of block 0 writes and ends; thread 0 releases; block 1 acquires and reads.
    return found(
        "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p3, %r1, 0; @%p3 bra WAIT;\n"
        "st.global.u32 [%mine+64], %t; " +
            before_end +
            "setp.ge.u32 %p1, %t, 40; @%p1 exit; bar.sync 0;\n"
            "setp.ne.u32 %p2, %t, 0; @%p2 exit; st.release.gpu.global.u32 [%out], 1; exit;\n"
            "WAIT: ld.acquire.gpu.global.u32 %r2, [%out]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;\n"
            "setp.ne.u32 %p2, %t, 0; @%p2 exit; ld.global.u32 %r3, [%out+224];",
        64, 2);
  };
  CHECK(with("bar.sync 0;") == std::nullopt);
  CHECK(with("") == problem::race);
}
