// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The named numbers. Values are those of OCP OFP8 v1.0 and OCP MX v1.0; ue4m3 and ue5m3 those of the PTX ISA.

#include "minifloat.hpp"

namespace fp4 {

/// NVFP4 and MXFP4 element: 0 .5 1 1.5 2 3 4 6, both signs. No infinity, no NaN.
using e2m1 = minifloat<true, 2, 1, 1, float_specials::none>;
/// MXFP6 elements, up to 7.5 and 28.
using e2m3 = minifloat<true, 2, 3, 1, float_specials::none>;
using e3m2 = minifloat<true, 3, 2, 3, float_specials::none>;
/// FP8: up to 448, NaN 0x7F and 0xFF, no infinity.
using e4m3 = minifloat<true, 4, 3, 7, float_specials::nan>;
/// FP8 for gradients: up to 57344, with infinity and NaN (never produced by encoding a finite number or infinity).
using e5m2 = minifloat<true, 5, 2, 15, float_specials::infinity_and_nan>;
/// NVFP4 block scale: e4m3 with sign 0. The top bit of its byte is never set.
using ue4m3 = minifloat<false, 4, 3, 7, float_specials::nan>;
/// Wider block scale: 2^-17 to 114688, NaN 0xFF.
using ue5m3 = minifloat<false, 5, 3, 15, float_specials::nan>;
/// MX block scale: powers of two from 2^-127 to 2^127, NaN 0xFF, no zero.
using e8m0 = minifloat<false, 8, 0, 127, float_specials::nan>;

static_assert(sizeof(e2m1) == 1 && std_types::is_trivially_copyable<e2m1>::value, "a code is one byte");
static_assert(e2m1::max_finite == 6.0f && e2m1::min_positive == 0.5f, "");
static_assert(e2m3::max_finite == 7.5f && e3m2::max_finite == 28.0f, "");
static_assert(e4m3::max_finite == 448.0f && e4m3::max_code == 0x7E && e4m3::nan_code == 0x7F, "");
static_assert(ue4m3::max_finite == 448.0f && ue4m3::min_positive == 0.001953125f, "");
static_assert(e5m2::max_finite == 57344.0f && e5m2::max_code == 0x7B, "");
static_assert(ue5m3::max_finite == 114688.0f && ue5m3::nan_code == 0xFF, "");
static_assert(e8m0::max_code == 0xFE && e8m0{127}.to_float() == 1.0f, "");

}  // namespace fp4
