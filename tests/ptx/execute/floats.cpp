// SPDX-License-Identifier: Apache-2.0
//
// Float arithmetic: which opcode takes which modifiers and types.
#include "execute/floats.hpp"

#include "execute/arithmetic.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

/// Which float types an opcode has: one letter each, h f16, b bf16, s f32, d f64; capitals for the packed pairs.
bool allowed(std::string_view letters, type t) {
  static constexpr named<type> rows[] = {{"h", type::f16}, {"H", type::f16x2}, {"b", type::bf16}, {"B", type::bf16x2},
                                         {"s", type::f32}, {"S", type::f32x2}, {"d", type::f64}};
  for (auto const& [letter, meaning] : rows) {
    if (meaning == t) { return letters.find(letter) != std::string_view::npos; }
  }
  return false;
}

template <class F>
handler pick_unary(type t) {
  switch (t) {
    case type::f16: return float_unary<type::f16, F>;
    case type::f16x2: return float_unary<type::f16x2, F>;
    case type::bf16: return float_unary<type::bf16, F>;
    case type::bf16x2: return float_unary<type::bf16x2, F>;
    case type::f32: return float_unary<type::f32, F>;
    case type::f64: return float_unary<type::f64, F>;
    default: return nullptr;
  }
}
template <class F>
handler pick_binary(type t) {
  switch (t) {
    case type::f16: return float_binary<type::f16, F>;
    case type::f16x2: return float_binary<type::f16x2, F>;
    case type::bf16: return float_binary<type::bf16, F>;
    case type::bf16x2: return float_binary<type::bf16x2, F>;
    case type::f32: return float_binary<type::f32, F>;
    case type::f32x2: return float_binary<type::f32x2, F>;
    case type::f64: return float_binary<type::f64, F>;
    default: return nullptr;
  }
}
template <class F>
handler pick_ternary(type t) {
  switch (t) {
    case type::f16: return float_ternary<type::f16, F>;
    case type::f16x2: return float_ternary<type::f16x2, F>;
    case type::bf16: return float_ternary<type::bf16, F>;
    case type::bf16x2: return float_ternary<type::bf16x2, F>;
    case type::f32: return float_ternary<type::f32, F>;
    case type::f32x2: return float_ternary<type::f32x2, F>;
    case type::f64: return float_ternary<type::f64, F>;
    default: return nullptr;
  }
}

/// add.f32.bf16 and fma.f32.f16: the first operands are narrow, exactly widened, and the arithmetic is f32.
template <type Narrow, class F, int NarrowOperands>
void mixed(warp& w, instruction const& i, lane_set m) {
  int const last = NarrowOperands + 1;
  for (int k = 1; k < last; ++k) { w.use(i, k, m, 0x03); }
  w.use(i, last, m, 0x0F);
  auto const widened = [&](int k, int l) {
    return pack(f32_format, unpack(element_format(Narrow), w.values(i.operands[k])[l] & 0xFFFFu), {});
  };
  each_lane(m, [&](int l) {
    std::uint64_t const c = w.values(i.operands[last])[l];
    std::uint64_t& d = w.destination(i.operands[0])[l];
    if constexpr (NarrowOperands == 1) {
      d = on_elements<type::f32, F>(i.with, widened(1, l), c);
    } else {
      d = on_elements<type::f32, F>(i.with, widened(1, l), widened(2, l), c);
    }
  });
  w.set_result(i.operands[0], m);
}

struct float_row {
  std::string_view name;
  std::string_view types;      ///< see allowed()
  std::string_view modifiers;  ///< of r(ounding) m(ust round) f(tz) s(at) u (relu) n(NaN) x(orsign) a(bs)
  int operands;
  handler (*pick)(type);
  bool approximate = false;  ///< .approx exists, in approximate.cpp
};

constexpr float_row rows[] = {
    {"add", "hHbBsSd", "rfs", 2, pick_binary<float_add>}, {"sub", "hHbBsSd", "rfs", 2, pick_binary<float_sub>},
    {"mul", "hHbBsSd", "rfs", 2, pick_binary<float_mul>}, {"fma", "hHbBsSd", "rmfsu", 3, pick_ternary<float_fma>},
    {"mad", "sd", "rfs", 3, pick_ternary<float_fma>},     {"div", "sd", "rmf", 2, pick_binary<float_div>, true},
    {"rcp", "sd", "rmf", 1, pick_unary<float_rcp>, true}, {"sqrt", "sd", "rmf", 1, pick_unary<float_sqrt>, true},
    {"abs", "hHbBsd", "f", 1, pick_unary<float_abs>},     {"neg", "hHbBsd", "f", 1, pick_unary<float_neg>},
    {"min", "hHbBsd", "fnxa", 2, pick_binary<float_min>}, {"max", "hHbBsd", "fnxa", 2, pick_binary<float_max>},
};

