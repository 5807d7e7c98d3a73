// SPDX-License-Identifier: Apache-2.0
//
// Handlers of instructions that do the same in every lane, made from a function of one lane.
#pragma once

#include <cstring>
#include <type_traits>

#include "execute/warp.hpp"

namespace ptx {

/// A register's bits as T, and back. Registers hold narrow values with zeros above.
template <class T>
inline T from_bits(std::uint64_t bits) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
}

template <class T>
inline std::uint64_t to_bits(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(value);
  } else {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
}

/// The mask of an operand's bytes that a type of this size has.
constexpr unsigned bytes_mask(unsigned bytes) { return bytes >= 8 ? 0xFFu : (1u << bytes) - 1; }

/// d = F(a), all operands read as T; undefined operands are a finding.
template <class T, class F>
void unary(warp& w, instruction const& i, lane_set m) {
  w.use(i, 1, m, bytes_mask(sizeof(T)));
  std::uint64_t const* const a = w.values(i.operands[1]);
  std::uint64_t* const d = w.destination(i.operands[0]);
  each_lane(m, [&](int l) { d[l] = to_bits(F::of(i.with, from_bits<T>(a[l]))); });
  w.set_result(i.operands[0], m);
}

/// d = F(a, b)
template <class T, class F>
void binary(warp& w, instruction const& i, lane_set m) {
  w.use(i, 1, m, bytes_mask(sizeof(T)));
  w.use(i, 2, m, bytes_mask(sizeof(typename F::template second<T>)));
  std::uint64_t const* const a = w.values(i.operands[1]);
  std::uint64_t const* const b = w.values(i.operands[2]);
  std::uint64_t* const d = w.destination(i.operands[0]);
  each_lane(m, [&](int l) {
    d[l] = to_bits(F::of(i.with, from_bits<T>(a[l]), from_bits<typename F::template second<T>>(b[l])));
  });
  w.set_result(i.operands[0], m);
}

/// d = F(a, b, c); C is the type of c
template <class T, class F>
void ternary(warp& w, instruction const& i, lane_set m) {
  using third = typename F::template third<T>;
  w.use(i, 1, m, bytes_mask(sizeof(T)));
  w.use(i, 2, m, bytes_mask(sizeof(typename F::template second<T>)));
  w.use(i, 3, m, bytes_mask(sizeof(third)));
  std::uint64_t const* const a = w.values(i.operands[1]);
  std::uint64_t const* const b = w.values(i.operands[2]);
  std::uint64_t const* const c = w.values(i.operands[3]);
  std::uint64_t* const d = w.destination(i.operands[0]);
  each_lane(m, [&](int l) {
    d[l] = to_bits(
        F::of(i.with, from_bits<T>(a[l]), from_bits<typename F::template second<T>>(b[l]), from_bits<third>(c[l])));
  });
  w.set_result(i.operands[0], m);
}

/// What F's other operands are: like the first, unless F says otherwise.
struct same_types {
  template <class T>
  using second = T;
  template <class T>
  using third = T;
};

/// The handler for an integer type; nullptr for another.
template <class F>
handler unary_on(type t) {
  switch (t) {
    case type::u16:
    case type::b16: return unary<std::uint16_t, F>;
    case type::s16: return unary<std::int16_t, F>;
    case type::u32:
    case type::b32: return unary<std::uint32_t, F>;
    case type::s32: return unary<std::int32_t, F>;
    case type::u64:
    case type::b64: return unary<std::uint64_t, F>;
    case type::s64: return unary<std::int64_t, F>;
    default: return nullptr;
  }
}

template <class F>
handler binary_on(type t) {
  switch (t) {
    case type::u16:
    case type::b16: return binary<std::uint16_t, F>;
    case type::s16: return binary<std::int16_t, F>;
    case type::u32:
    case type::b32: return binary<std::uint32_t, F>;
    case type::s32: return binary<std::int32_t, F>;
    case type::u64:
    case type::b64: return binary<std::uint64_t, F>;
    case type::s64: return binary<std::int64_t, F>;
    default: return nullptr;
  }
}

template <class F>
handler ternary_on(type t) {
  switch (t) {
    case type::u16:
    case type::b16: return ternary<std::uint16_t, F>;
    case type::s16: return ternary<std::int16_t, F>;
    case type::u32:
    case type::b32: return ternary<std::uint32_t, F>;
    case type::s32: return ternary<std::int32_t, F>;
    case type::u64:
    case type::b64: return ternary<std::uint64_t, F>;
    case type::s64: return ternary<std::int64_t, F>;
    default: return nullptr;
  }
}

}  // namespace ptx
