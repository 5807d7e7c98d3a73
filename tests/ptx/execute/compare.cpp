// SPDX-License-Identifier: Apache-2.0
//
// set, setp, selp.
#include "execute/floats.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

// A comparison is the set of outcomes that make it true.
enum outcome : std::uint8_t { less = 1, equal = 2, greater = 4, unordered = 8 };

constexpr named<std::uint8_t> comparisons[] = {
    {"eq", equal},
    {"ne", less | greater},
    {"lt", less},
    {"le", less | equal},
    {"gt", greater},
    {"ge", greater | equal},
    {"lo", less},
    {"ls", less | equal},
    {"hi", greater},
    {"hs", greater | equal},
    {"equ", equal | unordered},
    {"neu", less | greater | unordered},
    {"ltu", less | unordered},
    {"leu", less | equal | unordered},
    {"gtu", greater | unordered},
    {"geu", greater | equal | unordered},
    {"num", less | equal | greater},
    {"nan", unordered},
};

enum combination : std::uint8_t { none, with_and, with_or, with_xor };
constexpr named<std::uint8_t> combinations[] = {{"and", with_and}, {"or", with_or}, {"xor", with_xor}};

bool combine(std::uint8_t how, bool a, bool b) {
  switch (how) {
    case with_and: return a && b;
    case with_or: return a || b;
    case with_xor: return a != b;
    default: return a;
  }
}

template <class T>
std::uint8_t compare_integers(modifiers const&, std::uint64_t a, std::uint64_t b) {
  auto const x = static_cast<T>(a), y = static_cast<T>(b);
  return x < y ? less : x == y ? equal : greater;
}

template <type T>
std::uint8_t compare_floats(modifiers const& with, std::uint64_t a, std::uint64_t b) {
  using e = float_element<T>;
  a = e::flushed(with, a), b = e::flushed(with, b);
  if (e::is_nan(a) || e::is_nan(b)) { return unordered; }
  if (((a | b) & ~e::sign) == 0) { return equal; }
  std::int64_t const x = float_key<e>(a), y = float_key<e>(b);
  return x < y ? less : x == y ? equal : greater;
}

using comparer = std::uint8_t (*)(modifiers const&, std::uint64_t, std::uint64_t);

/// A comparison of undefined bytes is an undefined predicate and no finding yet: compilers compare first and ask later
/// whether it counts (`a < n && x[a] < y` without a branch).
lane_set undefined_comparisons(warp& w, instruction const& i, lane_set m, unsigned bytes) {
  return w.undefined_lanes(i.operands[2], m, bytes_mask(bytes)) |
         w.undefined_lanes(i.operands[3], m, bytes_mask(bytes));
}

/// p and q, where the comparison or the predicate c may be undefined; a known c may decide alone.
void set_predicates_defined(warp& w, instruction const& i, lane_set m, lane_set undefined) {
  lane_set unknown = undefined;
  if (i.count == 5) {
    operand const& c = i.operands[4];
    lane_set const c_unknown = w.undefined_lanes(c, m, 1);
    each_lane(undefined & ~c_unknown, [&](int l) {
      bool const value = ((w.values(c)[l] ^ static_cast<std::uint64_t>(c.offset)) & 1) != 0;
      bool const decides = i.with.combine == with_and ? !value : i.with.combine == with_or && value;
      if (decides) { unknown &= ~(1u << l); }
    });
    unknown |= c_unknown;
  }
  for (int k = 0; k < 2; ++k) {
    w.set_defined(i.operands[k], m);
    if (unknown != 0) { w.set_defined(i.operands[k], unknown, computed); }
  }
}

