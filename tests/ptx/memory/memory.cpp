// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace ptx {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t guard = page;  // unallocated bytes behind every allocation: no two share a page

void* map(std::uint64_t bytes, int protection, int flags, int file) {
  void* const p = mmap(nullptr, bytes, protection, flags | MAP_NORESERVE, file, 0);
  return p == MAP_FAILED ? nullptr : p;
}

void unmap(void* p, std::uint64_t bytes) {
  if (p != nullptr) { munmap(p, bytes); }
}

void release(region& r) {
  unmap(r.bytes, r.size);
  unmap(r.states, r.size);
  unmap(r.cells, r.size / 4 * sizeof(cell));
  unmap(r.byte_cells, r.size * sizeof(cell));
  r = {};
}

/// Address space for `size` bytes and their shadows. \return where programs see the bytes, closed; 0: no room
std::uint64_t reserve(region& r, std::uint64_t size) {
  constexpr int open = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_ANONYMOUS;
  int const file = memfd_create("device memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) { throw error("no file for the device's memory"); }
  void* const seen = map(size, PROT_NONE, MAP_SHARED, file);
  r.size = size;
  r.bytes = static_cast<std::byte*>(map(size, open, MAP_SHARED, file));
  r.states = static_cast<std::uint8_t*>(map(size, open, own, -1));
  r.cells = static_cast<cell*>(map(size / 4 * sizeof(cell), open, own, -1));
  r.byte_cells = static_cast<cell*>(map(size * sizeof(cell), open, own, -1));
  close(file);
  if (seen != nullptr && r.bytes != nullptr && r.states != nullptr && r.cells != nullptr && r.byte_cells != nullptr) {
    return reinterpret_cast<std::uint64_t>(seen);
  }
  unmap(seen, size);
  release(r);
  return 0;
}

std::string hex(std::uint64_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

/// Gives whole pages back to the system; they read as zeros again.
template <class T>
void forget(T* first, std::uint64_t count, int advice = MADV_DONTNEED) {
  std::uint64_t const from = (reinterpret_cast<std::uint64_t>(first) + page - 1) / page * page;
  std::uint64_t const to = reinterpret_cast<std::uint64_t>(first + count) / page * page;
  if (from < to) { madvise(reinterpret_cast<void*>(from), to - from, advice); }
}

/// Whether host code may touch these bytes, and what shares their pages: nothing does.
void let_host(std::uint64_t address, std::uint64_t size, bool may) {
  std::uint64_t const from = address / page * page;
  mprotect(reinterpret_cast<void*>(from), address + size - from, may ? PROT_READ | PROT_WRITE : PROT_NONE);
}

}  // namespace

memory::memory(std::uint64_t capacity) : capacity_(capacity) {
  // Addresses are not used again, so that late uses of freed memory are seen: there are more of them than memory.
  std::uint64_t addresses = 16 * capacity;
  while ((base_ = reserve(arena_, addresses)) == 0) {
    addresses /= 2;
    if (addresses < (std::uint64_t{64} << 20)) { throw error("no address space for the device's memory"); }
  }
}

memory::~memory() {
  unmap(reinterpret_cast<void*>(base_), arena_.size);
  release(arena_);
}

std::uint64_t memory::allocate(std::uint64_t size, allocation_kind kind) {
  std::uint64_t const needed = (size + guard + 255) / 256 * 256;
  if (size > capacity_ - in_use_ || needed > arena_.size - next_) {
    throw error("out of device memory: " + std::to_string(size) + " bytes asked for, " + std::to_string(in_use_) +
                " of " + std::to_string(capacity_) + " in use");
  }
  std::uint64_t const address = base() + next_;
  next_ += needed;
  in_use_ += size;
  bool const written = of_host(kind);
  std::uint8_t const s = static_cast<std::uint8_t>(state::allocated | (written ? state::defined : 0) |
                                                   (kind == allocation_kind::constant ? state::read_only : 0));
  std::memset(states(address), s, size);
  // Never the zeros of fresh pages, so that results do not depend on them.
  if (!written) { std::memset(bytes(address), 0xCD, size); }
  if (written) { let_host(address, size, true); }
  allocations_[address] = {address, size, kind, true};
  return address;
}

void memory::free(std::uint64_t address) {
  auto const at = allocations_.find(address);
  if (at == allocations_.end()) { throw error(describe(address) + ", which is not where an allocation starts"); }
  if (!at->second.live) { throw error(describe(address) + ", freed before"); }
  at->second.live = false;
  in_use_ -= at->second.size;
  std::memset(states(address), state::freed, at->second.size);
  std::uint64_t const offset = address - base(), size = at->second.size;
  if (of_host(at->second.kind)) { let_host(address, size, false); }
  forget(arena_.bytes + offset, size, MADV_REMOVE);
  forget(arena_.cells + offset / 4, size / 4);
  forget(arena_.byte_cells + offset, size);
}

allocation const* memory::find(std::uint64_t address) const {
  auto at = allocations_.upper_bound(address);
  return at == allocations_.begin() ? nullptr : &std::prev(at)->second;
}

bool memory::contains(std::uint64_t address, std::uint64_t size) const {
  auto const* a = find(address);
  return a != nullptr && a->live && address - a->address <= a->size && size <= a->size - (address - a->address);
}

void memory::demand(std::uint64_t address, std::uint64_t size) const {
  if (!contains(address, size)) { throw error(std::to_string(size) + " bytes asked for, but " + describe(address)); }
}

void memory::copy_in(std::uint64_t to, void const* from, std::uint64_t size) {
  demand(to, size);
  std::memmove(bytes(to), from, size);
  for (std::uint64_t i = 0; i < size; ++i) { states(to)[i] |= state::defined; }
}

void memory::copy_out(void* to, std::uint64_t from, std::uint64_t size) const {
  demand(from, size);
  std::memmove(to, bytes(from), size);
}

void memory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t size) {
  demand(to, size);
  demand(from, size);
  std::memmove(bytes(to), bytes(from), size);
  std::uint8_t const kept = find(to)->kind == allocation_kind::constant ? state::read_only : 0;
  std::memmove(states(to), states(from), size);
  for (std::uint64_t i = 0; i < size; ++i) {
    states(to)[i] = static_cast<std::uint8_t>((states(to)[i] & ~state::read_only) | kept);
  }
}

