// SPDX-License-Identifier: Apache-2.0
//
// Bit fields, counts of bits, and sums of products of bytes.
#include <algorithm>

#include "execute/defined_bytes.hpp"
#include "execute/elementwise.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

using mods = modifiers;

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
    byte_set const da = w.defined(i.operands[1])[l], db = w.defined(i.operands[2])[l];
    unsigned const outside = zero_bytes(field), inside = zero_bytes(~field);
    // Undefined bytes of a result: those of a that come into the field, those of b around it.
    auto const moved_in = [&](unsigned a_bytes, unsigned b_bytes) {
      return (bytes_shifted_left(a_bytes & 0xFF, at) & ~outside) | (b_bytes & ~inside);
    };
    w.destination(i.operands[0])[l] = static_cast<T>((w.values(i.operands[2])[l] & ~field) | (moved & field));
    w.destination_defined(i.operands[0])[l] =
        bytes_of_origin(~moved_in(~da, ~db), moved_in(computed_bytes(da), computed_bytes(db)));
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
/// dp4a: a sum of products of bytes. mode: 1 a signed, 2 b signed.
std::int64_t byte_of(std::uint64_t x, int k, bool is_signed_byte) {
  auto const u = static_cast<std::int64_t>(x >> (8 * k) & 0xFF);
  return is_signed_byte && u >= 128 ? u - 256 : u;
}
void dot(warp& w, instruction const& i, lane_set m) {
  for (int k = 1; k <= 3; ++k) { w.use(i, k, m, 0x0F); }
  each_lane(m, [&](int l) {
    auto s = static_cast<std::int64_t>(w.values(i.operands[3])[l]);
    for (int k = 0; k < 4; ++k) {
      s += byte_of(w.values(i.operands[1])[l], k, (i.with.mode & 1) != 0) *
           byte_of(w.values(i.operands[2])[l], k, (i.with.mode & 2) != 0);
    }
    w.destination(i.operands[0])[l] = static_cast<std::uint32_t>(s);
  });
  w.set_result(i.operands[0], m);
}

void build_count(form& f) {
  f.out.with.mode = f.base() == "bfind" && f.take("shiftamt") ? 1 : 0;
  type const t = f.take_type();
  if (f.base() == "popc") { return f.complete(unary_on<popc_op>(t), type::u32, {t}); }
  if (f.base() == "clz") { return f.complete(unary_on<clz_op>(t), type::u32, {t}); }
  if (f.base() == "bfind") { return f.complete(unary_on<bfind_op>(t), type::u32, {t}); }
  f.complete(unary_on<brev_op>(t), t, {t});
}
void build_field(form& f) {
  type const t = f.take_type();
  if (f.base() == "bfe") { return f.complete(ternary_on<bfe_op>(t), t, {t, type::u32, type::u32}); }
  handler const h = t == type::b32   ? insert_field<std::uint32_t>
                    : t == type::b64 ? insert_field<std::uint64_t>
                                     : nullptr;
  f.complete(h, t, {t, t, type::u32, type::u32});
}
void build_mask(form& f) {
  f.out.with.mode = f.take("clamp") ? 1 : 0;
  if (f.out.with.mode == 0 && !f.take("wrap")) { f.fail("expected .clamp or .wrap"); }
  type const t = f.take_type();
  f.complete(binary<std::uint32_t, bmsk_op>, t, {t, t});
}
void build_dot(form& f) {
  type const a = f.take_type(), b = f.take_type();
  f.out.with.mode = static_cast<std::uint8_t>((is_signed(a) ? 1 : 0) | (is_signed(b) ? 2 : 0));
  f.complete(dot, type::s32, {type::b32, type::b32, type::b32});
}

}  // namespace

void add_fields(opcode_table& t) {
  for (std::string_view name : {"popc", "clz", "bfind", "brev"}) { t.add(name, build_count); }
  t.add("bfe", build_field);
  t.add("bfi", build_field);
  t.add("bmsk", build_mask);
  t.add("dp4a", build_dot);
}

}  // namespace ptx