constexpr named<rounding> roundings[] = {
    {"rn", rounding::rn}, {"rz", rounding::rz}, {"rm", rounding::rm}, {"rp", rounding::rp}};

void take_modifiers(form& f, float_row const& r) {
  auto const may = [&](char c) { return r.modifiers.find(c) != std::string_view::npos; };
  modifiers& with = f.out.with;
  bool const rounded = may('r') && f.take_one(roundings, with.round);
  if (may('m') && !rounded) { f.fail("expected a rounding"); }
  with.ftz = may('f') && f.take("ftz");
  with.saturate = may('s') && f.take("sat");
  with.relu = may('u') && f.take("relu");
  with.nan = may('n') && f.take("NaN");
  with.xorsign = may('x') && f.take("xorsign");
  with.abs = may('a') && f.take("abs");
}

void check_modifiers(form& f, type t) {
  modifiers const& with = f.out.with;
  bool const half = element_bits(t) == 16;
  bool const brain = t == type::bf16 || t == type::bf16x2;
  if (half && with.round != rounding::rn) { f.fail("wrong rounding for this type"); }
  if (with.ftz && (t == type::f64 || brain)) { f.fail("unknown modifier .ftz"); }
  if (with.saturate && (t == type::f64 || t == type::f32x2 || brain)) { f.fail("unknown modifier .sat"); }
  if (with.relu && !half) { f.fail("unknown modifier .relu"); }
  if ((with.nan || with.xorsign || with.abs) && t == type::f64) { f.fail("unknown modifier for .f64"); }
}

void build_mixed(form& f, float_row const& r, type narrow) {
  bool const half = narrow == type::f16;
  if (!half && narrow != type::bf16) { f.fail("not for this type"); }
  if (r.name == "fma") {
    f.out.run = half ? mixed<type::f16, float_fma, 2> : mixed<type::bf16, float_fma, 2>;
  } else if (r.name == "add") {
    f.out.run = half ? mixed<type::f16, float_add, 1> : mixed<type::bf16, float_add, 1>;
  } else if (r.name == "sub") {
    f.out.run = half ? mixed<type::f16, float_sub, 1> : mixed<type::bf16, float_sub, 1>;
  } else {
    f.fail("not for these types");
  }
  f.destination(type::f32);
  for (int k = 1; k < r.operands; ++k) { f.source(narrow); }
  f.source(type::f32);
}

float_row const& row_of(form& f) {
  for (float_row const& r : rows) {
    if (r.name == f.base()) { return r; }
  }
  f.fail("unknown instruction");
}

bool is_float_form(form const& f) {
  for (std::string_view m : f.rest()) {
    type const t = type_named(m);
    if (t != type::none) { return allowed("hHbBsSd", t); }
  }
  return false;
}

void build_float(form& f) {
  float_row const& r = row_of(f);
  if (r.approximate && build_approximate(f)) { return; }
  take_modifiers(f, r);
  type const t = f.take_type();
  if (!allowed(r.types, t)) { f.fail("not for this type"); }
  check_modifiers(f, t);
  if (f.has_type()) { return build_mixed(f, r, f.take_type()); }
  bool const three = (r.name == "min" || r.name == "max") && t == type::f32 && f.operands_left() == 4;
  f.out.run = !three            ? r.pick(t)
              : r.name == "min" ? float_ternary<type::f32, float_min>
                                : float_ternary<type::f32, float_max>;
  if (f.out.run == nullptr) { f.fail("not for this type"); }
  f.destination(t);
  for (int k = 0; k < r.operands + (three ? 1 : 0); ++k) { f.source(t); }
}

void build_any(form& f) { is_float_form(f) ? build_float(f) : build_integer_arithmetic(f); }
void build_product(form& f) { is_float_form(f) ? build_float(f) : build_integer_product(f); }

/// copysign d, a, b: the magnitude of b with the sign of a.
struct copy_sign {
  template <class E>
  static std::uint64_t of(modifiers const&, std::uint64_t a, std::uint64_t b) {
    return (b & ~E::sign) | (a & E::sign);
  }
};
void build_copysign(form& f) {
  type const t = f.take_type();
  f.out.run = t == type::f32 ? float_binary<type::f32, copy_sign> : float_binary<type::f64, copy_sign>;
  if (t != type::f32 && t != type::f64) { f.fail("not for this type"); }
  f.destination(t);
  f.source(t);
  f.source(t);
}

}  // namespace

void add_floats(opcode_table& t) {
  for (std::string_view name : {"add", "sub", "div", "min", "max", "abs", "neg"}) { t.add(name, build_any); }
  for (std::string_view name : {"mul", "mad"}) { t.add(name, build_product); }
  for (std::string_view name : {"fma", "rcp", "sqrt"}) { t.add(name, build_float); }
  t.add("copysign", build_copysign);
}

}  // namespace ptx
