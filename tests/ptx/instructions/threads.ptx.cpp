// SPDX-License-Identifier: Apache-2.0
// Who a thread is, and barriers that count and vote over the block.
#include "instructions/program.hpp"

using namespace ptx::test;

TEST_CASE("barriers that count and vote over the block", "[ptx]") {
  table in = random(96, 1, 1);
  auto const count = [&] {
    word n = 0;
    for (word w : in.words) { n += w; }
    return n;
  };
  check(
      {R"(setp.ne.u32 %p, %a, 0;
            bar.red.popc.u32 %d, 0, %p;
            bar.red.and.pred %q, 0, %p;
            bar.red.or.pred %r, 0, %p;
            selp.u32 %e, 1, 0, %q;
            selp.u32 %f, 1, 0, %r;
            barrier.sync 1, 96;)",
       "b32 b32 b32 = b32"},
      in, [&](word const*, word* out) { out[0] = count(), out[1] = count() == 96, out[2] = count() != 0; }, 96);
}

TEST_CASE("who a thread is", "[ptx]") {
  table in{1};
  in.words = range(160);
  auto const lane_of = [](word a) { return a % 80 % 32; };
  struct {
    char const* name;
    std::function<word(word)> f;
  } const registers[] = {{"%tid.x", [](word a) { return a % 80; }},
                         {"%tid.y", [](word) { return 0; }},
                         {"%ntid.x", [](word) { return 80; }},
                         {"%ntid.z", [](word) { return 1; }},
                         {"%ctaid.x", [](word a) { return a / 80; }},
                         {"%nctaid.x", [](word) { return 2; }},
                         {"%laneid", lane_of},
                         {"%warpid", [](word a) { return a % 80 / 32; }},
                         {"WARP_SZ", [](word) { return 32; }},
                         {"%lanemask_eq", [&](word a) { return word{1} << lane_of(a); }},
                         {"%lanemask_lt", [&](word a) { return (word{1} << lane_of(a)) - 1; }},
                         {"%lanemask_le", [&](word a) { return (word{2} << lane_of(a)) - 1; }},
                         {"%lanemask_gt", [&](word a) { return ~((word{2} << lane_of(a)) - 1); }},
                         {"%lanemask_ge", [&](word a) { return ~((word{1} << lane_of(a)) - 1); }}};
  for (auto const& r : registers) {
    check(
        program{std::string("mov.u32 %d, ") + r.name + ";", "b32 = b32"}, in,
        [&](word const* i, word* out) { out[0] = r.f(i[0]); }, 80);
  }
}
