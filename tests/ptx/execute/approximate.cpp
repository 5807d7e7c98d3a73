// SPDX-License-Identifier: Apache-2.0
//
// Instructions whose last bits the ISA leaves open. They give the rounded exact result, or its neighbour when asked.
#include <cmath>

#include "execute/arithmetic.hpp"
#include "execute/block.hpp"
#include "execute/floats.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

double reciprocal(double x) { return 1 / x; }
double reciprocal_root(double x) { return 1 / std::sqrt(x); }
double root(double x) { return std::sqrt(x); }
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double logarithm(double x) { return std::log2(x); }
double power(double x) { return std::exp2(x); }
double hyperbolic(double x) { return std::tanh(x); }

template <type T>
double value_of(std::uint64_t bits) {
  return from_bits<double>(pack(f64_format, unpack(element_format(T), bits), {}));
}

/// The double as a code of T, moved to its neighbour if the options say so.
template <type T>
std::uint64_t code_of(warp& w, double x) {
  using e = float_element<T>;
  std::uint64_t code = pack(e::format, unpack(f64_format, to_bits(x)), {});
  auto const move = static_cast<int>(w.home().launch().options.approximation);
  bool const finite = (code & ~e::sign) != 0 && (code & ~e::sign) < e::infinity;
  if (move != 0 && finite) { code += (move > 0) == ((code & e::sign) == 0) ? 1u : ~0ull; }
  return code;
}

template <type T, double (*F)(double)>
void approximate_unary(warp& w, instruction const& i, lane_set m) {
  using e = float_element<T>;
  constexpr int bits = element_bits(T);
  constexpr int n = static_cast<int>(bytes_of_float(T)) * 8 / bits;
  w.use(i, 1, m, bytes_mask(bytes_of_float(T)));
  each_lane(m, [&](int l) {
    std::uint64_t const a = w.values(i.operands[1])[l];
    std::uint64_t r = 0;
    for (int k = 0; k < n; ++k) {
      std::uint64_t const element = (a >> (bits * k)) & ((e::sign << 1) - 1);
      double const x = value_of<T>(e::flushed(i.with, element));
      r |= e::finished(i.with, code_of<T>(w, F(x))) << (bits * k);
    }
    w.destination(i.operands[0])[l] = r;
  });
  w.set_result(i.operands[0], m);
}

void approximate_div(warp& w, instruction const& i, lane_set m) {
  using e = float_element<type::f32>;
  for (int k = 1; k <= 2; ++k) { w.use(i, k, m, 0x0F); }
  each_lane(m, [&](int l) {
    double const a = value_of<type::f32>(e::flushed(i.with, w.values(i.operands[1])[l]));
    double const b = value_of<type::f32>(e::flushed(i.with, w.values(i.operands[2])[l]));
    double quotient = a / b;
    if (i.with.mode == 0 && std::fabs(b) > 0x1p126 && std::isfinite(b)) {  // .approx, not .full: the ISA says so
      quotient = std::isinf(a) || std::isnan(a) ? std::nan("") : std::copysign(0.0, quotient);
    }
    w.destination(i.operands[0])[l] = e::finished(i.with, code_of<type::f32>(w, quotient));
  });
  w.set_result(i.operands[0], m);
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: the upper 32 bits of the result, the lower are zero.
template <double (*F)(double)>
void upper_half(warp& w, instruction const& i, lane_set m) {
  using e = float_element<type::f64>;
  modifiers flush{};
  flush.ftz = true;
  w.use(i, 1, m, 0xFF);
  each_lane(m, [&](int l) {
    std::uint64_t const r = to_bits(F(from_bits<double>(e::flushed(flush, w.values(i.operands[1])[l]))));
    w.destination(i.operands[0])[l] = e::flushed(flush, r) & ~std::uint64_t{0xFFFFFFFF};
  });
  w.set_result(i.operands[0], m);
}

template <double (*F)(double)>
handler pick_narrow(type t) {
  switch (t) {
    case type::f16: return approximate_unary<type::f16, F>;
    case type::f16x2: return approximate_unary<type::f16x2, F>;
    case type::bf16: return approximate_unary<type::bf16, F>;
    case type::bf16x2: return approximate_unary<type::bf16x2, F>;
    case type::f32: return approximate_unary<type::f32, F>;
    default: return nullptr;
  }
}

template <double (*F)(double)>
handler pick_single(type t) {
  return t == type::f32 ? approximate_unary<type::f32, F> : nullptr;
}

struct approximate_row {
  std::string_view name;
  handler (*pick)(type);
  handler upper = nullptr;  ///< for .f64
};

constexpr approximate_row rows[] = {
    {"rcp", pick_single<reciprocal>, upper_half<reciprocal>},
    {"rsqrt", pick_single<reciprocal_root>, upper_half<reciprocal_root>},
    {"sqrt", pick_single<root>},
    {"sin", pick_single<sine>},
    {"cos", pick_single<cosine>},
    {"lg2", pick_single<logarithm>},
    {"ex2", pick_narrow<power>},
    {"tanh", pick_narrow<hyperbolic>},
};

void build_unary(form& f) {
  if (!build_approximate(f)) { f.fail("expected .approx"); }
}

}  // namespace

bool build_approximate(form& f) {
  bool const full = f.take("full");
  if (!full && !f.take("approx")) { return false; }
  f.out.with.ftz = f.take("ftz");
  type const t = f.take_type();
  if (f.base() == "div") {
    if (t != type::f32) { f.fail("not for this type"); }
    f.out.run = approximate_div;
    f.out.with.mode = full ? 1 : 0;
  } else {
    for (approximate_row const& r : rows) {
      if (r.name == f.base() && !full) { f.out.run = t == type::f64 ? r.upper : r.pick(t); }
    }
  }
  if (f.out.run == nullptr) { f.fail("not for this type"); }
  f.destination(t);
  f.source(t);
  if (f.base() == "div") { f.source(t); }
  return true;
}

void add_approximate(opcode_table& t) {
  for (std::string_view name : {"rsqrt", "sin", "cos", "lg2", "ex2", "tanh"}) { t.add(name, build_unary); }
}

}  // namespace ptx
