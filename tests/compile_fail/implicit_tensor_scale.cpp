// SPDX-License-Identifier: Apache-2.0
// CASES G1: nor does a float become a tensor scale by itself.
// expected: fp4::tensor_scale
#include <fp4/scaling/tensor_scale.hpp>

fp4::tensor_scale decode_factor() { return fp4::tensor_scale::from_decode(0.5f); }
#ifdef FP4_BAD
fp4::tensor_scale some_factor() { return 0.5f; }
#endif
