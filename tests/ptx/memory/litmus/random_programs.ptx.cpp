// SPDX-License-Identifier: Apache-2.0
// Random programs against a race detector that is as simple as can be: a full vector clock for every thread, and every
// access that ever was. Both must find the first race at the same
// access.
#include <algorithm>
#include <array>
#include <map>

#include "block.hpp"
#include "catch.hpp"
#include "support/data.hpp"

using namespace litmus;

namespace {

constexpr unsigned blocks = 3, threads = 40, all = blocks * threads;  // the second warp has 8 lanes
using clocks = std::array<unsigned, all>;

void join(clocks& a, clocks const& b) {
  for (unsigned i = 0; i < all; ++i) { a[i] = std::max(a[i], b[i]); }
}

class simple_detector {
 public:
  simple_detector() {
    for (unsigned t = 0; t < all; ++t) { now_[t][t] = 1; }
  }

  /// Whether the access races with an earlier one: one that is not ordered before it, nor a strong write that somebody
  /// saw before it, nor, for a write, a read known to be over. `latest`: of each thread, only its last look counts.
  bool races(unsigned t, std::uint64_t at, unsigned bytes, bool writes, bool strong, bool latest) {
    for (std::uint64_t byte = at; byte < at + bytes; ++byte) {
      for (auto const& a : history_[byte]) {
        bool const over = !a.writes && !a.strong && over_[t][a.thread] >= a.clock;
        bool const ordered = before(t, a) || over || (a.strong && a.writes && seen(t, history_[byte], &a, latest));
        if ((a.writes || writes) && !(a.strong && strong) && !ordered) { return true; }
      }
    }
    return false;
  }

  void access(unsigned t, std::uint64_t at, unsigned bytes, bool writes, bool strong, bool atomic) {
    for (std::uint64_t byte = at; byte < at + bytes; ++byte) {
      if (writes && !strong) { history_[byte].clear(); }  // who is ordered behind it is ordered behind all before
      history_[byte].push_back({t, now_[t][t], writes, strong, atomic});
    }
  }

  void meet(std::vector<unsigned> const& who, std::vector<unsigned> const& waiting, bool barrier) {
    clocks together{}, over{};
    for (unsigned const t : who) {
      join(together, now_[t]);
      if (barrier) { join(together, at_barrier_[t]); }
      join(over, over_[t]);
    }
    for (unsigned const t : waiting) {
      join(now_[t], together);
      join(over_[t], over);
    }
    for (unsigned const t : who) { ++now_[t][t]; }
  }

  void fence(unsigned t, bool wide) {
    join(now_[t], seen_near_[t]);
    if (wide) { join(now_[t], seen_far_[t]); }
    fenced_near_[t] = now_[t];
    if (wide) { fenced_far_[t] = now_[t]; }
    ++now_[t][t];
  }

  void strong_write(unsigned t, std::uint64_t at, bool releases, bool keeps) {
    released out{fenced_near_[t], fenced_far_[t], t / threads, {}};
    if (releases) {
      join(out.near, now_[t]);
      join(out.far, now_[t]);
    }
    if (keeps) {
      auto const& old = released_[at];
      join(out.near, old.block == out.block ? old.near : old.far);
      join(out.far, old.far);
      out.over = old.over;
    } else {
      out.over = now_[t];
      join(out.over, over_[t]);
    }
    if (releases || !keeps) { ++now_[t][t]; }
    released_[at] = out;
  }

  void strong_read(unsigned t, std::uint64_t at, bool acquires, bool atomic) {
    auto const& r = released_[at];
    bool const near = r.block == t / threads;
    join(acquires ? now_[t] : near ? seen_near_[t] : seen_far_[t], near ? r.near : r.far);
    if (atomic) { join(at_barrier_[t], near ? r.near : r.far); }
    join(over_[t], r.over);
  }

 private:
  struct one {
    unsigned thread, clock;
    bool writes, strong, atomic;
  };
  struct released {
    clocks near{}, far{};
    unsigned block = 0;
    clocks over{};
  };
  bool before(unsigned t, one const& a) const { return now_[t][a.thread] >= a.clock; }
  /// Whether the strong write was seen, through atomics perhaps, by a strong read that is ordered before what t does now.
  bool seen(unsigned t, std::vector<one> const& history, one const* write, bool latest) const {
    one const* const end = history.data() + history.size();
    for (one const* a = write + 1; a != end; ++a) {
      if (!a->strong) { continue; }
      auto const again = [&](one const& later) { return later.strong && later.thread == a->thread; };
      if ((a->atomic || !a->writes) && before(t, *a) && !(latest && std::any_of(a + 1, end, again))) { return true; }
      if (a->writes && !a->atomic) { return false; }
    }
    return false;
  }

  std::array<clocks, all> now_{}, fenced_near_{}, fenced_far_{}, seen_near_{}, seen_far_{}, at_barrier_{}, over_{};
  std::map<std::uint64_t, std::vector<one>> history_;
  std::map<std::uint64_t, released> released_;
};

/// One random event in both; false after a race. `words` are few, so that threads meet there; `calm` makes races rarer.
class race {
 public:
  explicit race(std::uint64_t seed) : random_(seed), launch_(blocks, threads), words_(launch_.words(word_count)) {
    calm_ = static_cast<unsigned>(random_.next() % 4);
  }

