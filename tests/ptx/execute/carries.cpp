// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic of several words: add.cc, addc, sub.cc, subc, mad.cc, madc.
#include "execute/elementwise.hpp"
#include "execute/instructions.hpp"
#include "execute/wide.hpp"

namespace ptx {
namespace {

/// add.cc, addc, sub.cc, subc, mad.cc, madc: with the carry flag, which is a slot of the frame. A difference is the sum
/// a + ~b + 1, so the flag is set where nothing was borrowed: compilers write `subc.cc` and then `addc` to ask for
/// that.
template <class T, bool Subtract, bool In>
void carried(warp& w, instruction const& i, lane_set m) {
  operand const carry{place::frame, 4, carry_slot, 0};
  w.use(i, 1, m, bytes_mask(sizeof(T)));
  w.use(i, 2, m, bytes_mask(sizeof(T)));
  std::uint64_t const* const a = w.values(i.operands[1]);
  std::uint64_t const* const b = w.values(i.operands[2]);
  std::uint64_t* const d = w.destination(i.operands[0]);
  std::uint64_t* const flag = w.destination(carry);
  each_lane(m, [&](int l) {
    unsigned const in = In ? static_cast<unsigned>(flag[l]) : Subtract ? 1u : 0u;
    auto const x = static_cast<unsigned __int128>(static_cast<T>(a[l]));
    auto const y = static_cast<unsigned __int128>(static_cast<T>(Subtract ? ~b[l] : b[l]));
    auto const sum = x + y + in;
    d[l] = static_cast<T>(sum);
    if (i.with.mode != 0) { flag[l] = static_cast<std::uint64_t>(sum >> (8 * sizeof(T))) & 1; }
  });
  w.set_result(i.operands[0], m);
}
template <class T, bool In>
void carried_mad(warp& w, instruction const& i, lane_set m) {
  operand const carry{place::frame, 4, carry_slot, 0};
  for (int k = 1; k <= 3; ++k) { w.use(i, k, m, bytes_mask(sizeof(T))); }
  bool const high = i.with.combine != 0;
  each_lane(m, [&](int l) {
    auto const wide_product =
        product<T>(static_cast<T>(w.values(i.operands[1])[l]), static_cast<T>(w.values(i.operands[2])[l]));
    auto const part = static_cast<bits_as<T>>(high ? wide_product >> (8 * sizeof(T)) : wide_product);
    std::uint64_t* const flag = w.destination(carry);
    auto const sum = static_cast<unsigned __int128>(part) + static_cast<bits_as<T>>(w.values(i.operands[3])[l]) +
                     (In ? static_cast<unsigned>(flag[l]) : 0u);
    w.destination(i.operands[0])[l] = static_cast<bits_as<T>>(sum);
    if (i.with.mode != 0) { flag[l] = static_cast<std::uint64_t>(sum >> (8 * sizeof(T))) & 1; }
  });
  w.set_result(i.operands[0], m);
}
template <bool Subtract, bool In>
handler carried_on(type t) {
  return bits_of(t) == 32   ? carried<std::uint32_t, Subtract, In>
         : bits_of(t) == 64 ? carried<std::uint64_t, Subtract, In>
                            : nullptr;
}
template <bool In>
handler carried_mad_on(type t) {
  switch (t) {
    case type::u32: return carried_mad<std::uint32_t, In>;
    case type::s32: return carried_mad<std::int32_t, In>;
    case type::u64: return carried_mad<std::uint64_t, In>;
    case type::s64: return carried_mad<std::int64_t, In>;
    default: return nullptr;
  }
}

void build_addc(form& f) {
  f.out.with.mode = f.take("cc") ? 1 : 0;
  type const t = f.take_type();
  f.complete(carried_sum(t, f.base() == "subc", true), t, {t, t});
}

}  // namespace

handler carried_sum(type t, bool subtract, bool takes_carry) {
  if (subtract) { return takes_carry ? carried_on<true, true>(t) : carried_on<true, false>(t); }
  return takes_carry ? carried_on<false, true>(t) : carried_on<false, false>(t);
}

handler carried_product(type t, bool takes_carry) {
  return takes_carry ? carried_mad_on<true>(t) : carried_mad_on<false>(t);
}

void add_carries(opcode_table& t) {
  t.add("addc", build_addc);
  t.add("subc", build_addc);
}

}  // namespace ptx
