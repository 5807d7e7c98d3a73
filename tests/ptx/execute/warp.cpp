// SPDX-License-Identifier: Apache-2.0
#include "execute/warp.hpp"

#include <algorithm>
#include <cstdio>

#include "execute/block.hpp"
#include "execute/special_values.hpp"

namespace ptx {
namespace {

/// A group that runs this long while others of its warp are ready lets them go first: it may be waiting for them.
constexpr std::int64_t patience = 10000;

/// Registers of a warp that ended, or new ones; all undefined.
register_file take_registers(launch_state& launch, std::size_t slots) {
  register_file r;
  if (!launch.idle.empty()) {
    r = std::move(launch.idle.back());
    launch.idle.pop_back();
  }
  r.values.resize(std::max(r.values.size(), slots * 32));
  r.defined.assign(r.values.size(), 0);
  return r;
}

}  // namespace

warp::warp(block& home, std::uint32_t index, lane_set existing, function_code const& kernel)
    : home_(&home),
      code_(home.launch().code.code.data()),
      counts_(home.launch().counts.data()),
      index_(index),
      existing_(existing),
      ready_(existing),
      registers_(take_registers(home.launch(), kernel.frame_slots)),
      special_(special_values(home, index)) {
  auto const number = static_cast<std::uint32_t>(&kernel - home.launch().code.functions.data());
  for (int l = 0; l < warp_size; ++l) { pc_[l] = kernel.begin, function_[l] = number; }
  std::fill_n(registers_.defined.begin() + local_base_slot * 32, 32, all_bytes_defined);
  program const& code = home.launch().code;
  values_[1] = const_cast<std::uint64_t*>(code.constants.values.data());
  defined_[1] = const_cast<byte_set*>(code.constants.defined.data());
}

void warp::set_base(std::uint32_t base) {
  base_ = base;
  values_[0] = registers_.values.data() + std::size_t{base} * 32;
  defined_[0] = registers_.defined.data() + std::size_t{base} * 32;
  values_[2] = special_.values.data();
  defined_[2] = special_.defined.data();
}

warp::outcome warp::run(std::int64_t fuel) {
  fuel_ = fuel;
  while (ready_ != 0) {
    if (fuel_ <= 0) { return outcome::yielded; }
    run_group(choose());
  }
  return alive() == 0 ? outcome::ended : outcome::blocked;
}

/// Of the ready lanes, those in the deepest call, then at the smallest pc: they come to the others.
lane_set warp::choose() const {
  lane_set const candidates = (ready_ & ~deferred_) != 0 ? ready_ & ~deferred_ : ready_;
  int best = __builtin_ctz(candidates);
  lane_set same = 0;
  for (lane_set rest = candidates; rest != 0; rest &= rest - 1) {
    int const l = __builtin_ctz(rest);
    bool const equal = pc_[l] == pc_[best] && bases_[l] == bases_[best] && depth_[l] == depth_[best];
    if (equal) {
      same |= 1u << l;
    } else if (depth_[l] > depth_[best] || (depth_[l] == depth_[best] && pc_[l] < pc_[best])) {
      best = l;
      same = 1u << l;
    }
  }
  return same;
}

/// The next place, after pc, where other lanes stand that this group could join.
std::uint32_t warp::next_stop(lane_set others, std::uint32_t pc, std::uint32_t base) const {
  std::uint32_t stop = ~0u;
  for (lane_set rest = others; rest != 0; rest &= rest - 1) {
    int const l = __builtin_ctz(rest);
    if (bases_[l] == base && pc_[l] > pc && pc_[l] < stop) { stop = pc_[l]; }
  }
  return stop;
}

void warp::run_group(lane_set group) {
  group_ = group;
  if ((ready_ & ~deferred_) == 0) { deferred_ = 0; }
  int const first = __builtin_ctz(group);
  std::uint32_t pc = pc_[first];
  std::uint32_t const others = ready_ & ~group;
  set_base(bases_[first]);
  std::uint32_t const stop = others == 0 ? ~0u : next_stop(others, pc, base_);
  fuel_of_group_ = fuel_;
  if (others == 0) { patience_ = patience; }
  std::int64_t const enough = others == 0 ? 0 : std::max<std::int64_t>(0, fuel_ - patience_);
  std::uint64_t executed = 0;
  auto const size = static_cast<std::uint64_t>(__builtin_popcount(group));
  for (;;) {
    instruction const& i = code_[pc];
    lane_set const m = i.guard < 0 ? group : guarded(i, group);
    counts_[pc] += size;
    ++executed;
    fuel_ -= i.step_cost;
    if (i.how == flow::next) {
      if (m != 0) { i.run(*this, i, m); }
      ++pc;
    } else if (i.how == flow::branch && (m == group || m == 0)) {
      pc = m != 0 ? i.target : pc + 1;
    } else {
      move_lanes(group, pc);
      if (!control(i, m, pc)) { break; }
    }
    if (pc >= stop || fuel_ <= enough) {
      move_lanes(group, pc);
      break;
    }
  }
  launch_state& launch = home_->launch();
  launch.warp_instructions += executed;
  launch.ticks += spent();
  patience_ -= fuel_of_group_ - fuel_;
  fuel_of_group_ = fuel_;
  if (others != 0 && patience_ <= 0) {
    deferred_ |= group;
    patience_ = patience;
  }
}

lane_set warp::guarded(instruction const& i, lane_set m) const {
  std::uint64_t const* const p = values_[0] + static_cast<std::size_t>(i.guard) * 32;
  byte_set const* const d = defined_[0] + static_cast<std::size_t>(i.guard) * 32;
  lane_set chosen = 0, written = 0;
  for (int l = 0; l < warp_size; ++l) {
    chosen |= static_cast<lane_set>(p[l] & 1) << l;
    written |= static_cast<lane_set>(d[l] & 1) << l;
  }
  if ((m & ~written) != 0) {
    fail(i, __builtin_ctz(m & ~written), problem::undefined, "the guard predicate was never written");
  }
  return m & (i.guard_negated ? ~chosen : chosen);
}

void warp::move_lanes(lane_set m, std::uint32_t pc) {
  each_lane(m, [&](int l) { pc_[l] = pc; });
}

/// Everything that does not simply go on to the next instruction. The group's lanes stand at pc.
bool warp::control(instruction const& i, lane_set m, std::uint32_t& pc) {
  if (m != group_) { move_lanes(group_ & ~m, pc + 1); }
  bool together = m == group_;
  if (m == 0) {
    ++pc;
    return true;
  }
  switch (i.how) {
    case flow::branch:
      move_lanes(m, i.target);
      if (together) { pc = i.target; }
      return together;
    case flow::indexed: return indexed_branch(i, m);
    case flow::call: return call(i, m);
    case flow::leave: return leave(m);
    case flow::exit: end(m); return false;
    case flow::barrier: i.run(*this, i, m); return false;
    case flow::meet: together = meet(i, m) && together; break;
    case flow::next: break;
  }
  if (together) { ++pc; }
  return together;
}

bool warp::indexed_branch(instruction const& i, lane_set m) {
  require(i, 0, m, 0x0F);
  std::vector<std::uint32_t> const& list = home_->launch().code.targets[i.target];
  each_lane(m, [&](int l) {
    std::uint64_t const k = values(i.operands[0])[l] & 0xFFFFFFFFu;
    if (k >= list.size()) { fail(i, l, problem::trap, "brx.idx with index " + std::to_string(k)); }
    pc_[l] = list[k];
  });
  return false;
}

std::uint32_t warp::number_of(instruction const& i) const { return static_cast<std::uint32_t>(&i - code_); }

void warp::fail(instruction const& i, int lane, problem kind, std::string const& what) const {
  finding f;
  f.kind = kind;
  f.message = what;
  f.block = static_cast<std::uint32_t>(home_->index());
  f.thread = thread_of(lane);
  f.instruction = number_of(i);
  throw fault(f);
}

void warp::undefined_operand(instruction const& i, int operand_index, int lane) const {
  operand const& o = i.operands[operand_index];
  auto const& names = home_->launch().code.functions[function_[lane]].register_names;
  std::string const name = o.slot < names.size() ? names[o.slot] : std::string();
  fail(i, lane, problem::undefined, "register " + name + " holds bytes that nobody has written");
}

void warp::finish_barrier(lane_set m, std::uint32_t votes, std::uint32_t count) {
  at_barrier_ &= ~m;
  ready_ |= m;
  each_lane(m, [&](int l) {
    instruction const& i = code_[pc_[l]++];
    if (i.count <= 2) { return; }  // bar.red has a destination: 1 popc, 2 and, 3 or
    std::uint64_t const result = i.with.combine == 1 ? votes : i.with.combine == 2 ? votes == count : votes != 0;
    write_lane(l, i.operands[0], result);
  });
}

void warp::write_lane(int lane, operand const& o, std::uint64_t value) {
  std::size_t const at = (std::size_t{bases_[lane]} + o.slot) * 32 + static_cast<std::size_t>(lane);
  registers_.values[at] = value;
  registers_.defined[at] = 0xFF;
}

std::string warp::where_lanes_wait() const {
  std::string text;
  program const& code = home_->launch().code;
  for (lane_set rest = alive(); rest != 0;) {
    std::uint32_t const pc = pc_[__builtin_ctz(rest)];
    lane_set same = 0;
    each_lane(rest, [&](int l) { same |= pc_[l] == pc ? 1u << l : 0; });
    rest &= ~same;
    char mask[16];
    std::snprintf(mask, sizeof mask, "0x%08x", same);
    text += "\n  warp " + std::to_string(index_) + ", lanes " + mask + " are at PTX line " +
            std::to_string(code.origins[pc].line) + ": " + std::string(code.origins[pc].text);
  }
  return text;
}

int warp::first_waiting_lane() const { return alive() == 0 ? -1 : __builtin_ctz(alive()); }

}  // namespace ptx
