// SPDX-License-Identifier: Apache-2.0
#include "clocks.hpp"

#include <algorithm>

namespace ptx {
namespace {

template <class Visit>
void each(std::uint32_t mask, Visit&& visit) {
  for (; mask != 0; mask &= mask - 1) { visit(static_cast<unsigned>(__builtin_ctz(mask))); }
}

}  // namespace

knowledge::knowledge(std::vector<entry> entries) : entries_(std::move(entries)) {
  // Of several entries for one key the latest counts.
  std::sort(entries_.begin(), entries_.end(),
            [](entry a, entry b) { return a.key != b.key ? a.key < b.key : a.tick > b.tick; });
  auto const same = [](entry a, entry b) { return a.key == b.key; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
}

std::uint32_t knowledge::of(level l, std::uint64_t number) const {
  std::uint64_t const k = key(l, number);
  auto const at =
      std::lower_bound(entries_.begin(), entries_.end(), k, [](entry e, std::uint64_t x) { return e.key < x; });
  return at != entries_.end() && at->key == k ? at->tick : 0;
}

known join(known const& a, known const& b) {
  if (!b || a == b) { return a; }
  if (!a) { return b; }
  std::vector<knowledge::entry> all;
  all.reserve(a->entries().size() + b->entries().size());
  auto x = a->entries().begin(), y = b->entries().begin();
  bool a_is_all = true, b_is_all = true;  // so that equal knowledge stays one object
  while (x != a->entries().end() || y != b->entries().end()) {
    bool const from_a = y == b->entries().end() || (x != a->entries().end() && x->key <= y->key);
    bool const from_b = x == a->entries().end() || (y != b->entries().end() && y->key <= x->key);
    std::uint32_t const tick_a = from_a ? x->tick : 0, tick_b = from_b ? y->tick : 0;
    all.push_back({from_a ? x->key : y->key, std::max(tick_a, tick_b)});
    a_is_all = a_is_all && tick_a >= tick_b;
    b_is_all = b_is_all && tick_b >= tick_a;
    x += from_a;
    y += from_b;
  }
  return a_is_all ? a : b_is_all ? b : std::make_shared<knowledge const>(std::move(all));
}

std::uint32_t launch_clocks::take_list() {
  if (free_lists.empty()) {
    lists.emplace_back();
    return static_cast<std::uint32_t>(lists.size() - 1);
  }
  std::uint32_t const index = free_lists.back();
  free_lists.pop_back();
  return index;
}

void launch_clocks::give_list(std::uint32_t index) {
  entries -= lists[index].size();
  lists[index].clear();
  free_lists.push_back(index);
}

thread_clock& warp_clock::thread(unsigned lane) {
  if (!threads) { threads = std::make_unique<std::array<thread_clock, 32>>(); }
  uses_threads = true;
  return (*threads)[lane];
}

block_clocks::block_clocks(launch_clocks& launch, std::uint32_t block)
    : launch_(&launch), block_(block), known_(launch.start - 1), warps_(launch.warps_per_block) {
  for (std::uint32_t w = 0; w < launch.warps_per_block; ++w) {
    warps_[w].number = block * launch.warps_per_block + w;
    warps_[w].known = known_;
  }
  warps_.back().lanes = launch.last_warp_lanes;
}

void block_clocks::warp_sync(std::uint32_t warp, std::uint32_t lanes) {
  if ((lanes & (lanes - 1)) == 0) { return; }
  auto& w = warps_[warp];
  std::uint32_t const tick = take_tick();
  if (lanes == w.lanes) {
    w.known = tick;
    w.uses_rows = false;
  } else {
    if (!w.rows) { w.rows = std::make_unique<std::array<std::array<std::uint32_t, 32>, 32>>(); }
    w.uses_rows = true;
    std::array<std::uint32_t, 32> all{};
    each(lanes, [&](unsigned lane) {
      for (unsigned i = 0; i < 32; ++i) { all[i] = std::max(all[i], (*w.rows)[lane][i]); }
    });
    each(lanes, [&](unsigned lane) { all[lane] = tick; });
    each(lanes, [&](unsigned lane) { (*w.rows)[lane] = all; });
  }
  if (w.uses_threads) {
    known all, over;
    each(lanes, [&](unsigned lane) {
      all = join(all, (*w.threads)[lane].acquired);
      over = join(over, (*w.threads)[lane].reads_over);
    });
    each(lanes, [&](unsigned lane) { (*w.threads)[lane].acquired = all, (*w.threads)[lane].reads_over = over; });
  }
}

void block_clocks::barrier() {
  std::uint32_t const before = known_;
  known_ = take_tick();
  known all, over;
  std::uint32_t ended = 0;
  for (auto const& w : warps_) {
    ended |= w.ended;
    if (!w.uses_threads) { continue; }
    each(w.lanes & ~w.ended, [&](unsigned lane) {
      auto& t = (*w.threads)[lane];
      all = join(join(all, t.acquired), t.at_barrier);
      over = join(over, t.reads_over);
      t.at_barrier = nullptr;
    });
  }
  if (ended != 0) { leave_behind(all, before); }
  for (auto& w : warps_) {
    if (w.ended == 0) { w.known = known_; }
    w.uses_rows = false;
    if (all || over) {
      each(w.lanes & ~w.ended, [&](unsigned lane) { w.thread(lane).acquired = all, w.thread(lane).reads_over = over; });
    }
  }
}

/// What those who come to a barrier have heard of the threads that ended since the barrier at `before`, or earlier.
void block_clocks::leave_behind(known const& heard, std::uint32_t before) {
  if (!some_ended_) { known_of_all_ = before; }
  some_ended_ = true;
  for (auto& w : warps_) {
    if (w.ended == 0) { continue; }
    if (!w.covered) { w.covered = std::make_unique<std::array<std::uint32_t, 32>>(); }
    each(w.ended, [&](unsigned lane) {
      bool const fresh = (w.left_behind >> lane & 1) == 0;
      std::uint32_t tick = fresh ? before : (*w.covered)[lane];
      if (w.ended != w.lanes) { tick = std::max(tick, w.known); }
      if (w.uses_rows) {
        each(w.lanes & ~w.ended, [&](unsigned other) { tick = std::max(tick, (*w.rows)[other][lane]); });
      }
      if (heard) {
        tick = std::max({tick, heard->of(knowledge::thread, std::uint64_t{w.number} * 32 + lane),
                         heard->of(knowledge::warp, w.number), heard->of(knowledge::block, block_)});
      }
      (*w.covered)[lane] = tick;
    });
    w.left_behind = w.ended;
  }
}

std::uint32_t block_clocks::missed_by_barrier(touch const& t) const {
  if ((t.warp & touched::whole_block) != 0) { return 0; }
  auto const& w = warps_[(t.warp & touched::number) % launch_->warps_per_block];
  std::uint32_t missed = 0;
  each(t.lanes & w.left_behind, [&](unsigned lane) { missed |= (*w.covered)[lane] < t.tick ? 1u << lane : 0u; });
  return missed;
}

void block_clocks::barrier(std::vector<std::uint32_t> const& arrived, std::vector<std::uint32_t> const& waited) {
  std::uint32_t const tick = take_tick();
  known all, over;
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    each(arrived[i], [&](unsigned lane) {
      all = join(all, all_known(warps_[i], lane, tick));
      if (!warps_[i].uses_threads) { return; }
      auto& t = (*warps_[i].threads)[lane];
      all = join(all, t.at_barrier);
      over = join(over, t.reads_over);
    });
  }
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    each(waited[i], [&](unsigned lane) {
      auto& t = warps_[i].thread(lane);
      t.acquired = join(t.acquired, all);
      t.reads_over = join(t.reads_over, over);
    });
  }
}

