// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace ptx {

/// The types that instructions and registers are written with. Small floats appear as elements of mma.
enum class type : std::uint8_t {
  none,
  pred,
  b8,
  u8,
  s8,
  b16,
  u16,
  s16,
  b32,
  u32,
  s32,
  b64,
  u64,
  s64,
  b128,
  f16,
  bf16,
  f32,
  tf32,
  f64,
  f16x2,
  bf16x2,
  u16x2,
  s16x2,
  f32x2,
  e4m3,
  e5m2,
  e2m3,
  e3m2,
  e2m1,
  ue8m0,
  ue4m3,
  e4m3x2,
  e5m2x2,
  e2m3x2,
  e3m2x2,
  e2m1x2,
  ue8m0x2,
  e4m3x4,
  e5m2x4,
  e2m3x4,
  e3m2x4,
  e2m1x4,
  count
};

struct type_row {
  std::string_view name;
  std::uint16_t bits;  ///< of a register that holds it
  char family;         ///< 'b'its, 'u'nsigned, 's'igned, 'f'loat, 'p'redicate, 'x' packed floats
};

/// Name, width and family of a type.
[[nodiscard]] type_row const& row(type t);
/// type::none for what is no type.
[[nodiscard]] type type_named(std::string_view name);

[[nodiscard]] inline unsigned bits_of(type t) { return row(t).bits; }
[[nodiscard]] inline unsigned bytes_of(type t) { return (row(t).bits + 7u) / 8u; }
[[nodiscard]] inline bool is_signed(type t) { return row(t).family == 's'; }
[[nodiscard]] inline bool is_integer(type t) { return row(t).family == 'u' || row(t).family == 's'; }

}  // namespace ptx
