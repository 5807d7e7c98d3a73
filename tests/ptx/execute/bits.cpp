// SPDX-License-Identifier: Apache-2.0
//
// Bitwise instructions, shifts and permutations. Those that move whole bytes carry along which bytes are defined, so
// that a value may be packed or unpacked while parts of it have never been written.
#include <algorithm>

#include "execute/defined_bytes.hpp"
#include "execute/elementwise.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

using mods = modifiers;

struct and_op {
  static std::uint64_t of(std::uint64_t a, std::uint64_t b) { return a & b; }
  /// A known zero byte decides, whatever the other holds.
  static unsigned defined(std::uint64_t a, unsigned da, std::uint64_t b, unsigned db) {
    return (da & db) == 0xFF ? 0xFFu : (da & db) | (da & zero_bytes(a)) | (db & zero_bytes(b));
  }
};
struct or_op {
  static std::uint64_t of(std::uint64_t a, std::uint64_t b) { return a | b; }
  static unsigned defined(std::uint64_t, unsigned da, std::uint64_t, unsigned db) { return da & db; }
};
struct xor_op {
  static std::uint64_t of(std::uint64_t a, std::uint64_t b) { return a ^ b; }
  static unsigned defined(std::uint64_t, unsigned da, std::uint64_t, unsigned db) { return da & db; }
};

/// A known true predicate decides an or.
struct or_predicate : or_op {
  static unsigned defined(std::uint64_t a, unsigned da, std::uint64_t b, unsigned db) {
    return (da & db) | ((a & 1) != 0 ? da : 0) | ((b & 1) != 0 ? db : 0);
  }
};

template <class F>
void logic(warp& w, instruction const& i, lane_set m) {
  std::uint64_t const *const a = w.values(i.operands[1]), *const b = w.values(i.operands[2]);
  byte_set const *const da = w.defined(i.operands[1]), *const db = w.defined(i.operands[2]);
  std::uint64_t* const d = w.destination(i.operands[0]);
  byte_set* const dd = w.destination_defined(i.operands[0]);
  each_lane(m, [&](int l) {
    dd[l] = bytes_of_origin(F::defined(a[l], da[l], b[l], db[l]), computed_bytes(da[l] | db[l]));
    d[l] = F::of(a[l], b[l]);
  });
}

void invert(warp& w, instruction const& i, lane_set m) {
  std::uint64_t const mask = i.with.first == type::pred    ? 1
                             : bits_of(i.with.first) == 64 ? ~std::uint64_t{0}
                                                           : (std::uint64_t{1} << bits_of(i.with.first)) - 1;
  std::uint64_t const* const a = w.values(i.operands[1]);
  byte_set const* const da = w.defined(i.operands[1]);
  each_lane(m, [&](int l) {
    w.destination_defined(i.operands[0])[l] = da[l];
    w.destination(i.operands[0])[l] = ~a[l] & mask;
  });
}
/// shl and shr: an amount beyond the width gives zeros, or copies of the sign.
template <class T, bool Left>
void shift(warp& w, instruction const& i, lane_set m) {
  constexpr unsigned width = 8 * sizeof(T);
  w.use(i, 2, m, 0x0F);
  std::uint64_t const *const a = w.values(i.operands[1]), *const by = w.values(i.operands[2]);
  byte_set const* const da = w.defined(i.operands[1]);
  std::uint64_t* const d = w.destination(i.operands[0]);
  byte_set* const dd = w.destination_defined(i.operands[0]);
  static constexpr unsigned all = bytes_mask(sizeof(T));
  each_lane(m, [&](int l) {
    auto const n = static_cast<unsigned>(std::min<std::uint64_t>(by[l] & 0xFFFFFFFFu, width));
    auto const x = static_cast<T>(a[l]);
    byte_set const source = da[l];
    unsigned const unknown = ~unsigned{source} & all;
    T const wide_shift = n == width ? static_cast<T>(!Left && x < 0 ? -1 : 0) : T{0};
    d[l] = to_bits(n == width ? wide_shift
                              : static_cast<T>(Left ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << n)
                                                    : static_cast<T>(x >> n)));
    dd[l] = 0xFF;
    if (unknown != 0) {
      auto const moved = [n](unsigned bytes) -> unsigned {
        bool const sign = !Left && std::is_signed_v<T> && (bytes >> (sizeof(T) - 1) & 1) != 0;
        return sign ? 0xFF : all & (Left ? bytes_shifted_left(bytes, n) : bytes_shifted_right(bytes, n));
      };
      dd[l] = bytes_of_origin(~moved(unknown), moved(computed_bytes(source)));
    }
  });
  w.spoil(i.operands[0]);
}
template <bool Left>
handler pick_shift(type t) {
  switch (t) {
    case type::b16:
    case type::u16: return shift<std::uint16_t, Left>;
    case type::s16: return shift<std::int16_t, Left>;
    case type::b32:
    case type::u32: return shift<std::uint32_t, Left>;
    case type::s32: return shift<std::int32_t, Left>;
    case type::b64:
    case type::u64: return shift<std::uint64_t, Left>;
    case type::s64: return shift<std::int64_t, Left>;
    default: return nullptr;
  }
}

