// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "execute/async.hpp"
#include "memory/block_memory.hpp"
#include "program/program.hpp"

namespace ptx {

class block;

/// Calls f(lane) for each lane of the set.
template <class F>
inline void each_lane(lane_set m, F&& f) {
  if (m == all_lanes) {
    for (int l = 0; l < warp_size; ++l) { f(l); }
  } else {
    for (; m != 0; m &= m - 1) { f(__builtin_ctz(m)); }
  }
}

/// Values of registers, in columns of 32, and which of their bytes are defined.
struct register_file {
  std::vector<std::uint64_t> values{};
  std::vector<byte_set> defined{};
};

/// A warp: 32 lanes, each with its own place in the program and its own calls, that run together where they can.
class warp {
 public:
  warp(block& home, std::uint32_t index, lane_set existing, function_code const& kernel);

  enum class outcome : std::uint8_t { ended, blocked, yielded };
  /// Runs lanes until none is ready or the fuel is used up.
  outcome run(std::int64_t fuel);

  // What handlers see of the running group.

  /// The 32 values of an operand, and which of their bytes are defined.
  [[nodiscard]] std::uint64_t const* values(operand const& o) const { return values_[place_of(o)] + o.slot * 32u; }
  [[nodiscard]] byte_set const* defined(operand const& o) const { return defined_[place_of(o)] + o.slot * 32u; }
  [[nodiscard]] std::uint64_t* destination(operand const& o) { return values_[0] + o.slot * 32u; }
  [[nodiscard]] byte_set* destination_defined(operand const& o) { return defined_[0] + o.slot * 32u; }

  /// The lanes of m in which these bytes of the operand are not all defined.
  [[nodiscard]] lane_set undefined_lanes(operand const& o, lane_set m, unsigned bytes) const;
  /// A finding unless these bytes of the operand are defined in all lanes: for addresses and whatever decides.
  void require(instruction const& i, int operand_index, lane_set m, unsigned bytes) const {
    lane_set const undefined = undefined_lanes(i.operands[operand_index], m, bytes);
    if (undefined != 0) { undefined_operand(i, operand_index, __builtin_ctz(undefined)); }
  }
  /// An operand of arithmetic: where these bytes are not defined, the result will not be.
  void use(instruction const& i, int operand_index, lane_set m, unsigned bytes) {
    undefined_ |= undefined_lanes(i.operands[operand_index], m, bytes);
  }
  /// Marks a result as defined, but for the lanes where an operand used since the last result was not.
  void set_result(operand const& o, lane_set m) {
    set_defined(o, m);
    spoil(o);
  }
  void spoil(operand const& o) {
    if (undefined_ != 0) { set_defined(o, undefined_, computed); }
    undefined_ = 0;
  }
  void set_defined(operand const& o, lane_set m, byte_set bytes = all_bytes_defined) {
    byte_set* const d = destination_defined(o);
    each_lane(m, [&](int l) { d[l] = bytes; });
  }

  [[nodiscard]] block& home() const { return *home_; }
  [[nodiscard]] std::uint32_t index() const { return index_; }
  /// Lanes that exist and have not ended.
  [[nodiscard]] lane_set alive() const { return existing_ & ~ended_; }
  [[nodiscard]] lane_set running() const { return group_; }
  /// What the running group has used up since it began to run.
  [[nodiscard]] std::uint64_t spent() const { return static_cast<std::uint64_t>(fuel_of_group_ - fuel_); }
  [[nodiscard]] std::uint32_t number_of(instruction const& i) const;
  /// Ends the launch with a finding about a lane.
  [[noreturn]] void fail(instruction const& i, int lane, problem kind, std::string const& what) const;

  /// At the end: memory for another warp.
  [[nodiscard]] register_file give_registers() { return std::move(registers_); }
  /// Copies under way.
  [[nodiscard]] async_copies& async() {
    if (async_ == nullptr) { async_ = std::make_unique<async_copies>(); }
    return *async_;
  }

