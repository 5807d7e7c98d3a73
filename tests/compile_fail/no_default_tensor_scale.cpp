// SPDX-License-Identifier: Apache-2.0
// CASES G6: there is no tensor scale that nobody chose.
// expected: fp4::tensor_scale
#include <fp4/scaling/tensor_scale.hpp>

fp4::tensor_scale const chosen = fp4::tensor_scale::from_decode(1.0f);
#ifdef FP4_BAD
fp4::tensor_scale const silent;
#endif
