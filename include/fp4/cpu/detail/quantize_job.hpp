// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tile.hpp"

FP4_EXACT_BEGIN
namespace fp4::cpu::detail {

/// One quantization cut into independent units of work, so that any thread may do any range of them. A unit is a tile
/// of a row (1D, row-wise), a patch of the matrix (1D, column-wise) or a band of 16 rows (2D).
template <class Backend, class In, class Format, class Layout, class Choices>
class quantize_job {
  using scaling = decltype(Choices::scaling);
  using rounding = decltype(Choices::rounding);
  using transform = decltype(Choices::transform);
  /// The type of the values that are quantized.
  using value = std_types::conditional_t<is_transformed_v<transform>, float, In>;

  static constexpr int block_size = Format::block_size;
  static constexpr int band = 16;  ///< rows of a 2D block
  /// What is transposed at a time on the way to column-wise blocks: a multiple of every block and transform high.
  static constexpr int patch_rows = 256, patch_cols = 32;
  static constexpr int prefetch_bytes = 2048 * static_cast<int>(sizeof(In));

 public:
  quantize_job(matrix_view<In const> in, quantized_view<Format, Layout> out, tensor_scales_view scales,
               Choices const& how) noexcept
      : in_(in), out_(out), scales_(scales), how_(how), blocks_per_row_(out.blocks_per_row()) {
    if constexpr (!Choices::is_2d && !Choices::is_columnwise) { join_rows(); }
    if constexpr (is_stochastic_v<rounding>) {
      int64_t const sixteens = (block_size + 15) / 16;
      random_row_ = how.rounding.blocks_per_row > 0
                        ? static_cast<uint64_t>(how.rounding.blocks_per_row * sixteens)
                        : static_cast<uint64_t>((Choices::is_2d && Choices::is_columnwise ? Format::blocks(in.cols)
                                                                                          : Format::blocks(out.cols)) *
                                                sixteens);
    }
  }

  [[nodiscard]] int64_t units() const noexcept {
    if (in_.rows == 0 || in_.cols == 0) { return 0; }
    if constexpr (Choices::is_2d) { return (in_.rows + band - 1) / band; }
    if constexpr (Choices::is_columnwise) { return (in_.rows + patch_rows - 1) / patch_rows * patches_per_row(); }
    return in_.rows * tiles_per_row();
  }

  /// Values of one unit, for choosing how many make a part.
  [[nodiscard]] int64_t unit_values() const noexcept {
    if constexpr (Choices::is_2d) { return in_.cols * band; }
    if constexpr (Choices::is_columnwise) { return patch_rows * patch_cols; }
    return in_.cols < tile_elements ? in_.cols : tile_elements;
  }

  FP4_NOINLINE void run(int64_t first, int64_t last) noexcept {
    if constexpr (Choices::is_2d) {
      for (int64_t unit = first; unit < last; ++unit) { run_band(unit * band); }
    } else if constexpr (Choices::is_columnwise) {
      for (int64_t unit = first; unit < last; ++unit) {
        run_patch(unit / patches_per_row() * patch_rows, unit % patches_per_row() * patch_cols);
      }
    } else {
      run_tiles(first, last);
    }
  }

 private:
  /// Rows without gaps and without per-row state are one long row.
  void join_rows() noexcept {
    bool const whole_blocks = in_.cols % block_size == 0 && in_.stride == in_.cols;
    bool const plain_output =
        std_types::is_same<Layout, linear_scales>::value && out_.code_stride == Format::row_bytes(in_.cols);
    bool whole_groups = in_.cols % transform::size == 0;
    if constexpr (is_stochastic_v<rounding>) {
      auto const& r = how_.rounding;
      whole_groups =
          whole_groups && r.first_block == 0 && (r.blocks_per_row == 0 || r.blocks_per_row == blocks_per_row_);
      if (r.first_row != 0) { whole_groups = false; }
    }
    if (!whole_blocks || !plain_output || !whole_groups || scales_.count != 1) { return; }
    in_ = {in_.data, in_.rows > 0 && in_.cols > 0 ? 1 : 0, in_.rows * in_.cols};
    blocks_per_row_ = Format::blocks(in_.cols);
  }

