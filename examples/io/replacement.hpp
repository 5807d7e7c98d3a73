// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A file that is written beside the one it is to replace, and takes its place once it is whole.

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "file.hpp"

namespace io {

/// The coming contents of `path`, in a new file beside it: `path`.partial, or where something has that name
/// `path`.partial-1, and so on. Nothing that was there before is written to, followed as a link, or removed.
/// Without commit() the new file is removed again, and `path` is as it was.
class replacement {
 public:
  /// \throws file_error when no new file can be made.
  explicit replacement(std::filesystem::path path) : path_(std::move(path)) {
    constexpr int names = 100;
    for (int n = 0; n < names; ++n) {
      std::filesystem::path name = path_;
      name += n == 0 ? ".partial" : ".partial-" + std::to_string(n);
      stream_ = std::fopen(name.string().c_str(), "wbx");  // x: makes the file, or fails
      if (stream_ != nullptr) {
        partial_ = std::move(name);
        return;
      }
      if (errno != EEXIST) { fail(errno); }
    }
    throw file_error(path_, "cannot be written: beside it " + path_.filename().string() + ".partial and " +
                                std::to_string(names - 1) + " names like it are taken");
  }
  replacement(replacement const&) = delete;
  replacement& operator=(replacement const&) = delete;
  ~replacement() { discard(); }

  /// \throws file_error when the disk is full, for instance.
  void write(void const* bytes, std::size_t count) {
    if (count != 0 && std::fwrite(bytes, 1, count, stream_) != count) { fail(errno); }
  }

  /// Puts the new file where `path` is. The last call.
  /// \throws file_error when that cannot be done.
  void commit() {
    if (std::fclose(std::exchange(stream_, nullptr)) != 0) { fail(errno); }
    std::error_code error;
    std::filesystem::rename(partial_, path_, error);
    if (error) { fail(error.value()); }
    partial_.clear();
  }

 private:
  [[noreturn]] void fail(int error) {
    discard();
    throw file_error(path_, "cannot be written (" + std::generic_category().message(error) + ")");
  }
  void discard() noexcept {
    if (stream_ != nullptr) { std::fclose(std::exchange(stream_, nullptr)); }
    std::error_code ignored;
    if (!partial_.empty()) { std::filesystem::remove(partial_, ignored); }
    partial_.clear();
  }

  std::filesystem::path path_;
  std::filesystem::path partial_;  ///< Empty when there is no such file of ours.
  std::FILE* stream_ = nullptr;
};

}  // namespace io
