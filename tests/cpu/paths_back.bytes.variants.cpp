// SPDX-License-Identifier: Apache-2.0
// Dequantizing and transforming: every path gives the bits of the scalar one; a NaN may be any NaN.
#include "cpu/paths.hpp"

#include <fp4/cpu/dequantize.hpp>
#include <fp4/cpu/transform.hpp>

#include "catch.hpp"

namespace {

using namespace fp4;
using test::data_kind;

/// Every byte as a code and, in turn, every byte as a scale, over more than a tile.
template <class Format>
struct all_codes {
  static constexpr std::int64_t rows = 2, cols = 1024 + 37 * Format::block_size + (Format::block_size > 1 ? 5 : 0);
  std::vector<std::uint8_t> codes, scales;

  all_codes() {
    for (std::int64_t i = 0; i < rows * Format::row_bytes(cols); ++i) {
      codes.push_back(static_cast<std::uint8_t>(i * 37));
    }
    if (!Format::has_block_scale) { return; }
    for (std::int64_t i = 0; i < rows * Format::blocks(cols); ++i) {
      // Two stretches without a special code, so that whole tiles keep to the fast way.
      int const last = i < Format::blocks(cols) ? 126 : 256;
      scales.push_back(static_cast<std::uint8_t>((i * 53 + 1) % last));
    }
  }
};

template <class Out>
void make_nans_equal(std::vector<Out>& values) {
  for (Out& v : values) {
    float const x = fp4::detail::as_float(v);
    if ((test::bits_of(x) & 0x7FFFFFFFu) > 0x7F800000u) { v = fp4::detail::from_float_to<Out>(test::nan()); }
  }
}

template <class Format, class Out>
std::string dequantized(decode_rule rule) {
  all_codes<Format> const data;
  quantized_view<Format, linear_scales, std::uint8_t const> const in(
      data.codes.data(), data.scales.data(), static_cast<std::int64_t>(data.scales.size()), data.rows, data.cols);
  test::outcome found;
  std::uint64_t seed = 0;
  for (float const amax : {10.5f, 0.0f, 1e-45f, 1e-37f, 3.4e38f, test::infinity(), 2688.0f, 2688.0f * 1024}) {
    for (tensor_scale const scale :
         {tensor_scale::from_amax(amax), tensor_scale::from_encode(7.3f), tensor_scale::from_decode(0x1.23p-30f)}) {
      std::vector<Out> wanted(static_cast<std::size_t>(data.rows * (data.cols + 3)));
      std::vector<Out> got = wanted;
      cpu::dequantize(in, {&scale, 1}, rule, matrix_view<Out>(wanted.data(), data.rows, data.cols, data.cols + 3),
                      sequential{}, cpu::path::scalar);
      make_nans_equal(wanted);
      for (cpu::path const p : test::fast_paths()) {
        cpu::dequantize(in, {&scale, 1}, rule, matrix_view<Out>(got.data(), data.rows, data.cols, data.cols + 3),
                        sequential{}, p);
        make_nans_equal(got);
        found.add(test::difference(got, wanted), p, data_kind::normal, seed++);
      }
    }
  }
  return found.first;
}

/// To each output type under every rule.
template <class Format>
std::string dequantized(decode_rule rule) {
  return dequantized<Format, float>(rule) + dequantized<Format, bfloat16>(rule) + dequantized<Format, float16>(rule);
}

template <class In, int N>
std::string transformed() {
  test::outcome found;
  constexpr std::int64_t rows = 2, cols = 1024 + 3 * N;
  for (int kind = 0; kind < test::data_kinds; ++kind) {
    for (std::uint64_t seed = 0; seed < test::seeds; ++seed) {
      auto how = seed == 0 ? hadamard<N>() : hadamard<N>::random_signs(seed);
      how.rounds_to_bfloat16 = seed % 2 == 1;
      auto const k = static_cast<data_kind>(kind);
      auto const values = test::as_values<In>(test::make_data(k, rows, cols, seed), cols + 1);
      matrix_view<In const> const in(values.data(), rows, cols, cols + 1);
      std::vector<float> wanted(static_cast<std::size_t>(rows * cols)), got = wanted;
      cpu::transform(in, how, matrix_view<float>(wanted.data(), rows, cols), sequential{}, cpu::path::scalar);
      make_nans_equal(wanted);
      for (cpu::path const p : test::fast_paths()) {
        cpu::transform(in, how, matrix_view<float>(got.data(), rows, cols), sequential{}, p);
        make_nans_equal(got);
        found.add(test::difference(got, wanted), p, k, seed);
      }
    }
  }
  return found.first;
}

}  // namespace