/// shf: 64 bits {b, a} shifted, the upper or lower half of them. mode: 1 left; combine: 1 clamp
void funnel(warp& w, instruction const& i, lane_set m) {
  w.use(i, 3, m, 0x0F);
  bool const left = i.with.mode != 0, clamp = i.with.combine != 0;
  each_lane(m, [&](int l) {
    std::uint64_t const low = w.values(i.operands[1])[l] & 0xFFFFFFFFu, high = w.values(i.operands[2])[l];
    std::uint64_t const by = w.values(i.operands[3])[l] & 0xFFFFFFFFu;
    std::uint64_t const n = clamp ? std::min<std::uint64_t>(by, 32) : by & 31;
    std::uint64_t const both = high << 32 | low;
    w.destination(i.operands[0])[l] = (left ? (both << n) >> 32 : both >> n) & 0xFFFFFFFFu;
    auto const moved = [&](unsigned low_bytes, unsigned high_bytes) {
      unsigned const bytes = (high_bytes & 0xF) << 4 | (low_bytes & 0xF);
      return (left ? bytes_shifted_left(bytes, static_cast<unsigned>(n)) >> 4
                   : bytes_shifted_right(bytes, static_cast<unsigned>(n))) &
             0xF;
    };
    byte_set const da = w.defined(i.operands[1])[l], db = w.defined(i.operands[2])[l];
    w.destination_defined(i.operands[0])[l] =
        bytes_of_origin(~moved(~da, ~db), moved(computed_bytes(da), computed_bytes(db)));
  });
  w.spoil(i.operands[0]);
}

void lop3(warp& w, instruction const& i, lane_set m) {
  bool const to_predicate = i.with.combine != 0;  // lop3.or|and.b32 d|p, a, b, c, lut, q
  int const first = to_predicate ? 2 : 1;
  auto const table = static_cast<unsigned>(w.values(i.operands[first + 3])[0]);
  each_lane(m, [&](int l) {
    std::uint64_t const a = w.values(i.operands[first])[l], b = w.values(i.operands[first + 1])[l],
                        c = w.values(i.operands[first + 2])[l];
    std::uint64_t r = 0;
    for (unsigned k = 0; k < 8; ++k) {
      if ((table >> k & 1) == 0) { continue; }
      r |= ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
    }
    r &= 0xFFFFFFFFu;
    byte_set const da = w.defined(i.operands[first])[l], db = w.defined(i.operands[first + 1])[l],
                   dc = w.defined(i.operands[first + 2])[l];
    w.destination_defined(i.operands[0])[l] = bytes_of_origin(da & db & dc, computed_bytes(da | db | dc));
    if (to_predicate) {
      operand const& q = i.operands[first + 4];
      bool const other = ((w.values(q)[l] ^ static_cast<std::uint64_t>(q.offset)) & 1) != 0;
      w.destination(i.operands[1])[l] = (i.with.combine == 1 ? (r != 0 || other) : (r != 0 && other)) ? 1 : 0;
      w.destination_defined(i.operands[1])[l] = (da & db & dc & 0x0F) == 0x0F ? all_bytes_defined : computed;
    }
    w.destination(i.operands[0])[l] = r;
  });
}