  // What barriers see.
  [[nodiscard]] bool has_ended() const { return alive() == 0; }
  [[nodiscard]] std::uint32_t pc(int lane) const { return pc_[lane]; }
  [[nodiscard]] bool is_ready() const { return ready_ != 0; }
  void wait_at_barrier(lane_set m) { ready_ &= ~m, at_barrier_ |= m; }
  /// Goes on after a barrier that `count` threads came to, `votes` of them with a true predicate.
  void finish_barrier(lane_set m, std::uint32_t votes, std::uint32_t count);
  void step(lane_set m) {
    each_lane(m, [&](int l) { ++pc_[l]; });
  }
  /// "warp 0, lanes 0x0000ffff are at PTX line 12: bar.sync 0;" for each place where lanes are.
  [[nodiscard]] std::string where_lanes_wait() const;
  [[nodiscard]] int first_waiting_lane() const;

 private:
  struct call_frame {
    std::uint32_t return_pc, base, function;
  };

  [[nodiscard]] std::uint32_t thread_of(int lane) const { return index_ * 32 + static_cast<std::uint32_t>(lane); }
  static int place_of(operand const& o) { return static_cast<int>(o.where); }
  [[noreturn]] void undefined_operand(instruction const& i, int operand_index, int lane) const;

  [[nodiscard]] lane_set choose() const;
  void run_group(lane_set group);
  void set_base(std::uint32_t base);
  [[nodiscard]] std::uint32_t next_stop(lane_set others, std::uint32_t pc, std::uint32_t base) const;
  [[nodiscard]] lane_set guarded(instruction const& i, lane_set m) const;
  /// Each returns whether the whole group goes on together at pc.
  bool control(instruction const& i, lane_set m, std::uint32_t& pc);
  bool indexed_branch(instruction const& i, lane_set m);
  bool call(instruction const& i, lane_set m);
  void enter(call_site const& site, instruction const& i, std::uint32_t callee, lane_set m);
  [[nodiscard]] std::string without_body(call_site const& site, std::string_view name, int lane) const;
  bool leave(lane_set m);
  void end(lane_set m);
  bool meet(instruction const& i, lane_set m);
  bool try_meeting(instruction const& i, lane_set arriving, lane_set members);
  void meet_again();
  void move_lanes(lane_set m, std::uint32_t pc);
  void write_lane(int lane, operand const& o, std::uint64_t value);
  void copy_frame(std::vector<frame_bytes> const& from, std::uint32_t from_base, std::vector<frame_bytes> const& to,
                  std::uint32_t to_base, lane_set m, instruction const& i);

  block* home_;
  instruction const* code_;
  std::uint64_t* counts_;
  std::uint32_t index_;
  lane_set existing_, ended_ = 0, ready_ = 0, meeting_ = 0, at_barrier_ = 0, deferred_ = 0, group_ = 0;
  std::int64_t fuel_ = 0, fuel_of_group_ = 0, patience_ = 0;
  std::uint32_t base_ = 0;
  std::uint64_t* values_[3];
  byte_set* defined_[3];
  lane_set undefined_ = 0;  // of the operands used since the last result
  std::uint32_t pc_[32] = {}, bases_[32] = {}, depth_[32] = {};
  std::uint32_t members_[32] = {};
  std::vector<call_frame> calls_[32];
  std::uint32_t function_[32] = {};
  register_file registers_;
  columns special_;
  std::unique_ptr<async_copies> async_{};
};

inline lane_set warp::undefined_lanes(operand const& o, lane_set m, unsigned bytes) const {
  if (o.where != place::frame) { return 0; }
  byte_set const* const d = defined(o);
  std::uint64_t w[8];
  std::memcpy(w, d, sizeof w);
  std::uint64_t const wanted = bytes * 0x0001000100010001u;
  if ((w[0] & w[1] & w[2] & w[3] & w[4] & w[5] & w[6] & w[7] & wanted) == wanted) { return 0; }
  lane_set undefined = 0;
  for (lane_set rest = m; rest != 0; rest &= rest - 1) {
    int const l = __builtin_ctz(rest);
    undefined |= (d[l] & bytes) != bytes ? 1u << l : 0u;
  }
  return undefined;
}

}  // namespace ptx
