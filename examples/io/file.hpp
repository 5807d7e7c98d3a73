// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A file to read from, and how the example programs say what is wrong with one.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace io {

/// A file that cannot be read or written. `what()` is one sentence: the file, what is wrong, the value, the
/// rule.
class file_error : public std::runtime_error {
 public:
  file_error(std::filesystem::path const& file, std::string const& problem)
      : std::runtime_error(file.string() + ": " + problem) {}
};

/// `text` without anything that could upset a terminal: all but printable ASCII becomes \xNN, and past 60
/// bytes it is cut.
[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr std::size_t longest = 60;
  constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  for (char const c : text.substr(0, longest)) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      shown += c;
    } else {
      shown += {'\\', 'x', digits[byte >> 4], digits[byte & 0xf]};
    }
  }
  return text.size() > longest ? shown + "..." : shown;
}

/// A name out of a file, as messages show it.
[[nodiscard]] inline std::string in_quotes(std::string_view name) { return '"' + printable(name) + '"'; }

/// A regular file, open for reading at any offset.
class input_file {
 public:
  /// \throws file_error when the file is missing, empty, not a regular file, or cannot be opened.
  explicit input_file(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code error;
    std::filesystem::file_status const status = std::filesystem::status(path_, error);
    if (status.type() == std::filesystem::file_type::not_found) { fail("does not exist"); }
    if (error) { fail("cannot be examined (" + error.message() + ")"); }
    if (std::filesystem::is_directory(status)) { fail("is a directory, not a file"); }
    // A pipe or a device has no size that a claim could be checked against.
    if (!std::filesystem::is_regular_file(status)) { fail("is not a regular file"); }

    size_ = std::filesystem::file_size(path_, error);
    if (error) { fail("has no readable size (" + error.message() + ")"); }
    if (size_ == 0) { fail("is empty (0 bytes)"); }
    stream_.open(path_, std::ios::binary);
    if (!stream_) { fail(std::string("cannot be opened for reading (") + std::strerror(errno) + ")"); }
  }

  [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  ///< In bytes, when it was opened.

  /// Fills `out` with `count` bytes from `offset` on.
  /// \throws file_error when the file does not have them (any more).
  void read(std::uint64_t offset, void* out, std::size_t count) {
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(static_cast<char*>(out), static_cast<std::streamsize>(count));
    if (!stream_) {
      fail("ended or failed while " + std::to_string(count) + " bytes were read at byte " + std::to_string(offset));
    }
  }

  /// Throws a file_error that names this file.
  [[noreturn]] void fail(std::string const& problem) const { throw file_error(path_, problem); }

 private:
  std::filesystem::path path_;
  std::uint64_t size_ = 0;
  std::ifstream stream_;
};

/// The unsigned integer that `Bytes` bytes at `from` spell, lowest byte first, whatever the host's byte
/// order.
template <std::size_t Bytes>
[[nodiscard]] std::uint64_t little_endian(unsigned char const (&from)[Bytes]) {
  static_assert(Bytes <= 8);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < Bytes; ++i) { value |= std::uint64_t{from[i]} << (8 * i); }
  return value;
}

}  // namespace io
