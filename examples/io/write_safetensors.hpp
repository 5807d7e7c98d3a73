// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes .safetensors files; safetensors.hpp describes the format.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replacement.hpp"
#include "tensor.hpp"

namespace io {

/// A tensor to be written.
struct named_tensor {
  std::string name;
  std::string dtype_text;  ///< As in `dtype_names`: "U8", "F8_E4M3", "F32", ...
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  ///< C order, little-endian: see to_bytes().
};

namespace detail {

/// The header that lists `tensors` in this order, and its length before it.
inline std::string safetensors_header(std::vector<named_tensor const*> const& tensors,
                                      std::map<std::string, std::string> const& metadata,
                                      std::filesystem::path const& path) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) { header["__metadata__"] = metadata; }
  std::uint64_t begin = 0;
  for (named_tensor const* const tensor : tensors) {
    if (tensor->name == "__metadata__" || header.contains(tensor->name)) {
      throw file_error(path, "cannot hold two entries named " + in_quotes(tensor->name));
    }
    std::uint64_t const end = begin + tensor->bytes.size();
    header[tensor->name] = {{"dtype", tensor->dtype_text}, {"shape", tensor->shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (nlohmann::json::exception const&) {
    throw file_error(path, "cannot hold a name or metadata that is not UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data starts aligned

  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) { length[i] = static_cast<char>(text.size() >> (8 * i) & 0xff); }
  return length + text;
}

}  // namespace detail

/// Writes a .safetensors file. The widest elements come first, so that each tensor is aligned; otherwise the
/// order is kept. An existing file is replaced only when all is written, so `path` may be a file that is open
/// for reading; until then the new one is beside it, as `replacement` says.
/// \throws file_error for an unknown dtype, a size that does not fit the shape, a name that comes twice or is
///         not UTF-8, and when the file cannot be written; then `path` is as it was.
inline void write_safetensors(std::filesystem::path const& path, std::vector<named_tensor> const& tensors,
                              std::map<std::string, std::string> const& metadata = {}) {
  std::vector<named_tensor const*> order;
  for (named_tensor const& tensor : tensors) {
    std::string const subject = "tensor " + in_quotes(tensor.name);
    dtype_name const* const type = find_dtype(tensor.dtype_text);
    if (type == nullptr) { throw file_error(path, subject + " has the unknown dtype " + in_quotes(tensor.dtype_text)); }
    tensor_size const size = size_of(tensor.shape, *type, path, subject);
    if (size.bytes != tensor.bytes.size()) {
      throw file_error(path, subject + " has " + std::to_string(tensor.bytes.size()) + " bytes, but shape " +
                                 shape_text(tensor.shape) + " of " + tensor.dtype_text + " takes " +
                                 std::to_string(size.bytes));
    }
    order.push_back(&tensor);
  }
  std::stable_sort(order.begin(), order.end(), [](named_tensor const* a, named_tensor const* b) {
    return find_dtype(a->dtype_text)->bits > find_dtype(b->dtype_text)->bits;
  });
  std::string const header = detail::safetensors_header(order, metadata, path);

  replacement file(path);
  file.write(header.data(), header.size());
  for (named_tensor const* const tensor : order) { file.write(tensor->bytes.data(), tensor->bytes.size()); }
  file.commit();
}

}  // namespace io