/// p|q = cmp(a, b) combined with c:  operands p, q or _, a, b, c
template <comparer Compare, unsigned Bytes>
void set_predicate(warp& w, instruction const& i, lane_set m) {
  lane_set const undefined = undefined_comparisons(w, i, m, Bytes);
  std::uint64_t const* const a = w.values(i.operands[2]);
  std::uint64_t const* const b = w.values(i.operands[3]);
  std::uint64_t* const p = w.destination(i.operands[0]);
  if (i.count == 4 && i.operands[1].slot == sink_slot) {
    each_lane(m, [&](int l) { p[l] = (i.with.compare & Compare(i.with, a[l], b[l])) != 0 ? 1 : 0; });
    w.set_defined(i.operands[0], m);
    if (undefined != 0) { w.set_defined(i.operands[0], undefined, computed); }
    return;
  }
  std::uint64_t* const q = w.destination(i.operands[1]);
  each_lane(m, [&](int l) {
    bool const c =
        i.count == 5 && ((w.values(i.operands[4])[l] ^ static_cast<std::uint64_t>(i.operands[4].offset)) & 1) != 0;
    bool const r = (i.with.compare & Compare(i.with, a[l], b[l])) != 0;
    p[l] = combine(i.with.combine, r, c) ? 1 : 0;
    q[l] = combine(i.with.combine, !r, c) ? 1 : 0;
  });
  set_predicates_defined(w, i, m, undefined);
}

/// Packed setp: p for the low element, q for the high.
template <comparer Compare>
void set_predicates_packed(warp& w, instruction const& i, lane_set m) {
  lane_set const undefined = undefined_comparisons(w, i, m, 4);
  each_lane(m, [&](int l) {
    std::uint64_t const a = w.values(i.operands[2])[l], b = w.values(i.operands[3])[l];
    bool const c =
        i.count == 5 && ((w.values(i.operands[4])[l] ^ static_cast<std::uint64_t>(i.operands[4].offset)) & 1) != 0;
    for (int k = 0; k < 2; ++k) {
      bool const r = (i.with.compare & Compare(i.with, (a >> (16 * k)) & 0xFFFF, (b >> (16 * k)) & 0xFFFF)) != 0;
      w.destination(i.operands[k])[l] = combine(i.with.combine, r, c) ? 1 : 0;
    }
  });
  set_predicates_defined(w, i, m, undefined);
}

/// d = cmp(a, b) combined with c, as ones or 1.0:  operands d, a, b, c.  with.mode: the element's true value is 1.0
template <comparer Compare, unsigned Bytes, int Elements>
void set_value(warp& w, instruction const& i, lane_set m) {
  w.use(i, 1, m, bytes_mask(Bytes));
  w.use(i, 2, m, bytes_mask(Bytes));
  if (i.count == 4) { w.use(i, 3, m, 1); }
  type const to = i.with.first;
  int const width = static_cast<int>(bits_of(to)) / Elements;
  bool const real = row(to).family == 'f' || row(to).family == 'x';
  std::uint64_t const ones = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  float_format const f = format_of(to);
  std::uint64_t const yes = real ? static_cast<std::uint64_t>(f.bias) << f.fraction_bits : ones;
  std::uint64_t const mask = Elements == 2 ? 0xFFFF : ~std::uint64_t{0};
  each_lane(m, [&](int l) {
    std::uint64_t const a = w.values(i.operands[1])[l], b = w.values(i.operands[2])[l];
    bool const c =
        i.count == 4 && ((w.values(i.operands[3])[l] ^ static_cast<std::uint64_t>(i.operands[3].offset)) & 1) != 0;
    std::uint64_t result = 0;
    for (int k = 0; k < Elements; ++k) {
      bool const r = (i.with.compare & Compare(i.with, (a >> (16 * k)) & mask, (b >> (16 * k)) & mask)) != 0;
      if (combine(i.with.combine, r, c)) { result |= yes << (width * k); }
    }
    w.destination(i.operands[0])[l] = result;
  });
  w.set_result(i.operands[0], m);
}

struct compare_row {
  type of;
  handler to_predicate, to_value;
};

