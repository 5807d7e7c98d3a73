// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How a broken precondition is named, reported and thrown. Host only.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "config.hpp"

namespace fp4 {

/// The rule that was broken. `ok` is 0.
enum class errc {
  ok = 0,
  negative_size,
  too_large,
  null_data,
  row_stride_too_small,
  shape_mismatch,
  wrong_buffer_size,
  code_stride_too_small,
  scale_buffer_too_small,
  overlapping_output,
  hadamard_size_does_not_divide,
  bad_tensor_scale,
  bad_tensor_scale_count,
  row_scales_with_2d_blocks,
  submatrix_out_of_range,
  misaligned_submatrix,
  bad_random_position,
  path_not_available,
  bad_thread_count,
  code_buffer_too_small,
  misaligned_codes,
  bad_thread_id,
  bad_byte_id,
  bad_cta_group,
  bad_mma_m,
  bad_mma_n,
  bad_mma_k,
  mma_k_needs_sm_103,
  bad_scale_vector,
  scale_vector_needs_e8m0,
  bad_scale_id,
  shared_offset_too_large,
  misaligned_shared_matrix,
  misaligned_swizzle_atom,
  misaligned_tensor,
  bad_tensor_size,
  odd_tensor_columns,
  bad_tensor_stride,
  bad_box,
  bad_box_columns,
  box_wider_than_swizzle,
  cublaslt_k,
  cublaslt_m,
  cublaslt_output,
  bad_layer_shape,
  unsupported_operand,
};

/// The rule as a sentence without its capital and full stop: "the row stride must be at least the number of columns".
[[nodiscard]] constexpr char const* rule_of(errc code) noexcept {
  switch (code) {
    case errc::ok: return "nothing is wrong";
    case errc::negative_size: return "a number of rows or columns must not be negative";
    case errc::too_large: return "a matrix must have at most 2^56 elements, gaps between its rows included";
    case errc::null_data: return "data must not be null when there are elements";
    case errc::row_stride_too_small: return "the row stride must be at least the number of columns";
    case errc::shape_mismatch:
      return "shapes must fit: an output must have that of the result, decoded values that of the originals";
    case errc::wrong_buffer_size: return "codes and scales must have as many bytes as their shape takes";
    case errc::code_stride_too_small: return "the code stride must be at least the packed bytes of a row";
    case errc::scale_buffer_too_small: return "the scale buffer must hold the whole padded layout";
    case errc::overlapping_output: return "output memory must not overlap the input or another output";
    case errc::hadamard_size_does_not_divide:
      return "the length of the transformed axis must be a multiple of the Hadamard size";
    case errc::bad_tensor_scale:
      return "a tensor scale must be a positive finite factor, or an amax that is not negative and not NaN";
    case errc::bad_tensor_scale_count:
      return "tensor scales must be one for the tensor, or one for each row of the result";
    case errc::row_scales_with_2d_blocks: return "2D blocks must have one tensor scale for the whole tensor";
    case errc::submatrix_out_of_range: return "a sub-matrix must lie inside the matrix";
    case errc::misaligned_submatrix:
      return "a sub-matrix must begin and end with blocks and with tiles of scales, and must have whole rows if it has "
             "more of them than a tile";
    case errc::bad_random_position:
      return "the position must be non-negative, inside the whole matrix of at most 2^56 blocks, and stream must be "
             "below 2^63";
    case errc::path_not_available: return "a forced path must exist on this processor";
    case errc::bad_thread_count: return "the number of threads must not be negative";
    case errc::code_buffer_too_small: return "the code buffer must hold the whole padded layout";
    case errc::misaligned_codes: return "packed codes must begin at a multiple of 16 bytes";
    case errc::bad_thread_id: return "a thread-id must be 0 or 1 for A, and 0 to 3 for B";
    case errc::bad_byte_id: return "a byte-id must be 0 for 4X, 0 or 2 for 2X, and 0 to 3 for 1X";
    case errc::bad_cta_group: return "cta_group must be 1 or 2";
    case errc::bad_mma_m: return "M must be 128, or 256 with cta_group 2";
    case errc::bad_mma_n: return "N must be a multiple of 8 from 8 to 256, and of 16 with cta_group 2 or K = 96";
    case errc::bad_mma_k: return "K of one instruction must be 64, or 96";
    case errc::mma_k_needs_sm_103: return "K of one instruction must be 64 but on sm_103, which also has 96";
    case errc::bad_scale_vector: return "kind::mxf4nvf4 must have 2 or 4 scales for 64 elements";
    case errc::scale_vector_needs_e8m0: return "scales of blocks of 32 must be ue8m0";
    case errc::bad_scale_id: return "a scale id must be 0, or 2 where two steps share a word";
    case errc::shared_offset_too_large: return "addresses and offsets in shared memory must be below 2^18";
    case errc::misaligned_shared_matrix: return "addresses and offsets in shared memory must be multiples of 16";
    case errc::misaligned_swizzle_atom: return "a swizzle atom must begin at a multiple of its size";
    case errc::misaligned_tensor: return "a tensor in global memory must begin at a multiple of 16 bytes";
    case errc::bad_tensor_size: return "a dimension of a tensor map must be from 1 to 2^32";
    case errc::odd_tensor_columns: return "packed codes in a tensor map must have an even number of columns";
    case errc::bad_tensor_stride: return "the row stride of a tensor map must be a multiple of 16 bytes below 2^40";
    case errc::bad_box: return "a side of a box must be from 1 to 256";
    case errc::bad_box_columns: return "a row of a box must be a multiple of 16 bytes, 32 codes";
    case errc::box_wider_than_swizzle: return "a row of a box must not be longer than a row of the swizzle atom";
    case errc::cublaslt_k: return "K must be a multiple of 32 for cublasLt";
    case errc::cublaslt_m: return "M must be a multiple of 16 bytes of the result for cublasLt";
    case errc::cublaslt_output: return "results of cublasLt must have 4, 16 or 32 bits";
    case errc::bad_layer_shape:
      return "the matrices of a linear layer must be an activation [M, K], a weight [N, K] and a gradient [M, N]";
    case errc::unsupported_operand:
      return "an operand chosen at run time must be nvfp4 where it is stochastic, 2D or transformed, and its Hadamard "
             "size must be 0 or 16";
  }
  return "unknown rule";
}

/// What a check found: the rule and, where it is not `ok`, the offending value and the bound it broke.
struct [[nodiscard]] check_result {
  errc code = errc::ok;
  double value = 0;
  double bound = 0;

