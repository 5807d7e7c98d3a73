// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the threads of one block do to memory, checked and counted. The interpreter holds one launch_memory for a
/// launch and one block_memory for each resident block, and calls it once for each warp instruction.
///
///     memory.load(warp, request, [&](unsigned lane, std::byte const* at, known_bytes known) { ... });
///
/// All functions throw `fault` with a finding, before anything of the offending lane's access is done.

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "access.hpp"
#include "clocks.hpp"
#include "copies.hpp"
#include "memory.hpp"
#include "races.hpp"
#include "traffic.hpp"

namespace ptx {

/// Shared and local memory of a block; blocks that come later use it again.
struct block_storage {
  explicit block_storage(std::uint64_t shared_bytes, std::uint64_t local_bytes);
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> states;
  std::vector<cell> cells, byte_cells;
};

/// What a launch shares: the clocks that order its threads, and what it moved.
class launch_memory {
 public:
  /// \throws error when there are more threads than the race check can number (2^33)
  launch_memory(memory& device, std::uint64_t blocks, std::uint32_t threads_per_block);
  ~launch_memory();
  launch_memory(launch_memory const&) = delete;
  launch_memory& operator=(launch_memory const&) = delete;

  memory& device;
  launch_clocks clocks;
  traffic counts;
  copies_under_way sources{state::copied_from};
  bool check_races = true;
  std::uint32_t threads_per_block;
  std::vector<std::unique_ptr<block_storage>> idle;  ///< of blocks that ended
};

class block_memory {
 public:
  /// Shared memory starts undefined; so do the `local_bytes` that each thread has. Behind them is room for the frames of
  /// functions, which is nobody's until open_frame.
  block_memory(launch_memory& launch, std::uint32_t block, std::uint32_t shared_bytes, std::uint32_t local_bytes,
               std::uint32_t room_for_calls = 0);
  ~block_memory();
  block_memory(block_memory const&) = delete;
  block_memory& operator=(block_memory const&) = delete;

  /// visit(lane, std::byte const* at, known_bytes known) for each lane of the request; bit i of `known`: byte i
  /// was written.
  template <class Visit>
  void load(std::uint32_t warp, request const& r, Visit&& visit);

  /// visit(lane, std::byte* at) -> known_bytes writes the bytes; bit i of the result: byte i is defined.
  template <class Visit>
  void store(std::uint32_t warp, request const& r, Visit&& visit);

  /// visit(lane, std::byte* at, std::uint32_t defined) reads and replaces the bytes, lane after lane. Undefined bytes are
  /// a finding, except for an exchange, which does not compute with them.
  template <class Visit>
  void atomic(std::uint32_t warp, request const& r, bool exchange, Visit&& visit);

  /// cp.async: checked as accesses of its thread, now and at the end; in between nobody may touch the destination or
  /// write to the source, not even the thread itself. The bytes move at the end.
  void begin_copy(std::uint32_t warp, unsigned lane, async_copy const& c);
  void end_copy(std::uint32_t warp, unsigned lane, async_copy const& c);

  /// mbarrier: arrivals release, and who sees the phase of that parity complete acquires what they released.
  void release_phase(std::uint32_t warp, unsigned lane, std::uint64_t address, std::uint64_t parity) {
    clocks_.strong_write(warp, lane, phases_, phase_key(address, parity), order::release, scope::block, true);
  }
  void acquire_phase(std::uint32_t warp, unsigned lane, std::uint64_t address, std::uint64_t parity) {
    clocks_.strong_read(warp, lane, phases_, phase_key(address, parity), order::acquire, scope::block, false);
  }
  void forget_phase(std::uint64_t address, std::uint64_t parity) { phases_.erase(phase_key(address, parity)); }

  /// Lanes met: a warp operation, bar.warp.sync.
  void warp_sync(std::uint32_t warp, std::uint32_t lanes) { clocks_.warp_sync(warp, lanes); }
  /// A barrier of all threads of the block that have not ended.
  void barrier() { clocks_.barrier(); }
  /// Threads ended: nothing orders what they did with what others do after later barriers.
  void ended(std::uint32_t warp, std::uint32_t lanes) { clocks_.ended(warp, lanes); }
  /// A barrier of some: bit i of arrived[w] is lane i of warp w. Who only arrived (bar.arrive) is not in `waited`.
  void barrier(std::vector<std::uint32_t> const& arrived, std::vector<std::uint32_t> const& waited) {
    clocks_.barrier(arrived, waited);
  }
  /// fence, membar.
  void fence(std::uint32_t warp, std::uint32_t lanes, scope reach) { clocks_.fence(warp, lanes, reach); }

  /// Local memory of a function's frame: fresh at each call, gone after it. False when there is no room.
  [[nodiscard]] bool open_frame(std::uint32_t thread, std::uint64_t at, std::uint64_t bytes) {
    region const& r = locals_[thread];
    if (bytes > r.size || at > r.size - bytes) { return false; }
    std::memset(r.states + at, state::allocated, bytes);
    return true;
  }
  void close_frame(std::uint32_t thread, std::uint64_t at, std::uint64_t bytes) {
    std::memset(locals_[thread].states + at, state::freed, bytes);
  }

  /// The shared memory itself, for the interpreter's own use: not checked.
  [[nodiscard]] region const& shared() const { return shared_; }

 private:
  /// Offsets and generic addresses of shared memory are alike in their low bits.
  static std::uint64_t phase_key(std::uint64_t address, std::uint64_t parity) {
    return std::uint64_t{2} * static_cast<std::uint32_t>(address) + parity;
  }

