// SPDX-License-Identifier: Apache-2.0
//
// Bitwise and bit-field instructions. Those that move whole bytes carry along which bytes are defined, so that a
// value may be packed or unpacked while parts of it have never been written.
#include <algorithm>

#include "execute/elementwise.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

using mods = modifiers;

/// Bytes of `value` that are zero, of 8.
unsigned zero_bytes(std::uint64_t value) {
  unsigned mask = 0;
  for (int k = 0; k < 8; ++k) { mask |= ((value >> (8 * k)) & 0xFF) == 0 ? 1u << k : 0u; }
  return mask;
}

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
    dd[l] = with_origin(F::defined(a[l], da[l], b[l], db[l]), da[l] | db[l]);
    d[l] = F::of(a[l], b[l]);
  });
}

/// not, and cnot (one where a is zero).
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
struct cnot_op {
  template <class T>
  static T of(mods const&, T a) {
    return a == 0 ? T{1} : T{0};
  }
};

/// shl and shr: an amount beyond the width gives zeros, or copies of the sign.
template <class T, bool Left>
void shift(warp& w, instruction const& i, lane_set m) {
  constexpr unsigned width = 8 * sizeof(T);
  w.use(i, 2, m, 0x0F);
  std::uint64_t const *const a = w.values(i.operands[1]), *const by = w.values(i.operands[2]);
  byte_set const* const da = w.defined(i.operands[1]);
  std::uint64_t* const d = w.destination(i.operands[0]);
  byte_set* const dd = w.destination_defined(i.operands[0]);
  constexpr unsigned all = bytes_mask(sizeof(T));
  each_lane(m, [&](int l) {
    auto const n = static_cast<unsigned>(std::min<std::uint64_t>(by[l] & 0xFFFFFFFFu, width));
    auto const x = static_cast<T>(a[l]);
    unsigned const unknown = ~static_cast<unsigned>(da[l]) & all;
    T const wide_shift = n == width ? static_cast<T>(!Left && x < 0 ? -1 : 0) : T{0};
    d[l] = to_bits(n == width ? wide_shift
                              : static_cast<T>(Left ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << n)
                                                    : static_cast<T>(x >> n)));
    dd[l] = 0xFF;
    if (unknown != 0) {  // where the unknown bytes come to lie; a shifted one may touch two
      unsigned const bytes = n / 8, more = n % 8 != 0 ? 1 : 0;
      unsigned const moved =
          Left ? (unknown << bytes) | (unknown << (bytes + more)) : (unknown >> bytes) | (unknown >> (bytes + more));
      bool const sign_unknown = !Left && std::is_signed_v<T> && (unknown >> (sizeof(T) - 1)) != 0;
      dd[l] = with_origin(sign_unknown ? 0 : ~(moved & all), da[l]);
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
  for (int k = 1; k <= 3; ++k) { w.use(i, k, m, 0x0F); }
  bool const left = i.with.mode != 0, clamp = i.with.combine != 0;
  each_lane(m, [&](int l) {
    std::uint64_t const low = w.values(i.operands[1])[l] & 0xFFFFFFFFu, high = w.values(i.operands[2])[l];
    std::uint64_t const by = w.values(i.operands[3])[l] & 0xFFFFFFFFu;
    std::uint64_t const n = clamp ? std::min<std::uint64_t>(by, 32) : by & 31;
    std::uint64_t const both = high << 32 | low;
    w.destination(i.operands[0])[l] = (left ? (both << n) >> 32 : both >> n) & 0xFFFFFFFFu;
  });
  w.set_result(i.operands[0], m);
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
    unsigned const da = w.defined(i.operands[first])[l], db = w.defined(i.operands[first + 1])[l],
                   dc = w.defined(i.operands[first + 2])[l];
    w.destination_defined(i.operands[0])[l] = with_origin(da & db & dc, da | db | dc);
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
    unsigned const known = (w.defined(i.operands[2])[l] & 0x0Fu) << 4 | (w.defined(i.operands[1])[l] & 0x0Fu);
    std::uint32_t const selector =
        permute_selector(i.with.mode, static_cast<std::uint32_t>(w.values(i.operands[3])[l]));
    std::uint64_t r = 0;
    unsigned defined = 0xF0;
    for (unsigned k = 0; k < 4; ++k) {
      unsigned const s = selector >> (4 * k);
      std::uint64_t byte = (both >> (8 * (s & 7))) & 0xFF;
      if ((s & 8) != 0) { byte = (byte & 0x80) != 0 ? 0xFF : 0; }
      r |= byte << (8 * k);
      defined |= (known >> (s & 7) & 1) << k;
    }
    w.destination(i.operands[0])[l] = r;
    w.destination_defined(i.operands[0])[l] =
        with_origin(defined, w.defined(i.operands[1])[l] | w.defined(i.operands[2])[l]);
  });
  w.spoil(i.operands[0]);
}