  [[nodiscard]] int64_t patches_per_row() const noexcept { return (in_.cols + patch_cols - 1) / patch_cols; }
  [[nodiscard]] int64_t tiles_per_row() const noexcept { return (in_.cols + tile_elements - 1) / tile_elements; }
  [[nodiscard]] auto tensor_of(int64_t row) const noexcept {
    tensor_scale const scale = Format::has_tensor_scale ? scales_.of_row(row) : tensor_scale::from_amax(0.0f);
    return how_.scaling.template for_tensor<Format>(scale.with_range(how_.scaling.template range<Format>()));
  }

  void run_tiles(int64_t first, int64_t last) noexcept {
    int64_t const tiles = tiles_per_row();
    int64_t row = first / tiles, tile = first % tiles;
    auto tensor = tensor_of(row);
    for (int64_t unit = first; unit < last; ++unit) {
      int64_t const column = tile * tile_elements;
      int64_t const left = in_.cols - column;
      run_segment(tensor, in_.row(row) + column, static_cast<int>(left < tile_elements ? left : tile_elements), row,
                  column);
      if (++tile == tiles) {
        tile = 0, ++row;
        if (scales_.count != 1 && unit + 1 < last) { tensor = tensor_of(row); }
      }
    }
  }

  /// Transposes a patch, whose columns are then parts of rows of the result. Patches side by side follow one another:
  /// their rows lie in the same pages.
  void run_patch(int64_t first_row, int64_t first_column) noexcept {
    alignas(64) In columns[patch_cols][patch_rows];
    int const height = static_cast<int>(in_.rows - first_row < patch_rows ? in_.rows - first_row : patch_rows);
    int const width = static_cast<int>(in_.cols - first_column < patch_cols ? in_.cols - first_column : patch_cols);
    Backend::transpose(in_.row(first_row) + first_column, in_.stride, height, width, columns[0], patch_rows);
    auto tensor = tensor_of(first_column);
    for (int c = 0; c < width; ++c) {
      if (c > 0 && scales_.count != 1) { tensor = tensor_of(first_column + c); }
      run_segment(tensor, columns[c], height, first_column + c, first_row);
    }
  }

  /// At most a tile of result row `row` from column `column` on; pads a last block that is not full with zeros.
  template <class Tensor>
  void run_segment(Tensor const& tensor, In const* x, int count, int64_t row, int64_t column) noexcept {
    alignas(64) float transformed[is_transformed_v<transform> ? tile_elements : 1];
    value const* values;
    if constexpr (is_transformed_v<transform>) {
      Backend::transform(how_.transform, x, count, transformed);
      values = transformed;
    } else {
      values = x;
    }
    tile_scales scales;
    if constexpr (!is_transformed_v<transform> && !Choices::is_columnwise) { scales.read_ahead = prefetch_bytes; }
    int64_t const block = column / block_size;
    int const whole = count / block_size;
    uint8_t* const codes = out_.code_row(row) + column * Format::storage_bits / 8;
    if (whole > 0) {
      quantize_tile<Backend, Format>(tensor, how_.rounding, random_at(row, block), values, whole, scales, codes);
      write_scales(scales.code, whole, row, block);
    }
    if (int const rest = count % block_size; rest > 0) {
      value padded[block_size]{};
      std::memcpy(padded, values + whole * block_size, static_cast<size_t>(rest) * sizeof(value));
      uint8_t* const last = codes + whole * block_size * Format::storage_bits / 8;
      quantize_tile<Backend, Format>(tensor, how_.rounding, random_at(row, block + whole), padded, 1, scales, last);
      clear_padding(last, rest);
      write_scales(scales.code, 1, row, block + whole);
    }
  }

  /// Codes from element `first` to the end of its block become 0: under an infinite factor even a zero would not.
  static void clear_padding(uint8_t* codes, int first) noexcept {
    for (int i = first; i % block_size != 0; ++i) {
      if constexpr (Format::storage_bits == 4) {
        set_nibble(codes, i, 0);
      } else {
        codes[i] = 0;
      }
    }
  }

  [[nodiscard]] random_source random_at(int64_t row, int64_t block) const noexcept {
    random_source source;
    if constexpr (is_stochastic_v<rounding>) {
      constexpr bool transposed_draw = Choices::is_columnwise && !Choices::is_2d;
      auto const& r = how_.rounding;
      source.seed = r.seed;
      source.stream = r.stream | static_cast<uint64_t>(transposed_draw) << 63;
      source.position = static_cast<uint64_t>(r.first_row + row) * random_row_ +
                        static_cast<uint64_t>((r.first_block + block) * ((block_size + 15) / 16));
    }
    return source;
  }