  /// True when every precondition holds.
  [[nodiscard]] constexpr bool ok() const noexcept { return code == errc::ok; }
};

/// Thrown before anything was written. `what()` names the function, the offending value and the rule.
class precondition_error : public std::invalid_argument {
 public:
  precondition_error(check_result const& result, std::string const& where)
      : std::invalid_argument(where + ": " + rule_of(result.code) + " (got " + number(result.value) + ", bound " +
                              number(result.bound) + ")"),
        result_(result) {}

  [[nodiscard]] errc code() const noexcept { return result_.code; }
  [[nodiscard]] double value() const noexcept { return result_.value; }

 private:
  static std::string number(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.20g", x);  // sizes and streams: every digit
    if (text[std::strspn(text, "-0123456789")] != '\0') { std::snprintf(text, sizeof text, "%.10g", x); }
    return text;
  }
  check_result result_;
};

/// Throws precondition_error unless `result` is ok. A build without exceptions prints it and aborts: call check()
/// first. In a program of both kinds of units, either may happen in each.
inline void require(check_result const& result, char const* where) {
  if (result.ok()) { return; }
#if FP4_HAS_EXCEPTIONS
  throw precondition_error(result, where);
#else
  std::fprintf(stderr, "%s\n", precondition_error(result, where).what());
  std::abort();
#endif
}

}  // namespace fp4
