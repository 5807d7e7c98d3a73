// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a scaling is. A scaling S is a small value with
///
///     S::decoding                        the decode_rule that a result carries
///     S::supports<Format>                which block formats it is defined for
///     s.range<Format>()                  the `range` of its tensor scale
///     s.for_tensor<Format>(tensor_scale) the formulas for one tensor, below
///
/// and for_tensor returns T with
///
///     T::elements, T::scales             the rules of the two enums below
///     t.scale_value(F& v)                v: block amax -> the value whose nearest scale code is stored (rounded)
///     t.scale_for(float amax)            the scale code (computed)
///     t.choose(x, count, amax)           the scale code from the values x(0) ... x(count - 1) (chosen)
///     t.factor(F& v, F amax, F value)    v: decoded scale -> what elements are multiplied with or divided by
///     t.element(x, scale, rounding, r)   the element code (element_rule::own)
///
/// F is float or a register of floats: a formula is written once for every instruction set. Block amaxes ignore NaN.

#include "../rounding/rounding.hpp"
#include "tensor_scale.hpp"

namespace fp4 {

/// How the number that is rounded to an element code comes from x and the block's factor f.
enum class element_rule : unsigned char {
  multiply,            ///< x * f
  divide,              ///< x / f
  divide_to_bfloat16,  ///< bfloat16(x / f)
  divide_twice,        ///< (x / g) / f with g = t.first_divisor
  own,                 ///< t.element(...)
};

/// How the block scale's code is found.
enum class scale_rule : unsigned char {
  rounded,   ///< nearest even of t.scale_value(amax)
  computed,  ///< t.scale_for(amax)
  chosen,    ///< t.choose(values...)
  none,      ///< the format has no block scale
};

/// How a decoded value is formed from q (element), sf (block scale) and the tensor scale T.
/// Where q or sf is 0 the result is a zero with q's sign, under every rule.
enum class decode_rule : unsigned char {
  amax_over_range,  ///< q * ((sf * amax) * (1 / range)) from an amax; from a factor as `product`
  product,          ///< q * (sf * T.decode())
  quotient,         ///< (q * sf) / T.encode()
  ratio,            ///< q * (sf / compressed_tensors_encode(T))
  block_only,       ///< q * sf
  tensor_only,      ///< q * (1 / T.encode()), or q * T.decode() from a decode factor
};

}  // namespace fp4
