// SPDX-License-Identifier: Apache-2.0
// Cases L1, L9, L10 and L17 where matrices meet tensor cores: packed operands through the model of the instruction,
// against products taken element by element.
#include <algorithm>
#include <array>
#include <vector>

#include "catch.hpp"
#include "support/buffer.hpp"

#include <fp4/cpu/pack.hpp>
#include <fp4/reference/mma.hpp>

namespace {

using mma = fp4::mma_m16n8k64;
using octets = std::vector<std::uint8_t>;
using fp4::scale_selector;
template <class Fragment>
using warp = fp4::reference::warp_registers<Fragment>;
using reading = fp4::quantized_view<fp4::nvfp4, fp4::linear_scales, std::uint8_t const>;

/// A quantized matrix, [rows, cols], and its copy in fragment order.
template <class Codes>
struct operand {
  std::int64_t rows, cols;
  octets codes, scales;
  std::vector<fp4::lane_registers<mma::a>> tiles;  // 16 bytes a lane
  octets tile_scales;

  operand(std::int64_t r, std::int64_t c)
      : rows(r),
        cols(c),
        codes(static_cast<std::size_t>(r * fp4::nvfp4::row_bytes(c))),
        scales(static_cast<std::size_t>(r * fp4::nvfp4::blocks(c))),
        tiles(static_cast<std::size_t>(Codes::bytes(r, c) / 16)),
        tile_scales(static_cast<std::size_t>(fp4::tiled_32x4_scales::bytes(r, fp4::nvfp4::blocks(c)))) {}

  void set(std::int64_t row, std::int64_t column, int code) {
    fp4::set_nibble(codes.data() + row * fp4::nvfp4::row_bytes(cols), column, static_cast<std::uint8_t>(code));
  }
  void set_scale(std::int64_t row, std::int64_t block, float value) {
    scales[static_cast<std::size_t>(row * fp4::nvfp4::blocks(cols) + block)] = fp4::ue4m3::from_float(value).bits;
  }
  [[nodiscard]] reading view() const {
    return {codes.data(), scales.data(), static_cast<std::int64_t>(scales.size()), rows, cols};
  }
  void pack() {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(tiles.data());
    fp4::packed_view<fp4::nvfp4, Codes, fp4::tiled_32x4_scales> const packed(
        bytes, static_cast<std::int64_t>(tiles.size() * 16), tile_scales.data(),
        static_cast<std::int64_t>(tile_scales.size()), rows, cols);
    fp4::cpu::pack(view(), packed);
  }
  /// One 16-byte load a lane.
  [[nodiscard]] warp<mma::a> load(std::int64_t row, std::int64_t k) const {
    warp<mma::a> held;
    auto const first = static_cast<std::size_t>(Codes::tile_offset(row / 16, k / 64, cols) / 16);
    std::copy_n(tiles.begin() + static_cast<std::ptrdiff_t>(first), 32, held.lane);
    return held;
  }
  /// One 4-byte load a lane: the scales of 32 rows.
  template <class Fragment>
  [[nodiscard]] warp<Fragment> load_scales(std::int64_t row, std::int64_t k) const {
    warp<Fragment> held;
    auto const offset = fp4::tiled_32x4_scales::offset(row / 32 * 32, k / 16, fp4::nvfp4::blocks(cols));
    for (int lane = 0; lane < 32; ++lane) {
      std::uint32_t word = 0;
      for (int byte = 3; byte >= 0; --byte) {
        word = word << 8 | tile_scales[static_cast<std::size_t>(offset + lane * 4 + byte)];
      }
      held.lane[lane].reg[0] = word;
    }
    return held;
  }
};
using operand_a = operand<fp4::fragment_codes_a>;
using operand_b = operand<fp4::fragment_codes_b>;

/// n8 number `half` of a tile of 16 rows of B.
warp<mma::b> half_of(warp<mma::a> const& both, int half) {
  warp<mma::b> held;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 2; ++i) { held.lane[lane].reg[i] = both.lane[lane].reg[2 * half + i]; }
  }
  return held;
}

