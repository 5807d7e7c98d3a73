// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Products of quantized matrices: the tensor-core instruction as a function of what each lane holds, and a whole
/// matmul, element by element.

#include "../choices.hpp"
#include "../layout/descriptor_checks.hpp"
#include "number.hpp"

FP4_EXACT_BEGIN
namespace fp4::reference {

/// What the 32 lanes of a warp hold of a fragment.
template <class Fragment>
struct warp_registers {
  lane_registers<Fragment> lane[32];
};

namespace detail {

/// Element (row, column) of A or B.
template <class Fragment>
double operand(warp_registers<Fragment> const& held, int row, int column) {
  fragment_place const at = Fragment::place(row, column);
  uint32_t const code = held.lane[at.lane].reg[at.reg] >> (Fragment::element_bits * at.slot) & 0xF;
  return value_of<e2m1>(static_cast<int>(code));
}

/// Scale of (row, block), from the lane and byte that the selector names.
template <class Scale, class Fragment>
double scale(warp_registers<Fragment> const& held, int row, int block, scale_selector selector) {
  fragment_place const at = Fragment::place(row, block, selector);
  return value_of<Scale>(static_cast<int>(held.lane[at.lane].reg[at.reg] >> (8 * at.slot) & 0xFF));
}

}  // namespace detail

/// `mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale` of all lanes: D = (A * scales) (B * scales) + C.
/// Vector x4 takes ue4m3 scales for blocks of 16, x2 takes ue8m0 for blocks of 32.
///
/// The sum over k is taken in fp64, C is added in fp64, and the result rounded to fp32, each nearest even. With ue4m3 the
/// sum over k is exact: products are multiples of 2^-20 below 2^23, and 64 of them need 49 bits. How hardware rounds
/// between is not documented; where every partial sum is exact in fp32 both agree. \throws precondition_error where a
/// selector is out of range.
template <class Scale = ue4m3, scale_vector Vector = scale_vector::x4>
[[nodiscard]] warp_registers<accumulator_fragment> mma_m16n8k64(
    warp_registers<operand_fragment<16, 64, 4>> const& a, warp_registers<operand_fragment<8, 64, 4>> const& b,
    warp_registers<accumulator_fragment> const& c, warp_registers<scale_fragment<16, Vector>> const& scales_a,
    scale_selector selector_a, warp_registers<scale_fragment<8, Vector>> const& scales_b, scale_selector selector_b) {
  static_assert(Vector == scale_vector::x4 ? std_types::is_same<Scale, ue4m3>::value
                                           : Vector == scale_vector::x2 && std_types::is_same<Scale, e8m0>::value,
                "4X takes ue4m3 scales, 2X takes ue8m0");
  constexpr char const* where = "fp4::reference::mma_m16n8k64";
  require(check(scale_fragment<16, Vector>{}, selector_a), where);
  require(check(scale_fragment<8, Vector>{}, selector_b), where);
  constexpr int block_size = 64 / static_cast<int>(Vector);
  warp_registers<accumulator_fragment> d;
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 8; ++n) {
      double sum = 0;
      for (int k = 0; k < 64; ++k) {
        double const x = detail::operand(a, m, k) * detail::scale<Scale>(scales_a, m, k / block_size, selector_a);
        double const y = detail::operand(b, n, k) * detail::scale<Scale>(scales_b, n, k / block_size, selector_b);
        sum += detail::round_to_double(x * y);
      }
      fragment_place const at = accumulator_fragment::place(m, n);
      float const before = c.lane[at.lane].reg[at.reg];
      d.lane[at.lane].reg[at.reg] = detail::round_to_float(sum + static_cast<double>(before));
    }
  }
  return d;
}

namespace detail {

/// Element (row, column) times its block scale, which is exact.
template <class Format, class Layout>
double scaled_element(quantized_view<Format, Layout, uint8_t const> q, int64_t row, int64_t column) {
  uint8_t const* const codes = q.code_row(row);
  int const code = Format::storage_bits == 8 ? codes[column] : codes[column / 2] >> (column % 2 * 4) & 0xF;
  double scale = 1;
  if constexpr (Format::has_block_scale) {
    scale = value_of<typename Format::scale>(q.scales[q.scale_offset(row, column / Format::block_size)]);
  }
  return value_of<typename Format::element>(code) * scale;
}

}  // namespace detail

/// Every precondition of matmul(a, b, alpha, out).
template <class T, class FormatA, class LayoutA, class FormatB, class LayoutB>
check_result check_matmul(quantized_view<FormatA, LayoutA, uint8_t const> a,
                          quantized_view<FormatB, LayoutB, uint8_t const> b, matrix_view<T> out) noexcept {
  using namespace fp4::detail;
  if (auto const found = check_quantized(a); !found.ok()) { return found; }
  if (auto const found = check_quantized(b); !found.ok()) { return found; }
  if (auto const found = check(out); !found.ok()) { return found; }
  if (b.cols != a.cols) { return broken(errc::shape_mismatch, as_double(b.cols), as_double(a.cols)); }
  if (out.rows != a.rows) { return broken(errc::shape_mismatch, as_double(out.rows), as_double(a.rows)); }
  if (out.cols != b.rows) { return broken(errc::shape_mismatch, as_double(out.cols), as_double(b.rows)); }
  return {};
}

/// out = alpha * A B^T, of quantized matrices A [m, k] and B [n, k] with any scale layouts.
///
/// \param alpha  the product of both tensor scales' decode factors, and whatever else is wanted.
/// \param out    [m, n] of float, float16 or bfloat16.
/// \throws precondition_error when check_matmul(a, b, out) finds anything; then nothing was written.
/// \note   Products are exact and summed in fp64, in the order of k (exact for nvfp4 up to k = 1024 whatever the data);
/// then
///         rounded to fp32, multiplied by alpha in fp32, and rounded to T.
template <class T, class FormatA, class LayoutA, class FormatB, class LayoutB>
void matmul(quantized_view<FormatA, LayoutA, uint8_t const> a, quantized_view<FormatB, LayoutB, uint8_t const> b,
            float alpha, matrix_view<T> out) {
  require(check_matmul(a, b, out), "fp4::reference::matmul");
  for (int64_t m = 0; m < a.rows; ++m) {
    for (int64_t n = 0; n < b.rows; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < a.cols; ++k) {
        sum += detail::round_to_double(detail::scaled_element(a, m, k) * detail::scaled_element(b, n, k));
      }
      detail::store(detail::product(detail::round_to_float(sum), alpha), out.row(m)[n]);
    }
  }
}

}  // namespace fp4::reference
FP4_EXACT_END
