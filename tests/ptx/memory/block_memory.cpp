// SPDX-License-Identifier: Apache-2.0
#include "block_memory.hpp"

#include <algorithm>

namespace ptx {
namespace {

char const* verb(touching how) {
  switch (how) {
    case touching::weak_read: return "reads";
    case touching::weak_write: return "writes";
    case touching::strong_read: return "reads (volatile, relaxed or acquiring)";
    case touching::strong_write: return "writes (volatile, relaxed or releasing)";
    case touching::atomic: return "updates (atomic)";
  }
  return "?";
}

char const* name(space where) { return where == space::shared ? "shared" : where == space::local ? "local" : "global"; }

}  // namespace

block_storage::block_storage(std::uint64_t shared_bytes, std::uint64_t local_bytes)
    : bytes(shared_bytes + local_bytes),
      states(shared_bytes + local_bytes),
      cells((shared_bytes + 3) / 4),
      byte_cells(shared_bytes) {}

launch_memory::launch_memory(memory& memory_of_device, std::uint64_t blocks, std::uint32_t threads)
    : device(memory_of_device), threads_per_block(threads) {
  clocks.warps_per_block = (threads + 31) / 32;
  clocks.last_warp_lanes = threads % 32 == 0 ? ~0u : (1u << threads % 32) - 1;
  if (blocks * clocks.warps_per_block > touched::number) {
    throw error("a launch of " + std::to_string(blocks) + " blocks is more than the race check can number");
  }
  clocks.start = clocks.now = device.next_tick();
}

launch_memory::~launch_memory() {
  sources.end_all(device.arena());
  device.end_of_launch(clocks.now);
}

block_memory::block_memory(launch_memory& launch, std::uint32_t block, std::uint32_t shared_bytes,
                           std::uint32_t local_bytes, std::uint32_t room_for_calls)
    : launch_(&launch),
      clocks_(launch.clocks, block),
      shared_start_(++launch.clocks.now),
      global_(launch.device.arena()),
      base_(launch.device.base()) {
  std::uint64_t const in_cells = (shared_bytes + 15u) / 16u * 16u, room = std::uint64_t{local_bytes} + room_for_calls,
                      own = (room + 15u) / 16u * 16u;
  std::uint64_t const threads = std::uint64_t{launch.clocks.warps_per_block} * 32;
  if (launch.idle.empty()) {
    storage_ = std::make_unique<block_storage>(in_cells, own * threads);
  } else {
    storage_ = std::move(launch.idle.back());
    launch.idle.pop_back();
  }
  std::fill(storage_->bytes.begin(), storage_->bytes.end(), std::byte{0xCD});
  std::fill(storage_->states.begin(), storage_->states.end(), state::allocated);
  std::byte* const bytes = storage_->bytes.data();
  std::uint8_t* const states = storage_->states.data();
  shared_ = {bytes, states, storage_->cells.data(), storage_->byte_cells.data(), shared_bytes};
  if (room > 0) {
    for (std::uint64_t t = 0; t < threads; ++t) {
      std::uint64_t const at = in_cells + own * t;
      locals_.push_back({bytes + at, states + at, nullptr, nullptr, room});
      std::memset(states + at + local_bytes, state::none, room_for_calls);
    }
  } else {
    locals_.resize(threads);
  }
}

block_memory::~block_memory() {
  std::uint32_t const block = clocks_.block();
  if (!destinations_.empty()) { launch_->sources.end_all(global_, &block); }
  launch_->idle.push_back(std::move(storage_));
}

void block_memory::begin_copy(std::uint32_t warp, unsigned lane, async_copy const& c) {
  request from, to;
  from.where = space::global, to.where = space::shared;
  from.lanes = to.lanes = 1u << lane, from.instruction = to.instruction = c.instruction;
  from.address[lane] = c.from, to.address[lane] = c.to;
  from.alignment = to.bytes = c.bytes;
  auto const nothing = [](unsigned, place const&) {};
  if (c.source_bytes != 0) {
    from.bytes = c.source_bytes;
    check_place(locate(from, warp, lane), from, warp, lane, false);
    from.bytes = from.alignment = c.source_bytes == c.bytes ? c.bytes : 1;
    for (unsigned at = 0; at < c.source_bytes; at += from.bytes, from.address[lane] += from.bytes) {
      each_lane(warp, from, touching::weak_read, nothing);
    }
  }
  each_lane(warp, to, touching::weak_write, nothing);
  mark_copy(warp, lane, c, true);
}

void block_memory::end_copy(std::uint32_t warp, unsigned lane, async_copy const& c) {
  mark_copy(warp, lane, c, false);
  request r;
  r.lanes = 1u << lane, r.instruction = c.instruction;
  std::byte bytes[16] = {};
  std::uint32_t defined = 0xFFFF;
  r.where = space::global;
  r.bytes = c.source_bytes == c.bytes ? c.bytes : 1;
  for (unsigned at = 0; at < c.source_bytes; at += r.bytes) {
    r.address[lane] = c.from + at;
    load(warp, r, [&](unsigned, std::byte const* from, std::uint32_t written) {
      std::memcpy(bytes + at, from, r.bytes);
      defined &= written << at | ~(all_bytes(r.bytes) << at);
    });
  }
  r.where = space::shared, r.bytes = c.bytes, r.address[lane] = c.to;
  store(warp, r, [&](unsigned, std::byte* to) {
    std::memcpy(to, bytes, c.bytes);
    return defined & all_bytes(c.bytes);
  });
}

void block_memory::mark_copy(std::uint32_t warp, unsigned lane, async_copy const& c, bool begins) {
  auto const mark = begins ? &copies_under_way::begin : &copies_under_way::end;
  std::uint32_t const block = clocks_.block(), thread = warp * 32 + lane;
  (launch_->sources.*mark)(global_, {c.from - base_, block, thread, c.instruction, c.source_bytes});
  (destinations_.*mark)(shared_, {static_cast<std::uint32_t>(c.to), block, thread, c.instruction, c.bytes});
}

void block_memory::synchronise(place const& p, request const& r, std::uint32_t warp, unsigned lane, bool writes,
                               bool atomic) {
  if (p.where == space::local) { return; }
  auto& where = p.where == space::shared ? shared_releases_ : launch_->clocks.global_releases;
  if (writes) {
    clocks_.strong_write(warp, lane, where, p.at, r.ordering, r.reach, atomic);
  } else {
    clocks_.strong_read(warp, lane, where, p.at, r.ordering, r.reach, atomic);
  }
}

void block_memory::count(request const& r, std::uint32_t warp, bool writes, bool atomic) {
  if (r.lanes == 0) { return; }
  launch_->counts.add(r, locate(r, warp, static_cast<unsigned>(__builtin_ctz(r.lanes))).where, writes, atomic);
}

finding block_memory::about(request const& r, std::uint32_t warp, unsigned lane) const {
  finding f;
  f.block = clocks_.block();
  f.thread = warp * 32 + lane;
  f.instruction = r.instruction;
  return f;
}

void block_memory::bad_place(place const& p, request const& r, std::uint32_t warp, unsigned lane, bool writes) const {
  finding f = about(r, warp, lane);
  auto const* const a = p.where == space::global ? launch_->device.find(r.address[lane]) : nullptr;
  bool const constant = a != nullptr && a->kind == allocation_kind::constant;
  std::string const what = std::string(writes ? "a write" : "a read") + " of " + std::to_string(r.bytes) +
                           (r.bytes == 1 ? " byte" : " bytes") + " of " + (constant ? "constant" : name(p.where)) +
                           " memory: ";
  std::string const where = p.where == space::global
                                ? launch_->device.describe(r.address[lane])
                                : "offset " + std::to_string(p.at) + " of " + std::to_string(p.in->size) + " bytes";
  unsigned const alignment = r.alignment != 0 ? r.alignment : r.bytes;
  f.kind = p.at % alignment != 0 ? problem::misaligned : problem::out_of_bounds;
  f.message = what + where;
  if (f.kind == problem::misaligned) {
    f.message += "; the address is not a multiple of " + std::to_string(alignment);
  } else if (p.at < p.in->size) {
    for (std::uint64_t i = p.at; i < std::min<std::uint64_t>(p.at + r.bytes, p.in->size); ++i) {
      if ((p.in->states[i] & (state::copied_to | (writes ? state::copied_from : 0))) != 0) { under_way(p, f, r.bytes); }
      if ((p.in->states[i] & state::freed) != 0) { f.kind = problem::use_after_free; }
      if ((p.in->states[i] & state::read_only) != 0 && writes) { f.kind = problem::read_only; }
    }
  }
  throw fault(std::move(f));
}

void block_memory::under_way(place const& p, finding f, unsigned bytes) const {
  auto const* c = (p.where == space::shared ? destinations_ : launch_->sources).find(p.at, bytes);
  f.kind = problem::race;
  f.message += p.where == space::shared ? "; a cp.async to it is under way, and its thread has not waited for it"
                                        : "; a cp.async from it is under way, and its thread has not waited for it";
  f.has_other = true;
  f.other_block = c->block, f.other_thread = c->thread, f.other_instruction = c->instruction;
  throw fault(std::move(f));
}

void block_memory::bad_atomic(request const& r, std::uint32_t warp, unsigned lane) const {
  finding f = about(r, warp, lane);
  f.kind = problem::undefined;
  f.message = "an atomic operation on bytes that nobody has written";
  throw fault(std::move(f));
}

void block_memory::raced(place const& p, request const& r, std::uint32_t warp, unsigned lane, touching how,
                         rival const& other) const {
  finding f = about(r, warp, lane);
  f.kind = problem::race;
  std::string const where = p.where == space::global ? launch_->device.describe(r.address[lane])
                                                     : "offset " + std::to_string(p.at) + " of shared memory";
  f.message =
      std::string("this thread ") + verb(how) + ", another " + verb(other.how) + ", and nothing orders them: " + where;
  f.has_other = true;
  f.other_block = other.warp / launch_->clocks.warps_per_block;
  f.other_thread = other.warp % launch_->clocks.warps_per_block * 32 + other.lane;
  f.other_instruction = other.instruction;
  throw fault(std::move(f));
}

}  // namespace ptx
