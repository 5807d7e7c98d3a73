// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic: one struct for each operation, one row for each opcode.
#include <algorithm>
#include <limits>

#include "execute/arithmetic.hpp"
#include "execute/elementwise.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

using mods = modifiers;
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
T clamp_to(wide<T> x) {
  return static_cast<T>(std::clamp<wide<T>>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

struct add_op : same_types {
  template <class T>
  static T of(mods const& with, T a, T b) {
    if (with.saturate) { return clamp_to<T>(static_cast<wide<T>>(a) + static_cast<wide<T>>(b)); }
    return static_cast<T>(static_cast<bits_as<T>>(a) + static_cast<bits_as<T>>(b));
  }
};
struct sub_op : same_types {
  template <class T>
  static T of(mods const& with, T a, T b) {
    if (with.saturate) { return clamp_to<T>(static_cast<wide<T>>(a) - static_cast<wide<T>>(b)); }
    return static_cast<T>(static_cast<bits_as<T>>(a) - static_cast<bits_as<T>>(b));
  }
};
template <class T>
wide<T> product(T a, T b) {
  return static_cast<wide<T>>(static_cast<wide<T>>(a) * static_cast<wide<T>>(b));
}
struct mul_lo : same_types {
  template <class T>
  static T of(mods const&, T a, T b) {
    return static_cast<T>(product<T>(a, b));
  }
};
struct mul_hi : same_types {
  template <class T>
  static T of(mods const&, T a, T b) {
    return static_cast<T>(product<T>(a, b) >> (8 * sizeof(T)));
  }
};
struct mul_wide : same_types {
  template <class T>
  static auto of(mods const&, T a, T b) {
    if constexpr (sizeof(T) == 8) {
      return static_cast<T>(product<T>(a, b));  // not in PTX; refused by the builder
    } else {
      return product<T>(a, b);
    }
  }
};
struct mad_lo : same_types {
  template <class T>
  static T of(mods const&, T a, T b, T c) {
    return static_cast<T>(static_cast<bits_as<T>>(product<T>(a, b)) + static_cast<bits_as<T>>(c));
  }
};
struct mad_hi : same_types {
  template <class T>
  static T of(mods const& with, T a, T b, T c) {
    T const high = mul_hi::of(with, a, b);
    return add_op::of(with, high, c);
  }
};
struct mad_wide {
  template <class T>
  using second = T;
  template <class T>
  using third = std::conditional_t<sizeof(T) == 8, T, wide<T>>;
  template <class T>
  static third<T> of(mods const&, T a, T b, third<T> c) {
    return static_cast<third<T>>(static_cast<bits_as<third<T>>>(product<T>(a, b)) + static_cast<bits_as<third<T>>>(c));
  }
};
/// mul24, mad24: the low 24 bits as numbers.
template <class T>
T low24(T a) {
  return static_cast<T>(static_cast<T>(static_cast<bits_as<T>>(a) << 8) >> 8);
}
struct mul24_lo : same_types {
  template <class T>
  static T of(mods const& with, T a, T b) {
    return mul_lo::of(with, low24(a), low24(b));
  }
};
struct mul24_hi : same_types {
  template <class T>
  static T of(mods const&, T a, T b) {
    return static_cast<T>(product<T>(low24(a), low24(b)) >> 16);
  }
};
struct mad24_lo : same_types {
  template <class T>
  static T of(mods const& with, T a, T b, T c) {
    return add_op::of(with, mul24_lo::of(with, a, b), c);
  }
};
struct mad24_hi : same_types {
  template <class T>
  static T of(mods const& with, T a, T b, T c) {
    return add_op::of(with, mul24_hi::of(with, a, b), c);
  }
};
struct sad_op : same_types {
  template <class T>
  static T of(mods const&, T a, T b, T c) {
    auto const d = a < b ? static_cast<bits_as<T>>(b) - static_cast<bits_as<T>>(a)
                         : static_cast<bits_as<T>>(a) - static_cast<bits_as<T>>(b);
    return static_cast<T>(static_cast<bits_as<T>>(c) + static_cast<bits_as<T>>(d));
  }
};
/// Division by zero gives all ones, as devices do; the smallest number by -1 gives itself.
struct div_op : same_types {
  template <class T>
  static T of(mods const&, T a, T b) {
    if (b == 0) { return static_cast<T>(~T{0}); }
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) { return static_cast<T>(0 - static_cast<bits_as<T>>(a)); }
    return static_cast<T>(a / b);
  }
};
struct rem_op : same_types {
  template <class T>
  static T of(mods const&, T a, T b) {
    if (b == 0) { return a; }
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) { return 0; }
    return static_cast<T>(a % b);
  }
};
struct min_op : same_types {
  template <class T>
  static T of(mods const& with, T a, T b) {
    T const r = std::min(a, b);
    return with.relu && r < T{1} ? T{0} : r;
  }
};
struct max_op : same_types {
  template <class T>
  static T of(mods const& with, T a, T b) {
    T const r = std::max(a, b);
    return with.relu && r < T{1} ? T{0} : r;
  }
};
struct abs_op {
  template <class T>
  static T of(mods const&, T a) {
    return a < T{0} || (a == 0) ? static_cast<T>(0 - static_cast<bits_as<T>>(a)) : a;
  }
};
struct neg_op {
  template <class T>
  static T of(mods const&, T a) {
    return static_cast<T>(0 - static_cast<bits_as<T>>(a));
  }
};
/// Two 16-bit numbers in one register.
template <class F, class Half>
struct on_halves : same_types {
  static std::uint32_t of(mods const& with, std::uint32_t a, std::uint32_t b) {
    auto const half = [&](int at) {
      return static_cast<std::uint32_t>(
          static_cast<std::uint16_t>(F::of(with, static_cast<Half>(a >> at), static_cast<Half>(b >> at))));
    };
    return half(0) | half(16) << 16;
  }
};
template <class F>
handler binary_or_halves(type t) {
  if (t == type::u16x2) { return binary<std::uint32_t, on_halves<F, std::uint16_t>>; }
  if (t == type::s16x2) { return binary<std::uint32_t, on_halves<F, std::int16_t>>; }
  return binary_on<F>(t);
}

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

