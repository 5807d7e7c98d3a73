// SPDX-License-Identifier: Apache-2.0
// cpu::dequantize gives the values of the reference bit for bit (any NaN for a NaN), for every code, scale
// code and rule.
#include <cmath>
#include <cstring>

#include <fp4/cpu/dequantize.hpp>

#include "catch.hpp"
#include "contract.hpp"

namespace {

using namespace fp4;

/// The rules that mean something for a format.
template <class Format>
std::vector<decode_rule> rules() {
  if (!Format::has_block_scale) { return {decode_rule::tensor_only}; }
  if (!Format::has_tensor_scale) { return {decode_rule::block_only}; }
  return {decode_rule::amax_over_range, decode_rule::product, decode_rule::quotient, decode_rule::ratio,
          decode_rule::block_only};
}

bool is_nan(float x) { return (test::bits_of(x) & 0x7FFFFFFFu) > 0x7F800000u; }
bool same(float a, float b) { return test::bits_of(a) == test::bits_of(b) || (is_nan(a) && is_nan(b)); }
template <class Half>
bool same(Half a, Half b) {
  return a == b || (is_nan(a.to_float()) && is_nan(b.to_float()));
}

template <class Out>
Out poison(std::uint8_t byte) {
  std::uint32_t const pattern = byte * 0x01010101u;
  if constexpr (std::is_same_v<Out, float>) {
    return test::float_of(pattern);
  } else {
    return {static_cast<std::uint16_t>(pattern)};
  }
}

/// Random bytes as codes; every byte as a scale in turn, so that each meets each element code in a matrix of some
/// rows. Bits above an element's or a scale's own are set too: they do not count.
template <class Format, class Layout>
void fill(test::quantized_memory<Format, Layout>& q, std::uint64_t seed) {
  test::random_numbers random(seed);
  for (std::int64_t i = 0; i < q.codes.size(); ++i) { q.codes.data()[i] = static_cast<std::uint8_t>(random.next()); }
  if constexpr (Format::has_block_scale) {
    for (std::int64_t i = 0; i < q.scales.size(); ++i) {
      q.scales.data()[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(i) + seed);
    }
  }
}

template <class Out>
using values = std::vector<Out>;

/// What the first wrong value is, with its codes.
template <class Out, class View>
std::string first_wrong(values<Out> const& got, values<Out> const& wanted, std::int64_t stride, View in) {
  using format = typename View::format;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (same(got[i], wanted[i])) { continue; }
    std::int64_t const r = static_cast<std::int64_t>(i) / stride, c = static_cast<std::int64_t>(i) % stride;
    char where[120];
    std::snprintf(where, sizeof where, "[%d, %d] is %a, wanted %a", static_cast<int>(r), static_cast<int>(c),
                  static_cast<double>(fp4::detail::as_float(got[i])),
                  static_cast<double>(fp4::detail::as_float(wanted[i])));
    std::string text = where;
    if (c >= in.cols) { return text + ", a gap"; }
    if (format::has_block_scale) {
      text += ", scale code " + std::to_string(in.scales[in.scale_offset(r, c / format::block_size)]);
    }
    return text + ", code " + std::to_string(element_at<format>(in.code_row(r), c).bits);
  }
  return "";
}

/// Empty when every path at every thread count writes the reference's values and nothing else.
template <class Out, class Format, class Layout>
std::string broken(std::int64_t rows, std::int64_t cols, tensor_scales_view scales, decode_rule rule, int variant) {
  test::quantized_memory<Format, Layout> q(rows, cols, variant % 3 * 7, 0);
  fill(q, static_cast<std::uint64_t>(variant));
  quantized_view<Format, Layout, std::uint8_t const> const in = q.view;
  std::int64_t const stride = cols + variant % 2 * 3;
  for (std::uint8_t const byte : {std::uint8_t{0x7F}, std::uint8_t{0xA5}}) {
    if (rows * cols > 1000000 && byte == 0xA5) { break; }
    values<Out> const poisoned(static_cast<std::size_t>(rows * stride), poison<Out>(byte));
    values<Out> wanted = poisoned;
    reference::dequantize(in, scales, rule, matrix_view<Out>(wanted.data(), rows, cols, stride));
    std::string text;
    test::for_each_way(2 * variant + (byte == 0xA5), [&](auto path, auto execution, std::string const& way) {
      if (!text.empty()) { return; }
      values<Out> got = poisoned;
      cpu::dequantize(in, scales, rule, matrix_view<Out>(got.data(), rows, cols, stride), execution, path);
      bool const equal = std::memcmp(got.data(), wanted.data(), got.size() * sizeof(Out)) == 0;
      if (!equal) { text = first_wrong(got, wanted, stride, in); }
      if (!text.empty()) { text = way + ": " + text; }
    });
    if (!text.empty()) { return text; }
  }
  return "";
}