struct popc_op {
  template <class T>
  static std::uint32_t of(mods const&, T a) {
    return static_cast<std::uint32_t>(__builtin_popcountll(to_bits(a)));
  }
};
struct clz_op {
  template <class T>
  static std::uint32_t of(mods const&, T a) {
    constexpr std::uint32_t width = 8 * sizeof(T);
    return a == 0 ? width : static_cast<std::uint32_t>(__builtin_clzll(to_bits(a))) + width - 64;
  }
};
struct brev_op {
  template <class T>
  static T of(mods const&, T a) {
    T r = 0;
    for (unsigned k = 0; k < 8 * sizeof(T); ++k) { r = static_cast<T>(r << 1 | (a >> k & 1)); }
    return r;
  }
};
/// bfind: position of the highest bit that is not the sign; mode 1: the shift that brings it up.
struct bfind_op {
  template <class T>
  static std::uint32_t of(mods const& with, T a) {
    std::uint64_t const x = to_bits(static_cast<T>(a < 0 ? ~a : a));
    if (x == 0) { return ~0u; }
    std::uint32_t const at = 63u - static_cast<std::uint32_t>(__builtin_clzll(x));
    return with.mode != 0 ? static_cast<std::uint32_t>(8 * sizeof(T)) - 1 - at : at;
  }
};
/// bfe: `c` bits from `b`, with the sign of the field's or the number's highest bit.
struct bfe_op {
  template <class T>
  using second = std::uint32_t;
  template <class T>
  using third = std::uint32_t;
  template <class T>
  static T of(mods const&, T a, std::uint32_t b, std::uint32_t c) {
    constexpr unsigned width = 8 * sizeof(T);
    unsigned const at = b & 0xFF, n = c & 0xFF;
    std::uint64_t const x = to_bits(a);
    unsigned const top = std::min(at + n - (n != 0 ? 1 : 0), width - 1);
    bool const sign = std::is_signed_v<T> && n != 0 && (x >> top & 1) != 0;
    std::uint64_t const mask = n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    std::uint64_t r = at >= width ? 0 : (x >> at) & mask;
    if (sign) {
      unsigned const taken = at >= width ? 0 : std::min(n, width - at);
      r |= taken >= 64 ? 0 : ~std::uint64_t{0} << taken;
    }
    return static_cast<T>(r);
  }
};
/// bfi d, a, b, c, n: the low n bits of a go into b at c. Whole bytes keep what is known of them.
template <class T>
void insert_field(warp& w, instruction const& i, lane_set m) {
  constexpr unsigned width = 8 * sizeof(T);
  w.use(i, 3, m, 0x0F);
  w.use(i, 4, m, 0x0F);
  each_lane(m, [&](int l) {
    unsigned const at = w.values(i.operands[3])[l] & 0xFF, n = w.values(i.operands[4])[l] & 0xFF;
    std::uint64_t const ones = n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    std::uint64_t const field = at >= width ? 0 : static_cast<T>(ones << at);
    std::uint64_t const moved = at >= width ? 0 : w.values(i.operands[1])[l] << at;
    unsigned const da = w.defined(i.operands[1])[l], db = w.defined(i.operands[2])[l];
    unsigned known = at % 8 == 0 ? (da & 0xFF) << std::min(at / 8, 8u) : (da & 0xFF) == 0xFF ? 0xFFu : 0u;
    unsigned const outside = zero_bytes(field), inside = zero_bytes(~field);
    known = (known & inside) | (db & outside) | (known & db & ~(inside | outside));
    w.destination(i.operands[0])[l] = static_cast<T>((w.values(i.operands[2])[l] & ~field) | (moved & field));
    w.destination_defined(i.operands[0])[l] = with_origin(known, da | db);
  });
  w.spoil(i.operands[0]);
}