enum class part : std::uint8_t { lo, hi, wide };
constexpr named<part> parts[] = {{"lo", part::lo}, {"hi", part::hi}, {"wide", part::wide}};

part take_part(form& f) {
  part p = part::lo;
  if (!f.take_one(parts, p)) { f.fail("expected .lo, .hi or .wide"); }
  return p;
}

type widened(form& f, type t) {
  switch (t) {
    case type::u16: return type::u32;
    case type::s16: return type::s32;
    case type::u32: return type::u64;
    case type::s32: return type::s64;
    default: f.fail("no wide product of this type");
  }
}

void finish(form& f, handler h, type result, std::initializer_list<type> sources) {
  if (h == nullptr) { f.fail("not for this type"); }
  f.out.run = h;
  f.destination(result);
  for (type t : sources) { f.source(t); }
}

void build_mul(form& f) {
  part const p = take_part(f);
  type const t = f.take_type();
  switch (p) {
    case part::lo: finish(f, binary_on<mul_lo>(t), t, {t, t}); break;
    case part::hi: finish(f, binary_on<mul_hi>(t), t, {t, t}); break;
    case part::wide: finish(f, binary_on<mul_wide>(t), widened(f, t), {t, t}); break;
  }
}

void build_mad(form& f) {
  part const p = take_part(f);
  f.out.with.mode = f.take("cc") ? 1 : 0;
  f.out.with.combine = p == part::hi ? 1 : 0;
  f.out.with.saturate = f.take("sat");
  type const t = f.take_type();
  if (f.base() == "madc") { return finish(f, carried_mad_on<true>(t), t, {t, t, t}); }
  if (f.out.with.mode != 0) { return finish(f, carried_mad_on<false>(t), t, {t, t, t}); }
  switch (p) {
    case part::lo: finish(f, ternary_on<mad_lo>(t), t, {t, t, t}); break;
    case part::hi: finish(f, ternary_on<mad_hi>(t), t, {t, t, t}); break;
    case part::wide: finish(f, ternary_on<mad_wide>(t), widened(f, t), {t, t, widened(f, t)}); break;
  }
}

void build_24(form& f) {
  bool const high = take_part(f) == part::hi;
  f.out.with.saturate = f.take("sat");
  type const t = f.take_type();
  if (bits_of(t) != 32) { f.fail("not for this type"); }
  if (f.base() == "mul24") {
    finish(f, high ? binary_on<mul24_hi>(t) : binary_on<mul24_lo>(t), t, {t, t});
  } else {
    finish(f, high ? ternary_on<mad24_hi>(t) : ternary_on<mad24_lo>(t), t, {t, t, t});
  }
}

void build_sad(form& f) {
  type const t = f.take_type();
  finish(f, ternary_on<sad_op>(t), t, {t, t, t});
}

void build_rem(form& f) {
  type const t = f.take_type();
  finish(f, binary_on<rem_op>(t), t, {t, t});
}

void build_addc(form& f) {
  f.out.with.mode = f.take("cc") ? 1 : 0;
  type const t = f.take_type();
  finish(f, f.base() == "addc" ? carried_on<false, true>(t) : carried_on<true, true>(t), t, {t, t});
}

}  // namespace

void build_integer_arithmetic(form& f) {
  std::string_view const name = f.base();
  f.out.with.saturate = f.take("sat");
  f.out.with.relu = f.take("relu");
  f.out.with.mode = f.take("cc") ? 1 : 0;
  type const t = f.take_type();
  if (f.out.with.saturate && t != type::s32) { f.fail("unknown modifier .sat"); }
  if (f.out.with.mode != 0) {
    finish(f, name == "add" ? carried_on<false, false>(t) : carried_on<true, false>(t), t, {t, t});
  } else if (name == "abs") {
    finish(f, is_signed(t) ? unary_on<abs_op>(t) : nullptr, t, {t});
  } else if (name == "neg") {
    finish(f, is_signed(t) ? unary_on<neg_op>(t) : nullptr, t, {t});
  } else {
    handler const h = name == "add"   ? binary_or_halves<add_op>(t)
                      : name == "sub" ? binary_on<sub_op>(t)
                      : name == "div" ? binary_on<div_op>(t)
                      : name == "min" ? binary_or_halves<min_op>(t)
                                      : binary_or_halves<max_op>(t);
    finish(f, h, t, {t, t});
  }
}

void build_integer_product(form& f) { f.base() == "mul" ? build_mul(f) : build_mad(f); }

void add_integers(opcode_table& t) {
  t.add("madc", build_mad);
  t.add("mul24", build_24);
  t.add("mad24", build_24);
  t.add("sad", build_sad);
  t.add("rem", build_rem);
  t.add("addc", build_addc);
  t.add("subc", build_addc);
}

}  // namespace ptx
