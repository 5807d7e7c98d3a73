// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the GEMMs of this folder multiply: two NVFP4 matrices in the order of mma.sync's fragments.

#include <cstdint>
#include <fp4/gpu/arguments.cuh>
#include <fp4/gpu/error.cuh>
#include <fp4/gpu/mma.cuh>
#include <fp4/layout/packed_view.hpp>

namespace gemm {

using mma = fp4::mma_m16n8k64;
using fp4::bfloat16;
using std::int64_t;
using std::uint8_t;

template <class Codes>
using operand = fp4::packed_view<fp4::nvfp4, Codes, fp4::tiled_32x4_scales, uint8_t const>;
using operand_a = operand<fp4::fragment_codes_a>;
using operand_b = operand<fp4::fragment_codes_b>;

/// What a lane loads of 16 rows of B: registers of rows 0 to 7, and of rows 8 to 15.
struct alignas(16) lane_pair_b {
  fp4::lane_registers<mma::b> half[2];
};

/// D = scale_a scale_b A B^T with A [m, k], B [n, k], D [m, n], everything in device memory.
struct product {
  operand_a a;
  operand_b b;
  fp4::gpu::scale_argument scale_a;  ///< tensor scales: known, or where their amax lies
  fp4::gpu::scale_argument scale_b;
  fp4::matrix_view<bfloat16> d;

  /// The factor of all sums.
  [[nodiscard]] __device__ float alpha() const { return scale_a.read().decode() * scale_b.read().decode(); }
};

/// Steps of k = 64. Rows end with whole steps, padded with zeros.
[[nodiscard]] __host__ __device__ inline int64_t steps_of(int64_t k) { return (k + 63) / 64; }

/// Every precondition of a product.
inline fp4::check_result check(product const& p) {
  for (auto const& found : {fp4::check(p.a), fp4::check(p.b), fp4::check(p.d)}) {
    if (!found.ok()) { return found; }
  }
  for (uint8_t const* scales : {p.a.scales, p.b.scales}) {  // read by 16 bytes
    auto const past = reinterpret_cast<std::uintptr_t>(scales) % 16;
    if (past != 0) { return {fp4::errc::misaligned_tensor, static_cast<double>(past), 16}; }
  }
  auto const differ = [](int64_t x, int64_t y) {
    return fp4::check_result{x == y ? fp4::errc::ok : fp4::errc::shape_mismatch, static_cast<double>(x),
                             static_cast<double>(y)};
  };
  for (auto const& found : {differ(p.b.cols, p.a.cols), differ(p.d.rows, p.a.rows), differ(p.d.cols, p.b.rows)}) {
    if (!found.ok()) { return found; }
  }
  return {};
}

/// What lies at p, in one access.
template <class T>
[[nodiscard]] __host__ __device__ T load(uint8_t const* p) {
  return *reinterpret_cast<T const*>(p);
}

}  // namespace gemm
