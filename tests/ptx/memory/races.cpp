// SPDX-License-Identifier: Apache-2.0
#include "races.hpp"

#include <algorithm>

namespace ptx {

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

bool race_check::passes_strong(cell const& c, rival& other) const {
  bool const only_writes = how_ == touching::weak_read;
  auto const was = (c.strong.warp & touched::writes) != 0 ? touching::strong_write : touching::strong_read;
  if ((c.strong.warp & touched::many) != 0) {
    return passes_list(c.strong, c.from[2], touching::strong_write, only_writes, other);
  }
  return (only_writes && was == touching::strong_read) || passes(c.strong, c.from[2], was, other);
}

bool race_check::passes_list(touch const& t, std::uint32_t from, touching was, bool only_writes, rival& other) const {
  for (touch const& one : clocks_->launch().lists[t.lanes]) {
    if (only_writes && (one.warp & touched::writes) == 0) { continue; }
    std::uint32_t const unknown = clocks_->unordered(one, warp_, lane_);
    if (unknown != 0) { return blame(one, unknown, from, was, other); }
  }
  return true;
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
    launch.lists[index].push_back(t);
    t = {now_, touched::many, index};
  }
  t.tick = now_;
  auto& list = launch.lists[t.lanes];
  std::size_t const window = std::min<std::size_t>(list.size(), 16);
  for (auto one = list.rbegin(); one != list.rbegin() + static_cast<std::ptrdiff_t>(window); ++one) {
    if (one->warp != me) { continue; }
    if (one->tick == now_) {
      one->lanes |= bit;
      return;
    }
    if (one->lanes == bit || clocks_->unordered(*one, warp_, lane_) == 0) {
      *one = {now_, me, bit};
      return;
    }
  }
  list.push_back({now_, me, bit});
  if (list.size() >= 64 && (list.size() & (list.size() - 1)) == 0) { shorten(list); }
}

/// Makes one entry of all of a block: coarser, since the block's latest tick then stands for all its threads.
void race_check::shorten(std::vector<touch>& list) const {
  std::uint32_t const warps = clocks_->launch().warps_per_block;
  std::vector<touch> out;
  for (touch t : list) {
    t.warp = ((t.warp & touched::number) / warps * warps) | (t.warp & touched::writes) | touched::whole_block;
    auto const end = out.size() > 32 ? out.rbegin() + 32 : out.rend();  // blocks come in order, more or less
    auto const same = std::find_if(out.rbegin(), end, [&](touch const& o) { return o.warp == t.warp; });
    if (same == end) {
      t.lanes = ~0u;
      out.push_back(t);
    } else {
      same->tick = std::max(same->tick, t.tick);
    }
  }
  list = std::move(out);
}

}  // namespace ptx
