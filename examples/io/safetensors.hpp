// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens .safetensors files.
///
///     header length (8 bytes, little-endian)  header (JSON, padded with spaces)  data
///
/// The header maps each name to {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, the offsets
/// counted from the start of the data; "__metadata__" maps strings to strings. The tensors tile the data, in
/// any order. Source: Hugging Face, safetensors/src/tensor.rs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tensor.hpp"

namespace io {

namespace detail {

/// A JSON value in a message: numbers and strings as they are, the rest by type.
inline std::string described(nlohmann::json const& value) {
  return value.is_structured() ? value.is_array() ? "an array" : "an object" : printable(value.dump());
}

/// \param byte  where it went wrong, from 0; the size of `text` where that ends too early.
[[noreturn]] inline void fail_json(std::string const& text, std::size_t byte, input_file const& file) {
  file.fail(
      "the header of " + std::to_string(text.size()) + " bytes " +
      (byte < text.size() ? "is not valid JSON at its byte " + std::to_string(byte) : "ends before its JSON does"));
}

/// Parses `text`, which the file calls its header.
/// \throws file_error for bad JSON, a key that an object has twice, and nesting that no header needs.
inline nlohmann::json parse_header(std::string const& text, input_file const& file) {
  constexpr int deepest = 32;               // the format has three levels; whatever walks the tree may recurse
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  auto const check = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using event_t = nlohmann::json::parse_event_t;
    if (depth > deepest) {
      file.fail("the JSON header is nested more than " + std::to_string(deepest) + " levels deep");
    }
    if (event == event_t::object_start) { keys.emplace_back(); }
    if (event == event_t::object_end) { keys.pop_back(); }
    if (event == event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
      file.fail("the JSON header has the key " + in_quotes(parsed.get<std::string>()) + " twice");
    }
    return true;
  };
  // The parser takes a zero byte for the end and would pass over all that follows.
  if (std::size_t const zero = text.find('\0'); zero != std::string::npos) { fail_json(text, zero, file); }
  try {
    return nlohmann::json::parse(text, check);
  } catch (nlohmann::json::parse_error const& error) {
    fail_json(text, error.byte - 1, file);      // the parser counts from 1
  } catch (nlohmann::json::exception const&) {  // a number beyond double
    file.fail("the JSON header holds a number that is out of range");
  }
}

/// The whole numbers in `entry[key]`, none above 2^63 - 1.
template <class Integer>
std::vector<Integer> whole_numbers(nlohmann::json const& entry, char const* key, input_file const& file,
                                   std::string const& subject) {
  auto const found = entry.find(key);
  std::string const rule = subject + ": \"" + key + "\" must be an array of whole numbers from 0 to 2^63 - 1, but ";
  if (found == entry.end()) { file.fail(rule + "is missing"); }
  if (!found->is_array()) { file.fail(rule + "is " + described(*found)); }
  std::vector<Integer> numbers;
  for (nlohmann::json const& value : *found) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
      file.fail(rule + "holds " + described(value));
    }
    numbers.push_back(value.get<Integer>());
  }
  return numbers;
}

/// One entry of the header.
/// \param data  offset of the data in the file.
inline tensor_info read_entry(std::string const& name, nlohmann::json const& entry, input_file const& file,
                              std::uint64_t data) {
  std::string const subject = "tensor " + in_quotes(name);
  if (!entry.is_object()) { file.fail(subject + " must be a JSON object, but is " + described(entry)); }

  auto const type_text = entry.find("dtype");
  if (type_text == entry.end()) { file.fail(subject + " has no \"dtype\""); }
  if (!type_text->is_string()) { file.fail(subject + ": \"dtype\" must be a string, but is " + described(*type_text)); }
  dtype_name const* const type = find_dtype(type_text->get_ref<std::string const&>());
  if (type == nullptr) { file.fail(subject + " has the unknown dtype " + described(*type_text)); }

  auto shape = whole_numbers<std::int64_t>(entry, "shape", file, subject);
  auto const offsets = whole_numbers<std::uint64_t>(entry, "data_offsets", file, subject);
  if (offsets.size() != 2) {
    file.fail(subject + ": \"data_offsets\" must hold 2 numbers, but holds " + std::to_string(offsets.size()));
  }
  std::uint64_t const begin = offsets[0];
  std::uint64_t const end = offsets[1];
  std::string const range = subject + " has data_offsets [" + std::to_string(begin) + ", " + std::to_string(end) + "]";
  if (begin > end) { file.fail(range + ", which end before they begin"); }
  if (end > file.size() - data) {
    file.fail(range + ", but the file holds " + std::to_string(file.size() - data) + " bytes of data");
  }
  tensor_size const size = size_of(shape, *type, file.path(), subject);
  if (size.bytes != end - begin) {
    file.fail(range + ", " + std::to_string(end - begin) + " bytes, but shape " + shape_text(shape) + " of " +
              std::string(type->text) + " takes " + std::to_string(size.bytes));
  }
  return {name, std::string(type->text), type->element, std::move(shape), size.count, data + begin, size.bytes};
}

