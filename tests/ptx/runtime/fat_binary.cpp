// SPDX-License-Identifier: Apache-2.0
#include "fat_binary.hpp"

#include <cstdint>
#include <cstring>

namespace ptx::runtime {
namespace {

template <class T>
T number(std::byte const* at) {
  T x;
  std::memcpy(&x, at, sizeof x);
  return x;
}

constexpr std::uint32_t wrapper_magic = 0x466243B1u, container_magic = 0xBA55ED50u;
constexpr std::uint16_t ptx_kind = 1;

target target_of(std::string_view text) {
  std::string_view const word = ".target";
  auto at = text.find(word);
  if (at == text.npos) { throw error("a PTX image without a .target line"); }
  at = text.find_first_not_of(" \t", at + word.size());
  return target::parse(text.substr(at, text.find_first_of(", \t\r\n", at) - at));
}

}  // namespace

fat_binary read_fat_binary(void const* wrapper) {
  auto const* const w = static_cast<std::byte const*>(wrapper);
  if (number<std::uint32_t>(w) != wrapper_magic) { throw error("the program's fat binary has an unknown wrapper"); }
  auto const* at = number<std::byte const*>(w + 8);
  if (number<std::uint32_t>(at) != container_magic) { throw error("the program's fat binary has an unknown header"); }
  auto const* const end = at + number<std::uint16_t>(at + 6) + number<std::uint64_t>(at + 8);
  at += number<std::uint16_t>(at + 6);

  fat_binary found;
  while (end - at >= 64) {
    auto const kind = number<std::uint16_t>(at);
    auto const header = number<std::uint32_t>(at + 4);
    auto const payload = number<std::uint64_t>(at + 8);
    if (header < 64 || payload > static_cast<std::uint64_t>(end - at)) {
      throw error("the program's fat binary has an image of impossible size");
    }
    if (kind != ptx_kind) {
      ++found.machine_code;
    } else if (number<std::uint32_t>(at + 16) != 0) {
      ++found.compressed;
    } else {
      std::string_view text(reinterpret_cast<char const*>(at + header), payload);
      text = text.substr(0, text.find('\0'));
      found.images.push_back({target_of(text), text});
    }
    at += header + payload;
  }
  return found;
}

int rank(target t) { return t.number * 4 + (t.suffix == 'a' ? 2 : t.suffix == 'f' ? 1 : 0); }

bool runs_on(target image, target device) {
  if (image.suffix == 'a') { return device.suffix == 'a' && image.number == device.number; }
  if (image.suffix == 'f') {
    return device.suffix != 0 && image.number / 10 == device.number / 10 && image.number <= device.number;
  }
  return image.number <= device.number;
}

image const* choose(std::vector<image> const& images, target device) {
  image const* best = nullptr;
  for (auto const& one : images) {
    if (runs_on(one.built_for, device) && (best == nullptr || rank(one.built_for) > rank(best->built_for))) {
      best = &one;
    }
  }
  return best;
}

std::string list(std::vector<image> const& images) {
  std::string text;
  for (auto const& one : images) {
    text += (text.empty() ? "" : ", ") + ("compute_" + std::to_string(one.built_for.number));
    if (one.built_for.suffix != 0) { text += one.built_for.suffix; }
  }
  return text;
}

}  // namespace ptx::runtime
