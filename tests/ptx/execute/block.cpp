// SPDX-License-Identifier: Apache-2.0
#include "execute/block.hpp"

#include <algorithm>

namespace ptx {
namespace {

constexpr std::int64_t turn = 4096;              ///< what a warp may use up before the next has a turn
constexpr std::uint32_t room_for_calls = 16384;  ///< bytes of local memory for the functions that a kernel calls
constexpr int rounds_before_others = 16;         ///< of turns used up by all warps, until other blocks have theirs

lane_set lanes_of_warp(std::uint64_t threads, std::uint32_t index) {
  std::uint64_t const left = threads - std::uint64_t{index} * 32;
  return left >= 32 ? all_lanes : (1u << left) - 1;
}

}  // namespace

block::block(launch_state& launch, std::uint64_t index)
    : launch_(&launch),
      index_(index),
      memory_(launch.memory, static_cast<std::uint32_t>(index),
              launch.dynamic_shared_base + static_cast<std::uint32_t>(launch.request.dynamic_shared),
              launch.kernel.local_bytes, launch.kernel.calls ? room_for_calls : 0) {
  std::uint64_t const threads = launch.request.block.count();
  auto const count = static_cast<std::uint32_t>((threads + 31) / 32);
  warps_.reserve(count);
  for (std::uint32_t w = 0; w < count; ++w) { warps_.emplace_back(*this, w, lanes_of_warp(threads, w), launch.kernel); }
}

block::~block() {
  for (warp& w : warps_) { launch_->idle.push_back(w.give_registers()); }
}

dim3 block::position() const {
  dim3 const g = launch_->request.grid;
  return {static_cast<std::uint32_t>(index_ % g.x), static_cast<std::uint32_t>(index_ / g.x % g.y),
          static_cast<std::uint32_t>(index_ / g.x / g.y)};
}

bool block::run() {
  for (int round = 0; round < rounds_before_others; ++round) {
    bool progress = false, all_ended = true;
    for (warp& w : warps_) {
      if (w.has_ended()) { continue; }
      bool const was_ready = w.is_ready();
      auto const outcome = was_ready ? w.run(turn) : warp::outcome::blocked;
      progress = progress || was_ready;
      all_ended = all_ended && outcome == warp::outcome::ended;
    }
    if (all_ended) { return true; }
    if (!progress) { throw fault(stuck(problem::barrier, "nobody can go on:")); }
  }
  return false;
}

void block::arrive(warp& who, lane_set m, std::uint32_t number, std::uint32_t expected, bool waits,
                   instruction const& i) {
  int const first = __builtin_ctz(m);
  if (number >= barriers_.size()) { who.fail(i, first, problem::barrier, "barrier " + std::to_string(number)); }
  if (expected % warp_size != 0) {
    who.fail(i, first, problem::barrier,
             "a barrier of " + std::to_string(expected) + " threads, which is no multiple of the warp size");
  }
  barrier_state& b = barriers_[number];
  if (!b.used) {
    b = {};
    b.arrived.resize(warps_.size());
    b.waited.resize(warps_.size());
    b.expected = expected;
    b.used = true;
  }
  if (b.expected != expected) {
    who.fail(i, first, problem::barrier,
             "barrier " + std::to_string(number) + " with " + std::to_string(expected) +
                 " threads, others came to it with " + std::to_string(b.expected));
  }
  b.arrived[who.index()] |= m;
  if (waits) { b.waited[who.index()] |= m; }
  b.count += static_cast<std::uint32_t>(__builtin_popcount(m));
  if (i.count > 2) {  // bar.red: destination, barrier, threads, predicate
    operand const& p = i.operands[i.count - 1];
    who.require(i, i.count - 1, m, 1);
    each_lane(m, [&](int l) {
      b.votes += static_cast<std::uint32_t>((who.values(p)[l] ^ static_cast<std::uint64_t>(p.offset)) & 1);
    });
  }
  try_complete(b, number);
}

void block::lanes_ended() {
  for (std::uint32_t k = 0; k < barriers_.size(); ++k) {
    if (barriers_[k].used && barriers_[k].expected == 0) { try_complete(barriers_[k], k); }
  }
}

void block::try_complete(barrier_state& b, std::uint32_t number) {
  if (b.expected == 0) {
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      if ((warps_[w].alive() & ~b.arrived[w]) != 0) { return; }
    }
  } else if (b.count < b.expected) {
    return;
  }
  if (b.expected != 0 && b.count > b.expected) {
    instruction const& at = launch_->code.code[warps_.front().pc(0)];
    warps_.front().fail(at, 0, problem::barrier,
                        "more threads at barrier " + std::to_string(number) + " than it takes");
  }
  bool const everybody = b.expected == 0 && b.arrived == b.waited;
  everybody ? memory_.barrier() : memory_.barrier(b.arrived, b.waited);
  barrier_state const done = b;
  b.used = false;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    if (done.waited[w] == 0) { continue; }
    check_alignment(w, done.waited[w]);
    warps_[w].finish_barrier(done.waited[w], done.votes, done.count);
  }
}

/// bar.sync is barrier.sync.aligned: the threads of a warp come to it together, at one place.
void block::check_alignment(std::size_t w, lane_set waiting) const {
  int const first = __builtin_ctz(waiting);
  std::uint32_t const pc = warps_[w].pc(first);
  instruction const& i = launch_->code.code[pc];
  if (i.with.mode == 0) { return; }
  lane_set other = warps_[w].alive() & ~waiting;
  each_lane(waiting, [&](int l) { other |= warps_[w].pc(l) != pc ? 1u << l : 0; });
  if (other != 0) {
    warps_[w].fail(
        i, __builtin_ctz(other), problem::barrier,
        "the threads of a warp come to an aligned barrier at different places" + warps_[w].where_lanes_wait());
  }
}

finding block::stuck(problem kind, std::string message) const {
  finding f;
  f.kind = kind;
  f.message = std::move(message);
  f.block = static_cast<std::uint32_t>(index_);
  bool first = true;
  for (warp const& w : warps_) {
    if (w.has_ended()) { continue; }
    if (first) {
      f.thread = w.index() * 32 + static_cast<std::uint32_t>(w.first_waiting_lane());
      f.instruction = w.pc(w.first_waiting_lane());
      first = false;
    }
    if (f.message.size() < 2000) { f.message += w.where_lanes_wait(); }
  }
  return f;
}

}  // namespace ptx
