// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The race check of one access: compares it with the touches that the bytes' cells remember, and leaves its own.

#include <cstdint>

#include "clocks.hpp"
#include "shadow.hpp"

namespace ptx {

/// How a thread touches bytes. `strong` accesses (volatile, relaxed...; atomic: read and write in one) do not race with
/// each other.
enum class touching : std::uint8_t { weak_read, strong_read, weak_write, strong_write, atomic };
inline bool touches_write(touching how) { return how >= touching::weak_write; }

/// Another party that nothing orders before this access.
struct rival {
  std::uint32_t warp = 0, lane = 0, instruction = 0;
  touching how{};
};

class race_check {
 public:
  /// `start`: the tick from which stamps in these cells count.
  race_check(block_clocks const& clocks, std::uint32_t start, std::uint32_t warp, unsigned lane, touching how,
             std::uint32_t instruction)
      : clocks_(&clocks),
        start_(start),
        now_(clocks.launch().now),
        warp_(warp),
        number_(clocks.warp(warp).number),
        lane_(lane),
        how_(how),
        instruction_(instruction) {}

  void lane(unsigned lane) { lane_ = lane; }

  /// False when the bytes [at, at + bytes) of the region race with an earlier access: then `other` says which.
  bool touch_bytes(region const& in, std::uint64_t at, unsigned bytes, rival& other) {
    if (bytes >= 4) {
      for (unsigned i = 0; i < bytes; i += 4) {
        cell& c = in.cells[(at + i) / 4];
        bool const whole = !is_split(c);
        if (!(whole ? touch_cell(c, other) : touch_split(in, at + i, 4, other))) { return false; }
      }
      return true;
    }
    cell& c = in.cells[at / 4];
    if (!is_split(c)) { split(in, at / 4); }
    return touch_split(in, at, bytes, other);
  }

 private:
  [[nodiscard]] bool is_split(cell const& c) const {
    return (c.write.warp & touched::split) != 0 && c.write.tick >= start_;
  }
  void split(region const& in, std::uint64_t granule);
  bool touch_split(region const& in, std::uint64_t at, unsigned bytes, rival& other) {
    for (unsigned i = 0; i < bytes; ++i) {
      if (!touch_cell(in.byte_cells[at + i], other)) { return false; }
    }
    return true;
  }

  bool touch_cell(cell& c, rival& other) {
    if (c.write.tick >= start_ && !passes(c.write, c.from[0], touching::weak_write, other)) { return false; }
    if (how_ == touching::weak_read) {
      if (c.strong.tick >= start_ && !passes_strong(c, other)) { return false; }
      add(c.reads, c.from[1], 0);
    } else if (how_ == touching::weak_write) {
      if (c.strong.tick >= start_ && !passes_strong(c, other)) { return false; }
      if (c.reads.tick >= start_ && !passes(c.reads, c.from[1], touching::weak_read, other)) { return false; }
      forget(c.reads);
      forget(c.strong);
      c.write = {now_, number_, 1u << lane_};
      c.from[0] = instruction_;
    } else {
      bool const writes = touches_write(how_);
      if (writes && c.reads.tick >= start_ && !passes(c.reads, c.from[1], touching::weak_read, other)) { return false; }
      add(c.strong, c.from[2],
          (writes ? touched::writes : 0) | (how_ != touching::strong_write ? touched::observes : 0));
    }
    return true;
  }

  [[nodiscard]] bool passes(touch const& t, std::uint32_t from, touching was, rival& other) const {
    bool const reads = was == touching::weak_read;
    if ((t.warp & touched::many) != 0) { return passes_reads(t, from, other); }
    std::uint32_t const unknown = clocks_->unordered(t, warp_, lane_, reads);
    return unknown == 0 || blame(t, unknown, from, was, other);
  }
  [[nodiscard]] bool passes_reads(touch const& t, std::uint32_t from, rival& other) const;
  [[nodiscard]] bool passes_strong(cell const& c, rival& other) const;
  static bool blame(touch const& t, std::uint32_t unknown, std::uint32_t from, touching was, rival& other);

  void add(touch& t, std::uint32_t& from, std::uint32_t flag) {
    from = instruction_;
    std::uint32_t const me = number_ | flag, bit = 1u << lane_;
    if (t.tick < start_) {
      t = {now_, me, bit};
    } else if (t.warp == me && (t.lanes == bit || (t.tick == now_ && (how_ != touching::atomic || t.lanes < bit)))) {
      t = {now_, me, t.tick == now_ ? t.lanes | bit : bit};  // lanes of atomics come in ascending order
    } else {
      add_slow(t, me, bit);
    }
  }
  void add_slow(touch& t, std::uint32_t me, std::uint32_t bit);
  void append(std::vector<touch>& list, touch const& t);
  void shorten(std::vector<touch>& list) const;
  void forget(touch& t) {
    if (t.tick >= start_ && (t.warp & touched::many) != 0) { clocks_->launch().give_list(t.lanes); }
    t.tick = 0;
  }

  block_clocks const* clocks_;
  std::uint32_t start_, now_, warp_, number_;
  unsigned lane_;
  touching how_;
  std::uint32_t instruction_;
};

}  // namespace ptx
