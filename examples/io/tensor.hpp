// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tensors in a file: what they are called, what they hold, where their bytes lie.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "file.hpp"

namespace io {

/// Element types that the library quantizes. Every other one is listed and skipped.
enum class dtype { f32, f16, bf16, other };

/// A dtype as safetensors files spell it.
struct dtype_name {
  std::string_view text;
  std::int64_t bits;  ///< One element's size.
  dtype element;
};

/// All the dtypes of safetensors 0.8.
inline constexpr dtype_name dtype_names[] = {
    {"F32", 32, dtype::f32},          {"F16", 16, dtype::f16},          {"BF16", 16, dtype::bf16},
    {"BOOL", 8, dtype::other},        {"F4", 4, dtype::other},          {"F6_E2M3", 6, dtype::other},
    {"F6_E3M2", 6, dtype::other},     {"U8", 8, dtype::other},          {"I8", 8, dtype::other},
    {"F8_E5M2", 8, dtype::other},     {"F8_E4M3", 8, dtype::other},     {"F8_E8M0", 8, dtype::other},
    {"F8_E4M3FNUZ", 8, dtype::other}, {"F8_E5M2FNUZ", 8, dtype::other}, {"I16", 16, dtype::other},
    {"U16", 16, dtype::other},        {"I32", 32, dtype::other},        {"U32", 32, dtype::other},
    {"C64", 64, dtype::other},        {"F64", 64, dtype::other},        {"I64", 64, dtype::other},
    {"U64", 64, dtype::other},
};

/// The entry called `text`, or null.
[[nodiscard]] inline dtype_name const* find_dtype(std::string_view text) noexcept {
  for (dtype_name const& name : dtype_names) {
    if (name.text == text) { return &name; }
  }
  return nullptr;
}

/// One tensor of a file, in C order and little-endian.
struct tensor_info {
  std::string name;                 ///< As the file has it; `printable(name)` is fit for a terminal.
  std::string dtype_text;           ///< "F32", "BF16", "I64", ...
  dtype element = dtype::other;     ///< `other`: to be skipped.
  std::vector<std::int64_t> shape;  ///< Empty for a scalar.
  std::int64_t count = 0;           ///< Elements: the product of `shape`.
  std::uint64_t offset = 0;         ///< Of its first byte, from the start of the file.
  std::uint64_t bytes = 0;
};

/// "[2, 3, 4]", cut after 8 dimensions.
[[nodiscard]] inline std::string shape_text(std::vector<std::int64_t> const& shape) {
  constexpr std::size_t longest = 8;
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) { text += ", "; }
    if (i == longest) { return text + "...]"; }
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

/// What a shape and a dtype take.
struct tensor_size {
  std::int64_t count;
  std::uint64_t bytes;
};

/// Elements and bytes of a tensor. Every partial product of `shape` fits in 64 bits as well, also beside a 0.
/// \param subject  "the array" or the like, for the message.
/// \throws file_error when the size passes 2^63 - 1 bits or is not a whole number of bytes.
[[nodiscard]] inline tensor_size size_of(std::vector<std::int64_t> const& shape, dtype_name const& type,
                                         std::filesystem::path const& file, std::string const& subject) {
  std::string const claim = subject + " claims shape " + shape_text(shape) + " of " + std::string(type.text);
  std::int64_t bits = type.bits;
  bool is_empty = false;
  for (std::int64_t const extent : shape) {
    if (extent < 0) { throw file_error(file, claim + ", but no dimension may be negative"); }
    if (extent == 0) {
      is_empty = true;
    } else if (bits > std::numeric_limits<std::int64_t>::max() / extent) {
      throw file_error(file, claim + ", which is more than 2^63 - 1 bits");
    } else {
      bits *= extent;
    }
  }
  if (is_empty) { return {0, 0}; }
  if (bits % 8 != 0) { throw file_error(file, claim + ", which is not a whole number of bytes"); }
  return {bits / type.bits, static_cast<std::uint64_t>(bits / 8)};
}

namespace detail {

inline bool host_is_little_endian() noexcept {
  std::uint16_t const one = 1;
  unsigned char first;
  std::memcpy(&first, &one, 1);
  return first == 1;
}

/// Turns `count` elements from the host's byte order to little-endian, or back.
template <class T>
void swap_unless_little_endian(void* elements, std::size_t count) noexcept {
  if (sizeof(T) == 1 || host_is_little_endian()) { return; }
  auto* bytes = static_cast<unsigned char*>(elements);
  for (std::size_t i = 0; i < count; ++i) { std::reverse(bytes + i * sizeof(T), bytes + (i + 1) * sizeof(T)); }
}

}  // namespace detail

/// The little-endian bytes of `count` numbers, as a file holds them. T is one number, not a struct of
/// several.
template <class T>
[[nodiscard]] std::vector<std::byte> to_bytes(T const* values, std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::byte> bytes(count * sizeof(T));
  if (count != 0) { std::memcpy(bytes.data(), values, bytes.size()); }
  detail::swap_unless_little_endian<T>(bytes.data(), count);
  return bytes;
}

/// An open file and what its header says, all of it checked. The elements are read when they are asked for.
struct tensor_file {
  input_file file;
  std::vector<tensor_info> tensors;             ///< In the order of their bytes.
  std::map<std::string, std::string> metadata;  ///< safetensors' "__metadata__".

  /// One tensor's elements, in the host's byte order. T is one number with the size of an element: float, or
  /// any struct around 16 bits for F16 and BF16; std::byte gives the bytes of any tensor as they are in the
  /// file.
  /// \throws file_error when the file cannot be read any more, or memory does not suffice.
  /// \throws std::invalid_argument when T has another size.
  template <class T>
  [[nodiscard]] std::vector<T> read(tensor_info const& tensor) {
    static_assert(std::is_trivially_copyable_v<T>);
    bool const is_raw = std::is_same_v<T, std::byte>;
    std::uint64_t const count = is_raw ? tensor.bytes : static_cast<std::uint64_t>(tensor.count);
    if (tensor.bytes / sizeof(T) != count || tensor.bytes % sizeof(T) != 0) {
      throw std::invalid_argument("tensor " + in_quotes(tensor.name) + " holds " + tensor.dtype_text +
                                  ", not elements of " + std::to_string(sizeof(T)) + " bytes");
    }
    std::vector<T> values;
    try {
      if (count > values.max_size()) { throw std::bad_alloc(); }
      values.resize(static_cast<std::size_t>(count));
    } catch (std::bad_alloc const&) {
      file.fail("tensor " + in_quotes(tensor.name) + " of " + std::to_string(tensor.bytes) +
                " bytes does not fit in memory");
    }
    if (!values.empty()) { file.read(tensor.offset, values.data(), values.size() * sizeof(T)); }
    detail::swap_unless_little_endian<T>(values.data(), values.size());
    return values;
  }
};

}  // namespace io
