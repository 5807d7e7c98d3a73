// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic: one struct for each operation, one row for each opcode.
#include <algorithm>
#include <limits>

#include "execute/arithmetic.hpp"
#include "execute/elementwise.hpp"
#include "execute/instructions.hpp"
#include "execute/wide.hpp"

namespace ptx {
namespace {

using mods = modifiers;
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

void build_mul(form& f) {
  part const p = take_part(f);
  type const t = f.take_type();
  switch (p) {
    case part::lo: f.complete(binary_on<mul_lo>(t), t, {t, t}); break;
    case part::hi: f.complete(binary_on<mul_hi>(t), t, {t, t}); break;
    case part::wide: f.complete(binary_on<mul_wide>(t), widened(f, t), {t, t}); break;
  }
}

void build_mad(form& f) {
  part const p = take_part(f);
  f.out.with.mode = f.take("cc") ? 1 : 0;
  f.out.with.combine = p == part::hi ? 1 : 0;
  f.out.with.saturate = f.take("sat");
  type const t = f.take_type();
  if (f.base() == "madc" || f.out.with.mode != 0) {
    return f.complete(carried_product(t, f.base() == "madc"), t, {t, t, t});
  }
  switch (p) {
    case part::lo: f.complete(ternary_on<mad_lo>(t), t, {t, t, t}); break;
    case part::hi: f.complete(ternary_on<mad_hi>(t), t, {t, t, t}); break;
    case part::wide: f.complete(ternary_on<mad_wide>(t), widened(f, t), {t, t, widened(f, t)}); break;
  }
}

void build_rem(form& f) {
  type const t = f.take_type();
  f.complete(binary_on<rem_op>(t), t, {t, t});
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
    f.complete(carried_sum(t, name == "sub", false), t, {t, t});
  } else if (name == "abs") {
    f.complete(is_signed(t) ? unary_on<abs_op>(t) : nullptr, t, {t});
  } else if (name == "neg") {
    f.complete(is_signed(t) ? unary_on<neg_op>(t) : nullptr, t, {t});
  } else {
    handler const h = name == "add"   ? binary_or_halves<add_op>(t)
                      : name == "sub" ? binary_on<sub_op>(t)
                      : name == "div" ? binary_on<div_op>(t)
                      : name == "min" ? binary_or_halves<min_op>(t)
                                      : binary_or_halves<max_op>(t);
    f.complete(h, t, {t, t});
  }
}

void build_integer_product(form& f) { f.base() == "mul" ? build_mul(f) : build_mad(f); }

void add_integers(opcode_table& t) {
  t.add("madc", build_mad);
  t.add("rem", build_rem);
}

}  // namespace ptx
