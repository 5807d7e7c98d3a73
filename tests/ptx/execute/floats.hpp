// SPDX-License-Identifier: Apache-2.0
//
// One float operation on bit patterns of one format, with all that modifiers ask for.
#pragma once

#include <cmath>

#include "execute/elementwise.hpp"
#include "execute/exact.hpp"

namespace ptx {

/// The bits of a packed type's elements, of a scalar's own.
constexpr int element_bits(type t) {
  switch (t) {
    case type::f16:
    case type::bf16:
    case type::f16x2:
    case type::bf16x2: return 16;
    case type::f64: return 64;
    default: return 32;
  }
}

/// Bytes of a register that holds the type.
constexpr unsigned bytes_of_float(type t) {
  bool const two = t == type::f16x2 || t == type::bf16x2 || t == type::f32x2;
  return static_cast<unsigned>(element_bits(t) * (two ? 2 : 1) / 8);
}

constexpr float_format element_format(type t) {
  switch (t) {
    case type::f16:
    case type::f16x2: return f16_format;
    case type::bf16:
    case type::bf16x2: return bf16_format;
    case type::f64: return f64_format;
    default: return f32_format;
  }
}

template <type T>
struct float_element {
  static constexpr float_format format = element_format(T);
  static constexpr std::uint64_t sign = std::uint64_t{1} << (format.bits() - 1);
  static constexpr std::uint64_t infinity = ((std::uint64_t{1} << format.exponent_bits) - 1) << format.fraction_bits;
  static constexpr std::uint64_t one = static_cast<std::uint64_t>(format.bias) << format.fraction_bits;
  static constexpr bool native = format.bits() >= 32;  ///< the host rounds it to nearest as IEEE 754 says
  using host = std::conditional_t<format.bits() == 64, double, float>;