  struct place {
    region const* in;
    std::uint64_t at;
    space where;
  };

  void mark_copy(std::uint32_t warp, unsigned lane, async_copy const& c, bool begins);
  [[nodiscard]] place locate(request const& r, std::uint32_t warp, unsigned lane) const {
    std::uint64_t const address = r.address[lane];
    space where = r.where;
    std::uint64_t offset = address;
    if (where == space::generic) {
      std::uint64_t const window = address >> 56;
      where = window == 1 ? space::shared : window == 2 ? space::local : space::global;
      if (where != space::global) { offset = address & (shared_window - 1); }
    } else if (where != space::global) {
      offset = static_cast<std::uint32_t>(address);  // registers of 32 bits wrap around
    }
    if (where == space::global) { return {&global_, address - base_, where}; }
    if (where == space::shared) { return {&shared_, offset, where}; }
    return {&locals_[warp * 32 + lane], offset, where};
  }

  template <class Visit>
  void each_lane(std::uint32_t warp, request const& r, touching how, Visit&& visit);
  void check_place(place const& p, request const& r, std::uint32_t warp, unsigned lane, bool writes) const;
  void synchronise(place const& p, request const& r, std::uint32_t warp, unsigned lane, bool writes, bool atomic);
  void count(request const& r, std::uint32_t warp, bool writes, bool atomic);
  [[noreturn]] void bad_place(place const& p, request const& r, std::uint32_t warp, unsigned lane, bool writes) const;
  [[noreturn]] void under_way(place const& p, finding f, unsigned bytes) const;
  [[noreturn]] void bad_atomic(request const& r, std::uint32_t warp, unsigned lane) const;
  [[noreturn]] void raced(place const& p, request const& r, std::uint32_t warp, unsigned lane, touching how,
                          rival const& other) const;
  [[nodiscard]] finding about(request const& r, std::uint32_t warp, unsigned lane) const;

  launch_memory* launch_;
  block_clocks clocks_;
  std::uint32_t shared_start_;  ///< earlier stamps in shared memory's cells are of other blocks
  std::unique_ptr<block_storage> storage_;
  region global_, shared_;
  copies_under_way destinations_{state::copied_to};
  std::vector<region> locals_;  ///< of each thread
  std::uint64_t base_;
  releases shared_releases_, phases_;
};

inline void block_memory::check_place(place const& p, request const& r, std::uint32_t warp, unsigned lane,
                                      bool writes) const {
  unsigned const bytes = r.bytes;
  bool const ok = p.at < p.in->size && bytes <= p.in->size - p.at &&
                  (p.at & ((r.alignment != 0 ? r.alignment : bytes) - 1u)) == 0 &&
                  usable(p.in->states + p.at, bytes, writes);
  if (__builtin_expect(!ok, 0)) { bad_place(p, r, warp, lane, writes); }
}

template <class Visit>
void block_memory::each_lane(std::uint32_t warp, request const& r, touching how, Visit&& visit) {
  bool const writes = touches_write(how);
  race_check global_check(clocks_, launch_->clocks.start, warp, 0, how, r.instruction);
  race_check shared_check(clocks_, shared_start_, warp, 0, how, r.instruction);
  for (std::uint32_t rest = r.lanes; rest != 0; rest &= rest - 1) {
    unsigned const lane = static_cast<unsigned>(__builtin_ctz(rest));
    place const p = locate(r, warp, lane);
    check_place(p, r, warp, lane, writes);
    if (p.where != space::local && launch_->check_races) {
      auto& check = p.where == space::shared ? shared_check : global_check;
      rival other;
      check.lane(lane);
      if (!check.touch_bytes(*p.in, p.at, r.bytes, other)) { raced(p, r, warp, lane, how, other); }
    }
    visit(lane, p);
  }
}

template <class Visit>
void block_memory::load(std::uint32_t warp, request const& r, Visit&& visit) {
  bool const weak = r.ordering == order::weak;
  each_lane(warp, r, weak ? touching::weak_read : touching::strong_read, [&](unsigned lane, place const& p) {
    if (!weak) { synchronise(p, r, warp, lane, false, false); }
    visit(lane, static_cast<std::byte const*>(p.in->bytes + p.at), known_of(p.in->states + p.at, r.bytes));
  });
  count(r, warp, false, false);
}

template <class Visit>
void block_memory::store(std::uint32_t warp, request const& r, Visit&& visit) {
  bool const weak = r.ordering == order::weak;
  each_lane(warp, r, weak ? touching::weak_write : touching::strong_write, [&](unsigned lane, place const& p) {
    if (!weak) { synchronise(p, r, warp, lane, true, false); }
    set_known(p.in->states + p.at, r.bytes, visit(lane, p.in->bytes + p.at));
  });
  count(r, warp, true, false);
}

template <class Visit>
void block_memory::atomic(std::uint32_t warp, request const& r, bool exchange, Visit&& visit) {
  each_lane(warp, r, touching::atomic, [&](unsigned lane, place const& p) {
    std::uint32_t const defined = known_of(p.in->states + p.at, r.bytes);
    if (defined != all_bytes(r.bytes)) {
      if (!exchange) { bad_atomic(r, warp, lane); }
      set_known(p.in->states + p.at, r.bytes, all_bytes(r.bytes));
    }
    synchronise(p, r, warp, lane, false, true);
    synchronise(p, r, warp, lane, true, true);
    visit(lane, p.in->bytes + p.at, defined);
  });
  count(r, warp, true, true);
}

}  // namespace ptx
