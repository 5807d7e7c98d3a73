// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

namespace test {

/// Counts wrong answers in a long loop and remembers the first. A CHECK for each would take most of the time.
class mismatches {
 public:
  void compare(std::uint64_t input, std::uint64_t got, std::uint64_t wanted) {
    if (got == wanted) { return; }
    if (count_++ == 0) { input_ = input, got_ = got, wanted_ = wanted; }
  }

  /// Empty when nothing was wrong.
  [[nodiscard]] std::string report() const {
    if (count_ == 0) { return ""; }
    std::ostringstream text;
    text << count_ << " wrong, first: input 0x" << std::hex << input_ << " gave 0x" << got_ << ", not 0x" << wanted_;
    return text.str();
  }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t input_ = 0, got_ = 0, wanted_ = 0;
};

}  // namespace test