TEST_CASE("every decode rule and output type on every path") {
  for (decode_rule const rule : {decode_rule::amax_over_range, decode_rule::product, decode_rule::quotient,
                                 decode_rule::ratio, decode_rule::block_only}) {
    CAPTURE(static_cast<int>(rule));
    CHECK(dequantized<nvfp4>(rule) == "");
  }
}

TEST_CASE("other formats decode alike on every path") {
  CHECK(dequantized<nvfp4_ue5m3, float>(decode_rule::amax_over_range) == "");
  CHECK(dequantized<mxfp4, bfloat16>(decode_rule::block_only) == "");
  CHECK(dequantized<mxfp6_e2m3, float16>(decode_rule::block_only) == "");
  CHECK(dequantized<mxfp6_e3m2, bfloat16>(decode_rule::block_only) == "");
  CHECK(dequantized<mxfp8_e4m3, float>(decode_rule::block_only) == "");
  CHECK(dequantized<mxfp8_e5m2, float16>(decode_rule::block_only) == "");
  CHECK(dequantized<fp8_e4m3, bfloat16>(decode_rule::tensor_only) == "");
}

TEST_CASE("every size of transform on every path") {
  CHECK(transformed<float, 16>() == "");
  CHECK(transformed<bfloat16, 32>() == "");
  CHECK(transformed<float, 64>() == "");
  CHECK(transformed<float16, 128>() == "");
  CHECK(transformed<bfloat16, 256>() == "");
}

#if defined(__aarch64__)
TEST_CASE("control bits that fesetenv leaves alone do not count") {
  auto const quantize_and_decode = [] {
    std::vector<float16> halves;
    for (std::uint32_t i = 0; i < 4096; ++i) { halves.push_back({static_cast<std::uint16_t>(i * 16 + i % 7)}); }
    choices<transformer_engine> const how;
    test::quantized_bytes<nvfp4> const q(matrix_view<float16 const>(halves.data(), 4, 1024), how, 0, cpu::path::neon);
    std::vector<float> values(4096);
    tensor_scale const scale = tensor_scale::from_amax(3.0f);
    std::vector<std::uint8_t> codes;
    for (std::uint32_t i = 0; i < 4096; ++i) { codes.push_back(static_cast<std::uint8_t>(i)); }
    quantized_view<fp8_e4m3, linear_scales, std::uint8_t const> const in(codes.data(), nullptr, 0, 4, 1024);
    cpu::dequantize(in, {&scale, 1}, decode_rule::tensor_only, matrix_view<float>(values.data(), 4, 1024), sequential{},
                    cpu::path::neon);
    std::vector<std::uint32_t> all(q.codes.begin(), q.codes.end());
    for (float const v : values) { all.push_back(test::bits_of(v)); }
    return all;
  };
  auto const wanted = quantize_and_decode();
  std::uint64_t const before = test::floating_point_control();
  // Alternative half precision, default NaN, flush to zero, flush 16-bit to zero, round up.
  std::uint64_t const strange = before | 1u << 26 | 1u << 25 | 1u << 24 | 1u << 19 | 1u << 22;
  __asm__ volatile("msr fpcr, %0" ::"r"(strange));
  auto const got = quantize_and_decode();
  std::uint64_t const after = test::floating_point_control();
  __asm__ volatile("msr fpcr, %0" ::"r"(before));
  CHECK(after == strange);
  CHECK(test::difference(got, wanted) == "");
}
#endif
