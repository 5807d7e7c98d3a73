// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Files for the tests of examples/io: made in a folder of their own, broken on purpose.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "../../examples/io/file.hpp"
#include "catch.hpp"

namespace io_test {

/// A new folder, removed with all that is in it at the end.
class temp_dir {
 public:
  temp_dir() {
    std::random_device seed;
    do {
      path_ = std::filesystem::temp_directory_path() / ("fp4_io_" + std::to_string(seed()));
    } while (!std::filesystem::create_directory(path_));
  }
  temp_dir(temp_dir const&) = delete;
  temp_dir& operator=(temp_dir const&) = delete;
  ~temp_dir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::filesystem::path operator/(char const* name) const { return path_ / name; }

  /// Makes (or replaces) a file and returns where it is.
  [[nodiscard]] std::filesystem::path write(char const* name, std::string const& contents) const {
    std::filesystem::path path = path_ / name;
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(contents.data(), static_cast<std::streamsize>(contents.size()));
    return path;
  }

 private:
  std::filesystem::path path_;
};

[[nodiscard]] inline std::string contents_of(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What an action's file_error says after the name of `file`, which it must begin with; "" when nothing is
/// thrown. Any other exception passes.
template <class Action>
[[nodiscard]] std::string problem_with(std::filesystem::path const& file, Action action) {
  try {
    action();
  } catch (io::file_error const& error) {
    std::string const what = error.what();
    std::string const start = file.string() + ": ";
    return what.compare(0, start.size(), start) == 0 ? what.substr(start.size()) : "the file is not named in: " + what;
  }
  return "";
}

/// The contents of a file that cannot be read, and what its file_error says after the file's name.
struct broken_file {
  std::string contents;
  std::string sentence;
};

/// `open` must refuse each of the files, which it is given under the same name.
template <class Open>
void check_all_refused(char const* name, std::vector<broken_file> const& files, Open open) {
  temp_dir const dir;
  for (broken_file const& broken : files) {
    auto const path = dir.write(name, broken.contents);
    CHECK(problem_with(path, [&] { static_cast<void>(open(path)); }) == broken.sentence);
  }
}

/// An element of two bytes, for bfloat16 and float16.
struct half_bits {
  std::uint16_t bits;
};

/// The lowest `size` bytes of `value`, lowest first.
[[nodiscard]] inline std::string little_endian(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) { bytes += static_cast<char>(value >> (8 * i) & 0xff); }
  return bytes;
}

/// `valid` with one to three bytes replaced, or its end cut off.
[[nodiscard]] inline std::string mutated(std::string valid, std::mt19937& random) {
  if (random() % 4 == 0) { return valid.substr(0, random() % valid.size()); }
  for (auto changes = 1 + random() % 3; changes != 0; --changes) {
    valid[random() % valid.size()] = static_cast<char>(random() & 0xff);
  }
  return valid;
}

}  // namespace io_test
