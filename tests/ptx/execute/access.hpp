// SPDX-License-Identifier: Apache-2.0
//
// What instructions that touch memory have in common.
#pragma once

#include <cstring>

#include "execute/block.hpp"
#include "execute/elementwise.hpp"
#include "program/form.hpp"

namespace ptx {

/// A request for the lanes, with the addresses of an operand.
inline request make_request(warp& w, instruction const& i, int address_operand, lane_set m, unsigned bytes) {
  operand const& a = i.operands[address_operand];
  w.require(i, address_operand, m, bytes_mask(a.bytes));
  request r;
  r.where = i.with.where;
  r.ordering = i.with.ordering;
  r.reach = i.with.reach;
  r.bytes = static_cast<std::uint8_t>(bytes);
  r.lanes = m;
  r.instruction = w.number_of(i);
  std::uint64_t const* const base = w.values(a);
  each_lane(m, [&](int l) { r.address[l] = base[l] + static_cast<std::uint64_t>(a.offset); });
  return r;
}

/// Writes one loaded element to a register: extended to its width, with what is known of its bytes.
inline void load_element(warp& w, operand const& d, int lane, type t, std::byte const* at, unsigned written,
                         unsigned computed_ones = 0) {
  unsigned const bytes = bytes_of(t);
  std::uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  unsigned all = written | ~((1u << bytes) - 1);
  if (bytes < d.bytes && is_signed(t)) {
    bool const negative = (value >> (8 * bytes - 1) & 1) != 0;
    std::uint64_t const mask = d.bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * d.bytes)) - 1;
    if (negative) { value |= ~((std::uint64_t{1} << (8 * bytes)) - 1) & mask; }
    if ((written >> (bytes - 1) & 1) == 0) { all = written; }
  }
  w.destination(d)[lane] = value;
  w.destination_defined(d)[lane] = bytes_of_origin(all, computed_ones);
}

/// State spaces as ld, st and atom name them; .const and .param lie in global memory.
inline constexpr named<space> access_spaces[] = {
    {"global", space::global},          {"shared", space::shared},       {"shared::cta", space::shared},
    {"shared::cluster", space::shared}, {"local", space::local},         {"const", space::global},
    {"param", space::global},           {"param::entry", space::global}, {"param::func", space::global}};

inline constexpr named<scope> access_scopes[] = {
    {"cta", scope::block}, {"cluster", scope::cluster}, {"gpu", scope::device}, {"sys", scope::system}};

/// What a load or an atomic costs a loop that may be waiting for other threads.
inline constexpr std::uint16_t polling_cost = 64;

}  // namespace ptx