known block_clocks::all_known(warp_clock const& w, unsigned lane, std::uint32_t tick) const {
  std::vector<knowledge::entry> own{{knowledge::key(knowledge::thread, std::uint64_t{w.number} * 32 + lane), tick},
                                    {knowledge::key(knowledge::warp, w.number), w.known},
                                    {knowledge::key(knowledge::block, block_), some_ended_ ? known_of_all_ : known_}};
  for (auto const& other : warps_) {  // what the last barrier told, where that is not the whole block
    if (!some_ended_) { break; }
    if (other.ended == 0) { own.push_back({knowledge::key(knowledge::warp, other.number), known_}); }
    each(other.ended != 0 ? other.lanes : 0, [&](unsigned i) {
      bool const behind = (other.left_behind >> i & 1) != 0;
      own.push_back({knowledge::key(knowledge::thread, std::uint64_t{other.number} * 32 + i),
                     behind ? (*other.covered)[i] : known_});
    });
  }
  if (w.uses_rows) {
    for (unsigned i = 0; i < 32; ++i) {
      if (i != lane && (*w.rows)[lane][i] > w.known) {
        own.push_back({knowledge::key(knowledge::thread, std::uint64_t{w.number} * 32 + i), (*w.rows)[lane][i]});
      }
    }
  }
  return join(std::make_shared<knowledge const>(std::move(own)),
              w.uses_threads ? (*w.threads)[lane].acquired : nullptr);
}

