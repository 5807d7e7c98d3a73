// SPDX-License-Identifier: Apache-2.0
// mbarrier: its phases, and what they order.
#include "one_kernel.hpp"

#include "catch.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace one_kernel;

namespace {

/// Thread 0 makes an mbarrier at [%d1] for `count` arrivals; each thread has a word at [%d2] and its neighbour's at [%d3].
std::string with_barrier(int count, std::string const& rest, std::string const& after_init = "bar.sync 0;") {
  return "mov.b64 %d1, memory; mad.wide.u32 %d2, %t, 4, %d1; add.s64 %d2, %d2, 64; xor.b32 %r1, %t, 33;\n"
         "mad.wide.u32 %d3, %r1, 4, %d1; add.s64 %d3, %d3, 64; setp.ne.u32 %p1, %t, 0; @%p1 bra MADE;\n"
         "mbarrier.init.shared.b64 [%d1], " +
         std::to_string(count) + ";\nMADE: " + after_init + "\n" + rest;
}
std::string const write = "st.shared.u32 [%d2], %t;\n",
                  read = "ld.shared.u32 %r2, [%d3]; st.global.u32 [%mine], %r2;\n";
std::string const arrive = "mbarrier.arrive.shared.b64 %d4, [%d1];\n";
std::string wait(std::string const& label) {
  return label + ": mbarrier.test_wait.shared.b64 %p2, [%d1], %d4; @!%p2 bra " + label + ";\n";
}
std::string wait_parity(std::string const& label, int parity) {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p2, [%d1], " + std::to_string(parity) + "; @!%p2 bra " +
         label + ";\n";
}

}  // namespace

TEST_CASE("an mbarrier orders what was before the arrivals and what is after the wait") {
  auto const r = run(kernel(with_barrier(64, write + arrive + wait("W") + read)), 64);
  CAPTURE(r.message());
  REQUIRE_FALSE(r.report.problem);
  CHECK(r.words[5] == (5 ^ 33));
  CHECK(found(with_barrier(64, write + arrive + wait_parity("W", 0) + read), 64) == std::nullopt);
  CHECK(found(with_barrier(64, write + arrive + read), 64) == problem::race);
  CHECK(found(with_barrier(64, arrive + write + wait("W") + read), 64) == problem::race);
  // A test that fails says nothing, nor does a relaxed one.
  CHECK(found(with_barrier(65, write + arrive + "mbarrier.test_wait.shared.b64 %p2, [%d1], %d4;" + read), 64) ==
        problem::race);
  CHECK(found(with_barrier(64, write + arrive +
                                   "W: mbarrier.test_wait.relaxed.cta.shared.b64 %p2, [%d1], %d4;\n"
                                   "@!%p2 bra W;" +
                                   read),
              64) == problem::race);
}

TEST_CASE("an mbarrier's phases follow each other") {
  std::string const again = "bar.sync 0; add.u32 %r3, %t, 100; st.shared.u32 [%d2], %r3;\n";
  CHECK(found(with_barrier(64, write + arrive + wait("W") + read + again + arrive + wait("V") + read), 64) ==
        std::nullopt);
  CHECK(found(with_barrier(64,
                           write + arrive + wait("W") + read + arrive + wait("V") + write + arrive + wait("U") + read),
              64) == std::nullopt);
  // The second phase's wait is for the second phase.
  CHECK(
      found(with_barrier(64, write + arrive + wait_parity("W", 0) + read + again + arrive + wait_parity("V", 0) + read),
            64) == problem::race);
  CHECK(
      found(with_barrier(64, write + arrive + wait_parity("W", 0) + read + again + arrive + wait_parity("V", 1) + read),
            64) == std::nullopt);
}

TEST_CASE("an mbarrier counts arrivals") {
  std::string const pending = "mbarrier.pending_count.b64 %r2, %d4; st.global.u32 [%mine], %r2;";
  auto const r = run(kernel(with_barrier(9, "mbarrier.arrive.noComplete.shared.b64 %d4, [%d1], 3;\n" + pending)), 2);
  CAPTURE(r.message());
  REQUIRE_FALSE(r.report.problem);
  CHECK(r.words[0] == 9);
  CHECK(r.words[1] == 6);
  CHECK(found(with_barrier(6, "mbarrier.arrive.noComplete.shared.b64 %d4, [%d1], 3;"), 2) == problem::barrier);
  CHECK(found(with_barrier(6, "mbarrier.arrive.shared.b64 %d4, [%d1], 7;"), 2) == problem::barrier);
  CHECK(found(with_barrier(0, ""), 2) == problem::barrier);
  // Who drops out is not waited for in the next phase.
  std::string const drop = "setp.eq.u32 %p3, %t, 1; @%p3 bra DROP;\n" + arrive + wait("W") + arrive + wait("V") +
                           "bra END;\nDROP: mbarrier.arrive_drop.shared.b64 %d4, [%d1];\nEND:";
  CHECK(found(with_barrier(2, drop), 2) == std::nullopt);
}

TEST_CASE("an mbarrier is made before it is used, and not used after its end") {
  CHECK(found(with_barrier(64, arrive, ""), 64) == problem::race);
  CHECK(found("mov.b64 %d1, memory;" + arrive, 1) == problem::undefined);
  CHECK(found(with_barrier(1, "mbarrier.inval.shared.b64 [%d1];" + arrive), 1) == problem::undefined);
  CHECK(found(with_barrier(1, "add.s64 %d1, %d1, 4;" + arrive), 1) == problem::misaligned);
  ptx::machine gpu(ptx::target::parse("sm_90"));
  gpu.options().step_limit = 200000;
  auto const module = gpu.load(kernel(with_barrier(65, arrive + wait("W"))));
  ptx::launch_request request{"k", {1, 1, 1}, {64, 1, 1}};
  request.parameters.resize(8);
  auto const report = gpu.launch(module, request);
  REQUIRE(report.problem);
  CHECK(report.problem->kind == problem::timeout);
}
