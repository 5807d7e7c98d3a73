// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the hardware demands of descriptors, and builders that refuse the rest: check(...) names the first rule that is
/// broken, the builders throw it. Host only, and constant expressions: a wrong descriptor of constants does not
/// compile. Kernels use constexpr variables made outside of them, and bits() of addresses that they alone know.

#include "check.hpp"
#include "descriptors.hpp"

namespace fp4 {

/// Whether an mma takes this selector. (select<>() is the same at compile time.)
template <int Rows, scale_vector Vector>
constexpr check_result check(scale_fragment<Rows, Vector>, scale_selector s) noexcept {
  using map = scale_fragment<Rows, Vector>;
  if (s.thread_id < 0 || s.thread_id >= map::thread_ids) {
    return {errc::bad_thread_id, static_cast<double>(s.thread_id), map::thread_ids - 1};
  }
  if (!map::valid(s)) { return {errc::bad_byte_id, static_cast<double>(s.byte_id), 4 - map::blocks}; }
  return {};
}

/// Source: PTX ISA 9.7.16, shapes of kind::mxf4nvf4. K = 96 as CUTLASS and cuBLAS use it.
constexpr check_result check(mxf4nvf4_instruction const& i) noexcept {
  auto const broken = [](errc code, int value, int bound) {
    return check_result{code, static_cast<double>(value), static_cast<double>(bound)};
  };
  if (i.cta_group != 1 && i.cta_group != 2) { return broken(errc::bad_cta_group, i.cta_group, 2); }
  if (i.m != 128 && !(i.m == 256 && i.cta_group == 2)) { return broken(errc::bad_mma_m, i.m, 128 * i.cta_group); }
  if (i.k != 64 && i.k != 96) { return broken(errc::bad_mma_k, i.k, 64); }
  if (i.k == 96 && i.target != tcgen05_target::sm_103) { return broken(errc::mma_k_needs_sm_103, i.k, 64); }
  int const step = i.cta_group == 2 || i.k == 96 ? 16 : 8;
  if (i.n < step || i.n > 256 || i.n % step != 0) { return broken(errc::bad_mma_n, i.n, step); }
  if (i.vector == scale_vector::x1) { return broken(errc::bad_scale_vector, 1, 2); }
  if (i.vector == scale_vector::x2 && !i.scales_are_e8m0) { return broken(errc::scale_vector_needs_e8m0, 2, 4); }
  for (int const id : {i.scale_id_a, i.scale_id_b}) {
    bool const may_be_2 = i.vector == scale_vector::x2 || i.k == 96;
    if (id != 0 && !(id == 2 && may_be_2)) { return broken(errc::bad_scale_id, id, may_be_2 ? 2 : 0); }
  }
  return {};
}

constexpr check_result check(shared_matrix const& m) noexcept {
  constexpr uint32_t end = 1u << 18;
  uint32_t const alignment = m.mode == swizzle::none ? 16 : 8 * static_cast<uint32_t>(m.mode);
  for (uint32_t const x : {m.address, m.leading_bytes, m.stride_bytes}) {
    if (x >= end) { return {errc::shared_offset_too_large, static_cast<double>(x), static_cast<double>(end)}; }
    if (x % 16 != 0) { return {errc::misaligned_shared_matrix, static_cast<double>(x), 16}; }
  }
  // Steps along k begin inside the first row of an atom.
  if (m.address % alignment >= static_cast<uint32_t>(m.mode)) {
    return {errc::misaligned_swizzle_atom, static_cast<double>(m.address), static_cast<double>(alignment)};
  }
  if (m.stride_bytes % alignment != 0) {
    return {errc::misaligned_swizzle_atom, static_cast<double>(m.stride_bytes), static_cast<double>(alignment)};
  }
  return {};
}

/// Source: cuda.h, cuTensorMapEncodeTiled.
constexpr check_result check(packed_tensor_map const& t) noexcept {
  auto const broken = [](errc code, uint64_t value, uint64_t bound) {
    return check_result{code, static_cast<double>(value), static_cast<double>(bound)};
  };
  if (t.address % 16 != 0) { return broken(errc::misaligned_tensor, t.address, 16); }
  for (uint64_t const dim : t.dims) {
    if (dim == 0 || dim > uint64_t{1} << 32) { return broken(errc::bad_tensor_size, dim, uint64_t{1} << 32); }
  }
  if (t.dims[0] % 2 != 0) { return broken(errc::odd_tensor_columns, t.dims[0], 2); }
  if (t.strides[0] % 16 != 0 || t.strides[0] >= uint64_t{1} << 40) {
    return broken(errc::bad_tensor_stride, t.strides[0], 16);
  }
  if (t.strides[0] < t.dims[0] / 2) { return broken(errc::code_stride_too_small, t.strides[0], t.dims[0] / 2); }
  for (uint32_t const side : t.box) {
    if (side == 0 || side > 256) { return broken(errc::bad_box, side, 256); }
  }
  if (t.box[0] % 32 != 0) { return broken(errc::bad_box_columns, t.box[0], 32); }
  // Without swizzle shared memory has rows of 16 bytes: one column of core matrices a box.
  uint64_t const most = 2 * static_cast<uint64_t>(t.mode);
  if (t.box[0] > most) { return broken(errc::box_wider_than_swizzle, t.box[0], most); }
  return {};
}

/// Source: cuBLAS documentation, "Narrow Precision Data Types Usage"; the multiples follow from 16-byte dimensions.
constexpr check_result check(cublaslt_nvfp4_matmul const& p) noexcept {
  for (int64_t const size : {p.m, p.n, p.k}) {
    if (size < 0) { return {errc::negative_size, static_cast<double>(size), 0}; }
  }
  if (p.k % 32 != 0) { return {errc::cublaslt_k, static_cast<double>(p.k), 32}; }
  if (p.output_bits != 4 && p.output_bits != 16 && p.output_bits != 32) {
    return {errc::cublaslt_output, static_cast<double>(p.output_bits), 16};
  }
  int64_t const chunk = 128 / p.output_bits;
  if (p.m % chunk != 0) { return {errc::cublaslt_m, static_cast<double>(p.m), static_cast<double>(chunk)}; }
  for (uint64_t const address : {p.a, p.b, p.d, p.scales_a, p.scales_b}) {
    if (address % 16 != 0) { return {errc::misaligned_tensor, static_cast<double>(address), 16}; }
  }
  return {};
}

/// The bits of tcgen05.mma's instruction descriptor. \throws precondition_error where check(i) is not ok.
[[nodiscard]] constexpr uint32_t instruction_descriptor(mxf4nvf4_instruction const& i) {
  if (auto const found = check(i); !found.ok()) { require(found, "fp4::instruction_descriptor"); }
  return i.bits();
}
/// The bits of a shared-memory matrix descriptor. \throws precondition_error where check(m) is not ok.
[[nodiscard]] constexpr uint64_t matrix_descriptor(shared_matrix const& m) {
  if (auto const found = check(m); !found.ok()) { require(found, "fp4::matrix_descriptor"); }
  return m.bits();
}
/// The tensor map of codes [rows, columns] at `address`, rows `stride` bytes apart; TMA copies boxes of `box_rows` rows
/// by `box_columns` codes. \throws precondition_error where check(map) is not ok.
[[nodiscard]] constexpr packed_tensor_map tensor_map(uint64_t address, int64_t rows, int64_t columns, int64_t stride,
                                                     swizzle mode, int box_rows, int box_columns) {
  packed_tensor_map map;
  map.address = address, map.mode = mode;
  map.dims[0] = static_cast<uint64_t>(columns), map.dims[1] = static_cast<uint64_t>(rows);
  map.strides[0] = static_cast<uint64_t>(stride);
  map.box[0] = static_cast<uint32_t>(box_columns), map.box[1] = static_cast<uint32_t>(box_rows);
  if (auto const found = check(map); !found.ok()) { require(found, "fp4::tensor_map"); }
  return map;
}

}  // namespace fp4
