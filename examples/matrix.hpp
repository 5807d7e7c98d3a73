// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tensors of files as the matrices that the library quantizes.

#include <algorithm>
#include <cstdint>
#include <fp4/fp4.hpp>
#include <vector>

#include "io/tensor.hpp"

/// Values in memory, row by row without gaps.
struct matrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<float> values;

  [[nodiscard]] fp4::matrix_view<float const> view() const { return {values.data(), rows, cols}; }
};

/// The columns of a tensor's matrix: its last dimension. All others together are the rows.
[[nodiscard]] inline std::int64_t columns_of(io::tensor_info const& tensor) {
  return tensor.shape.empty() ? 1 : tensor.shape.back();
}

namespace detail {

template <class Half>
std::vector<float> widened(std::vector<Half> const& narrow) {
  std::vector<float> wide(narrow.size());
  std::transform(narrow.begin(), narrow.end(), wide.begin(), [](Half x) { return x.to_float(); });
  return wide;
}

}  // namespace detail

/// Reads an F32, F16 or BF16 tensor that is not empty, as float32: no value changes.
/// \throws io::file_error when the file cannot be read any more, or memory does not suffice.
[[nodiscard]] inline matrix read_matrix(io::tensor_file& file, io::tensor_info const& tensor) {
  std::int64_t const cols = columns_of(tensor);
  return {tensor.count / cols, cols,
          tensor.element == io::dtype::f16    ? detail::widened(file.read<fp4::float16>(tensor))
          : tensor.element == io::dtype::bf16 ? detail::widened(file.read<fp4::bfloat16>(tensor))
                                              : file.read<float>(tensor)};
}
