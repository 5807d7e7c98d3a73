// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How a quantized tensor is laid down in a .safetensors file. Names and meaning are those of ModelOpt's
/// checkpoints, which vLLM, SGLang and TensorRT-LLM load; T is the tensor's name, for instance
/// "layer.0.weight":
///
///     T          U8 [rows, bytes]        two 4-bit codes a byte, the even column in the low nibble; 6-bit codes
///                                        take a byte each. Rows are padded to whole blocks.
///                F8_E4M3 [rows, cols]    8-bit codes, padded likewise.
///     T_scale    F8_E4M3 [rows, blocks]  NVFP4: block scales.
///                U8 [rows, blocks]       MX formats: E8M0. Tiled layouts of any format: the padded shape.
///                F32 []                  FP8: the factor that codes are multiplied by.
///     T_scale_2  F32 []                  NVFP4: the decode factor, amax / 2688. (compressed-tensors stores the
///                                        reciprocal and calls it global scale.)
///
/// value = code * (T_scale * T_scale_2). Scalings that decode by another order of operations differ from that
/// in the last bits of fp32; `modelopt` does not. "fp4.shapes" in the metadata holds the shapes before
/// quantization, as JSON.

#include <cstddef>
#include <cstdint>
#include <fp4/fp4.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "io/write_safetensors.hpp"

namespace checkpoint {

enum class scale_layout { linear, tiled_128x4, tiled_8x4 };

struct layout_name {
  std::string_view text;
  scale_layout layout;
};
inline constexpr layout_name layouts[] = {
    {"linear", scale_layout::linear}, {"128x4", scale_layout::tiled_128x4}, {"8x4", scale_layout::tiled_8x4}};

namespace detail {

template <class Layout, class Format>
std::vector<std::uint8_t> relaid_scales(fp4::quantized<Format> const& q) {
  std::int64_t const blocks = Format::blocks(q.cols());
  std::vector<std::uint8_t> scales(static_cast<std::size_t>(Layout::bytes(q.rows(), blocks)));
  fp4::cpu::relayout_scales<fp4::linear_scales, Layout>(q.scales().data(), static_cast<std::int64_t>(q.scales().size()),
                                                        scales.data(), static_cast<std::int64_t>(scales.size()),
                                                        q.rows(), blocks);
  return scales;
}

inline std::vector<std::byte> bytes_of(std::vector<std::uint8_t> const& values) {
  return io::to_bytes(values.data(), values.size());
}

template <class Format>
io::named_tensor scales_of(std::string const& name, fp4::quantized<Format> const& q, scale_layout layout) {
  bool const is_e4m3 = std::is_same_v<typename Format::scale, fp4::ue4m3> && layout == scale_layout::linear;
  std::int64_t const blocks = Format::blocks(q.cols());
  std::int64_t const tile_rows = layout == scale_layout::tiled_128x4 ? 128 : layout == scale_layout::tiled_8x4 ? 8 : 1;
  std::int64_t const tile_blocks = layout == scale_layout::linear ? 1 : 4;
  auto const padded = [](std::int64_t x, std::int64_t multiple) { return (x + multiple - 1) / multiple * multiple; };
  return {name + "_scale",
          is_e4m3 ? "F8_E4M3" : "U8",
          {padded(q.rows(), tile_rows), padded(blocks, tile_blocks)},
          bytes_of(layout == scale_layout::tiled_128x4 ? relaid_scales<fp4::tiled_128x4_scales>(q)
                   : layout == scale_layout::tiled_8x4 ? relaid_scales<fp4::tiled_8x4_scales>(q)
                                                       : q.scales())};
}

}  // namespace detail

/// The names that append() gives to the tensors of `name`.
template <class Format>
[[nodiscard]] std::vector<std::string> names(std::string const& name) {
  std::vector<std::string> all = {name, name + "_scale"};
  if (Format::has_block_scale && Format::has_tensor_scale) { all.push_back(name + "_scale_2"); }
  return all;
}

/// Appends the tensors that hold `q`.
template <class Format>
void append(std::vector<io::named_tensor>& tensors, std::string const& name, fp4::quantized<Format> const& q,
            scale_layout layout) {
  bool const is_e4m3 = std::is_same_v<typename Format::element, fp4::e4m3>;
  tensors.push_back(
      {name, is_e4m3 ? "F8_E4M3" : "U8", {q.rows(), Format::row_bytes(q.cols())}, detail::bytes_of(q.codes())});
  if constexpr (Format::has_block_scale) { tensors.push_back(detail::scales_of(name, q, layout)); }
  if constexpr (Format::has_tensor_scale) {
    float const factor = Format::has_block_scale ? q.tensor_scale().decode() : 1.0f / q.tensor_scale().encode();
    tensors.push_back({name + (Format::has_block_scale ? "_scale_2" : "_scale"), "F32", {}, io::to_bytes(&factor, 1)});
  }
}

}  // namespace checkpoint