  static bool is_nan(std::uint64_t a) { return (a & ~sign) > infinity; }
  static bool is_subnormal(std::uint64_t a) { return (a & infinity) == 0 && (a & ~sign) != 0; }
  static std::uint64_t flushed(modifiers const& with, std::uint64_t a) {
    return with.ftz && is_subnormal(a) ? a & sign : a;
  }
  /// f64 keeps a NaN's payload, all others give one NaN.
  static std::uint64_t canonical(std::uint64_t a) { return format.bits() != 64 && is_nan(a) ? format.nan() : a; }
  /// .ftz, .sat and .relu of a result.
  static std::uint64_t finished(modifiers const& with, std::uint64_t r) {
    r = canonical(r);
    if (with.ftz) { r = flushed(with, r); }
    if (with.saturate) {
      if (is_nan(r) || (r & sign) != 0) { return 0; }
      if (r > one) { return one; }
    }
    if (with.relu && !is_nan(r) && (r & sign) != 0) { return 0; }
    return r;
  }
  static std::uint64_t packed(modifiers const& with, exact const& x) { return pack(format, x, {with.round}); }
};

// The operations. Each is given flushed operands.

struct float_add {
  template <class E>
  static std::uint64_t of(modifiers const& with, std::uint64_t a, std::uint64_t b) {
    using host = typename E::host;
    if (E::native && with.round == rounding::rn) { return to_bits<host>(from_bits<host>(a) + from_bits<host>(b)); }
    return E::packed(with, sum(unpack(E::format, a), unpack(E::format, b), with.round));
  }
};
struct float_sub {
  template <class E>
  static std::uint64_t of(modifiers const& with, std::uint64_t a, std::uint64_t b) {
    using host = typename E::host;
    if (E::native && with.round == rounding::rn) { return to_bits<host>(from_bits<host>(a) - from_bits<host>(b)); }
    return E::packed(with, sum(unpack(E::format, a), unpack(E::format, b ^ E::sign), with.round));
  }
};
struct float_mul {
  template <class E>
  static std::uint64_t of(modifiers const& with, std::uint64_t a, std::uint64_t b) {
    using host = typename E::host;
    if (E::native && with.round == rounding::rn) { return to_bits<host>(from_bits<host>(a) * from_bits<host>(b)); }
    return E::packed(with, product(unpack(E::format, a), unpack(E::format, b)));
  }
};
struct float_div {
  template <class E>
  static std::uint64_t of(modifiers const& with, std::uint64_t a, std::uint64_t b) {
    using host = typename E::host;
    if (E::native && with.round == rounding::rn) { return to_bits<host>(from_bits<host>(a) / from_bits<host>(b)); }
    return E::packed(with, quotient(unpack(E::format, a), unpack(E::format, b)));
  }
};
struct float_fma {
  template <class E>
  static std::uint64_t of(modifiers const& with, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    using host = typename E::host;
    if (E::native && with.round == rounding::rn) {
      return to_bits<host>(std::fma(from_bits<host>(a), from_bits<host>(b), from_bits<host>(c)));
    }
    return E::packed(with, sum(product(unpack(E::format, a), unpack(E::format, b)), unpack(E::format, c), with.round));
  }
};
struct float_rcp {
  template <class E>
  static std::uint64_t of(modifiers const& with, std::uint64_t a) {
    return float_div::of<E>(with, E::one, a);
  }
};
struct float_sqrt {
  template <class E>
  static std::uint64_t of(modifiers const& with, std::uint64_t a) {
    using host = typename E::host;
    if (E::native && with.round == rounding::rn) { return to_bits<host>(std::sqrt(from_bits<host>(a))); }
    return E::packed(with, square_root(unpack(E::format, a)));
  }
};
struct float_abs {
  template <class E>
  static std::uint64_t of(modifiers const&, std::uint64_t a) {
    return a & ~E::sign;
  }
};
struct float_neg {
  template <class E>
  static std::uint64_t of(modifiers const&, std::uint64_t a) {
    return a ^ E::sign;
  }
};

/// Orders bit patterns as numbers, -0 below +0.
template <class E>
std::int64_t float_key(std::uint64_t a) {
  auto const magnitude = static_cast<std::int64_t>(a & ~E::sign);
  return (a & E::sign) != 0 ? -magnitude - 1 : magnitude;
}

/// min and max: a number beats NaN unless .NaN; .abs compares magnitudes; .xorsign gives the sign a ^ b.
template <bool Greater>
struct float_extreme {
  template <class E>
  static std::uint64_t of(modifiers const& with, std::uint64_t a, std::uint64_t b) {
    std::uint64_t const sign = (a ^ b) & E::sign;
    if (with.abs) { a &= ~E::sign, b &= ~E::sign; }
    std::uint64_t r;
    if (E::is_nan(a) || E::is_nan(b)) {
      bool const both = E::is_nan(a) && E::is_nan(b);
      if (with.nan || both) { return E::format.nan(); }
      r = E::is_nan(a) ? b : a;
    } else {
      r = (float_key<E>(a) < float_key<E>(b)) != Greater ? a : b;
    }
    return with.xorsign ? (r & ~E::sign) | sign : r;
  }
  template <class E>
  static std::uint64_t of(modifiers const& with, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return of<E>(with, of<E>(with, a, b), c);
  }
};
using float_min = float_extreme<false>;
using float_max = float_extreme<true>;

/// F on one element, or on both of a packed type.
template <type T, class F, class... Bits>
std::uint64_t on_elements(modifiers const& with, Bits... operands) {
  using element = float_element<T>;
  constexpr int bits = element_bits(T);
  constexpr bool two = T == type::f16x2 || T == type::bf16x2 || T == type::f32x2;
  constexpr std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (bits % 64)) - 1;
  auto const one = [&](int at) {
    return element::finished(with, F::template of<element>(with, element::flushed(with, (operands >> at) & mask)...));
  };
  if constexpr (two) {
    return (one(0) & mask) | (one(bits) & mask) << bits;
  } else {
    return one(0);
  }
}

template <type T, class F>
void float_unary(warp& w, instruction const& i, lane_set m) {
  w.use(i, 1, m, bytes_mask(bytes_of_float(T)));
  std::uint64_t const* const a = w.values(i.operands[1]);
  std::uint64_t* const d = w.destination(i.operands[0]);
  each_lane(m, [&](int l) { d[l] = on_elements<T, F>(i.with, a[l]); });
  w.set_result(i.operands[0], m);
}

template <type T, class F>
void float_binary(warp& w, instruction const& i, lane_set m) {
  for (int k = 1; k <= 2; ++k) { w.use(i, k, m, bytes_mask(bytes_of_float(T))); }
  std::uint64_t const* const a = w.values(i.operands[1]);
  std::uint64_t const* const b = w.values(i.operands[2]);
  std::uint64_t* const d = w.destination(i.operands[0]);
  each_lane(m, [&](int l) { d[l] = on_elements<T, F>(i.with, a[l], b[l]); });
  w.set_result(i.operands[0], m);
}

template <type T, class F>
void float_ternary(warp& w, instruction const& i, lane_set m) {
  for (int k = 1; k <= 3; ++k) { w.use(i, k, m, bytes_mask(bytes_of_float(T))); }
  std::uint64_t const* const a = w.values(i.operands[1]);
  std::uint64_t const* const b = w.values(i.operands[2]);
  std::uint64_t const* const c = w.values(i.operands[3]);
  std::uint64_t* const d = w.destination(i.operands[0]);
  each_lane(m, [&](int l) { d[l] = on_elements<T, F>(i.with, a[l], b[l], c[l]); });
  w.set_result(i.operands[0], m);
}

}  // namespace ptx
