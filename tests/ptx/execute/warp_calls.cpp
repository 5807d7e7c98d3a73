// SPDX-License-Identifier: Apache-2.0
//
// Calls, returns, the end of lanes, and where lanes of a warp meet.
#include <cstdio>

#include "execute/block.hpp"
#include "execute/warp.hpp"

namespace ptx {
namespace {

constexpr std::size_t deepest_call = 4096;
constexpr std::uint64_t frame_gap = 16;  ///< bytes of local memory between frames, so that overruns are seen

}  // namespace

bool warp::call(instruction const& i, lane_set m) {
  program const& code = home_->launch().code;
  call_site const& site = code.calls[i.target];
  if (site.callee >= 0) {
    enter(site, i, static_cast<std::uint32_t>(site.callee), m);
    return false;
  }
  require(i, 0, m, 0xFF);
  for (lane_set rest = m; rest != 0;) {
    std::uint64_t const address = values(i.operands[0])[__builtin_ctz(rest)];
    lane_set same = 0;
    each_lane(rest, [&](int l) { same |= values(i.operands[0])[l] == address ? 1u << l : 0; });
    rest &= ~same;
    std::uint64_t const number = (address - code_window) / 16;
    if (address < code_window || number >= code.functions.size()) {
      fail(i, __builtin_ctz(same), problem::trap, "call of an address that is no function");
    }
    enter(site, i, static_cast<std::uint32_t>(number), same);
  }
  return false;
}

void warp::enter(call_site const& site, instruction const& i, std::uint32_t callee, lane_set m) {
  program const& code = home_->launch().code;
  function_code const& f = code.functions[callee];
  int const first = __builtin_ctz(m);
  if (!f.defined) { fail(i, first, problem::trap, without_body(site, f.name, first)); }
  if (!f.refused.empty()) { fail(i, first, problem::trap, "call of " + std::string(f.name) + ": " + f.refused); }
  if (f.parameters.size() != site.arguments.size() || f.results.size() != site.results.size()) {
    fail(i, first, problem::trap, "call of " + std::string(f.name) + " with other parameters than it has");
  }
  if (calls_[first].size() >= deepest_call) { fail(i, first, problem::trap, "calls nest too deeply"); }
  function_code const& caller = code.functions[function_[first]];
  std::uint32_t const base = base_ + caller.frame_slots;
  std::size_t const end = (std::size_t{base} + f.frame_slots) * 32;
  if (registers_.values.size() < end) {
    registers_.values.resize(end);
    registers_.defined.resize(end);
    set_base(base_);
  }
  each_lane(m, [&](int l) {
    std::uint64_t const local = values_[0][local_base_slot * 32 + l];
    for (std::size_t slot = base; slot < base + f.frame_slots; ++slot) { registers_.defined[slot * 32 + l] = 0; }
    calls_[l].push_back({pc_[l], base_, function_[l]});
    std::size_t const at = (std::size_t{base} + local_base_slot) * 32 + static_cast<std::size_t>(l);
    std::uint64_t const gap = caller.local_bytes != 0 ? frame_gap : 0;
    registers_.values[at] = (local + caller.local_bytes + gap + 15) / 16 * 16;
    registers_.defined[at] = 0xFF;
    if (!home_->memory().open_frame(thread_of(l), registers_.values[at], f.local_bytes)) {
      fail(i, l, problem::out_of_bounds, "calls take more local memory than there is");
    }
    pc_[l] = f.begin, function_[l] = callee, bases_[l] = base;
    ++depth_[l];
  });
  copy_frame(site.arguments, base_, f.parameters, base, m, i);
}

/// Why a call ends the launch: of a function that the device's own library has, or of one that nobody has.
std::string warp::without_body(call_site const& site, std::string_view name, int lane) const {
  if (name == "vprintf") { return "device printf is not supported"; }
  if (name == "malloc" || name == "free") { return "device " + std::string(name) + " is not supported"; }
  if (name != "__assertfail" || site.arguments.size() < 4) {
    return "call of " + readable(std::string(name)) + ", which has no body here";
  }
  auto const argument = [&](std::size_t k) {
    frame_bytes const& a = site.arguments[k];
    std::uint64_t const* const from = a.constant ? values_[1] : values_[0];
    return from[a.slot * 32u + static_cast<std::uint32_t>(lane)];
  };
  auto const text = [&](std::size_t k) {
    std::string s;
    ptx::memory const& m = home_->launch().memory.device;
    for (std::uint64_t at = argument(k); m.contains(at, 1); ++at) {
      char c = 0;
      m.copy_out(&c, at, 1);
      if (c == 0) { break; }
      s += c;
    }
    return s;
  };
  return "assertion failed: " + text(0) + ", " + text(1) + ":" + std::to_string(argument(2) & 0xFFFFFFFFu) + ", in " +
         text(3);
}

/// ret: of a kernel it ends the lanes, of a function it brings the results back.
bool warp::leave(lane_set m) {
  program const& code = home_->launch().code;
  lane_set done = 0;
  each_lane(m, [&](int l) {
    if (calls_[l].empty()) {
      done |= 1u << l;
      return;
    }
    call_frame const back = calls_[l].back();
    calls_[l].pop_back();
    std::size_t const local = (std::size_t{bases_[l]} + local_base_slot) * 32 + static_cast<std::size_t>(l);
    home_->memory().close_frame(thread_of(l), registers_.values[local], code.functions[function_[l]].local_bytes);
    instruction const& site = code_[back.return_pc];
    copy_frame(code.functions[function_[l]].results, bases_[l], code.calls[site.target].results, back.base, 1u << l,
               site);
    pc_[l] = back.return_pc + 1, bases_[l] = back.base, function_[l] = back.function;
    --depth_[l];
  });
  if (done != 0) { end(done); }
  return false;
}

void warp::copy_frame(std::vector<frame_bytes> const& from, std::uint32_t from_base, std::vector<frame_bytes> const& to,
                      std::uint32_t to_base, lane_set m, instruction const& i) {
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (from[k].constant) {
      operand const number{place::constant, 8, from[k].slot, 0};
      std::size_t const b = (std::size_t{to_base} + to[k].slot) * 32;
      std::uint64_t const mask = to[k].bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * to[k].bytes)) - 1;
      each_lane(m, [&](int l) {
        registers_.values[b + static_cast<std::size_t>(l)] = values(number)[0] & mask;
        registers_.defined[b + static_cast<std::size_t>(l)] = all_bytes_defined;
      });
      continue;
    }
    if (from[k].bytes != to[k].bytes) {
      fail(i, __builtin_ctz(m), problem::trap, "parameter " + std::to_string(k) + " has another size in the function");
    }
    for (std::uint32_t s = 0; s < (from[k].bytes + 7) / 8; ++s) {
      std::size_t const a = (std::size_t{from_base} + from[k].slot + s) * 32;
      std::size_t const b = (std::size_t{to_base} + to[k].slot + s) * 32;
      each_lane(m, [&](int l) {
        registers_.values[b + static_cast<std::size_t>(l)] = registers_.values[a + static_cast<std::size_t>(l)];
        registers_.defined[b + static_cast<std::size_t>(l)] = registers_.defined[a + static_cast<std::size_t>(l)];
      });
    }
  }
}