void memory::fill(std::uint64_t to, std::uint8_t value, std::uint64_t size) {
  demand(to, size);
  std::memset(bytes(to), value, size);
  for (std::uint64_t i = 0; i < size; ++i) { states(to)[i] |= state::defined; }
}

std::uint64_t memory::undefined_bytes(std::uint64_t address, std::uint64_t size) const {
  return static_cast<std::uint64_t>(
      std::count_if(states(address), states(address) + size, [](std::uint8_t s) { return (s & state::defined) == 0; }));
}

void memory::end_of_launch(std::uint32_t now) {
  tick_ = now + 1;
  if (tick_ < 0x80000000u) { return; }
  // The clock is half used up: forget all stamps and start again.
  tick_ = 1;
  forget(arena_.cells, arena_.size / 4);
  forget(arena_.byte_cells, arena_.size);
}

std::string memory::describe(std::uint64_t address) const {
  if (address < 4096) { return hex(address) + " is a null pointer, or an offset from one"; }
  auto const* a = reserved(address) ? find(address) : nullptr;
  if (a == nullptr) { return hex(address) + " is not in device memory"; }
  std::string const which = "the " + std::to_string(a->size) + " bytes at " + hex(a->address);
  std::uint64_t const offset = address - a->address;
  if (!a->live && offset < a->size) {
    return hex(address) + " is in freed memory: byte " + std::to_string(offset) + " of " + which;
  }
  if (offset < a->size) { return hex(address) + " is byte " + std::to_string(offset) + " of " + which; }
  return hex(address) + " is " + std::to_string(offset - a->size) + " bytes behind the end of " + which;
}

}  // namespace ptx
