// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Runs a program and keeps what it said. The program is FP4_PROGRAM, which CMakeLists.txt defines.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "io_files.hpp"

#if __has_include(<sys/wait.h>)
#include <sys/wait.h>
#endif

namespace io_test {

/// How a program ended.
struct ending {
  int code = -1;
  std::string out;
  std::string err;
};

[[nodiscard]] inline std::string quoted(std::string const& word) {
  std::string text = "'";
  for (char const c : word) { text += c == '\'' ? std::string("'\\''") : std::string(1, c); }
  return text + "'";
}

/// Runs FP4_PROGRAM with these words after its name. Neither stdout nor stderr is a terminal.
/// \param before  what the shell runs first, for instance a limit.
[[nodiscard]] inline ending run(std::vector<std::string> const& words, std::string const& before = "") {
  temp_dir const dir;
  std::string command = before + ' ' + quoted(FP4_PROGRAM);
  for (std::string const& word : words) { command += ' ' + quoted(word); }
  command += " >" + quoted((dir / "out").string()) + " 2>" + quoted((dir / "err").string());
  int code = std::system(command.c_str());
#if __has_include(<sys/wait.h>)
  code = WIFEXITED(code) ? WEXITSTATUS(code) : -1;
#endif
  return {code, contents_of(dir / "out"), contents_of(dir / "err")};
}

[[nodiscard]] inline std::vector<std::string> split(std::string const& text, char separator) {
  std::vector<std::string> parts(1);
  for (char const c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.back().empty()) { parts.pop_back(); }
  return parts;
}

/// The words of the line that begins with `start`; none where there is no such line.
[[nodiscard]] inline std::vector<std::string> words_of_line(std::string const& text, std::string const& start) {
  std::vector<std::string> words;
  for (std::string const& line : split(text, '\n')) {
    if (line.compare(0, start.size(), start) != 0) { continue; }
    for (std::string& word : split(line.substr(start.size()), ' ')) {
      if (!word.empty()) { words.push_back(std::move(word)); }
    }
    break;
  }
  return words;
}

/// A .npy file of version 1.
[[nodiscard]] inline std::string npy(std::string const& descr, std::string const& shape, std::string const& data) {
  std::string const header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\0", 8) + little_endian(header.size(), 2) + header + data;
}

/// The little-endian bytes of floats.
[[nodiscard]] inline std::string float_bytes(std::vector<float> const& values) {
  std::string bytes;
  for (float const x : values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    bytes += little_endian(bits, 4);
  }
  return bytes;
}

}  // namespace io_test
