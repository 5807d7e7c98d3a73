// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A progress bar for people: one line on a terminal, nothing anywhere else.

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace io {

/// True when `file` is a terminal; false where that cannot be asked.
[[nodiscard]] inline bool is_terminal(std::FILE* file) {
#if __has_include(<unistd.h>)
  int const descriptor = fileno(file);
  return descriptor >= 0 && isatty(descriptor) == 1;
#else
  static_cast<void>(file);
  return false;
#endif
}

/// Draws "label [#####-----]  50 %" while work advances, and erases it at the end. Not for use by two threads
/// at once.
class progress {
 public:
  /// \param total  the sum of all the amounts that advance() will be given.
  progress(std::string label, std::uint64_t total, std::FILE* out = stderr)
      : label_(std::move(label)), total_(total), out_(out), is_shown_(is_terminal(out)) {}
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() { erase(); }

  /// Counts `amount` as done. Draws at most ten times a second, so it may be called often.
  void advance(std::uint64_t amount = 1) {
    done_ += std::min(amount, total_ - done_);
    if (!is_shown_) { return; }
    auto const now = std::chrono::steady_clock::now();
    if (now < next_draw_) { return; }
    next_draw_ = now + std::chrono::milliseconds(100);
    draw();
  }

  /// Takes the bar off the screen until the next draw, for instance before a line is printed.
  void erase() {
    if (drawn_ == 0) { return; }
    put('\r' + std::string(drawn_, ' ') + '\r');
    drawn_ = 0;
  }

 private:
  void draw() {
    constexpr std::size_t width = 30;
    constexpr std::size_t longest_label = 36;  // the line must not wrap at 80 columns
    double const part = total_ == 0 ? 1.0 : static_cast<double>(done_) / static_cast<double>(total_);
    auto const filled = static_cast<std::size_t>(part * width);
    std::string const percent = std::to_string(static_cast<int>(part * 100));
    std::string const line = label_.substr(0, longest_label) + " [" + std::string(filled, '#') +
                             std::string(width - filled, '-') + "] " + std::string(3 - percent.size(), ' ') + percent +
                             " %";
    put('\r' + line);
    drawn_ = line.size();
  }

  void put(std::string const& text) {
    std::fwrite(text.data(), 1, text.size(), out_);
    std::fflush(out_);
  }

  std::string label_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::FILE* out_;
  bool is_shown_;
  std::size_t drawn_ = 0;  // characters on the screen
  std::chrono::steady_clock::time_point next_draw_{};
};

}  // namespace io
