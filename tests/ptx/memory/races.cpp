// SPDX-License-Identifier: Apache-2.0
#include "races.hpp"

#include <algorithm>

namespace ptx {
namespace {

constexpr bool is_atomic(std::uint32_t flags) {
  return (flags & (touched::writes | touched::observes)) == (touched::writes | touched::observes);
}

/// Where the entries begin that a new one may replace: few, and none that others saw before a plain write.
std::size_t latest_of_list(std::vector<touch> const& list) {
  std::size_t from = list.size();
  std::size_t const most = list.size() > 16 ? list.size() - 16 : 0;
  auto const only_writes = [](touch const& t) {
    return (t.warp & (touched::writes | touched::observes)) == touched::writes;
  };
  while (from > most && (from == list.size() || !(only_writes(list[from]) || only_writes(list[from - 1])))) { --from; }
  return from;
}

/// All lanes up to the highest of the set.
std::uint32_t lanes_up_to(std::uint32_t lanes) { return ~0u >> __builtin_clz(lanes); }

}  // namespace

void race_check::split(region const& in, std::uint64_t granule) {
  cell& whole = in.cells[granule];
  for (unsigned i = 0; i < 4; ++i) {
    cell& part = in.byte_cells[4 * granule + i];
    part = whole;
    for (touch* t : {&part.write, &part.reads, &part.strong}) {
      if (t->tick < start_) {
        *t = {};
      } else if ((t->warp & touched::many) != 0 && i > 0) {  // every byte continues its own list
        std::uint32_t const copy = clocks_->launch().take_list();
        clocks_->launch().lists[copy] = clocks_->launch().lists[t->lanes];
        clocks_->launch().entries += clocks_->launch().lists[copy].size();
        t->lanes = copy;
      }
    }
  }
  whole.write = {now_, touched::split, 0};
}

bool race_check::blame(touch const& t, std::uint32_t unknown, std::uint32_t from, touching was, rival& other) {
  other = {t.warp & touched::number, static_cast<std::uint32_t>(__builtin_ctz(unknown)), from, was};
  return false;
}

bool race_check::passes_reads(touch const& t, std::uint32_t from, rival& other) const {
  for (touch const& one : clocks_->launch().lists[t.lanes]) {
    std::uint32_t const unknown = clocks_->unordered(one, warp_, lane_, true);
    if (unknown != 0) { return blame(one, unknown, from, touching::weak_read, other); }
  }
  return true;
}

/// From the latest strong access to the earliest. A write that a strong read has seen is ordered before what that read
/// is ordered before, be it seen through the atomics in between: causality order goes through observation.
bool race_check::passes_strong(cell const& c, rival& other) const {
  bool const only_writes = how_ == touching::weak_read;
  bool seen = false;
  auto const passes_one = [&](touch const& t) {
    bool const writes = (t.warp & touched::writes) != 0, observes = (t.warp & touched::observes) != 0;
    if (seen && writes) {
      seen = observes;
      return true;
    }
    if (only_writes && !writes && seen) { return true; }
    std::uint32_t unknown = clocks_->unordered(t, warp_, lane_);
    std::uint32_t const ordered = t.lanes & ~unknown;
    seen = seen || (observes && ordered != 0);
    if (is_atomic(t.warp) && ordered != 0) { unknown &= ~lanes_up_to(ordered); }  // they came one after the other
    if (unknown == 0 || (only_writes && !writes)) { return true; }
    auto const was = !writes ? touching::strong_read : observes ? touching::atomic : touching::strong_write;
    return blame(t, unknown, c.from[2], was, other);
  };
  if ((c.strong.warp & touched::many) == 0) { return passes_one(c.strong); }
  auto const& list = clocks_->launch().lists[c.strong.lanes];
  return std::all_of(list.rbegin(), list.rend(), passes_one);
}

void race_check::add_slow(touch& t, std::uint32_t me, std::uint32_t bit) {
  auto& launch = clocks_->launch();
  if ((t.warp & touched::many) == 0) {
    // What happened before this access is ordered before all that this access is ordered before.
    bool const covered = (t.warp & ~touched::number) == (me & ~touched::number) || (me & touched::writes) != 0;
    if (covered && clocks_->unordered(t, warp_, lane_) == 0) {
      t = {now_, me, bit};
      return;
    }
    std::uint32_t const index = launch.take_list();
    append(launch.lists[index], t);
    t = {now_, touched::many, index};
  }
  t.tick = now_;
  auto& list = launch.lists[t.lanes];
  std::size_t const window = latest_of_list(list);
  bool const strong = (me & (touched::writes | touched::observes)) != 0;
  if (strong) {  // only a thread's latest one counts
    auto const superseded = [&](touch& one) { return one.warp == me && (one.lanes &= ~bit) == 0; };
    auto const from = std::remove_if(list.begin() + static_cast<std::ptrdiff_t>(window), list.end(), superseded);
    launch.entries -= static_cast<std::uint64_t>(list.end() - from);
    list.erase(from, list.end());
  }
  for (std::size_t k = list.size(); k-- > window;) {
    touch& one = list[k];
    if (one.warp != me) { continue; }
    bool const joins = one.tick == now_ && (!strong || k + 1 == list.size()) && (!is_atomic(me) || one.lanes < bit);
    if (joins) {
      one.lanes |= bit;
    } else if (one.lanes == bit || clocks_->unordered(one, warp_, lane_) == 0) {
      one = {now_, me, bit};
    } else {
      continue;
    }
    auto const at = list.begin() + static_cast<std::ptrdiff_t>(k);
    std::rotate(at, at + 1, list.end());  // lists are in the order of the latest touches
    return;
  }
  append(list, {now_, me, bit});
  bool const check = list.size() >= 64 && (list.size() & (list.size() - 1)) == 0;
  if (check && launch.entries > launch.most_entries) {
    launch.entries -= list.size();
    shorten(list);
    launch.entries += list.size();
  }
}

void race_check::append(std::vector<touch>& list, touch const& t) {
  list.push_back(t);
  ++clocks_->launch().entries;
}

/// Makes one entry of all of a block: coarser, since the block's latest tick then stands for all its threads.
void race_check::shorten(std::vector<touch>& list) const {
  std::uint32_t const warps = clocks_->launch().warps_per_block;
  auto const block_of = [warps](touch const& t) {
    return std::pair((t.warp & touched::number) / warps, t.warp & (touched::writes | touched::observes));
  };
  std::vector<touch> out;
  for (touch t : list) {
    auto const end = out.size() > 32 ? out.rbegin() + 32 : out.rend();  // blocks come in order, more or less
    auto const same = std::find_if(out.rbegin(), end, [&](touch const& o) { return block_of(o) == block_of(t); });
    if (same != end) {
      t.warp = ((t.warp & touched::number) / warps * warps) | block_of(t).second | touched::whole_block;
      t.lanes = ~0u;
      t.tick = std::max(same->tick, t.tick);
      out.erase(std::next(same).base());
    }
    out.push_back(t);
  }
  list = std::move(out);
}

}  // namespace ptx
