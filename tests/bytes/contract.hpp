// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The contract: cpu::quantize writes the bytes of reference::quantize, on every path and at every thread
/// count, and writes each of them.

#include <fp4/cpu/quantize.hpp>
#include <fp4/reference/reference.hpp>

#include "support/buffer.hpp"
#include "support/data.hpp"
#include "support/schemes.hpp"

namespace test {

/// Every path that this processor can run.
inline std::vector<fp4::cpu::path> paths() {
  std::vector<fp4::cpu::path> found;
  for (auto p : {fp4::cpu::path::automatic, fp4::cpu::path::scalar, fp4::cpu::path::portable, fp4::cpu::path::avx2,
                 fp4::cpu::path::neon}) {
    if (fp4::cpu::available(p)) { found.push_back(p); }
  }
  return found;
}

/// Calls work(path, execution, name) for every path on the calling thread, and for one of them on two or three threads:
/// the next values of `turn` take the other paths and numbers. (Threads cost much where cores are few.)
template <class Work>
void for_each_way(int turn, Work const& work) {
  auto const all = paths();
  for (auto const path : all) { work(path, fp4::sequential{}, fp4::cpu::name(path)); }
#if FP4_HAS_OPENMP
  int const count = static_cast<int>(all.size());
  int const threads = 2 + turn / count % 2;
  auto const path = all[static_cast<std::size_t>(turn % count)];
  work(path, fp4::openmp{threads}, fp4::cpu::name(path) + (" on " + std::to_string(threads) + " threads"));
#else
  static_cast<void>(turn);
#endif
}

/// Memory for a quantized matrix, with `gap` bytes between rows of codes that nobody may touch.
template <class Format, class Layout>
struct quantized_memory {
  poisoned_buffer codes;
  poisoned_buffer scales;
  fp4::quantized_view<Format, Layout> view;

  quantized_memory(std::int64_t rows, std::int64_t cols, std::int64_t gap, std::uint8_t fill)
      : codes(rows * (Format::row_bytes(cols) + gap), fill),
        scales(Format::has_block_scale ? Layout::bytes(rows, Format::blocks(cols)) : 0, fill),
        view(codes.data(), scales.data(), scales.size(), rows, cols) {
    view.code_stride += gap;
  }
  quantized_memory(quantized_memory const&) = delete;
  quantized_memory& operator=(quantized_memory const&) = delete;

  /// Empty when both hold the same bytes and nothing around them was written.
  [[nodiscard]] std::string difference(quantized_memory const& wanted) const {
    std::string text = first_difference(scales, wanted.scales, view.blocks_per_row());
    if (!text.empty()) { return "scales: " + text; }
    text = first_difference(codes, wanted.codes, view.code_stride);
    return text.empty() ? "" : "codes: " + text;
  }
};

/// The block that shares a scale, in the matrix as given.
template <class Format, class Choices>
block_extent extent_of() {
  int const n = Format::block_size == 1 ? 16 : Format::block_size;
  if (Choices::is_2d) { return {n, n}; }
  return Choices::is_columnwise ? block_extent{n, 1} : block_extent{1, n};
}

/// One call to quantize.
template <class In, class Format, class Layout, class Choices>
struct call {
  fp4::matrix_view<In const> in;
  Choices how;
  std::vector<fp4::tensor_scale> scales;
  std::int64_t gap = 0;  ///< bytes between rows of codes
  int turn = 0;          ///< which path takes threads

  [[nodiscard]] std::int64_t rows() const { return Choices::is_columnwise ? in.cols : in.rows; }
  [[nodiscard]] std::int64_t cols() const { return Choices::is_columnwise ? in.rows : in.cols; }
  [[nodiscard]] fp4::tensor_scales_view scales_view() const {
    return {scales.data(), static_cast<std::int64_t>(scales.size())};
  }

