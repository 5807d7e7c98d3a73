// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Device memory: allocations at host addresses, with a shadow that knows of every byte whether it is allocated and
/// whether it was written. Kernels reach it through block_memory.hpp.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "finding.hpp"
#include "shadow.hpp"

namespace ptx {

/// How an allocation was made; the host may write to `host` and `managed` memory behind our back, so all of it counts
/// as written.
enum class allocation_kind : std::uint8_t { device, managed, host, variable, constant };

struct allocation {
  std::uint64_t address{}, size{};
  allocation_kind kind{};
  bool live = true;
};

class memory {
 public:
  /// Reserves address space (no memory) for `capacity` bytes, or for less where the system refuses.
  explicit memory(std::uint64_t capacity = std::uint64_t{32} << 30);
  ~memory();
  memory(memory const&) = delete;
  memory& operator=(memory const&) = delete;

  /// A multiple of 256, or of a larger power of two `alignment`. 0 bytes are allowed. \throws error when full.
  std::uint64_t allocate(std::uint64_t size, allocation_kind kind = allocation_kind::device,
                         std::uint64_t alignment = 256);
  /// \throws error when `address` is not the start of a live allocation
  void free(std::uint64_t address);

  /// The allocation, live or freed, that holds `address`; nullptr when there is none.
  [[nodiscard]] allocation const* find(std::uint64_t address) const;
  /// True when all the bytes lie in one live allocation.
  [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t size) const;
  [[nodiscard]] bool in_arena(std::uint64_t address) const { return address - base_ < capacity_; }

  /// The host's copies and fills; ranges are checked. \throws error when a range is not in one live allocation
  void copy_in(std::uint64_t to, void const* from, std::uint64_t size);  ///< defines the bytes
  void copy_out(void* to, std::uint64_t from, std::uint64_t size);  ///< \throws error on undefined bytes? no: copies
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t size);  ///< definedness goes along
  void fill(std::uint64_t to, std::uint8_t value, std::uint64_t size);
  /// Bytes of the range that were never written.
  [[nodiscard]] std::uint64_t undefined_bytes(std::uint64_t address, std::uint64_t size) const;

  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t bytes_in_use() const { return in_use_; }

  /// The shadows; only for checked accesses.
  [[nodiscard]] region const& shadows() const { return arena_; }
  /// "is 16 bytes past the end of the 400 bytes at 0x7f..", for messages.
  [[nodiscard]] std::string describe(std::uint64_t address) const;

 private:
  std::uint64_t reserve(std::uint64_t size, std::uint64_t alignment);
  void demand(std::uint64_t address, std::uint64_t size, char const* what) const;

  std::uint64_t base_{}, capacity_{}, next_{}, in_use_{};
  region arena_;
  std::map<std::uint64_t, allocation> allocations_;
};

}  // namespace ptx