template <class Out, class Format, class Layout>
void compare() {
  constexpr std::int64_t sizes[][2] = {{0, 32}, {1, 16}, {1, 17}, {33, 1040}, {130, 48}, {5, 0}, {37, 1111}};
  float const amaxes[] = {0.0f,    1e-45f, 1e-40f,  7.9e-36f,      3e-30f,          10.5f,
                          2688.0f, 1e30f,  7.6e35f, 3.4028235e38f, test::infinity()};
  int variant = 0;
  for (auto const& size : sizes) {
    for (decode_rule const rule : rules<Format>()) {
      for (float const amax : amaxes) {
        for (auto const kind :
             {test::scale_kind::amax, test::scale_kind::per_row, test::scale_kind::decode, test::scale_kind::encode}) {
          bool const is_small = size[1] * size[0] < 3000;
          if (variant++ % (is_small ? 1 : 4) != 0) { continue; }
          float const range = variant % 4 == 0 ? 1536.0f : variant % 4 == 1 ? 688128.0f : 2688.0f;
          auto scales = test::make_scales(kind, amax, range, size[0]);
          for (auto& s : scales) { s = s.with_range(range); }
          std::string const text = broken<Out, Format, Layout>(
              size[0], size[1], {scales.data(), static_cast<std::int64_t>(scales.size())}, rule, variant++);
          if (!text.empty()) {
            FAIL_CHECK(size[0] << " x " << size[1] << ", rule " << static_cast<int>(rule) << ", amax " << amax << ", "
                               << test::name(kind) << ": " << text);
          }
        }
      }
    }
  }
  SUCCEED();
}

/// All blocks under one scale code and a tensor scale near an end of fp32's range: what is decoded by tables of
/// exponents must not run past either end.
template <class Out>
void compare_at_the_ends() {
  constexpr std::int64_t cols = 256;
  int compared = 0;
  for (int const code : {1, 7, 8, 0x38, 0x3B, 0x7E}) {
    test::quantized_memory<nvfp4, linear_scales> q(1, cols, 0, 0);
    for (std::int64_t i = 0; i < q.codes.size(); ++i) { q.codes.data()[i] = static_cast<std::uint8_t>(7 * i + 1); }
    std::memset(q.scales.data(), code, static_cast<std::size_t>(q.scales.size()));
    quantized_view<nvfp4, linear_scales, std::uint8_t const> const in = q.view;
    for (int exponent = -149; exponent < 128; exponent += exponent == -100 ? 200 : 1) {
      for (float const significand : {1.0f, 1.9921875f}) {
        tensor_scale const scale = tensor_scale::from_decode(std::ldexp(significand, exponent));
        for (decode_rule const rule : {decode_rule::amax_over_range, decode_rule::product, decode_rule::quotient}) {
          values<Out> wanted(cols), got(cols);
          reference::dequantize(in, {&scale, 1}, rule, matrix_view<Out>(wanted.data(), 1, cols));
          for (cpu::path const path : test::paths()) {
            cpu::dequantize(in, {&scale, 1}, rule, matrix_view<Out>(got.data(), 1, cols), sequential{}, path);
            ++compared;
            std::string const text = first_wrong(got, wanted, cols, in);
            if (!text.empty()) { FAIL_CHECK(cpu::name(path) << ", decode scale " << scale.decode() << ": " << text); }
          }
        }
      }
    }
  }
  CHECK(compared == 6 * 78 * 2 * 3 * static_cast<int>(test::paths().size()));
}

}  // namespace