  /// Empty when every path, at every thread count, writes what the reference does.
  [[nodiscard]] std::string broken() const {
    for (int run = 0; run < 2; ++run) {
      std::uint8_t const fill = run == 0 ? 0x7F : 0xA5;
      quantized_memory<Format, Layout> wanted(rows(), cols(), gap, fill);
      fp4::reference::quantize(in, wanted.view, scales_view(), how);
      std::string text = wanted.difference(wanted);  // its guards
      if (!text.empty()) { return "reference: " + text; }
      for_each_way(2 * turn + run, [&](auto path, auto execution, std::string const& way) {
        if (!text.empty()) { return; }
        quantized_memory<Format, Layout> got(rows(), cols(), gap, fill);
        fp4::cpu::quantize(in, got.view, scales_view(), how, execution, path);
        text = got.difference(wanted);
        if (!text.empty()) { text = way + ": " + text; }
      });
      if (!text.empty()) { return text; }
    }
    return "";
  }
};

/// Data whose transformed values, as far as fp32 allows, are `m`: ties survive the transform.
template <class Transform>
void transform_back(matrix& m, Transform const& transform, bool along_columns) {
  using namespace fp4::reference::detail;
  fp4::matrix_view<float const> const view(m.values.data(), m.rows, m.cols);
  m.values = mapped(view, Transform::size, along_columns,
                    [&](std::vector<float> const& group) { return restored(transform, group); });
}

/// What varies besides the types.
struct situation {
  std::int64_t rows;  ///< of the result
  std::int64_t cols;
  data_kind data;
  scale_kind scale;
  int variant;  ///< picks the scaling's parameters, signs, strides and random positions
};

inline std::string describe(situation const& s) {
  return std::to_string(s.rows) + " x " + std::to_string(s.cols) + ", " + name(s.data) + ", " + name(s.scale) +
         ", variant " + std::to_string(s.variant);
}

template <class Transform>
Transform make_transform(int variant) {
  if constexpr (fp4::is_transformed_v<Transform>) {
    Transform const t = variant % 4 < 2 ? Transform{} : Transform::random_signs(static_cast<std::uint64_t>(variant));
    return variant % 2 == 0 ? t : t.to_bfloat16();
  } else {
    return {};
  }
}

/// `blocks` in a row of the matrix whose rows are counted.
template <class Rounding>
Rounding make_rounding(int variant, std::int64_t blocks) {
  if constexpr (fp4::is_stochastic_v<Rounding>) {
    std::uint64_t const seed = 0x9E3779B97F4A7C15u * static_cast<std::uint64_t>(variant + 1);
    Rounding const whole(seed, variant % 3 == 0 ? 0x7FFFFFFFFFFFFFFFu : static_cast<std::uint64_t>(variant));
    return variant % 2 == 0 ? whole : whole.at(variant * 1000003, 5, blocks + 7 + variant);
  } else {
    return {};
  }
}

/// Makes the data and compares. Empty when the contract holds.
template <class In, class Format, class Layout, class Scaling, class Rounding, class Transform, class Shape,
          class Direction>
std::string broken(situation const& s) {
  using chosen = fp4::choices<Scaling, Rounding, Transform, Shape, Direction>;
  std::int64_t const n = Transform::size;
  std::int64_t const length = (s.cols + n - 1) / n * n;
  std::int64_t const rows = chosen::is_columnwise ? length : s.rows;
  std::int64_t const cols = chosen::is_columnwise ? s.rows : length;
  std::int64_t const blocks = Format::blocks(chosen::is_2d && chosen::is_columnwise ? cols : length);
  chosen const how{make_scaling<Scaling>(s.variant),
                   make_rounding<Rounding>(s.variant, blocks),
                   make_transform<Transform>(s.variant),
                   {},
                   {}};

  matrix m = make_data(s.data, rows, cols, static_cast<std::uint64_t>(s.variant), extent_of<Format, chosen>());
  if (s.data == data_kind::tie_aligned) { transform_back(m, how.transform, chosen::is_columnwise); }
  std::int64_t const stride = cols + s.variant % 3 * 5;
  std::vector<In> const values = as_values<In>(m, stride);
  fp4::matrix_view<In const> const in(values.data(), rows, cols, stride);
  float const amax = fp4::reference::amax(in, how.transform, Direction{});
  float const range = how.scaling.template range<Format>();
  auto scales = make_scales(s.scale, amax, range, s.rows);
  call<In, Format, Layout, chosen> const one{in, how, std::move(scales), s.variant % 4 == 3 ? 9 : 0, s.variant};
  return one.broken();
}

}  // namespace test