  /// False when something was found. Checks that both agree.
  bool step() {
    // A few threads of each warp, so that they meet often.
    unsigned const t = pick(blocks) * threads + (pick(2) == 0 ? 32 : 0) + pick(3), event = pick(12 + 4 * calm_);
    if (ended_[t]) { return true; }
    if (pick(100) == 0) { return end(t), true; }
    if (event < 5) { return access(t, pick(4) == 0, pick(3) == 0 ? 1 : pick(3) == 0 ? 8 : 4, false); }
    if (event < 9) { return access(t, pick(2) == 0, 4, true); }
    if (event == 9) { return fence(t), true; }
    if (event == 10) { return some_lanes(t), true; }
    if (event == 11) { return some_warps(t / threads), true; }
    return pick(3) == 0 ? some_lanes(t) : barrier(t / threads), true;
  }

  int accesses = 0;

 private:
  static constexpr unsigned word_count = 6;
  unsigned pick(unsigned n) { return static_cast<unsigned>(random_.next() % n); }

  bool access(unsigned t, bool writes, unsigned bytes, bool strong) {
    // Words 0 to 3 are for plain accesses, mostly; the last two for flags.
    std::uint64_t const word = strong != (pick(8) == 0) ? 4 + pick(2) : pick(4);
    std::uint64_t const at = words_ + (bytes == 8 ? word / 2 * 8 : 4 * word + (bytes == 1 ? pick(4) : 0));
    bool const atomic = strong && pick(2) == 0, orders = strong && pick(2) == 0;
    bool const right = !model_.races(t, at, bytes, writes || atomic, strong, false);
    // The race check need not remember what a thread saw before it looked again.
    if (right && model_.races(t, at, bytes, writes || atomic, strong, true)) { return true; }
    if (!right && pick(40) != 0) { return true; }  // most programs should go on for long
    order const o = !strong   ? order::weak
                    : !orders ? order::relaxed
                    : atomic  ? order::acq_rel
                    : writes  ? order::release
                              : order::acquire;
    auto const got = found([&] {
      if (atomic) {
        launch_.add(t, at, o);
      } else if (writes) {
        launch_.write(t, at, 1, o, space::global, scope::device, static_cast<std::uint8_t>(bytes));
      } else {
        launch_.read(t, at, o, space::global, scope::device, static_cast<std::uint8_t>(bytes));
      }
    });
    CHECK(got.has_value() == !right);
    if (got || !right) { return false; }
    ++accesses;
    model_.access(t, at, bytes, writes || atomic, strong, atomic);
    if (strong && (atomic || !writes)) { model_.strong_read(t, at, orders, atomic); }
    if (strong && (atomic || writes)) { model_.strong_write(t, at, orders, atomic); }
    return true;
  }

  void fence(unsigned t) {
    bool const wide = pick(3) != 0;
    launch_.fence(t, wide ? scope::device : scope::block);
    model_.fence(t, wide);
  }

  void end(unsigned t) {
    ended_[t] = true;
    launch_.block(t / threads).ended(t % threads / 32, 1u << t % threads % 32);
  }

  void some_lanes(unsigned t) {
    unsigned const warp = t % threads / 32, lanes = warp == 0 ? 32 : threads - 32;
    std::uint32_t every = 0;
    for (unsigned i = 0; i < lanes; ++i) {
      every |= static_cast<std::uint32_t>(!ended_[t / threads * threads + warp * 32 + i]) << i;
    }
    std::uint32_t const mask = pick(3) == 0 ? every : every & static_cast<std::uint32_t>(random_.next());
    std::vector<unsigned> who;
    for (unsigned i = 0; i < lanes; ++i) {
      if ((mask >> i & 1) != 0) { who.push_back(t / threads * threads + warp * 32 + i); }
    }
    launch_.block(t / threads).warp_sync(warp, mask);
    model_.meet(who, who, false);
  }

  void barrier(unsigned block) {
    std::vector<unsigned> who;
    for (unsigned i = 0; i < threads; ++i) {
      if (!ended_[block * threads + i]) { who.push_back(block * threads + i); }
    }
    launch_.block(block).barrier();
    model_.meet(who, who, true);
  }

  void some_warps(unsigned block) {
    std::vector<std::uint32_t> arrived(2), waited(2);
    std::vector<unsigned> come, wait;
    for (unsigned i = 0; i < threads; ++i) {
      bool const comes = pick(4) != 0 && !ended_[block * threads + i], waits = comes && pick(4) != 0;
      arrived[i / 32] |= static_cast<std::uint32_t>(comes) << i % 32;
      waited[i / 32] |= static_cast<std::uint32_t>(waits) << i % 32;
      if (comes) { come.push_back(block * threads + i); }
      if (waits) { wait.push_back(block * threads + i); }
    }
    launch_.block(block).barrier(arrived, waited);
    model_.meet(come, wait, true);
  }

  test::random_numbers random_;
  launch launch_;
  std::uint64_t words_;
  simple_detector model_;
  unsigned calm_ = 0;
  std::array<bool, all> ended_{};
};

}  // namespace

TEST_CASE("the race check agrees with full vector clocks") {
#ifdef FP4_TEST_QUICK
  constexpr std::uint64_t programs = 50;
#else
  constexpr std::uint64_t programs = 1000;
#endif
  int accesses = 0, races = 0;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    CAPTURE(seed);
    race r(seed);
    int i = 0;
    while (i < 600 && r.step()) { ++i; }
    accesses += r.accesses;
    races += i < 600;
  }
  CHECK(races > static_cast<int>(programs / 4));
  CHECK(accesses > 20 * static_cast<int>(programs));  // long enough for what was learned to matter
}