void block_clocks::fence(std::uint32_t warp, std::uint32_t lanes, scope reach) {
  std::uint32_t const tick = take_tick();
  auto& w = warps_[warp];
  each(lanes, [&](unsigned lane) {
    auto& t = w.thread(lane);
    t.acquired = join(t.acquired, t.pending_in_block);
    t.pending_in_block = nullptr;
    if (reach != scope::block) {
      t.acquired = join(t.acquired, t.pending);
      t.pending = nullptr;
    }
    t.fenced_in_block = all_known(w, lane, tick);
    if (reach != scope::block) { t.fenced = t.fenced_in_block; }
  });
}

void block_clocks::strong_write(std::uint32_t warp, unsigned lane, releases& where, std::uint64_t address, order o,
                                scope reach, bool keeps) {
  auto& w = warps_[warp];
  release out;
  out.block = block_;
  bool const is_release = o == order::release || o == order::acq_rel, ends_reads = !keeps && reach == scope::device;
  known const all = is_release || ends_reads ? all_known(w, lane, take_tick()) : nullptr;
  if (is_release) {
    out.in_block = all;
    if (reach != scope::block) { out.anywhere = all; }
  }
  if (w.uses_threads) {
    auto const& t = (*w.threads)[lane];
    out.in_block = join(out.in_block, t.fenced_in_block);
    if (reach != scope::block) { out.anywhere = join(out.anywhere, t.fenced); }
  }
  if (ends_reads) { out.reads_over = join(all, w.uses_threads ? (*w.threads)[lane].reads_over : nullptr); }
  if (where.empty() && !out.in_block && !out.reads_over) { return; }
  auto& slot = where[address];
  if (keeps) { out.reads_over = slot.reads_over; }
  if (keeps && (slot.in_block || slot.anywhere)) {
    out.in_block = join(out.in_block, slot.block == block_ ? slot.in_block : slot.anywhere);
    out.anywhere = join(out.anywhere, slot.anywhere);
  }
  slot = std::move(out);
}

void block_clocks::strong_read(std::uint32_t warp, unsigned lane, releases const& where, std::uint64_t address, order o,
                               scope reach, bool atomic) {
  if (where.empty()) { return; }
  auto const at = where.find(address);
  if (at == where.end()) { return; }
  bool const acquires = o == order::acquire || o == order::acq_rel;
  auto& t = warps_[warp].thread(lane);
  bool const near = at->second.block == block_;
  if (!near && reach == scope::block) { return; }
  known const& heard = near ? at->second.in_block : at->second.anywhere;
  auto& to = acquires ? t.acquired : near ? t.pending_in_block : t.pending;
  to = join(to, heard);
  if (atomic) { t.at_barrier = join(t.at_barrier, heard); }
  t.reads_over = join(t.reads_over, at->second.reads_over);
}

std::uint32_t block_clocks::unordered_slow(touch const& t, warp_clock const& w, unsigned lane, bool reads) const {
  touch rest = t;
  if (w.uses_threads) {
    auto const& mine = (*w.threads)[lane];
    rest.lanes = untold(rest, mine.acquired);
    if (reads) { rest.lanes = untold(rest, mine.reads_over); }
  }
  if ((t.warp & touched::number) != w.number || (t.warp & touched::whole_block) != 0) { return rest.lanes; }
  rest.lanes &= ~(1u << lane);
  std::uint32_t unknown = rest.lanes;
  if (w.uses_rows) {
    each(rest.lanes, [&](unsigned other) { unknown &= (*w.rows)[lane][other] >= t.tick ? ~(1u << other) : ~0u; });
  }
  return unknown;
}

/// The lanes of a touch that are not in what somebody was told.
std::uint32_t block_clocks::untold(touch const& t, known const& by) const {
  if (!by || t.lanes == 0) { return t.lanes; }
  std::uint32_t const number = t.warp & touched::number;
  if (by->of(knowledge::block, number / launch_->warps_per_block) >= t.tick) { return 0; }
  if ((t.warp & touched::whole_block) != 0) { return t.lanes; }
  if (by->of(knowledge::warp, number) >= t.tick) { return 0; }
  std::uint32_t unknown = t.lanes;
  each(t.lanes, [&](unsigned lane) {
    if (by->of(knowledge::thread, std::uint64_t{number} * 32 + lane) >= t.tick) { unknown &= ~(1u << lane); }
  });
  return unknown;
}

}  // namespace ptx
