// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Bytes that copies by cp.async read or write, from the copy's issue until its thread waits for it.

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "shadow.hpp"

namespace ptx {

/// Copies from, or to, one region. Several may read the same bytes; the state bytes carry a mark while any does. Copies
/// are aligned and at most 16 bytes long, so each lies in one chunk of 16.
class copies_under_way {
 public:
  struct copy {
    std::uint64_t at = 0;
    std::uint32_t block = 0, thread = 0, instruction = 0;
    std::uint8_t bytes = 0;
  };

  explicit copies_under_way(std::uint8_t mark) : mark_(mark) {}

  void begin(region const& in, copy const& c) {
    if (c.bytes == 0) { return; }
    copies_.emplace(c.at / chunk, c);
    for (unsigned i = 0; i < c.bytes; ++i) { in.states[c.at + i] |= mark_; }
  }
  void end(region const& in, copy const& c) {
    auto const [first, last] = copies_.equal_range(c.at / chunk);
    auto const one = std::find_if(first, last, [&](auto const& entry) {
      copy const& o = entry.second;
      return o.at == c.at && o.bytes == c.bytes && o.block == c.block && o.thread == c.thread &&
             o.instruction == c.instruction;
    });
    if (one != last) { erase(in, one); }
  }
  /// All copies of a block whose threads have ended without waiting; of all blocks at the end of a launch.
  void end_all(region const& in, std::uint32_t const* block = nullptr) {
    for (auto one = copies_.begin(); one != copies_.end();) {
      auto const next = std::next(one);
      if (block == nullptr || one->second.block == *block) { erase(in, one); }
      one = next;
    }
  }
  /// A copy that touches these bytes, or nullptr.
  [[nodiscard]] copy const* find(std::uint64_t at, std::uint64_t bytes) const {
    for (std::uint64_t k = at / chunk; k <= (at + bytes - 1) / chunk; ++k) {
      auto const [first, last] = copies_.equal_range(k);
      for (auto one = first; one != last; ++one) {
        copy const& c = one->second;
        if (c.at < at + bytes && at < c.at + c.bytes) { return &c; }
      }
    }
    return nullptr;
  }
  [[nodiscard]] bool empty() const { return copies_.empty(); }

 private:
  using map = std::unordered_multimap<std::uint64_t, copy>;
  static constexpr std::uint64_t chunk = 16;

  void erase(region const& in, map::iterator one) {
    copy const c = one->second;
    copies_.erase(one);
    bool const alone = find(c.at, c.bytes) == nullptr;
    for (unsigned i = 0; i < c.bytes; ++i) {
      if (alone || find(c.at + i, 1) == nullptr) { in.states[c.at + i] &= static_cast<std::uint8_t>(~mark_); }
    }
  }

  std::uint8_t mark_;
  map copies_{};
};

}  // namespace ptx