/// bmsk: n ones from bit a on. mode 1: clamped, else both counts wrap at 32.
struct bmsk_op : same_types {
  static std::uint32_t of(mods const& with, std::uint32_t a, std::uint32_t b) {
    if (with.mode == 0) { a &= 31, b &= 31; }
    if (a >= 32 || b == 0) { return 0; }
    std::uint32_t const ones = b >= 32 ? ~0u : (1u << b) - 1;
    return ones << a;
  }
};
/// szext: a from bit n up becomes copies of bit n - 1 (signed) or zeros.
template <class T>
struct szext_op {
  template <class>
  using second = std::uint32_t;
  static T of(mods const& with, T a, std::uint32_t n) {
    if (with.mode == 0) { n &= 31; }
    if (n == 0) { return 0; }
    if (n >= 32) { return a; }
    auto const up = static_cast<T>(static_cast<std::uint32_t>(a) << (32 - n));
    return static_cast<T>(up >> (32 - n));
  }
};
/// fns: position of the n-th set bit from `base` on; negative n looks down.
struct fns_op : same_types {
  static std::uint32_t of(mods const&, std::uint32_t mask, std::uint32_t base, std::uint32_t offset) {
    auto n = static_cast<std::int32_t>(offset);
    if (n == 0) { return (mask >> (base & 31) & 1) != 0 ? base : ~0u; }
    int const step = n > 0 ? 1 : -1;
    for (int k = static_cast<int>(base); k >= 0 && k < 32; k += step) {
      if ((mask >> k & 1) != 0 && (n -= step) == 0) { return static_cast<std::uint32_t>(k); }
    }
    return ~0u;
  }
};

/// dp4a, dp2a: sums of products of bytes. mode: 1 a signed, 2 b signed; combine: dp2a takes the upper bytes of b.
std::int64_t piece(std::uint64_t x, int bits, int k, bool is_signed_piece) {
  auto const u = static_cast<std::int64_t>(x >> (bits * k) & ((1u << bits) - 1));
  return is_signed_piece && (u >> (bits - 1)) != 0 ? u - (std::int64_t{1} << bits) : u;
}
void dot(warp& w, instruction const& i, lane_set m) {
  for (int k = 1; k <= 3; ++k) { w.use(i, k, m, 0x0F); }
  int const n = i.with.elements;
  each_lane(m, [&](int l) {
    auto s = static_cast<std::int64_t>(w.values(i.operands[3])[l]);
    for (int k = 0; k < n; ++k) {
      s += piece(w.values(i.operands[1])[l], 32 / n, k, (i.with.mode & 1) != 0) *
           piece(w.values(i.operands[2])[l], 8, k + (i.with.combine != 0 ? 2 : 0), (i.with.mode & 2) != 0);
    }
    w.destination(i.operands[0])[l] = static_cast<std::uint32_t>(s);
  });
  w.set_result(i.operands[0], m);
}

void operands(form& f, handler h, type result, std::initializer_list<type> sources) {
  if (h == nullptr) { f.fail("not for this type"); }
  f.out.run = h;
  f.destination(result);
  for (type t : sources) { f.source(t); }
}