/// Selector of a prmt mode for each of four bytes; mode 0 takes it as given.
std::uint32_t permute_selector(std::uint8_t mode, std::uint32_t c) {
  static constexpr std::uint16_t rows[][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543},  // f4e: four bytes forward
      {0x5670, 0x6701, 0x7012, 0x0123},  // b4e: backward
      {0x0000, 0x1111, 0x2222, 0x3333},  // rc8: one byte everywhere
      {0x3210, 0x3211, 0x3222, 0x3333},  // ecl: the lower ones take its value
      {0x0000, 0x1110, 0x2210, 0x3210},  // ecr: the upper ones do
      {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
  };
  return mode == 0 ? c : rows[mode - 1][c & 3];
}

void permute(warp& w, instruction const& i, lane_set m) {
  w.use(i, 3, m, 0x0F);
  each_lane(m, [&](int l) {
    std::uint64_t const both = (w.values(i.operands[2])[l] << 32) | (w.values(i.operands[1])[l] & 0xFFFFFFFFu);
    byte_set const da = w.defined(i.operands[1])[l], db = w.defined(i.operands[2])[l];
    unsigned const known = (db & 0x0Fu) << 4 | (da & 0x0Fu);
    unsigned const from_arithmetic = (computed_bytes(db) & 0x0Fu) << 4 | (computed_bytes(da) & 0x0Fu);
    std::uint32_t const selector =
        permute_selector(i.with.mode, static_cast<std::uint32_t>(w.values(i.operands[3])[l]));
    std::uint64_t r = 0;
    unsigned defined = 0xF0, computed_ones = 0;
    for (unsigned k = 0; k < 4; ++k) {
      unsigned const s = selector >> (4 * k);
      std::uint64_t byte = (both >> (8 * (s & 7))) & 0xFF;
      if ((s & 8) != 0) { byte = (byte & 0x80) != 0 ? 0xFF : 0; }
      r |= byte << (8 * k);
      defined |= (known >> (s & 7) & 1) << k;
      computed_ones |= (from_arithmetic >> (s & 7) & 1) << k;
    }
    w.destination(i.operands[0])[l] = r;
    w.destination_defined(i.operands[0])[l] = bytes_of_origin(defined, computed_ones);
  });
  w.spoil(i.operands[0]);
}

void build_logic(form& f) {
  type const t = f.take_type();
  f.out.with.first = t;
  std::string_view const name = f.base();
  if (row(t).family != 'b' && t != type::pred) { f.fail("not for this type"); }
  if (name == "not") { return f.complete(invert, t, {t}); }
  f.complete(name == "and"     ? logic<and_op>
             : name != "or"    ? logic<xor_op>
             : t == type::pred ? logic<or_predicate>
                               : logic<or_op>,
             t, {t, t});
}
void build_shift(form& f) {
  type const t = f.take_type();
  f.complete(f.base() == "shl" ? pick_shift<true>(t) : pick_shift<false>(t), t, {t, type::u32});
}
void build_funnel(form& f) {
  f.out.with.mode = f.take("l") ? 1 : f.take("r") ? 0 : 2;
  f.out.with.combine = f.take("clamp") ? 1 : f.take("wrap") ? 0 : 2;
  if (f.out.with.mode == 2 || f.out.with.combine == 2) { f.fail("expected .l or .r, .clamp or .wrap"); }
  type const t = f.take_type();
  f.complete(t == type::b32 ? funnel : nullptr, t, {t, t, type::u32});
}
void build_lop3(form& f) {
  f.out.with.combine = f.take("or") ? 1 : f.take("and") ? 2 : 0;
  type const t = f.take_type();
  f.out.run = lop3;
  if (f.out.with.combine != 0) {
    f.destination_pair(t, type::pred);
  } else {
    f.destination(t);
  }
  for (int k = 0; k < 4; ++k) { f.source(t); }
  if (f.out.with.combine != 0) { f.predicate_source(); }
}
void build_permute(form& f) {
  type const t = f.take_type();
  static constexpr named<std::uint8_t> modes[] = {{"f4e", 1}, {"b4e", 2}, {"rc8", 3},
                                                  {"ecl", 4}, {"ecr", 5}, {"rc16", 6}};
  f.take_one(modes, f.out.with.mode);
  f.complete(permute, t, {t, t, t});
}
}  // namespace

void add_bits(opcode_table& t) {
  for (std::string_view name : {"and", "or", "xor", "not"}) { t.add(name, build_logic); }
  t.add("shl", build_shift);
  t.add("shr", build_shift);
  t.add("shf", build_funnel);
  t.add("lop3", build_lop3);
  t.add("prmt", build_permute);
}

}  // namespace ptx
