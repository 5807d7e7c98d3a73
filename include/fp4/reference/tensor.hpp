// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../scaling/tensor_scale.hpp"
#include "number.hpp"

FP4_EXACT_BEGIN
namespace fp4::reference::detail {

/// Everything that formulas want to know of a tensor scale.
struct tensor_factors {
  tensor_scale::source made_from;
  float stored;
  float range;         ///< the preset's 2688
  float amax;          ///< A
  float bounded_amax;  ///< A' = max(A, range * 2^-128) where A > 0
  float encode;        ///< S
  float decode;
};

inline tensor_factors factors_of(tensor_scale scale, float range) {
  tensor_factors t{scale.made_from(), scale.stored(), range, 0, 0, 1, 1};
  switch (t.made_from) {
    case tensor_scale::source::amax:
      t.amax = t.bounded_amax = t.stored;
      if (t.amax > 0) { t.bounded_amax = larger(t.amax, round_to_float(std::ldexp(static_cast<double>(range), -128))); }
      if (t.amax > 0 && !is_infinite(t.amax)) { t.encode = smaller(quotient(range, t.amax), largest_float); }
      if (t.amax > 0) { t.decode = quotient(t.bounded_amax, range); }
      break;
    case tensor_scale::source::encode:
      t.amax = t.bounded_amax = quotient(range, t.stored);
      t.encode = t.stored;
      t.decode = smaller(reciprocal(t.stored), largest_float);
      break;
    case tensor_scale::source::decode:
      t.amax = t.bounded_amax = product(t.stored, range);
      t.encode = smaller(reciprocal(t.stored), largest_float);
      t.decode = t.stored;
      break;
  }
  return t;
}

/// compressed-tensors' global scale: 2688 / max(A, FLT_MIN), 1 where that is infinite or A is.
inline float compressed_tensors_global(tensor_factors const& t) {
  if (t.made_from != tensor_scale::source::amax) { return t.encode; }
  float g = quotient(t.range, larger(t.amax, smallest_normal_float));
  if (is_infinite(g) || is_infinite(t.amax)) { g = 1; }
  return g;
}

}  // namespace fp4::reference::detail
FP4_EXACT_END
