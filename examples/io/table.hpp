// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tables of aligned text, printed row by row as results come.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace io {

/// `x` with this many digits after the point.
[[nodiscard]] inline std::string fixed(double x, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, x);
  return text;
}

/// A column: two lines of heading, and the width of its widest cell where that is more than theirs.
struct column {
  std::string top;
  std::string bottom;
  std::size_t width = 0;
};

/// Prints the first column to the left, the others to the right, two blanks apart. Each line is flushed, so
/// that it comes in order with what stderr says.
class table {
 public:
  explicit table(std::vector<column> columns, std::FILE* out = stdout) : columns_(std::move(columns)), out_(out) {
    for (column& c : columns_) { c.width = std::max({c.width, c.top.size(), c.bottom.size()}); }
  }

  /// The headings and a rule under them.
  void print_header() const {
    std::vector<std::string> top, bottom;
    for (column const& c : columns_) {
      top.push_back(c.top);
      bottom.push_back(c.bottom);
    }
    print_row(top);
    print_row(bottom);
    print_rule();
  }

  void print_rule() const {
    std::vector<std::string> rules;
    for (column const& c : columns_) { rules.emplace_back(c.width, '-'); }
    print_row(rules);
  }

  /// A row that has no numbers, but a reason.
  void print_note(std::string const& first, std::string const& reason) const {
    std::string const blanks(columns_[0].width - std::min(columns_[0].width, first.size()), ' ');
    std::fprintf(out_, "%s%s  %s\n", first.c_str(), blanks.c_str(), reason.c_str());
    std::fflush(out_);
  }

  /// One cell a column; cells at the end may be left out.
  void print_row(std::vector<std::string> const& cells) const {
    std::string line;
    for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
      std::size_t const width = columns_[i].width;
      std::string const blanks(width - std::min(width, cells[i].size()), ' ');
      line += i == 0 ? cells[i] + blanks : "  " + blanks + cells[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::fprintf(out_, "%s\n", line.c_str());
    std::fflush(out_);
  }

 private:
  std::vector<column> columns_;
  std::FILE* out_;
};

}  // namespace io