/// The product by tiles in the order of `steps` along k, from packed operands.
std::vector<float> multiply(operand_a const& a, operand_b const& b, std::vector<std::int64_t> const& steps) {
  std::vector<float> d(static_cast<std::size_t>(a.rows * b.rows));
  for (std::int64_t m = 0; m < a.rows; m += 16) {
    for (std::int64_t n = 0; n < b.rows; n += 8) {
      warp<mma::c> sum{};
      for (std::int64_t const k : steps) {
        sum = fp4::reference::mma_m16n8k64(a.load(m, k), half_of(b.load(n, k), static_cast<int>(n / 8 % 2)), sum,
                                           a.load_scales<mma::scales_a<>>(m, k), {static_cast<int>(m / 16 % 2), 0},
                                           b.load_scales<mma::scales_b<>>(n, k), {static_cast<int>(n / 8 % 4), 0});
      }
      for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 8; ++j) {
          if (m + i >= a.rows || n + j >= b.rows) { continue; }
          auto const at = mma::c::place(i, j);
          d[static_cast<std::size_t>((m + i) * b.rows + n + j)] = sum.lane[at.lane].reg[at.reg];
        }
      }
    }
  }
  return d;
}

/// Rows, columns and blocks that differ pairwise: values of codes 1 to 7, both signs, scales that are powers of two.
template <class Operand>
void fill(Operand& x, int seed) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::int64_t c = 0; c < x.cols; ++c) {
      x.set(r, c, static_cast<int>((r * 5 + c * 3 + c / 7 + seed) % 7 + 1 + (r * 3 + c + r * c / 5) % 2 * 8));
    }
    for (std::int64_t b = 0; b < (x.cols + 15) / 16; ++b) {
      x.set_scale(r, b, static_cast<float>(1 << ((r + 3 * b + seed) % 4)));
    }
  }
  x.pack();
}

}  // namespace

TEST_CASE("L10: every element of a tile arrives once, in the register that the instruction reads", "[cases]") {
  // 16 x 64 ids in three digits of 4 bits, a code each.
  std::vector<int> ids(1024);
  for (int digit = 0; digit < 3; ++digit) {
    operand_a a(16, 64);
    for (int i = 0; i < 1024; ++i) { a.set(i / 64, i % 64, i >> (4 * digit) & 0xF); }
    a.pack();
    auto const held = a.load(0, 0);
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 32; ++i) {
        auto const code = static_cast<int>(held.lane[lane].reg[i / 8] >> (i % 8 * 4) & 0xF);
        ids[static_cast<std::size_t>(lane * 32 + i)] += code << (4 * digit);
      }
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 32; ++i) {
      auto const at = mma::a::position({lane, i / 8, i % 8});
      CHECK(ids[static_cast<std::size_t>(lane * 32 + i)] == at.row * 64 + at.column);
    }
  }
  std::sort(ids.begin(), ids.end());
  for (int i = 0; i < 1024; ++i) { CHECK(ids[static_cast<std::size_t>(i)] == i); }
}

TEST_CASE("L10: rows with pairwise different values multiply to the scalar product", "[cases]") {
  constexpr float values[] = {0, .5f, 1, 1.5f, 2, 3, 4, 6};
  operand_a a(16, 64);
  operand_b b(8, 64);
  std::vector<float> wanted(128);
  auto const code_a = [](int m, int k) { return (m + k + k / 9) % 7 + 1; };
  auto const code_b = [](int n, int k) { return (n * 2 + k * 3 + k / 5) % 7 + 1; };
  for (int k = 0; k < 64; ++k) {
    for (int m = 0; m < 16; ++m) { a.set(m, k, code_a(m, k)), a.set_scale(m, k / 16, 1); }
    for (int n = 0; n < 8; ++n) { b.set(n, k, code_b(n, k)), b.set_scale(n, k / 16, 1); }
    for (int i = 0; i < 128; ++i) {
      wanted[static_cast<std::size_t>(i)] += values[code_a(i / 8, k)] * values[code_b(i % 8, k)];
    }
  }
  a.pack(), b.pack();
  CHECK(multiply(a, b, {0}) == wanted);
}

