// SPDX-License-Identifier: Apache-2.0
//
// Branches, calls, ends, barriers and fences.
#include "execute/block.hpp"
#include "execute/instructions.hpp"
#include "execute/warp.hpp"

namespace ptx {
namespace {

void build_branch(form& f) {
  f.take("uni");
  f.out.how = flow::branch;
  f.out.target = f.label(f.skip().name);
}

/// brx.idx index, list;
void build_indexed_branch(form& f) {
  if (!f.take("idx")) { f.fail("expected brx.idx"); }
  f.take("uni");
  f.source(type::u32);
  f.out.how = flow::indexed;
  f.out.target = f.target_list(f.skip().name);
}

void build_call(form& f) {
  f.take("uni");
  f.out.how = flow::call;
  f.out.target = f.call_site(f);
}

void build_return(form& f) {
  f.take("uni");
  f.out.how = flow::leave;
}

void build_exit(form& f) { f.out.how = flow::exit; }

void trap(warp& w, instruction const& i, lane_set m) {
  w.fail(i, __builtin_ctz(m), problem::trap, "the program stopped itself");
}

void build_trap(form& f) { f.out.run = trap; }

void nothing(warp&, instruction const&, lane_set) {}

void build_nothing(form& f) {
  f.out.run = nothing;
  if (f.base() == "griddepcontrol") { f.take("wait") || f.take("launch_dependents"); }
}

void build_nanosleep(form& f) {
  f.take_type();
  f.source(type::u32);
  f.out.run = nothing;
  f.out.step_cost = 2000;  // a thread that sleeps waits for others
}

void arrive(warp& w, instruction const& i, lane_set m, bool waits) {
  int const at = i.count > 2 ? 1 : 0;
  operand const& number = i.operands[at];
  w.require(i, at, m, 0x0F);
  w.require(i, at + 1, m, 0x0F);
  std::uint64_t const* const expected = w.values(i.operands[at + 1]);
  for (lane_set rest = m; rest != 0;) {
    int const first = __builtin_ctz(rest);
    auto const named = w.values(number)[first];
    auto const threads = expected[first];
    lane_set same = 0;
    each_lane(rest, [&](int l) { same |= w.values(number)[l] == named && expected[l] == threads ? 1u << l : 0; });
    rest &= ~same;
    waits ? w.wait_at_barrier(same) : w.step(same);
    w.home().arrive(w, same, static_cast<std::uint32_t>(named), static_cast<std::uint32_t>(threads), waits, i);
  }
}

void barrier_sync(warp& w, instruction const& i, lane_set m) { arrive(w, i, m, true); }
void barrier_arrive(warp& w, instruction const& i, lane_set m) { arrive(w, i, m, false); }

/// bar{.cta}.sync a{, b};  bar.arrive a, b;  bar.red.op d, a{, b}, p;  barrier... the same, aligned or not.
void build_barrier(form& f) {
  if (f.take("warp")) {
    if (!f.take("sync")) { f.fail("expected bar.warp.sync"); }
    f.out.how = flow::meet;
    f.source(type::b32);
    return;
  }
  f.take("cta");
  bool const aligned = f.take("aligned") || f.base() == "bar";
  f.out.with.mode = aligned ? 1 : 0;
  f.out.how = flow::barrier;
  bool const reduce = f.take("red");
  if (reduce) {
    static constexpr named<std::uint8_t> operations[] = {{"popc", 1}, {"and", 2}, {"or", 3}};
    if (!f.take_one(operations, f.out.with.combine)) { f.fail("expected .popc, .and or .or"); }
    type const t = f.take_type();
    f.destination(t);
  }
  bool const arrives = f.take("arrive");
  if (!reduce && !arrives && !f.take("sync")) { f.fail("expected .sync, .arrive or .red"); }
  f.source(type::b32);
  bool const counted = f.operands_left() > (reduce ? 1u : 0u);
  counted ? f.source(type::b32) : f.number(0);
  if (reduce) { f.predicate_source(); }
  f.out.run = arrives ? barrier_arrive : barrier_sync;
}

void fence(warp& w, instruction const& i, lane_set m) { w.home().memory().fence(w.index(), m, i.with.reach); }

/// membar.cta|gl|sys;  fence{.sc|.acq_rel|.acquire|.release}.cta|cluster|gpu|sys;  fence.proxy...
void build_fence(form& f) {
  if (f.take("proxy")) {
    f.take("async") || f.take("alias") || f.take("async.global") || f.take("tensormap");
    f.take("shared::cta") || f.take("global");
    f.out.run = nothing;
    return;
  }
  f.take("sc") || f.take("acq_rel") || f.take("acquire") || f.take("release") || f.take("mbarrier_init");
  static constexpr named<scope> scopes_of[] = {{"cta", scope::block},
                                               {"cluster", scope::cluster},
                                               {"gl", scope::device},
                                               {"gpu", scope::device},
                                               {"sys", scope::system}};
  if (!f.take_one(scopes_of, f.out.with.reach)) { f.fail("expected a scope"); }
  f.out.run = fence;
}

}  // namespace

void add_flow(opcode_table& t) {
  t.add("bra", build_branch);
  t.add("brx", build_indexed_branch);
  t.add("call", build_call);
  t.add("ret", build_return);
  t.add("exit", build_exit);
  t.add("trap", build_trap);
  t.add("nanosleep", build_nanosleep);
  t.add("griddepcontrol", build_nothing);
  t.add("bar", build_barrier);
  t.add("barrier", build_barrier);
  t.add("membar", build_fence);
  t.add("fence", build_fence);
}

}  // namespace ptx
