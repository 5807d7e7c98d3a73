// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads NumPy's .npy files: one array of float32, float16 or bfloat16.
///
///     "\x93NUMPY"  major  minor  header length (2 bytes in version 1, 4 in 2 and 3)  header  elements
///
/// Source: NumPy, numpy.lib.format.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "npy_header.hpp"
#include "tensor.hpp"

namespace io {

namespace detail {

/// The safetensors name of a NumPy dtype. ml_dtypes' bfloat16 is saved as '<V2' (two bytes of anything),
/// which turns into '|V2' when it is loaded and saved again.
inline char const* dtype_of_descr(std::string_view descr, input_file const& file) {
  if (descr == "<f4") { return "F32"; }
  if (descr == "<f2") { return "F16"; }
  if (descr == "<V2" || descr == "|V2" || descr == "bfloat16") { return "BF16"; }
  char const* const reason = descr.substr(0, 1) == ">"    ? ", which is big-endian"
                             : descr.substr(0, 2) == "|O" ? ", Python objects"
                                                          : ", which is not supported";
  file.fail("the array has dtype " + in_quotes(descr) + reason + "; '<f4', '<f2' and bfloat16 ('<V2') are read");
}

/// Where the elements begin, and the text of the header.
inline std::pair<std::uint64_t, std::string> read_npy_header(input_file& file) {
  std::string_view const magic = "\x93NUMPY";
  unsigned char start[8] = {};
  if (file.size() < sizeof start) {
    file.fail("has " + std::to_string(file.size()) + " bytes, too few for the start of a .npy file");
  }
  file.read(0, start, sizeof start);
  if (!std::equal(magic.begin(), magic.end(), start,
                  [](char a, unsigned char b) { return static_cast<unsigned char>(a) == b; })) {
    file.fail("is not a .npy file: it does not begin with \"\\x93NUMPY\"");
  }
  unsigned const major = start[6];
  unsigned const minor = start[7];
  if (major < 1 || major > 3 || minor != 0) {
    file.fail("has .npy version " + std::to_string(major) + "." + std::to_string(minor) +
              "; 1.0, 2.0 and 3.0 are read");
  }
  std::uint64_t const field = major == 1 ? 2 : 4;
  std::uint64_t const begin = sizeof start + field;
  if (file.size() < begin) { file.fail("ends inside the length of its .npy header"); }
  unsigned char length_bytes[4] = {};
  file.read(sizeof start, length_bytes, static_cast<std::size_t>(field));
  std::uint64_t const length = little_endian(length_bytes);
  if (length > file.size() - begin) {
    file.fail("claims a .npy header of " + std::to_string(length) + " bytes, but only " +
              std::to_string(file.size() - begin) + " follow");
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  file.read(begin, text.data(), text.size());
  return {begin + length, std::move(text)};
}

}  // namespace detail

/// Opens a .npy file and checks all that its header says; the array is its one tensor, named after the file.
/// \throws file_error for anything but a complete C-order little-endian array of float32, float16 or
/// bfloat16.
[[nodiscard]] inline tensor_file open_npy(std::filesystem::path const& path) {
  tensor_file opened{input_file(path), {}, {}};
  input_file& file = opened.file;
  auto const [data, text] = detail::read_npy_header(file);
  detail::npy_header header(text, file);

  dtype_name const& type = *find_dtype(detail::dtype_of_descr(header.descr, file));
  if (header.fortran_order) { file.fail("the array is in Fortran order; only C order is read"); }
  tensor_size const size = size_of(header.shape, type, path, "the array");
  std::uint64_t const held = file.size() - data;
  if (size.bytes != held) {
    file.fail("the array of shape " + shape_text(header.shape) + " takes " + std::to_string(size.bytes) +
              " bytes, but " + std::to_string(held) + " follow the header");
  }
  opened.tensors.push_back({path.stem().string(), std::string(type.text), type.element, std::move(header.shape),
                            size.count, data, size.bytes});
  return opened;
}

}  // namespace io
