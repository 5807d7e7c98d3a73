// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "random.hpp"
#include "scaling_by_values.hpp"
#include "transform.hpp"

FP4_EXACT_BEGIN
namespace fp4::reference {
namespace detail {

/// The product of the largest element and the largest block scale that a scaling aims at.
template <class Format, class Scaling>
float range_of(Scaling const&) {
  double range = magnitudes<typename Format::element>().back();
  if constexpr (Format::has_block_scale) { range *= magnitudes<typename Format::scale>().back(); }
  return static_cast<float>(range);
}
template <class Format>
float range_of(four_over_six const& preset) {
  return preset.full_scale_range ? 6 * 448.0f : 6 * 256.0f;
}
template <class Format>
float range_of(mx_floor const&) {
  return 1;  // no tensor scale
}
template <class Format>
float range_of(mx_ceil const&) {
  return 1;
}

/// Clears every byte that belongs to the result: rows of codes with their padding, and the scale layout.
template <class Format, class Layout>
void clear(quantized_view<Format, Layout> out) {
  for (int64_t r = 0; r < out.rows; ++r) {
    for (int64_t i = 0; i < Format::row_bytes(out.cols); ++i) { out.code_row(r)[i] = 0; }
  }
  for (int64_t i = 0; i < out.scale_bytes_needed(); ++i) { out.scales[i] = 0; }
}

template <class Format>
void store_code(uint8_t* row, int64_t i, int code) {
  if (Format::storage_bits == 4) {
    row[i / 2] = static_cast<uint8_t>(row[i / 2] + (code << (i % 2 == 0 ? 0 : 4)));
  } else {
    row[i] = static_cast<uint8_t>(code);
  }
}

}  // namespace detail

/// The definition of quantization, slow and obvious: every other quantizer must write these bytes.
///
/// \param in     [rows, cols] values
/// \param out    [rows, cols], or [cols, rows] column-wise; every code and scale byte is written, padding as
///               0x00. Bytes between the rows of codes are left alone.
/// \param scales one for the tensor, or one for each row of `out`; its range is replaced by the scaling's
/// \pre    The process rounds to nearest and keeps subnormals.
/// \throws precondition_error when check(in, out, scales, how) is not ok; then nothing was written.
template <class T, class Format, class Layout, class... Options>
void quantize(matrix_view<T const> in, quantized_view<Format, Layout> out, tensor_scales_view scales,
              choices<Options...> const& how) {
  using chosen = choices<Options...>;
  require(check(in, out, scales, how), "fp4::reference::quantize");
  detail::clear(out);

  // The matrix as given is cut into tiles that share a scale; only then do codes move to their place in
  // `out`.
  constexpr bool transposed = chosen::is_columnwise;
  constexpr int64_t tile_rows = chosen::is_2d || transposed ? Format::block_size : 1;
  constexpr int64_t tile_cols = chosen::is_2d || !transposed ? Format::block_size : 1;
  std::vector<float> const x = detail::transformed_matrix(in, how.transform, transposed);
  auto const at = [&](int64_t r, int64_t c) { return x[static_cast<size_t>(r * in.cols + c)]; };

  for (int64_t top = 0; top < in.rows; top += tile_rows) {
    for (int64_t left = 0; left < in.cols; left += tile_cols) {
      int64_t const bottom = top + tile_rows < in.rows ? top + tile_rows : in.rows;
      int64_t const right = left + tile_cols < in.cols ? left + tile_cols : in.cols;
      detail::block b;
      for (int64_t r = top; r < bottom; ++r) {
        for (int64_t c = left; c < right; ++c) { b.values.push_back(at(r, c)); }
      }
      b.amax = detail::largest_magnitude(b.values);

      tensor_scale const scale = Format::has_tensor_scale ? scales.of_row(chosen::is_2d ? 0
                                                                          : transposed  ? left
                                                                                        : top)
                                                          : tensor_scale::from_amax(0);
      detail::tensor_factors const t = detail::factors_of(scale, detail::range_of<Format>(how.scaling));
      float sf = 1;
      if constexpr (Format::has_block_scale) {
        int const code = detail::scale_code<Format>(how.scaling, t, b);
        sf = static_cast<float>(detail::value_of<typename Format::scale>(code));
        for (int64_t row = transposed ? left : top; row < (transposed ? right : bottom); ++row) {
          out.scales[out.scale_offset(row, (transposed ? top : left) / Format::block_size)] =
              static_cast<uint8_t>(code);
        }
      }

      for (int64_t r = top; r < bottom; ++r) {
        for (int64_t c = left; c < right; ++c) {
          bool const counts_transposed = transposed && !chosen::is_2d;
          detail::draw const draw =
              counts_transposed ? detail::draw{c, r, in.rows, true} : detail::draw{r, c, in.cols, false};
          uint32_t const random16 = detail::random_bits(how.rounding, draw, Format::block_size);
          int const code =
              detail::element_code<typename Format::element>(how.scaling, t, b, sf, at(r, c), how.rounding, random16);
          detail::store_code<Format>(out.code_row(transposed ? c : r), transposed ? r : c, code);
        }
      }
    }
  }
}

}  // namespace fp4::reference
FP4_EXACT_END
