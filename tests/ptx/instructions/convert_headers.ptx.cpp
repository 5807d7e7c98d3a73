// SPDX-License-Identifier: Apache-2.0
// What the tests compute their expectations of narrow formats with, against the CUDA headers' host conversions.
#include "instructions/reference.hpp"

#if __has_include(<cuda_fp4.h>)
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#endif

using namespace ptx::test;

TEST_CASE("the tests' own conversions agree with the CUDA headers' host conversions", "[ptx]") {
#if __has_include(<cuda_fp4.h>)
  auto const saturated = [](float_format const& f, float x) { return encode(f, x, rounding::nearest, true); };
  std::size_t wrong = 0;
  column values = aimed(e4m3);
  for (float_format const& f : {e5m2, e2m3, e3m2, e2m1}) {
    for (word w : aimed(f)) { values.push_back(w); }
  }
  for (word w : values) {
    float const x = as_f32(w);
    wrong += saturated(e4m3, x) != __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
    wrong += saturated(e5m2, x) != __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
    wrong += saturated(e2m3, x) != __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest);
    wrong += saturated(e3m2, x) != __nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest);
    wrong += saturated(e2m1, x) != __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest);
    for (bool saturate : {false, true}) {
      auto const mode = saturate ? __NV_SATFINITE : __NV_NOSAT;
      wrong += ue8m0_code(x, false, saturate) != __nv_cvt_float_to_e8m0(x, mode, cudaRoundZero);
      wrong += ue8m0_code(x, true, saturate) != __nv_cvt_float_to_e8m0(x, mode, cudaRoundPosInf);
    }
  }
  CHECK(wrong == 0);
#else
  skip_test("the headers of CUDA are not on the include path");
#endif
}
