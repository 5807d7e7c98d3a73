// SPDX-License-Identifier: Apache-2.0
//
// SIMD video instructions on two or four parts of a register: vadd4, vabsdiff2, ... without masks. Since sm_30 devices
// emulate most of them; the CUDA headers still write some.
#include <algorithm>

#include "execute/elementwise.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

enum operation : std::uint8_t { add, subtract, average, difference, minimum, maximum };

std::int64_t apply(std::uint8_t how, std::int64_t a, std::int64_t b) {
  switch (how) {
    case add: return a + b;
    case subtract: return a - b;
    case average: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case difference: return a < b ? b - a : a - b;
    case minimum: return std::min(a, b);
    default: return std::max(a, b);
  }
}

std::int64_t part(std::uint64_t x, int bits, int k, bool is_signed_part) {
  auto const u = static_cast<std::int64_t>(x >> (bits * k) & ((std::uint64_t{1} << bits) - 1));
  return is_signed_part && (u >> (bits - 1)) != 0 ? u - (std::int64_t{1} << bits) : u;
}

/// d, a, b, c: the parts of a and b into d; with .add their sum plus c.
void parts(warp& w, instruction const& i, lane_set m) {
  for (int k = 1; k <= 3; ++k) { w.use(i, k, m, 0x0F); }
  int const n = i.with.elements, bits = 32 / n;
  bool const to_signed = is_signed(i.with.first);
  std::int64_t const low = to_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
  std::int64_t const high = low + (std::int64_t{1} << bits) - 1;
  each_lane(m, [&](int l) {
    std::uint64_t packed = 0;
    auto total = static_cast<std::int64_t>(w.values(i.operands[3])[l]);
    for (int k = 0; k < n; ++k) {
      std::int64_t r = apply(i.with.mode, part(w.values(i.operands[1])[l], bits, k, is_signed(i.with.second)),
                             part(w.values(i.operands[2])[l], bits, k, is_signed(i.with.third)));
      if (i.with.saturate) { r = std::clamp(r, low, high); }
      packed |= (static_cast<std::uint64_t>(r) & ((std::uint64_t{1} << bits) - 1)) << (bits * k);
      total += r;
    }
    w.destination(i.operands[0])[l] = i.with.combine != 0 ? static_cast<std::uint32_t>(total) : packed;
  });
  w.set_result(i.operands[0], m);
}

constexpr named<std::uint8_t> operations[] = {{"vadd", add},      {"vsub", subtract},
                                              {"vavrg", average}, {"vabsdiff", difference},
                                              {"vmin", minimum},  {"vmax", maximum}};

void build_video(form& f) {
  std::string_view const name = f.base();
  f.out.with.elements = static_cast<std::uint8_t>(name.back() - '0');
  for (auto const& [word, how] : operations) {
    if (name.substr(0, name.size() - 1) == word) { f.out.with.mode = how; }
  }
  f.out.with.first = f.take_type();
  f.out.with.second = f.take_type();
  f.out.with.third = f.take_type();
  f.out.with.saturate = f.take("sat");
  f.out.with.combine = f.take("add") ? 1 : 0;
  f.out.run = parts;
  f.destination(type::b32);
  for (int k = 0; k < 3; ++k) { f.source(type::b32); }
}

}  // namespace

void add_video(opcode_table& t) {
  for (auto const& [word, how] : operations) {
    for (char const* digit : {"2", "4"}) { t.add(std::string(word) + digit, build_video); }
  }
}

}  // namespace ptx
