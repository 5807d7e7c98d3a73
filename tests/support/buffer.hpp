// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace test {

/// Output memory that starts out wrong: filled with one byte, between guards that must stay.
class poisoned_buffer {
 public:
  poisoned_buffer(std::int64_t size, std::uint8_t fill)
      : bytes_(static_cast<std::size_t>(size) + 2 * guard, static_cast<std::uint8_t>(~fill)) {
    std::fill_n(bytes_.begin() + guard, size, fill);
  }

  [[nodiscard]] std::uint8_t* data() { return bytes_.data() + guard; }
  [[nodiscard]] std::uint8_t const* data() const { return bytes_.data() + guard; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()) - 2 * guard; }
  /// True while nothing was written outside.
  [[nodiscard]] bool guards_hold() const {
    auto const same = [&](std::uint8_t b) { return b == bytes_.front(); };
    return std::all_of(bytes_.begin(), bytes_.begin() + guard, same) &&
           std::all_of(bytes_.end() - guard, bytes_.end(), same);
  }

 private:
  static constexpr std::int64_t guard = 64;
  std::vector<std::uint8_t> bytes_;
};

/// Empty when the bytes are equal, else where they first differ, with what lies around; `stride` bytes make a
/// row.
inline std::string first_difference(std::uint8_t const* got, std::uint8_t const* wanted, std::int64_t size,
                                    std::int64_t stride) {
  auto const [g, w] = std::mismatch(got, got + size, wanted);
  if (g == got + size) { return ""; }
  std::int64_t const at = g - got, row = stride > 0 ? stride : size;
  std::int64_t different = 0;
  for (std::int64_t i = 0; i < size; ++i) { different += got[i] != wanted[i]; }
  auto const number = [](char const* format, auto... values) {
    char text[80];
    std::snprintf(text, sizeof text, format, values...);
    return std::string(text);
  };
  std::string text = number("byte %lld (row %lld, byte %lld) is ", static_cast<long long>(at),
                            static_cast<long long>(at / row), static_cast<long long>(at % row)) +
                     number("%02X, wanted %02X; %lld of ", *g, *w, static_cast<long long>(different)) +
                     number("%lld differ", static_cast<long long>(size));
  for (auto const& [label, bytes] : {std::pair{"\n  got   ", got}, std::pair{"\n  wanted", wanted}}) {
    text += label;
    for (std::int64_t i = std::max<std::int64_t>(0, at - 4); i < std::min(size, at + 12); ++i) {
      text += number(i == at ? " [%02X]" : " %02X", bytes[i]);
    }
  }
  return text;
}

/// As above, for two buffers of one size; a broken guard is a difference too.
inline std::string first_difference(poisoned_buffer const& got, poisoned_buffer const& wanted, std::int64_t stride) {
  if (!got.guards_hold()) { return "bytes outside the buffer were written"; }
  return first_difference(got.data(), wanted.data(), std::min(got.size(), wanted.size()), stride);
}

}  // namespace test