constexpr compare_row rows[] = {
    {type::b16, set_predicate<compare_integers<std::uint16_t>, 2>, set_value<compare_integers<std::uint16_t>, 2, 1>},
    {type::u16, set_predicate<compare_integers<std::uint16_t>, 2>, set_value<compare_integers<std::uint16_t>, 2, 1>},
    {type::s16, set_predicate<compare_integers<std::int16_t>, 2>, set_value<compare_integers<std::int16_t>, 2, 1>},
    {type::b32, set_predicate<compare_integers<std::uint32_t>, 4>, set_value<compare_integers<std::uint32_t>, 4, 1>},
    {type::u32, set_predicate<compare_integers<std::uint32_t>, 4>, set_value<compare_integers<std::uint32_t>, 4, 1>},
    {type::s32, set_predicate<compare_integers<std::int32_t>, 4>, set_value<compare_integers<std::int32_t>, 4, 1>},
    {type::b64, set_predicate<compare_integers<std::uint64_t>, 8>, set_value<compare_integers<std::uint64_t>, 8, 1>},
    {type::u64, set_predicate<compare_integers<std::uint64_t>, 8>, set_value<compare_integers<std::uint64_t>, 8, 1>},
    {type::s64, set_predicate<compare_integers<std::int64_t>, 8>, set_value<compare_integers<std::int64_t>, 8, 1>},
    {type::f16, set_predicate<compare_floats<type::f16>, 2>, set_value<compare_floats<type::f16>, 2, 1>},
    {type::bf16, set_predicate<compare_floats<type::bf16>, 2>, set_value<compare_floats<type::bf16>, 2, 1>},
    {type::f32, set_predicate<compare_floats<type::f32>, 4>, set_value<compare_floats<type::f32>, 4, 1>},
    {type::f64, set_predicate<compare_floats<type::f64>, 8>, set_value<compare_floats<type::f64>, 8, 1>},
    {type::f16x2, set_predicates_packed<compare_floats<type::f16>>, set_value<compare_floats<type::f16>, 4, 2>},
    {type::bf16x2, set_predicates_packed<compare_floats<type::bf16>>, set_value<compare_floats<type::bf16>, 4, 2>},
};

compare_row const& row_for(form& f, type t) {
  for (compare_row const& r : rows) {
    if (r.of == t) { return r; }
  }
  f.fail("not for this type");
}

void take_comparison(form& f) {
  if (!f.take_one(comparisons, f.out.with.compare)) { f.fail("expected a comparison"); }
  f.take_one(combinations, f.out.with.combine);
  f.out.with.ftz = f.take("ftz");
}

/// "ne" of integers means other; floats' ne is false for NaN, as the table says.
void build_setp(form& f) {
  take_comparison(f);
  type const t = f.take_type();
  f.out.run = row_for(f, t).to_predicate;
  f.destination_pair(type::pred, type::pred);
  f.source(t);
  f.source(t);
  if (f.out.with.combine != none) { f.predicate_source(); }
}

void build_set(form& f) {
  take_comparison(f);
  type const to = f.take_type();
  type const t = f.take_type();
  f.out.with.first = to;
  f.out.run = row_for(f, t).to_value;
  f.destination(to);
  f.source(t);
  f.source(t);
  if (f.out.with.combine != none) { f.predicate_source(); }
}

/// d = p ? a : b; copies what is undefined, and is undefined where p is.
void select(warp& w, instruction const& i, lane_set m) {
  lane_set const undefined = w.undefined_lanes(i.operands[3], m, 1);
  std::uint64_t const *const a = w.values(i.operands[1]), *const b = w.values(i.operands[2]);
  byte_set const *const a_defined = w.defined(i.operands[1]), *const b_defined = w.defined(i.operands[2]);
  std::uint64_t const* const p = w.values(i.operands[3]);
  std::uint64_t* const d = w.destination(i.operands[0]);
  byte_set* const d_defined = w.destination_defined(i.operands[0]);
  each_lane(m, [&](int l) {
    bool const first = (p[l] & 1) != 0;
    d[l] = first ? a[l] : b[l];
    d_defined[l] = first ? a_defined[l] : b_defined[l];
  });
  if (undefined != 0) { w.set_defined(i.operands[0], undefined, computed); }
}

void build_selp(form& f) {
  type const t = f.take_type();
  f.out.run = select;
  f.destination(t);
  f.source(t);
  f.source(t);
  f.source(type::pred);
}

}  // namespace

void add_compare(opcode_table& t) {
  t.add("setp", build_setp);
  t.add("set", build_set);
  t.add("selp", build_selp);
}

}  // namespace ptx
