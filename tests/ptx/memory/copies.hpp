// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Bytes that copies by cp.async read or write, from the copy's issue until its thread waits for it.

#include <cstdint>
#include <map>

#include "shadow.hpp"

namespace ptx {

/// Copies from, or to, one region. Several may read the same bytes; the state bytes carry a mark while any does.
class copies_under_way {
 public:
  struct copy {
    std::uint32_t block = 0, thread = 0, instruction = 0;
    std::uint8_t bytes = 0;
  };

  explicit copies_under_way(std::uint8_t mark) : mark_(mark) {}

  void begin(region const& in, std::uint64_t at, copy const& c) {
    if (c.bytes == 0) { return; }
    copies_.emplace(at, c);
    for (unsigned i = 0; i < c.bytes; ++i) { in.states[at + i] |= mark_; }
  }
  void end(region const& in, std::uint64_t at, copy const& c) {
    auto const [first, last] = copies_.equal_range(at);
    for (auto one = first; one != last; ++one) {
      copy const& o = one->second;
      if (o.block != c.block || o.thread != c.thread || o.instruction != c.instruction || o.bytes != c.bytes) {
        continue;
      }
      copies_.erase(one);
      for (unsigned i = 0; i < c.bytes; ++i) {
        if (find(at + i, 1) == nullptr) { in.states[at + i] &= static_cast<std::uint8_t>(~mark_); }
      }
      return;
    }
  }
  /// All copies of a block whose threads have ended without waiting; of all blocks at the end of a launch.
  void end_all(region const& in, std::uint32_t const* block = nullptr) {
    for (auto one = copies_.begin(); one != copies_.end();) {
      auto const next = std::next(one);
      if (block == nullptr || one->second.block == *block) { end(in, one->first, copy(one->second)); }
      one = next;
    }
  }
  /// A copy that touches these bytes, or nullptr.
  [[nodiscard]] copy const* find(std::uint64_t at, std::uint64_t bytes) const {
    constexpr std::uint64_t longest = 16;
    for (auto one = copies_.lower_bound(at < longest ? 0 : at - longest); one != copies_.end(); ++one) {
      if (one->first >= at + bytes) { return nullptr; }
      if (one->first + one->second.bytes > at) { return &one->second; }
    }
    return nullptr;
  }
  [[nodiscard]] bool empty() const { return copies_.empty(); }

 private:
  std::uint8_t mark_;
  std::multimap<std::uint64_t, copy> copies_{};
};

}  // namespace ptx
