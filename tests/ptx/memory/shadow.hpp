// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What is known of every byte of a memory: one state byte each, and who touched it last in a race cell.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ptx {

/// State of a byte. A four-byte access looks at four of them at once.
namespace state {
inline constexpr std::uint8_t none = 0, allocated = 1, defined = 2, read_only = 4, freed = 8;
inline constexpr std::uint8_t copied_from = 16, copied_to = 32;  ///< by cp.async, and nobody has waited for it
inline constexpr std::uint8_t computed = 64;                     ///< not defined, but the result of arithmetic
}  // namespace state

/// The lanes of one warp that touched a granule between two synchronisations of the launch.
struct touch {
  std::uint32_t tick;   ///< of the launch's clock; 0: nobody
  std::uint32_t warp;   ///< number of the warp in the launch, in the low 28 bits; flags above
  std::uint32_t lanes;  ///< which; with flag `many` the index of a list
};

/// Who touched four bytes (or one byte, where a granule is split).
struct cell {
  touch write;            ///< the last weak write
  touch reads;            ///< weak reads since
  touch strong;           ///< atomic, volatile, relaxed... accesses since
  std::uint32_t from[3];  ///< the instructions that made these touches
};
static_assert(sizeof(cell) == 48);

/// Bytes with their shadows, side by side: index i of each belongs to byte i (cells: to four bytes, or to one).
struct region {
  std::byte* bytes = nullptr;
  std::uint8_t* states = nullptr;
  cell* cells = nullptr;       ///< one for each four bytes
  cell* byte_cells = nullptr;  ///< one for each byte; used where a granule is split
  std::uint64_t size = 0;
};

/// A bit for each of `bytes` bytes, at most 32.
inline std::uint32_t all_bytes(unsigned bytes) { return static_cast<std::uint32_t>((std::uint64_t{1} << bytes) - 1); }

/// What is known of up to 32 bytes, a bit each: which are defined, and which others are computed from undefined ones.
struct known_bytes {
  std::uint32_t defined = 0, computed = 0;
  known_bytes(std::uint32_t d, std::uint32_t c = 0) : defined(d), computed(c) {}
  operator std::uint32_t() const { return defined; }
};

/// True when all bytes are allocated, no copy to them is under way and, for a write, none is read-only or being copied.
inline bool usable(std::uint8_t const* states, unsigned bytes, bool writes) {
  constexpr unsigned for_reads = state::allocated | state::copied_to;
  constexpr unsigned for_writes = for_reads | state::read_only | state::copied_from;
  std::uint32_t const seen = (writes ? for_writes : for_reads) * 0x01010101u;
  std::uint32_t const wanted = state::allocated * 0x01010101u;
  std::uint32_t wrong = 0;
  unsigned i = 0;
  for (; i + 4 <= bytes; i += 4) {
    std::uint32_t four;
    std::memcpy(&four, states + i, 4);
    wrong |= (four & seen) ^ wanted;
  }
  for (; i < bytes; ++i) { wrong |= (states[i] & (seen & 0xFF)) ^ state::allocated; }
  return wrong == 0;
}

/// Bit i is set when byte i has this state, one of those that are single bits.
template <std::uint8_t State>
inline std::uint32_t bytes_with(std::uint8_t const* states, unsigned bytes) {
  constexpr int shift = __builtin_ctz(State);
  std::uint32_t bits = 0;
  unsigned i = 0;
  for (; i + 4 <= bytes; i += 4) {
    std::uint32_t four;
    std::memcpy(&four, states + i, 4);
    // The bit of each byte comes down into four neighbouring bits; the products do not meet.
    bits |= ((((four >> shift) & 0x01010101u) * 0x01020408u) >> 24) << i;
  }
  for (; i < bytes; ++i) { bits |= ((states[i] >> shift) & 1u) << i; }
  return bits;
}

inline known_bytes known_of(std::uint8_t const* states, unsigned bytes) {
  std::uint32_t const defined = bytes_with<state::defined>(states, bytes);
  return {defined, defined == all_bytes(bytes) ? 0 : bytes_with<state::computed>(states, bytes) & ~defined};
}

inline void set_known(std::uint8_t* states, unsigned bytes, known_bytes known) {
  if (known.defined == all_bytes(bytes)) {
    for (unsigned i = 0; i < bytes; ++i) { states[i] |= state::defined; }
    return;
  }
  for (unsigned i = 0; i < bytes; ++i) {
    unsigned const marks = (known.defined >> i & 1u) * state::defined | (known.computed >> i & 1u) * state::computed;
    states[i] = static_cast<std::uint8_t>((states[i] & ~(state::defined | state::computed)) | marks);
  }
}

}  // namespace ptx
