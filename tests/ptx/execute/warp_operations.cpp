// SPDX-License-Identifier: Apache-2.0
//
// Instructions that the lanes of a membermask execute together: shfl, vote, match, redux, elect; and activemask.
#include <algorithm>

#include "execute/elementwise.hpp"
#include "execute/floats.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

/// d|p, a, b, c, membermask. Reading a lane that does not take part gives undefined bytes.
void shuffle(warp& w, instruction const& i, lane_set m) {
  operand const &d = i.operands[0], &p = i.operands[1], &a = i.operands[2];
  w.require(i, 3, m, 0x0F);
  w.require(i, 4, m, 0x0F);
  std::uint64_t values[32];
  byte_set known[32];
  std::memcpy(values, w.values(a), sizeof values);
  std::memcpy(known, w.defined(a), sizeof known);
  each_lane(m, [&](int l) {
    auto const b = static_cast<int>(w.values(i.operands[3])[l] & 0x1F);
    auto const c = static_cast<int>(w.values(i.operands[4])[l]);
    int const clamp = c & 0x1F, segment = c >> 8 & 0x1F;
    int const highest = (l & segment) | (clamp & ~segment), lowest = l & segment;
    int from = l;
    bool inside = true;
    switch (i.with.mode) {
      case 0: from = l - b, inside = from >= highest; break;                     // up
      case 1: from = l + b, inside = from <= highest; break;                     // down
      case 2: from = l ^ b, inside = from <= highest; break;                     // bfly
      default: from = lowest | (b & ~segment), inside = from <= highest; break;  // idx
    }
    if (!inside) { from = l; }
    bool const takes_part = (m >> from & 1) != 0;
    w.destination(d)[l] = values[from];
    w.destination_defined(d)[l] = takes_part ? known[from] : 0;
    if (p.slot != sink_slot) {
      w.destination(p)[l] = inside ? 1 : 0;
      w.destination_defined(p)[l] = 0xFF;
    }
  });
}

void build_shuffle(form& f) {
  if (!f.take("sync")) { f.fail("shfl without .sync does not exist since sm_70"); }
  static constexpr named<std::uint8_t> modes[] = {{"up", 0}, {"down", 1}, {"bfly", 2}, {"idx", 3}};
  if (!f.take_one(modes, f.out.with.mode)) { f.fail("expected .up, .down, .bfly or .idx"); }
  type const t = f.take_type();
  if (t != type::b32) { f.fail("not for this type"); }
  f.destination_pair(t, type::pred);
  for (int k = 0; k < 4; ++k) { f.source(type::b32); }
  f.out.how = flow::meet;
  f.out.run = shuffle;
}

/// d, p, membermask
void vote(warp& w, instruction const& i, lane_set m) {
  operand const &d = i.operands[0], &p = i.operands[1];
  w.require(i, 1, m, 1);
  lane_set yes = 0;
  each_lane(m,
            [&](int l) { yes |= ((w.values(p)[l] ^ static_cast<std::uint64_t>(p.offset)) & 1) != 0 ? 1u << l : 0u; });
  std::uint64_t const answers[] = {yes == m, yes != 0, yes == m || yes == 0, yes};
  each_lane(m, [&](int l) { w.destination(d)[l] = answers[i.with.mode]; });
  w.set_defined(d, m);
}

void build_vote(form& f) {
  if (!f.take("sync")) { f.fail("vote without .sync does not exist since sm_70"); }
  static constexpr named<std::uint8_t> modes[] = {{"all", 0}, {"any", 1}, {"uni", 2}, {"ballot", 3}};
  if (!f.take_one(modes, f.out.with.mode)) { f.fail("expected .all, .any, .uni or .ballot"); }
  type const t = f.take_type();
  f.destination(t);
  f.predicate_source();
  f.source(type::b32);
  f.out.how = flow::meet;
  f.out.run = vote;
}

/// d|p, a, membermask
void match(warp& w, instruction const& i, lane_set m) {
  operand const &d = i.operands[0], &p = i.operands[1], &a = i.operands[2];
  w.require(i, 2, m, bytes_mask(bytes_of(i.with.first)));
  bool const all = i.with.mode == 1;
  each_lane(m, [&](int l) {
    lane_set same = 0;
    each_lane(m, [&](int k) { same |= w.values(a)[k] == w.values(a)[l] ? 1u << k : 0u; });
    w.destination(d)[l] = !all || same == m ? same : 0;
    if (p.slot != sink_slot) { w.destination(p)[l] = same == m ? 1 : 0; }
  });
  w.set_defined(d, m);
  if (p.slot != sink_slot) { w.set_defined(p, m); }
}