void build_logic(form& f) {
  type const t = f.take_type();
  f.out.with.first = t;
  std::string_view const name = f.base();
  if (row(t).family != 'b' && t != type::pred) { f.fail("not for this type"); }
  if (name == "not") { return operands(f, invert, t, {t}); }
  if (name == "cnot") { return operands(f, unary_on<cnot_op>(t), t, {t}); }
  operands(f,
           name == "and"     ? logic<and_op>
           : name != "or"    ? logic<xor_op>
           : t == type::pred ? logic<or_predicate>
                             : logic<or_op>,
           t, {t, t});
}
void build_shift(form& f) {
  type const t = f.take_type();
  operands(f, f.base() == "shl" ? pick_shift<true>(t) : pick_shift<false>(t), t, {t, type::u32});
}
void build_funnel(form& f) {
  f.out.with.mode = f.take("l") ? 1 : f.take("r") ? 0 : 2;
  f.out.with.combine = f.take("clamp") ? 1 : f.take("wrap") ? 0 : 2;
  if (f.out.with.mode == 2 || f.out.with.combine == 2) { f.fail("expected .l or .r, .clamp or .wrap"); }
  type const t = f.take_type();
  operands(f, t == type::b32 ? funnel : nullptr, t, {t, t, type::u32});
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
  operands(f, permute, t, {t, t, t});
}
void build_count(form& f) {
  f.out.with.mode = f.base() == "bfind" && f.take("shiftamt") ? 1 : 0;
  type const t = f.take_type();
  if (f.base() == "popc") { return operands(f, unary_on<popc_op>(t), type::u32, {t}); }
  if (f.base() == "clz") { return operands(f, unary_on<clz_op>(t), type::u32, {t}); }
  if (f.base() == "bfind") { return operands(f, unary_on<bfind_op>(t), type::u32, {t}); }
  operands(f, unary_on<brev_op>(t), t, {t});
}
void build_field(form& f) {
  type const t = f.take_type();
  if (f.base() == "bfe") { return operands(f, ternary_on<bfe_op>(t), t, {t, type::u32, type::u32}); }
  handler const h = t == type::b32   ? insert_field<std::uint32_t>
                    : t == type::b64 ? insert_field<std::uint64_t>
                                     : nullptr;
  operands(f, h, t, {t, t, type::u32, type::u32});
}
void build_mask(form& f) {
  f.out.with.mode = f.take("clamp") ? 1 : 0;
  if (f.out.with.mode == 0 && !f.take("wrap")) { f.fail("expected .clamp or .wrap"); }
  type const t = f.take_type();
  if (f.base() == "bmsk") { return operands(f, binary<std::uint32_t, bmsk_op>, t, {t, t}); }
  handler const h =
      t == type::s32 ? binary<std::int32_t, szext_op<std::int32_t>> : binary<std::uint32_t, szext_op<std::uint32_t>>;
  operands(f, h, t, {t, type::u32});
}
void build_fns(form& f) {
  type const t = f.take_type();
  operands(f, ternary<std::uint32_t, fns_op>, t, {t, type::u32, type::s32});
}
void build_dot(form& f) {
  f.out.with.elements = f.base() == "dp4a" ? 4 : 2;
  if (f.out.with.elements == 2) {
    f.out.with.combine = f.take("hi") ? 1 : 0;
    if (f.out.with.combine == 0 && !f.take("lo")) { f.fail("expected .lo or .hi"); }
  }
  type const a = f.take_type(), b = f.take_type();
  f.out.with.mode = static_cast<std::uint8_t>((is_signed(a) ? 1 : 0) | (is_signed(b) ? 2 : 0));
  operands(f, dot, type::s32, {type::b32, type::b32, type::b32});
}

}  // namespace

void add_bits(opcode_table& t) {
  for (std::string_view name : {"and", "or", "xor", "not", "cnot"}) { t.add(name, build_logic); }
  t.add("shl", build_shift);
  t.add("shr", build_shift);
  t.add("shf", build_funnel);
  t.add("lop3", build_lop3);
  t.add("prmt", build_permute);
  for (std::string_view name : {"popc", "clz", "bfind", "brev"}) { t.add(name, build_count); }
  t.add("bfe", build_field);
  t.add("bfi", build_field);
  t.add("bmsk", build_mask);
  t.add("szext", build_mask);
  t.add("fns", build_fns);
  t.add("dp4a", build_dot);
  t.add("dp2a", build_dot);
}

}  // namespace ptx
