// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "program/program.hpp"

namespace ptx {

template <class T>
using bits_as = std::make_unsigned_t<T>;

/// Twice as wide, for products.
template <class T>
struct wider;
template <>
struct wider<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct wider<std::int16_t> {
  using type = std::int32_t;
};
template <>
struct wider<std::uint32_t> {
  using type = std::uint64_t;
};
template <>
struct wider<std::int32_t> {
  using type = std::int64_t;
};
template <>
struct wider<std::uint64_t> {
  using type = unsigned __int128;
};
template <>
struct wider<std::int64_t> {
  using type = __int128;
};
template <class T>
using wide = typename wider<T>::type;

template <class T>
wide<T> product(T a, T b) {
  return static_cast<wide<T>>(static_cast<wide<T>>(a) * static_cast<wide<T>>(b));
}

// Handlers of sums and products with the carry flag (carries.cpp); nullptr for other types.
[[nodiscard]] handler carried_sum(type t, bool subtract, bool takes_carry);
[[nodiscard]] handler carried_product(type t, bool takes_carry);

}  // namespace ptx