void build_match(form& f) {
  f.out.with.mode = f.take("all") ? 1 : f.take("any") ? 2 : 0;
  if (f.out.with.mode == 0 || !f.take("sync")) { f.fail("expected .any.sync or .all.sync"); }
  type const t = f.out.with.first = f.take_type();
  f.destination_pair(type::b32, type::pred);
  f.source(t);
  f.source(type::b32);
  f.out.how = flow::meet;
  f.out.run = match;
}

enum reduction : std::uint8_t { add, minimum, maximum, bit_and, bit_or, bit_xor };

std::uint32_t reduce(reduction how, type t, std::uint32_t a, std::uint32_t b) {
  auto const sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
  bool const is_less = t == type::s32 ? sa < sb : a < b;
  switch (how) {
    case add: return a + b;
    case minimum: return is_less ? a : b;
    case maximum: return is_less ? b : a;
    case bit_and: return a & b;
    case bit_or: return a | b;
    default: return a ^ b;
  }
}

/// d, a, membermask
void redux(warp& w, instruction const& i, lane_set m) {
  w.require(i, 1, m, 0x0F);
  bool const real = i.with.first == type::f32;
  auto const how = static_cast<reduction>(i.with.mode);
  std::uint32_t total = 0;
  bool first = true;
  each_lane(m, [&](int l) {
    auto const a = static_cast<std::uint32_t>(w.values(i.operands[1])[l]);
    auto const magnitude = real && i.with.abs ? a & 0x7FFFFFFFu : a;
    if (first) {
      total = magnitude;
    } else if (real) {
      total = static_cast<std::uint32_t>(how == minimum ? on_elements<type::f32, float_min>(i.with, total, magnitude)
                                                        : on_elements<type::f32, float_max>(i.with, total, magnitude));
    } else {
      total = reduce(how, i.with.first, total, a);
    }
    first = false;
  });
  if (real && float_element<type::f32>::is_nan(total)) { total = 0x7FFFFFFFu; }
  each_lane(m, [&](int l) { w.destination(i.operands[0])[l] = total; });
  w.set_defined(i.operands[0], m);
}

void build_redux(form& f) {
  if (!f.take("sync")) { f.fail("expected .sync"); }
  static constexpr named<std::uint8_t> operations[] = {{"add", add},     {"min", minimum}, {"max", maximum},
                                                       {"and", bit_and}, {"or", bit_or},   {"xor", bit_xor}};
  if (!f.take_one(operations, f.out.with.mode)) { f.fail("expected an operation"); }
  f.out.with.abs = f.take("abs");
  f.out.with.nan = f.take("NaN");
  type const t = f.out.with.first = f.take_type();
  bool const extreme = f.out.with.mode == minimum || f.out.with.mode == maximum;
  if (t == type::f32 ? !extreme : f.out.with.abs || f.out.with.nan) { f.fail("not for this type"); }
  f.destination(t);
  f.source(t);
  f.source(type::b32);
  f.out.how = flow::meet;
  f.out.run = redux;
}

/// d|p, membermask: one of the lanes is elected, the lowest here.
void elect(warp& w, instruction const& i, lane_set m) {
  int const leader = __builtin_ctz(m);
  each_lane(m, [&](int l) {
    w.destination(i.operands[0])[l] = static_cast<std::uint64_t>(leader);
    w.destination(i.operands[1])[l] = l == leader ? 1 : 0;
  });
  w.set_defined(i.operands[0], m);
  w.set_defined(i.operands[1], m);
}

void build_elect(form& f) {
  if (!f.take("sync")) { f.fail("expected .sync"); }
  f.destination_pair(type::b32, type::pred);
  f.source(type::b32);
  f.out.how = flow::meet;
  f.out.run = elect;
}

void activemask(warp& w, instruction const& i, lane_set m) {
  each_lane(m, [&](int l) { w.destination(i.operands[0])[l] = m; });
  w.set_defined(i.operands[0], m);
}

void build_activemask(form& f) {
  f.take_type();
  f.destination(type::b32);
  f.out.run = activemask;
}

}  // namespace

void add_warp(opcode_table& t) {
  t.add("shfl", build_shuffle);
  t.add("vote", build_vote);
  t.add("match", build_match);
  t.add("redux", build_redux);
  t.add("elect", build_elect);
  t.add("activemask", build_activemask);
}

}  // namespace ptx