TEST_CASE("dequantize: nvfp4") {
  compare<float, nvfp4, linear_scales>();
  compare<bfloat16, nvfp4, tiled_128x4_scales>();
  compare<float16, nvfp4, tiled_8x4_scales>();
}
TEST_CASE("dequantize: nvfp4 with blocks of 32 and with ue5m3") {
  compare<bfloat16, nvfp4_block32, tiled_128x4_scales>();
  compare<float, nvfp4_ue5m3, linear_scales>();
  compare<float16, nvfp4_ue5m3, tiled_128x4_scales>();
}
TEST_CASE("dequantize: MX formats") {
  compare<float, mxfp4, tiled_128x4_scales>();
  compare<bfloat16, mxfp6_e2m3, linear_scales>();
  compare<float16, mxfp6_e3m2, tiled_8x4_scales>();
  compare<float, mxfp8_e4m3, linear_scales>();
  compare<bfloat16, mxfp8_e5m2, tiled_128x4_scales>();
}
TEST_CASE("dequantize: products at the ends of fp32's range") {
  compare_at_the_ends<float>();
  compare_at_the_ends<bfloat16>();
  compare_at_the_ends<float16>();
}
// The reference is one side of the comparisons above, so here each byte with a sign bit meets the byte without.
TEST_CASE("dequantize: the top bit of a ue4m3 scale byte does not count") {
  constexpr std::int64_t cols = 16 * 128;
  tensor_scale const scale = tensor_scale::from_decode(0.3f);
  std::vector<std::uint8_t> codes(nvfp4::row_bytes(cols)), scales(256);
  for (std::size_t i = 0; i < codes.size(); ++i) { codes[i] = static_cast<std::uint8_t>(i * 37); }
  for (std::size_t i = 0; i < 256; ++i) { scales[i] = static_cast<std::uint8_t>(i); }
  codes.insert(codes.end(), codes.begin(), codes.end());  // two rows: scales 0x00 to 0x7F, then 0x80 to 0xFF
  quantized_view<nvfp4, linear_scales, std::uint8_t const> const in(codes.data(), scales.data(), 256, 2, cols);
  auto const check_rows_equal = [&](values<float> const& y) {
    for (std::size_t c = 0; c < cols; ++c) {
      if (!same(y[c], y[cols + c])) {
        FAIL_CHECK("scale byte " << 128 + c / 16 << ": " << y[cols + c] << ", not " << y[c]);
      }
      if (c / 16 < 127 && is_nan(y[cols + c])) { FAIL_CHECK("scale byte " << 128 + c / 16 << " is NaN"); }
    }
  };
  for (decode_rule const rule : rules<nvfp4>()) {
    values<float> y(2 * cols);
    reference::dequantize(in, {&scale, 1}, rule, matrix_view<float>(y.data(), 2, cols));
    check_rows_equal(y);
    test::for_each_way(0, [&](auto path, auto execution, std::string const& way) {
      INFO(way);
      cpu::dequantize(in, {&scale, 1}, rule, matrix_view<float>(y.data(), 2, cols), execution, path);
      check_rows_equal(y);
    });
  }
}
// Past 16 MiB of output a path may store around the caches.
TEST_CASE("dequantize: large output") {
#ifndef FP4_TEST_QUICK
  tensor_scale const scale = tensor_scale::from_amax(10.5f);
  CHECK(broken<float, nvfp4, linear_scales>(2050, 2056, {&scale, 1}, decode_rule::amax_over_range, 1) == "");
  CHECK(broken<bfloat16, nvfp4, tiled_128x4_scales>(4097, 2049, {&scale, 1}, decode_rule::product, 2) == "");
#endif
}
TEST_CASE("dequantize: FP8") {
  compare<float, fp8_e4m3, linear_scales>();
  compare<float16, fp8_e5m2, linear_scales>();
}