  void write_scales(uint8_t const* code, int count, int64_t row, int64_t block) noexcept {
    if constexpr (!Format::has_block_scale) { return; }
    if constexpr (std_types::is_same<Layout, linear_scales>::value) {
      std::memcpy(out_.scales + row * blocks_per_row_ + block, code, static_cast<size_t>(count));
    } else {  // four blocks lie together in every tiled layout, at equal distances along a row
      uint8_t* to = out_.scales + Layout::offset(row, block, blocks_per_row_);
      int64_t const next = Layout::offset(0, 4, blocks_per_row_);
      int i = 0;
      if (block % 4 == 0) {
        for (; i + 4 <= count; i += 4, to += next) { std::memcpy(to, code + i, 4); }
      }
      for (; i < count; ++i) { out_.scales[Layout::offset(row, block + i, blocks_per_row_)] = code[i]; }
    }
  }

  /// Sixteen rows of the matrix as given, one scale for 16 x 16.
  void run_band(int64_t first_row) noexcept {
    constexpr int blocks_at_once = max_tile_blocks;
    alignas(64) value values[band][tile_elements];
    alignas(64) uint8_t codes[band][tile_elements / 2];
    auto const tensor = tensor_of(0);
    int const height = static_cast<int>(in_.rows - first_row < band ? in_.rows - first_row : band);
    for (int64_t column = 0; column < in_.cols; column += tile_elements) {
      int const width = static_cast<int>(in_.cols - column < tile_elements ? in_.cols - column : tile_elements);
      int const blocks = (width + block_size - 1) / block_size;
      tile_scales scales;
      float amax[blocks_at_once]{};
      bool has_nan = false;
      for (int r = 0; r < height; ++r) {
        copy_row(in_.row(first_row + r) + column, width, blocks * block_size, values[r]);
        Backend::template block_amax<block_size>(values[r], blocks, scales);
        has_nan = has_nan || scales.has_nan;
        for (int b = 0; b < blocks; ++b) {
          if (amax[b] < scales.amax[b]) { amax[b] = scales.amax[b]; }
        }
      }
      std::memcpy(scales.amax, amax, sizeof amax);
      scales.has_nan = has_nan;
      find_scales<Backend, Format>(
          tensor, blocks, height * block_size,
          [&values](int b) {
            return [&values, b](int i) { return as_float(values[i / block_size][b * block_size + i % block_size]); };
          },
          scales);
      for (int r = 0; r < height; ++r) {
        find_codes<Backend, Format>(tensor, how_.rounding, random_at(first_row + r, column / block_size), values[r],
                                    blocks, scales, codes[r]);
        clear_padding(codes[r], width);
      }
      if constexpr (Choices::is_columnwise) {
        write_band_transposed(codes, scales.code, first_row, height, column, width);
      } else {
        for (int r = 0; r < height; ++r) {
          std::memcpy(out_.code_row(first_row + r) + column / 2, codes[r],
                      static_cast<size_t>(blocks) * block_size / 2);
          write_scales(scales.code, blocks, first_row + r, column / block_size);
        }
      }
    }
  }

  void copy_row(In const* x, int count, int padded, value* to) noexcept {
    if constexpr (is_transformed_v<transform>) {
      Backend::transform(how_.transform, x, count, to);
    } else {
      std::memcpy(to, x, static_cast<size_t>(count) * sizeof(value));
    }
    for (int i = count; i < padded; ++i) { to[i] = value{}; }
  }

  void write_band_transposed(uint8_t const (&codes)[band][tile_elements / 2], uint8_t const* code, int64_t first_row,
                             int height, int64_t column, int width) noexcept {
    for (int c = 0; c < width; ++c) {
      uint8_t packed[band / 2]{};
      for (int r = 0; r < height; ++r) { set_nibble(packed, r, nibble(codes[r], c)); }
      std::memcpy(out_.code_row(column + c) + first_row / 2, packed, sizeof packed);
      write_scales(code + c / block_size, 1, column + c, first_row / block_size);
    }
  }

  matrix_view<In const> in_;
  quantized_view<Format, Layout> out_;
  tensor_scales_view scales_;
  Choices how_;
  int64_t blocks_per_row_;
  uint64_t random_row_ = 0;
};

}  // namespace fp4::cpu::detail
FP4_EXACT_END