void warp::end(lane_set m) {
  ended_ |= m;
  ready_ &= ~m;
  home_->memory().ended(index_, m);
  if (meeting_ != 0) { meet_again(); }
  home_->lanes_ended();
}

/// Lanes come to an instruction that a set of lanes executes together: the last operand names them, or it is the whole
/// warp. Whether all of `m` may go on.
bool warp::meet(instruction const& i, lane_set m) {
  bool const whole_warp = i.target != 0;
  std::uint64_t const* members = nullptr;
  if (!whole_warp) {
    int const last = i.count - 1;
    require(i, last, m, 0x0F);
    members = values(i.operands[last]);
  }
  bool all = true;
  for (lane_set rest = m; rest != 0;) {
    auto const named = whole_warp ? existing_ : static_cast<lane_set>(members[__builtin_ctz(rest)]);
    lane_set same = 0;
    each_lane(rest, [&](int l) { same |= whole_warp || static_cast<lane_set>(members[l]) == named ? 1u << l : 0; });
    rest &= ~same;
    if ((same & ~named) != 0) {
      fail(i, __builtin_ctz(same & ~named), problem::barrier, "the membermask does not name the thread itself");
    }
    all = try_meeting(i, same, named) && all;
  }
  return all;
}

bool warp::try_meeting(instruction const& i, lane_set arriving, lane_set members) {
  int const first = __builtin_ctz(arriving);
  lane_set have = arriving;
  each_lane(meeting_ & members, [&](int l) {
    bool const same = pc_[l] == pc_[first] && bases_[l] == bases_[first] && members_[l] == members;
    bool const plain_sync = i.run == nullptr && code_[pc_[l]].run == nullptr && code_[pc_[l]].how == flow::meet;
    if (same || (plain_sync && members_[l] == members)) { have |= 1u << l; }
  });
  if ((members & existing_ & ended_) != 0) {
    char mask[16];
    std::snprintf(mask, sizeof mask, "0x%08x", members & existing_ & ended_);
    fail(i, first, problem::barrier, std::string("lanes ") + mask + " of the membermask ended without coming here");
  }
  if ((members & existing_ & ~have) != 0) {
    meeting_ |= arriving;
    ready_ &= ~arriving;
    each_lane(arriving, [&](int l) { members_[l] = members; });
    return false;
  }
  if (i.run != nullptr) { i.run(*this, i, have); }
  home_->memory().warp_sync(index_, have);
  meeting_ &= ~have;
  ready_ |= have;
  each_lane(have, [&](int l) { ++pc_[l]; });
  return have == arriving;
}

/// Lanes ended, and others may have waited for them.
void warp::meet_again() {
  for (lane_set rest = meeting_; rest != 0;) {
    int const first = __builtin_ctz(rest);
    lane_set same = 0;
    each_lane(rest, [&](int l) {
      same |= pc_[l] == pc_[first] && bases_[l] == bases_[first] && members_[l] == members_[first] ? 1u << l : 0;
    });
    rest &= ~same;
    set_base(bases_[first]);
    try_meeting(code_[pc_[first]], same, members_[first]);
  }
}

}  // namespace ptx