/// The map of strings to strings in "__metadata__".
inline std::map<std::string, std::string> read_metadata(nlohmann::json const& entry, input_file const& file) {
  std::string const rule = "\"__metadata__\" must map strings to strings, but ";
  if (!entry.is_object()) { file.fail(rule + "is " + described(entry)); }
  std::map<std::string, std::string> metadata;
  for (auto const& [key, value] : entry.items()) {
    if (!value.is_string()) { file.fail(rule + "maps " + in_quotes(key) + " to " + described(value)); }
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

/// Sorts the tensors by place and checks that they tile the file from `data` to its end.
inline void sort_and_check_tiling(std::vector<tensor_info>& tensors, input_file const& file, std::uint64_t data) {
  auto const place = [](tensor_info const& t) { return std::tie(t.offset, t.bytes, t.name); };
  std::sort(tensors.begin(), tensors.end(), [&](auto const& a, auto const& b) { return place(a) < place(b); });
  std::uint64_t covered = data;
  auto const check_no_gap = [&](std::uint64_t next) {
    if (next > covered) {
      file.fail("bytes " + std::to_string(covered - data) + " to " + std::to_string(next - data) +
                " of the data belong to no tensor, and safetensors allows no gap");
    }
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].offset < covered) {
      file.fail("tensors " + in_quotes(tensors[i - 1].name) + " and " + in_quotes(tensors[i].name) +
                " overlap at byte " + std::to_string(tensors[i].offset - data) + " of the data");
    }
    check_no_gap(tensors[i].offset);
    covered += tensors[i].bytes;
  }
  check_no_gap(file.size());
}

}  // namespace detail

/// Opens a .safetensors file and checks all that its header says; no tensor is read yet.
/// \throws file_error for a file that breaks the format's rules.
[[nodiscard]] inline tensor_file open_safetensors(std::filesystem::path const& path) {
  constexpr std::uint64_t longest_header = 100'000'000;  // as in Hugging Face's reader
  tensor_file opened{input_file(path), {}, {}};
  input_file& file = opened.file;

  unsigned char length_bytes[8] = {};
  if (file.size() < sizeof length_bytes) {
    file.fail("has " + std::to_string(file.size()) + " bytes, but a safetensors file begins with 8 bytes of length");
  }
  file.read(0, length_bytes, sizeof length_bytes);
  std::uint64_t const length = little_endian(length_bytes);
  std::uint64_t const rest = file.size() - sizeof length_bytes;
  if (length > rest) {
    file.fail("claims a header of " + std::to_string(length) + " bytes, but only " + std::to_string(rest) + " follow");
  }
  if (length > longest_header) {
    file.fail("claims a header of " + std::to_string(length) + " bytes; at most " + std::to_string(longest_header) +
              " are read");
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  file.read(sizeof length_bytes, text.data(), text.size());

  nlohmann::json const header = detail::parse_header(text, file);
  if (!header.is_object()) { file.fail("the JSON header must be an object, but is " + detail::described(header)); }
  std::uint64_t const data = sizeof length_bytes + length;
  for (auto const& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      opened.metadata = detail::read_metadata(entry, file);
    } else {
      opened.tensors.push_back(detail::read_entry(name, entry, file, data));
    }
  }
  detail::sort_and_check_tiling(opened.tensors, file, data);
  return opened;
}

}  // namespace io
