// SPDX-License-Identifier: Apache-2.0
//
// cp.async and its groups.
#include "execute/async.hpp"

#include "execute/access.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

/// Makes one lane's copies, in order.
void carry_out(warp& w, int lane, async_copies::group const& copies) {
  for (async_copy const& c : copies) { w.home().memory().end_copy(w.index(), static_cast<unsigned>(lane), c); }
}

/// [to], [from], bytes{, source bytes}. A negated or true predicate in the last place ignores the source.
void copy_async(warp& w, instruction const& i, lane_set m) {
  w.require(i, 0, m, bytes_mask(i.operands[0].bytes));
  w.require(i, 1, m, bytes_mask(i.operands[1].bytes));
  if (i.count > 3) { w.require(i, 3, m, i.with.mode != 0 ? 1 : 0x0F); }
  each_lane(m, [&](int l) {
    async_copy c;
    c.to = w.values(i.operands[0])[l] + static_cast<std::uint64_t>(i.operands[0].offset);
    c.from = w.values(i.operands[1])[l] + static_cast<std::uint64_t>(i.operands[1].offset);
    c.instruction = w.number_of(i);
    auto const bytes = w.values(i.operands[2])[l];
    std::uint64_t source = bytes;
    if (i.count > 3) {
      std::uint64_t const last = w.values(i.operands[3])[l];
      bool const ignored = ((last ^ static_cast<std::uint64_t>(i.operands[3].offset)) & 1) != 0;
      source = i.with.mode != 0 ? (ignored ? 0 : bytes) : last;
    }
    if (source > bytes) { w.fail(i, l, problem::trap, "cp.async reads more bytes than it writes"); }
    c.bytes = static_cast<std::uint8_t>(bytes);
    c.source_bytes = static_cast<std::uint8_t>(source);
    w.home().memory().begin_copy(w.index(), static_cast<unsigned>(l), c);
    w.async().of[static_cast<std::size_t>(l)].open.push_back(c);
  });
}

void commit(warp& w, instruction const&, lane_set m) {
  each_lane(m, [&](int l) {
    auto& lane = w.async().of[static_cast<std::size_t>(l)];
    lane.committed.push_back(std::move(lane.open));
    lane.open.clear();
  });
}

/// All but the latest groups; wait_all takes the open one too.
void wait(warp& w, instruction const& i, lane_set m) {
  bool const all = i.count == 0;
  each_lane(m, [&](int l) {
    auto& lane = w.async().of[static_cast<std::size_t>(l)];
    std::size_t const keep = all ? 0 : w.values(i.operands[0])[l];
    while (lane.committed.size() > keep) {
      carry_out(w, l, lane.committed.front());
      lane.committed.erase(lane.committed.begin());
    }
    if (all) {
      carry_out(w, l, lane.open);
      lane.open.clear();
    }
  });
}

void build_cp(form& f) {
  if (!f.take("async")) { f.fail("expected cp.async"); }
  if (f.take("commit_group")) {
    f.out.run = commit;
    return;
  }
  bool const all = f.take("wait_all");
  if (all || f.take("wait_group")) {
    f.out.run = wait;
    if (!all) { f.source(type::u32); }
    return;
  }
  bool const cached = f.take("ca");
  if (!cached && !f.take("cg")) { f.fail("expected .ca or .cg"); }
  if (!f.take("shared") && !f.take("shared::cta")) { f.fail("expected .shared"); }
  if (!f.take("global")) { f.fail("expected .global"); }
  bool const policy = f.take_cache_advice();
  f.address();
  f.address();
  std::uint64_t const bytes = f.peek().bits;
  bool const right = bytes == 16 || (cached && (bytes == 4 || bytes == 8));
  if (!right) { f.fail("wrong size"); }
  f.source(type::u32);
  f.out.run = copy_async;
  if (f.operands_left() > (policy ? 1u : 0u)) {
    bool const predicate = f.next_is_predicate();
    f.out.with.mode = predicate ? 1 : 0;
    predicate ? f.predicate_source() : f.source(type::u32);
  }
  if (policy) { f.skip(); }
}

}  // namespace

void add_async(opcode_table& t) { t.add("cp", build_cp); }

}  // namespace ptx
