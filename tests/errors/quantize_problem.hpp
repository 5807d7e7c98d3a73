// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A quantization that is right in every way, for tests that break one thing of it.

#include <vector>

#include <fp4/choices.hpp>
#include <fp4/cpu/dequantize.hpp>
#include <fp4/cpu/quantize.hpp>

namespace test {

template <class Format = fp4::nvfp4, class Layout = fp4::linear_scales,
          class Choices = fp4::choices<fp4::transformer_engine>>
struct quantize_problem {
  static constexpr std::int64_t rows = 4, cols = 32;

  // One buffer, so that overlaps can be made: values, then codes, then scales.
  std::vector<float> values = std::vector<float>(1024, 1.0f);
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(4096, std::uint8_t{0xA5});
  std::vector<fp4::tensor_scale> tensor_scales = {fp4::tensor_scale::from_amax(1.0f)};
  fp4::matrix_view<float const> in{values.data(), rows, cols};
  fp4::quantized_view<Format, Layout> out{bytes.data(), bytes.data() + 2048, 2048, rows, cols};
  fp4::tensor_scales_view scales{tensor_scales.data(), 1};
  Choices how{};

  quantize_problem() = default;
  quantize_problem(quantize_problem const&) = delete;  // the views point into the vectors

  [[nodiscard]] fp4::check_result check() const { return fp4::check(in, out, scales, how); }
};

}  // namespace test
