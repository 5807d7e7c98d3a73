// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "memory/block_memory.hpp"

namespace litmus {

using ptx::order;
using ptx::problem;
using ptx::scope;
using ptx::space;

/// A launch whose memory instructions the test writes itself, as threads would execute them. Threads are numbered in
/// the launch: thread t of a launch with 64 threads a block is lane t % 32 of warp t % 64 / 32 of block t / 64.
class launch {
 public:
  explicit launch(std::uint32_t blocks = 2, std::uint32_t threads = 64, std::uint32_t shared = 1024,
                  std::uint32_t local = 64)
      : memory_(std::uint64_t{64} << 20), threads_(threads), launch_(memory_, blocks, threads) {
    for (std::uint32_t b = 0; b < blocks; ++b) {
      blocks_.push_back(std::make_unique<ptx::block_memory>(launch_, b, shared, local));
    }
  }

  ptx::memory& memory() { return memory_; }
  ptx::launch_memory& state() { return launch_; }
  ptx::block_memory& block(std::uint32_t b) { return *blocks_[b]; }

  /// Global memory of `words` defined words.
  std::uint64_t words(std::size_t words) {
    std::vector<std::uint32_t> const zeros(words);
    auto const at = memory_.allocate(4 * words);
    memory_.copy_in(at, zeros.data(), 4 * words);
    return at;
  }

  std::uint32_t read(std::uint32_t thread, std::uint64_t at, order o = order::weak, space where = space::global,
                     scope reach = scope::device, std::uint8_t bytes = 4) {
    std::uint32_t value = 0;
    block_of(thread).load(warp_of(thread), one(thread, at, o, where, reach, bytes),
                          [&](unsigned, std::byte const* p, std::uint32_t defined) {
                            std::memcpy(&value, p, bytes < 4 ? bytes : 4u);
                            defined_ = defined;
                          });
    return value;
  }
  void write(std::uint32_t thread, std::uint64_t at, std::uint32_t value = 1, order o = order::weak,
             space where = space::global, scope reach = scope::device, std::uint8_t bytes = 4) {
    block_of(thread).store(warp_of(thread), one(thread, at, o, where, reach, bytes), [&](unsigned, std::byte* p) {
      std::memcpy(p, &value, bytes < 4 ? bytes : 4u);
      return ptx::all_bytes(bytes);
    });
  }
  void add(std::uint32_t thread, std::uint64_t at, order o = order::relaxed, space where = space::global) {
    block_of(thread).atomic(warp_of(thread), one(thread, at, o, where, scope::device, 4), false,
                            [](unsigned, std::byte* p, std::uint32_t) { *reinterpret_cast<std::uint32_t*>(p) += 1; });
  }
  void fence(std::uint32_t thread, scope reach = scope::device) {
    block_of(thread).fence(warp_of(thread), 1u << thread % threads_ % 32, reach);
  }
  /// Which bytes of the last read were defined.
  [[nodiscard]] std::uint32_t defined() const { return defined_; }

 private:
  ptx::block_memory& block_of(std::uint32_t thread) { return *blocks_[thread / threads_]; }
  [[nodiscard]] std::uint32_t warp_of(std::uint32_t thread) const { return thread % threads_ / 32; }
  [[nodiscard]] ptx::request one(std::uint32_t thread, std::uint64_t at, order o, space where, scope reach,
                                 std::uint8_t bytes) const {
    ptx::request r;
    unsigned const lane = thread % threads_ % 32;
    r.where = where, r.ordering = o, r.reach = reach, r.bytes = bytes, r.lanes = 1u << lane, r.instruction = thread;
    r.address[lane] = at;
    return r;
  }

  ptx::memory memory_;
  std::uint32_t threads_;
  ptx::launch_memory launch_;
  std::vector<std::unique_ptr<ptx::block_memory>> blocks_;
  std::uint32_t defined_ = 0;
};

/// What the checks find in a program; nothing when it is right.
inline std::optional<problem> found(std::function<void()> const& program) {
  try {
    program();
  } catch (ptx::fault const& f) { return f.what_happened.kind; }
  return std::nullopt;
}

}  // namespace litmus
