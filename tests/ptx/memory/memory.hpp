// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Device memory: allocations at addresses that the host cannot touch either, with a shadow that knows of every byte
/// whether it is allocated and whether it was written. Kernels reach it through block_memory.hpp.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "finding.hpp"
#include "shadow.hpp"
#include "traffic.hpp"

namespace ptx {

/// How an allocation was made. The host may touch managed and `host` memory behind our back, so all of it counts as
/// written; at the addresses of all others it crashes. Kernels may not write to `constant` memory.
enum class allocation_kind : std::uint8_t { device, managed, host, variable, managed_variable, constant };

/// True when host code may touch the memory as well.
inline bool of_host(allocation_kind k) {
  return k == allocation_kind::managed || k == allocation_kind::managed_variable || k == allocation_kind::host;
}
/// True for what the program declares, no call allocated, and no call frees.
inline bool of_program(allocation_kind k) {
  return k == allocation_kind::variable || k == allocation_kind::managed_variable || k == allocation_kind::constant;
}

struct allocation {
  std::uint64_t address = 0, size = 0;
  allocation_kind kind{};
  bool live = true;
};

class memory {
 public:
  /// Memory of the host is used only for what is allocated; of address space much more is reserved.
  explicit memory(std::uint64_t capacity = std::uint64_t{16} << 30);
  ~memory();
  memory(memory const&) = delete;
  memory& operator=(memory const&) = delete;

  /// Undefined bytes at a multiple of 256. \throws error when there is no room
  std::uint64_t allocate(std::uint64_t size, allocation_kind kind = allocation_kind::device);
  /// \throws error when `address` is not the start of a live allocation
  void free(std::uint64_t address);

  /// The allocation, live or freed, that holds `address`, or else the one before it; nullptr when there is none.
  [[nodiscard]] allocation const* find(std::uint64_t address) const;
  /// True when all the bytes lie in one live allocation.
  [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t size) const;
  [[nodiscard]] bool reserved(std::uint64_t address) const { return address - base() < arena_.size; }

  /// The host's copies and fills. \throws error when a range does not lie in one live allocation
  void copy_in(std::uint64_t to, void const* from, std::uint64_t size);
  void copy_out(void* to, std::uint64_t from, std::uint64_t size) const;
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t size);  ///< undefined bytes stay undefined
  void fill(std::uint64_t to, std::uint8_t value, std::uint64_t size);
  /// Bytes of the range that were never written.
  [[nodiscard]] std::uint64_t undefined_bytes(std::uint64_t address, std::uint64_t size) const;

  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t bytes_in_use() const { return in_use_; }

  /// The bytes with their shadows, for checked accesses.
  [[nodiscard]] region const& arena() const { return arena_; }
  [[nodiscard]] std::uint64_t base() const { return base_; }

  /// The clock of race stamps goes on from launch to launch, so that old stamps need no clearing.
  [[nodiscard]] std::uint32_t next_tick() const { return tick_; }
  void end_of_launch(std::uint32_t now);

  /// E.g. "0x7f12 is 16 bytes behind the 400 bytes at 0x7f10", for messages.
  [[nodiscard]] std::string describe(std::uint64_t address) const;

 private:
  [[nodiscard]] std::byte* bytes(std::uint64_t address) const { return arena_.bytes + (address - base()); }
  [[nodiscard]] std::uint8_t* states(std::uint64_t address) const { return arena_.states + (address - base()); }
  void demand(std::uint64_t address, std::uint64_t size) const;

  region arena_;            ///< its bytes are a second view of the memory at base_
  std::uint64_t base_ = 0;  ///< where programs see it
  std::uint64_t capacity_, next_ = 0, in_use_ = 0;
  std::uint32_t tick_ = 1;
  std::map<std::uint64_t, allocation> allocations_;
};

}  // namespace ptx
