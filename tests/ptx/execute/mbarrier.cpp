// SPDX-License-Identifier: Apache-2.0
//
// mbarrier: barriers that are objects of 64 bits in shared memory. Without transactions, which only TMA would complete.
#include "execute/access.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

constexpr std::uint64_t most = (1u << 20) - 1;  ///< arrivals

/// What PTX leaves open: how an object, and the state that an arrival returns, looks like.
struct barrier_object {
  std::uint64_t pending = 0;   ///< arrivals until the phase is complete
  std::uint64_t expected = 0;  ///< of the next phase
  std::uint64_t phase = 0;

  static barrier_object read(std::uint64_t bits) { return {bits & most, bits >> 20 & most, bits >> 40}; }
  [[nodiscard]] std::uint64_t bits() const { return pending | expected << 20 | phase << 40; }
};

enum arrival : std::uint8_t { completes = 1, drops = 2, relaxed = 4 };

/// [a], count: a plain write, which a barrier must order before the others' first arrival.
void initialise(warp& w, instruction const& i, lane_set m) {
  w.require(i, 1, m, 0x0F);
  request const r = make_request(w, i, 0, m, 8);
  w.home().memory().store(w.index(), r, [&](unsigned lane, std::byte* at) {
    std::uint64_t const count = w.values(i.operands[1])[lane] & 0xFFFFFFFFu;
    if (count == 0 || count > most) {
      w.fail(i, static_cast<int>(lane), problem::barrier, "an mbarrier of " + std::to_string(count) + " arrivals");
    }
    std::uint64_t const bits = barrier_object{count, count, 0}.bits();
    std::memcpy(at, &bits, sizeof bits);
    return all_bytes(8);
  });
}

/// [a]: what is there afterwards is nobody's.
void invalidate(warp& w, instruction const& i, lane_set m) {
  w.home().memory().store(w.index(), make_request(w, i, 0, m, 8), [](unsigned, std::byte*) { return 0u; });
}

/// state, [a], count. The last arrival of a phase begins the next one.
void arrive(warp& w, instruction const& i, lane_set m) {
  w.require(i, 2, m, 0x0F);
  request const r = make_request(w, i, 1, m, 8);
  block_memory& memory = w.home().memory();
  memory.atomic(w.index(), r, false, [&](unsigned lane, std::byte* at, std::uint32_t) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    w.destination(i.operands[0])[lane] = bits;
    auto b = barrier_object::read(bits);
    std::uint64_t const count = w.values(i.operands[2])[lane] & 0xFFFFFFFFu;
    bool const may_complete = (i.with.mode & completes) != 0;
    if (count == 0 || count > b.pending || (count == b.pending && !may_complete)) {
      w.fail(i, static_cast<int>(lane), problem::barrier,
             std::to_string(count) + " arrivals at an mbarrier that waits for " + std::to_string(b.pending));
    }
    if ((i.with.mode & relaxed) == 0) { memory.release_phase(w.index(), lane, r.address[lane], b.phase & 1); }
    b.pending -= count;
    if ((i.with.mode & drops) != 0) { b.expected -= count; }
    if (b.pending == 0) {
      ++b.phase;
      b.pending = b.expected;
      memory.forget_phase(r.address[lane], b.phase & 1);
    }
    bits = b.bits();
    std::memcpy(at, &bits, sizeof bits);
  });
  w.set_defined(i.operands[0], m);
}

/// p, [a], state or parity: whether that phase is complete. mode: 1 parity, 2 relaxed
void test(warp& w, instruction const& i, lane_set m) {
  w.require(i, 2, m, bytes_mask(i.operands[2].bytes));
  request const r = make_request(w, i, 1, m, 8);
  block_memory& memory = w.home().memory();
  memory.load(w.index(), r, [&](unsigned lane, std::byte const* at, std::uint32_t defined) {
    if (defined != all_bytes(8)) { w.fail(i, static_cast<int>(lane), problem::undefined, "there is no mbarrier"); }
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    std::uint64_t const asked = w.values(i.operands[2])[lane];
    std::uint64_t const parity = (i.with.mode & 1) != 0 ? asked & 1 : barrier_object::read(asked).phase & 1;
    bool const complete = (barrier_object::read(bits).phase & 1) != parity;
    if (complete && (i.with.mode & 2) == 0) { memory.acquire_phase(w.index(), lane, r.address[lane], parity); }
    w.destination(i.operands[0])[lane] = complete ? 1 : 0;
  });
  w.set_defined(i.operands[0], m);
}

/// d, state: how many arrivals the state's phase still waited for.
void count_pending(warp& w, instruction const& i, lane_set m) {
  w.use(i, 1, m, 0xFF);
  each_lane(m,
            [&](int l) { w.destination(i.operands[0])[l] = barrier_object::read(w.values(i.operands[1])[l]).pending; });
  w.set_result(i.operands[0], m);
}

void take_place(form& f) {
  modifiers& with = f.out.with;
  f.take_one(access_scopes, with.reach);
  f.take_one(access_spaces, with.where);
  if (with.where != space::shared && with.where != space::generic) { f.fail("an mbarrier is in shared memory"); }
  if (f.take_type() != type::b64) { f.fail("not for this type"); }
}

void build_arrival(form& f, bool drop) {
  bool const no_complete = f.take("noComplete"), is_relaxed = f.take("relaxed");
  f.take("release");
  take_place(f);
  f.out.with.ordering = order::relaxed;
  f.out.with.mode =
      static_cast<std::uint8_t>((no_complete ? 0 : completes) | (drop ? drops : 0) | (is_relaxed ? relaxed : 0));
  f.destination(type::b64);
  f.address();
  f.operands_left() != 0 ? f.source(type::b32) : f.number(1);
  f.out.run = arrive;
}

void build_mbarrier(form& f) {
  bool const drop = f.take("arrive_drop");
  if (drop || f.take("arrive")) { return build_arrival(f, drop); }
  if (f.take("pending_count")) {
    return f.complete(f.take_type() == type::b64 ? count_pending : nullptr, type::b32, {type::b64});
  }
  bool const init = f.take("init");
  if (init || f.take("inval")) {
    take_place(f);
    f.address();
    if (init) { f.source(type::b32); }
    f.out.run = init ? initialise : invalidate;
    return;
  }
  bool const tries = f.take("try_wait");
  if (!tries && !f.take("test_wait")) { f.fail("not supported"); }
  bool const parity = f.take("parity"), is_relaxed = f.take("relaxed");
  f.take("acquire");
  take_place(f);
  f.out.with.ordering = order::relaxed;
  f.out.with.mode = static_cast<std::uint8_t>((parity ? 1 : 0) | (is_relaxed ? 2 : 0));
  f.out.step_cost = polling_cost;
  f.destination(type::pred);
  f.address();
  f.source(parity ? type::b32 : type::b64);
  if (tries && f.operands_left() != 0) { f.skip(); }  // how long to wait
  f.out.run = test;
}

}  // namespace

void add_mbarrier(opcode_table& t) { t.add("mbarrier", build_mbarrier); }

}  // namespace ptx
