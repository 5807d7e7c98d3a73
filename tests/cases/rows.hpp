// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Small quantizations for the cases: every path of the processor, which must agree.

#include <vector>

#include "catch.hpp"
#include "support/bits.hpp"

#include <fp4/fp4.hpp>

namespace test {

/// The bytes of one quantization.
struct bytes {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;

  friend bool operator==(bytes const& a, bytes const& b) { return a.codes == b.codes && a.scales == b.scales; }

  /// The first `count` element codes.
  [[nodiscard]] std::vector<int> elements(std::int64_t count) const {
    std::vector<int> found;
    for (std::int64_t i = 0; i < count; ++i) { found.push_back(fp4::nibble(codes.data(), i)); }
    return found;
  }
};

inline std::vector<fp4::cpu::path> paths() {
  std::vector<fp4::cpu::path> found;
  for (auto const p : {fp4::cpu::path::scalar, fp4::cpu::path::portable, fp4::cpu::path::avx2, fp4::cpu::path::neon}) {
    if (fp4::cpu::available(p)) { found.push_back(p); }
  }
  return found;
}

/// NVFP4 of a matrix on every path; a check fails where two differ.
template <class T, class... Choices>
bytes quantize_everywhere(std::vector<T> const& x, std::int64_t rows, std::int64_t cols, Choices const&... chosen) {
  fp4::matrix_view<T const> const view(x.data(), rows, cols);
  auto const q = fp4::quantize<fp4::nvfp4>(view, chosen...);
  bytes const first{q.codes(), q.scales()};
  for (auto const p : paths()) {
    auto const again = fp4::quantize<fp4::nvfp4>(view, chosen..., p);
    CAPTURE(fp4::cpu::name(p));
    CHECK(bytes{again.codes(), again.scales()} == first);
  }
  return first;
}

/// One row, filled up with zeros to whole blocks.
template <class... Choices>
bytes quantize_row(std::vector<float> x, Choices const&... chosen) {
  x.resize((x.size() + 15) / 16 * 16, 0.0f);
  auto const cols = static_cast<std::int64_t>(x.size());
  return quantize_everywhere(x, 1, cols, chosen...);
}

/// Decodes one row of bytes under the default preset's rule, on every path.
inline std::vector<float> decode_row(bytes const& b, fp4::tensor_scale scale) {
  auto const cols = static_cast<std::int64_t>(b.codes.size()) * 2;
  fp4::quantized<fp4::nvfp4> const q(1, cols, fp4::transformer_engine::decoding, b.codes, b.scales, {scale});
  std::vector<float> const first = fp4::dequantize<float>(q);
  for (auto const p : paths()) {
    std::vector<float> const again = fp4::dequantize<float>(q, p);
    CAPTURE(fp4::cpu::name(p));
    for (std::size_t i = 0; i < first.size(); ++i) { CHECK(bits_of(again[i]) == bits_of(first[i])); }
  }
  return first;
}

/// s_g = 1.
inline fp4::tensor_scale unit_scale() { return fp4::tensor_scale::from_decode(1.0f); }

using codes = std::vector<int>;
using octets = std::vector<std::uint8_t>;

}  // namespace test