TEST_CASE("packed operands multiply to reference::matmul, ragged shapes and all selectors included", "[cases]") {
  for (auto const& [m, n, k] : {std::array<std::int64_t, 3>{16, 8, 64}, {64, 64, 128}, {33, 41, 200}, {5, 3, 17}}) {
    CAPTURE(m, n, k);
    operand_a a(m, k);
    operand_b b(n, k);
    fill(a, 1), fill(b, 4);
    std::vector<std::int64_t> steps;
    for (std::int64_t step = 0; step < k; step += 64) { steps.push_back(step); }
    std::vector<float> wanted(static_cast<std::size_t>(m * n));
    fp4::reference::matmul(a.view(), b.view(), 1.0f, fp4::matrix_view<float>(wanted.data(), m, n));
    CHECK(multiply(a, b, steps) == wanted);
    std::reverse(steps.begin(), steps.end());
    CHECK(multiply(a, b, steps) == wanted);
  }
}

TEST_CASE("L9: each slice of k and each block of rows takes its own scales", "[cases]") {
  operand_a a(256, 256);
  operand_b b(8, 256);
  for (std::int64_t r = 0; r < 256; ++r) {
    for (std::int64_t k = 0; k < 256; ++k) { a.set(r, k, 2); }
    for (std::int64_t block = 0; block < 16; ++block) {
      // 1, 2, 4, 8 in the first slice of 64; rows from 128 on twice as much, the second slice four times.
      a.set_scale(r, block, static_cast<float>((1 << block % 4) * (r < 128 ? 1 : 2) * (block < 4 ? 1 : 4)));
    }
  }
  for (std::int64_t r = 0; r < 8; ++r) {
    for (std::int64_t k = 0; k < 256; ++k) { b.set(r, k, 2); }
    for (std::int64_t block = 0; block < 16; ++block) { b.set_scale(r, block, 1); }
  }
  a.pack(), b.pack();
  auto const slice = multiply(a, b, {0});
  auto const whole = multiply(a, b, {0, 64, 128, 192});
  for (std::size_t i = 0; i < slice.size(); ++i) {
    CHECK(slice[i] == (i / 8 < 128 ? 240.0f : 480.0f));
    CHECK(whole[i] == slice[i] * 13);
  }
  CHECK(multiply(a, b, {128, 0, 192, 64}) == whole);
  auto const first = multiply(a, b, {0, 64}), second = multiply(a, b, {128, 192});
  for (std::size_t i = 0; i < whole.size(); ++i) { CHECK(first[i] + second[i] == whole[i]); }
}

TEST_CASE("L1: padding of packed codes and scales is zero", "[cases]") {
  octets const codes(8, 0x77), scales{0x38};
  test::poisoned_buffer packed(512, 0x7F), packed_scales(128, 0x7F);
  fp4::packed_view<fp4::nvfp4, fp4::fragment_codes_a, fp4::tiled_32x4_scales> const out(
      packed.data(), 512, packed_scales.data(), 128, 1, 16);
  fp4::cpu::pack(reading(codes.data(), scales.data(), 1, 1, 16), out);
  CHECK((packed.guards_hold() && packed_scales.guards_hold()));
  CHECK(std::count(packed.data(), packed.data() + 512, 0x77) == 8);
  CHECK(std::count(packed.data(), packed.data() + 512, 0) == 504);
  CHECK(packed_scales.data()[0] == 0x38);
  CHECK(std::count(packed_scales.data(), packed_scales.data() + 128, 0) == 127);
}

TEST_CASE("L17: swapped rows swap in the product, codes and scales together", "[cases]") {
  operand_a a(16, 64), swapped(16, 64);
  operand_b b(8, 64);
  fill(a, 2), fill(b, 3);
  swapped.codes = a.codes, swapped.scales = a.scales;
  std::swap_ranges(swapped.codes.begin() + 3 * 32, swapped.codes.begin() + 4 * 32, swapped.codes.begin() + 11 * 32);
  std::swap_ranges(swapped.scales.begin() + 3 * 4, swapped.scales.begin() + 4 * 4, swapped.scales.begin() + 11 * 4);
  swapped.pack();
  auto wanted = multiply(a, b, {0});
  std::swap_ranges(wanted.begin() + 3 * 8, wanted.begin() + 4 * 8, wanted.begin() + 11 * 8);
  CHECK(multiply(swapped, b, {0}) == wanted);
}
