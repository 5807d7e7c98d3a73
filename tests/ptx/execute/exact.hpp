// SPDX-License-Identifier: Apache-2.0
//
// Numbers as exact fractions of powers of two, and every binary float format as a way to round them.
#pragma once

#include <cstdint>

#include "program/program.hpp"

namespace ptx {

/// What the highest exponent means.
enum class top_codes : std::uint8_t {
  ieee,     ///< infinity and NaNs
  one_nan,  ///< all ones is NaN, there is no infinity (e4m3)
  finite    ///< ordinary numbers (e2m1, e2m3, e3m2)
};

struct float_format {
  int exponent_bits, fraction_bits, bias;
  top_codes top;
  [[nodiscard]] constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }
  /// Code of the largest finite magnitude.
  [[nodiscard]] constexpr std::uint64_t largest() const {
    std::uint64_t const all = (std::uint64_t{1} << (exponent_bits + fraction_bits)) - 1;
    if (top == top_codes::finite) { return all; }
    return top == top_codes::one_nan ? all - 1 : all - (std::uint64_t{1} << fraction_bits);
  }
  /// The NaN that instructions produce.
  [[nodiscard]] constexpr std::uint64_t nan() const {
    return (std::uint64_t{1} << (exponent_bits + fraction_bits)) - 1;
  }
};

inline constexpr float_format f16_format{5, 10, 15, top_codes::ieee}, bf16_format{8, 7, 127, top_codes::ieee},
    f32_format{8, 23, 127, top_codes::ieee}, f64_format{11, 52, 1023, top_codes::ieee},
    tf32_format{8, 10, 127, top_codes::ieee}, e4m3_format{4, 3, 7, top_codes::one_nan},
    e5m2_format{5, 2, 15, top_codes::ieee}, e2m3_format{2, 3, 1, top_codes::finite},
    e3m2_format{3, 2, 3, top_codes::finite}, e2m1_format{2, 1, 1, top_codes::finite};

/// The format of a scalar float type, or of the elements of a packed one.
[[nodiscard]] float_format format_of(type t);

/// (-1)^negative * significand * 2^exponent, and a bit more (less than one unit) where `sticky`.
struct exact {
  enum kind : std::uint8_t { zero, finite, infinite, nan } what = zero;
  bool negative = false, sticky = false;
  int exponent = 0;
  unsigned __int128 significand = 0;
};

[[nodiscard]] exact unpack(float_format const& f, std::uint64_t bits);
[[nodiscard]] exact from_integer(std::uint64_t magnitude, bool negative);

struct rounding_rule {
  rounding mode = rounding::rn;
  bool saturate_finite = false;  ///< overflow and infinity give the largest finite number
  std::uint32_t random = 0;      ///< rs: added below the last kept bit, `random_bits` of them
  int random_bits = 0;
};

/// Rounds once. NaN gives the format's NaN.
[[nodiscard]] std::uint64_t pack(float_format const& f, exact const& x, rounding_rule const& rule);

// One exact operation each; the mode decides the sign of an exact zero sum.
[[nodiscard]] exact sum(exact a, exact b, rounding mode);
[[nodiscard]] exact product(exact const& a, exact const& b);
[[nodiscard]] exact quotient(exact const& a, exact const& b);
[[nodiscard]] exact square_root(exact const& a);

/// Rounded to an integer value, or to the limits of 64 bits, and whether it was out of these.
struct integer_result {
  bool negative = false, out_of_range = false;
  std::uint64_t magnitude = 0;
};
[[nodiscard]] integer_result to_integer(exact const& x, rounding mode);

}  // namespace ptx
