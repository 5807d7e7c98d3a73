// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Who has heard of whom: the happens-before order of a launch's threads.
///
/// A launch has one clock. Every event that orders threads (barrier, warp operation, fence, release) takes a tick of
/// it; an access is stamped with the tick at which it happens. What a thread knows is, for every other thread, the tick
/// up to which that thread's accesses happened before. Barriers and full warp operations give all of a block or a warp
/// the same knowledge, so it is kept as one number each; only partial warp operations, partial barriers and acquired
/// releases need more.

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "access.hpp"
#include "shadow.hpp"

namespace ptx {

/// "All that these threads did up to that tick is known": entries for single threads, warps and blocks. Immutable.
class knowledge {
 public:
  enum level : std::uint64_t { thread = 0, warp = 1, block = 2 };
  struct entry {
    std::uint64_t key;
    std::uint32_t tick;
  };
  static std::uint64_t key(level l, std::uint64_t number) { return l << 40 | number; }

  explicit knowledge(std::vector<entry> entries);
  [[nodiscard]] std::uint32_t of(level l, std::uint64_t number) const;
  [[nodiscard]] std::vector<entry> const& entries() const { return entries_; }

 private:
  std::vector<entry> entries_;  // ascending keys
};
using known = std::shared_ptr<knowledge const>;

/// All of both; cheap when one is empty or they are the same.
known join(known const& a, known const& b);

/// What was released at an address: for threads of the releasing block, and for all others. A relaxed write of the
/// device's scope says without a fence that the reads before it are over; others, such as volatile ones, do not.
struct release {
  known in_block, anywhere, reads_over;
  std::uint32_t block = 0;
};
using releases = std::unordered_map<std::uint64_t, release>;

struct launch_clocks {
  std::uint32_t warps_per_block = 1, last_warp_lanes = ~0u;
  std::uint32_t start = 1;  ///< earlier stamps belong to earlier launches
  std::uint32_t now = 1;
  releases global_releases;

  /// Lists of touches, for bytes that several warps read or that several warps touch atomically.
  std::vector<std::vector<touch>> lists;
  std::vector<std::uint32_t> free_lists;
  std::uint64_t entries = 0;              ///< in all lists
  std::uint64_t most_entries = 4u << 20;  ///< beyond, a list has one entry for each block
  std::uint32_t take_list();
  void give_list(std::uint32_t index);
};

struct thread_clock {
  known acquired;                   ///< beyond what warp and block know
  known fenced_in_block, fenced;    ///< knowledge at the last fence, which a later strong write releases
  known pending_in_block, pending;  ///< seen by strong reads; the next fence acquires it
  known at_barrier;                 ///< seen by atomics; the next barrier of the block acquires it as well
  known reads_over;                 ///< reads known to be over, beyond `acquired`
};

struct warp_clock {
  std::uint32_t number = 0;                                             ///< in the launch
  std::uint32_t lanes = ~0u;                                            ///< that exist
  std::uint32_t known = 0;                                              ///< tick of the last operation of all lanes
  bool uses_rows = false;                                               ///< some lanes met without the others
  bool uses_threads = false;                                            ///< some thread has something in `threads`
  std::uint32_t ended = 0;                                              ///< lanes that take part in nothing any more
  std::uint32_t left_behind = 0;                                        ///< of these, those that a barrier has missed
  std::unique_ptr<std::array<std::array<std::uint32_t, 32>, 32>> rows;  ///< [lane][of lane]
  std::unique_ptr<std::array<thread_clock, 32>> threads;
  std::unique_ptr<std::array<std::uint32_t, 32>>
      covered;  ///< the tick up to which barriers tell of `left_behind` lanes

  thread_clock& thread(unsigned lane);
};

/// The clocks of one block's threads.
class block_clocks {
 public:
  block_clocks(launch_clocks& launch, std::uint32_t block);

  void warp_sync(std::uint32_t warp, std::uint32_t lanes);
  /// Of all that have not ended; what ended threads did is known as far as somebody heard of it otherwise.
  void barrier();
  void ended(std::uint32_t warp, std::uint32_t lanes) { warps_[warp].ended |= lanes; }
  void barrier(std::vector<std::uint32_t> const& arrived, std::vector<std::uint32_t> const& waited);
  void fence(std::uint32_t warp, std::uint32_t lanes, scope reach);

  /// A strong write at `address` and what it releases; a read-modify-write keeps what was released before.
  void strong_write(std::uint32_t warp, unsigned lane, releases& where, std::uint64_t address, order o, scope reach,
                    bool keeps);
  void strong_read(std::uint32_t warp, unsigned lane, releases const& where, std::uint64_t address, order o,
                   scope reach, bool atomic);

  /// The lanes of `t` whose accesses are not known to have happened before what this thread does now. Of `reads` it is
  /// enough to know that they are over.
  [[nodiscard]] std::uint32_t unordered(touch const& t, std::uint32_t warp, unsigned lane, bool reads = false) const;

  [[nodiscard]] warp_clock const& warp(std::uint32_t w) const { return warps_[w]; }
  [[nodiscard]] launch_clocks& launch() const { return *launch_; }
  [[nodiscard]] std::uint32_t block() const { return block_; }

 private:
  [[nodiscard]] known all_known(warp_clock const& w, unsigned lane, std::uint32_t tick) const;
  [[nodiscard]] std::uint32_t unordered_slow(touch const& t, warp_clock const& w, unsigned lane, bool reads) const;
  [[nodiscard]] std::uint32_t untold(touch const& t, known const& by) const;
  /// The lanes of a touch before the last barrier that had ended without being known to it.
  [[nodiscard]] std::uint32_t missed_by_barrier(touch const& t) const;
  void leave_behind(known const& heard, std::uint32_t before);
  std::uint32_t take_tick() { return launch_->now++; }

  launch_clocks* launch_;
  std::uint32_t block_;
  std::uint32_t known_;             ///< tick of the last barrier of all
  std::uint32_t known_of_all_ = 0;  ///< of the last one before anybody ended, when `some_ended_`
  bool some_ended_ = false;         ///< before the last barrier
  std::vector<warp_clock> warps_;
};

/// Flags in touch::warp.
namespace touched {
inline constexpr std::uint32_t number = (1u << 28) - 1;
inline constexpr std::uint32_t many = 1u << 31;         ///< `lanes` is the index of a list
inline constexpr std::uint32_t writes = 1u << 30;       ///< strong accesses that wrote
inline constexpr std::uint32_t observes = 1u << 29;     ///< strong accesses that read
inline constexpr std::uint32_t split = 1u << 29;        ///< of a write: the bytes have cells of their own
inline constexpr std::uint32_t whole_block = 1u << 28;  ///< any thread of the block of this warp
}  // namespace touched

inline std::uint32_t block_clocks::unordered(touch const& t, std::uint32_t warp, unsigned lane, bool reads) const {
  auto const& w = warps_[warp];
  if (t.tick < launch_->start || t.tick <= known_) {
    if (t.tick < launch_->start || (t.warp & touched::number) / launch_->warps_per_block == block_) {
      std::uint32_t const missed = some_ended_ ? missed_by_barrier(t) : 0;
      return missed == 0 ? 0 : unordered_slow({t.tick, t.warp, missed}, w, lane, reads);
    }
  }
  if ((t.warp & (touched::number | touched::whole_block)) == w.number) {
    if (t.lanes == 1u << lane || t.tick <= w.known) { return 0; }
  }
  return unordered_slow(t, w, lane, reads);
}

}  // namespace ptx
