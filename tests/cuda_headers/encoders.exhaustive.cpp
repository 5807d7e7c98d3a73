// SPDX-License-Identifier: Apache-2.0
// The encoders against the CUDA headers' own host conversions: the ties with two patterns on each side and
// every 257th float; all 2^32 of them with FP4_TEST_ALL_FLOATS.
#include "catch.hpp"
#include "format/sweep.hpp"
#include "support/float_oracle.hpp"

#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

namespace {

struct cuda_e2m1 : test::to_nearest<fp4::e2m1> {
  static std::uint32_t cuda(float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
};
struct cuda_e2m1_to_zero : test::to_zero<fp4::e2m1> {
  static std::uint32_t cuda(float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundZero); }
};
struct cuda_e2m3 : test::to_nearest<fp4::e2m3> {
  static std::uint32_t cuda(float x) { return __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest); }
};
struct cuda_e3m2 : test::to_nearest<fp4::e3m2> {
  static std::uint32_t cuda(float x) { return __nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest); }
};
struct cuda_e4m3 : test::to_nearest<fp4::e4m3> {
  static std::uint32_t cuda(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); }
};
struct cuda_e5m2 : test::to_nearest<fp4::e5m2> {
  static std::uint32_t cuda(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2); }
};
/// The header takes |x| where the library saturates a negative number at the smallest value.
struct cuda_e8m0_to_zero : test::to_zero<fp4::e8m0> {
  static std::uint32_t encode(float x) { return fp4::e8m0::from_float_toward_zero(magnitude(x)).bits; }
  static std::uint32_t cuda(float x) { return __nv_cvt_float_to_e8m0(magnitude(x), __NV_SATFINITE, cudaRoundZero); }

 private:
  static float magnitude(float x) { return test::float_of(test::bits_of(x) & 0x7FFFFFFFu); }
};

template <class Encoder>
std::string compare_all() {
  std::string report;
#if defined(_OPENMP)
#pragma omp parallel for schedule(dynamic)
#endif
  for (std::uint32_t high = 0; high < 256; ++high) {
    test::mismatches wrong;
    for (std::uint32_t low = 0; low < 1u << 24; ++low) {
      std::uint32_t const bits = high << 24 | low;
      float const x = test::float_of(bits);
      wrong.compare(bits, Encoder::encode(x), Encoder::cuda(x));
    }
    if (std::string const found = wrong.report(); !found.empty()) {
#if defined(_OPENMP)
#pragma omp critical
#endif
      report = found;
    }
  }
  return report;
}

}  // namespace

TEMPLATE_TEST_CASE("floats are encoded as the CUDA headers encode them on the host", "[format]", cuda_e2m1,
                   cuda_e2m1_to_zero, cuda_e2m3, cuda_e3m2, cuda_e4m3, cuda_e5m2, cuda_e8m0_to_zero) {
#if defined(FP4_TEST_ALL_FLOATS)
  CHECK(compare_all<TestType>() == "");
#else
  test::float_oracle<typename TestType::type> const oracle;
  auto const intervals = test::code_intervals([&oracle](std::uint32_t bits) { return TestType::wanted(oracle, bits); });
  test::mismatches wrong;
  test::visit_samples(intervals, [&](std::uint32_t bits, std::uint32_t) {
    float const x = test::float_of(bits);
    wrong.compare(bits, TestType::encode(x), TestType::cuda(x));
  });
  CHECK(wrong.report() == "");
#endif
}

TEST_CASE("the CUDA headers put the first of a pair into the low nibble", "[format]") {
  // The same order and the same sign of zero as the library's.
  CHECK(__nv_cvt_float2_to_fp4x2(float2{1.0f, -6.0f}, __NV_E2M1, cudaRoundNearest) == 0xF2);
  CHECK(__nv_cvt_float_to_fp4(-0.2f, __NV_E2M1, cudaRoundNearest) == 0x8);
}
