// SPDX-License-Identifier: Apache-2.0
// The same bytes whatever floating-point mode the process is in, under every compiler flag, and the mode is
// the caller's again afterwards. The reference's own bytes are pinned, so that a flag cannot bend both sides
// alike.
#include <fp4/cpu/amax.hpp>
#include <fp4/cpu/dequantize.hpp>
#include <functional>

#include "catch.hpp"
#include "contract.hpp"
#include "support/environment.hpp"

namespace {

using namespace fp4;

/// Bit patterns, made without floating-point arithmetic: every exponent between two, or values around 1 with
/// short mantissas, which tie.
std::vector<float> make_values(int kind, std::int64_t count) {
  test::random_numbers random(static_cast<std::uint64_t>(kind) + 99);
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    auto const r = static_cast<std::uint32_t>(random.next());
    std::uint32_t bits = r;
    switch (kind) {
      case 0: bits = (r & 0x80700000u) | (124u + (r & 3u)) << 23; break;   // few bits around 1: ties
      case 1: bits = (r & 0x80FFFFFFu) | ((r >> 24 & 7u) << 23); break;    // subnormals and the smallest normals
      case 2: bits = (r & 0x807FFFFFu) | (100u + (r & 31u)) << 23; break;  // many decades
      default: bits = (r & 0x807FFFFFu) | (240u + (r & 7u)) << 23; break;  // near the top
    }
    if (i % 97 == 96) { bits = r | 0x7F800000u | 1u; }  // NaN
    values.push_back(test::float_of(bits));
  }
  return values;
}

constexpr int value_kinds = 4;
constexpr std::int64_t rows = 48, cols = 272;

/// Codes and scales of one call, one after the other.
using bytes = std::vector<std::uint8_t>;

/// Runs quantize(in, view, scales, how) into fresh memory.
template <class Format, class Choices, class Quantize>
bytes result_of(std::vector<float> const& values, tensor_scale scale, Choices const& how, Quantize const& quantize) {
  std::int64_t const r = Choices::is_columnwise ? cols : rows, c = Choices::is_columnwise ? rows : cols;
  test::quantized_memory<Format, linear_scales> q(r, c, 0, 0xA5);
  quantize(matrix_view<float const>(values.data(), rows, cols), q.view, tensor_scales_view{&scale, 1}, how);
  bytes all(q.codes.data(), q.codes.data() + q.codes.size());
  all.insert(all.end(), q.scales.data(), q.scales.data() + q.scales.size());
  return all;
}

template <class Out>
bytes bytes_of(std::vector<Out> const& values) {
  bytes all(values.size() * sizeof(Out));
  std::memcpy(all.data(), values.data(), all.size());
  return all;
}

/// One operation, as the reference does it and as the library does.
struct operation {
  char const* name;
  std::uint64_t pinned;  ///< FNV-1a of the reference's bytes over all kinds of values
  std::function<bytes(std::vector<float> const&, float)> reference;
  std::function<bytes(std::vector<float> const&, float, cpu::path)> library;
};

template <class Format, class Choices>
operation quantizing(char const* name, std::uint64_t pinned, Choices const& how) {
  return {name, pinned,
          [how](std::vector<float> const& x, float amax) {
            return result_of<Format>(x, tensor_scale::from_amax(amax), how,
                                     [](auto... a) { reference::quantize(a...); });
          },
          [how](std::vector<float> const& x, float amax, cpu::path path) {
            return result_of<Format>(x, tensor_scale::from_amax(amax), how,
                                     [path](auto... a) { cpu::quantize(a..., default_execution{}, path); });
          }};
}

template <class Out, class Format>
operation dequantizing(char const* name, std::uint64_t pinned, decode_rule rule) {
  auto const run = [rule](std::vector<float> const& x, float amax, auto const& decode) {
    // The patterns themselves serve as codes; scale codes lose their top bit.
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(rows * Format::row_bytes(cols)));
    std::vector<std::uint8_t> scales(static_cast<std::size_t>(rows * Format::blocks(cols)));
    for (std::size_t i = 0; i < codes.size(); ++i) { codes[i] = static_cast<std::uint8_t>(test::bits_of(x[i]) >> 16); }
    for (std::size_t i = 0; i < scales.size(); ++i) { scales[i] = static_cast<std::uint8_t>(i % 0x7F); }
    quantized_view<Format, linear_scales, std::uint8_t const> const in(
        codes.data(), scales.data(), static_cast<std::int64_t>(scales.size()), rows, cols);
    std::vector<Out> out(static_cast<std::size_t>(rows * cols));
    tensor_scale const scale = tensor_scale::from_amax(amax);
    decode(in, tensor_scales_view{&scale, 1}, rule, matrix_view<Out>(out.data(), rows, cols));
    return bytes_of(out);
  };
  return {name, pinned,
          [run](std::vector<float> const& x, float amax) {
            return run(x, amax, [](auto... a) { reference::dequantize(a...); });
          },
          [run](std::vector<float> const& x, float amax, cpu::path path) {
            return run(x, amax, [path](auto... a) { cpu::dequantize(a..., default_execution{}, path); });
          }};
}

std::vector<operation> operations() {
  using std::uint64_t;
  std::vector<operation> all;
  all.push_back(quantizing<nvfp4>("default", 0x3809F6750B7B478Du, choices<transformer_engine>{}));
  all.push_back(quantizing<nvfp4>(
      "default, stochastic, 2D", 0x3BDB16C2BF7E94B4u,
      choices<transformer_engine, stochastic, no_transform, blocks_2d>{{}, stochastic(3), {}, {}, {}}));
  all.push_back(quantizing<nvfp4>("trtllm, hadamard<16> to bfloat16, column-wise", 0xA56AC8C680A1BEF8u,
                                  choices<trtllm, nearest_even, hadamard<16>, blocks_1d, columnwise>{
                                      {}, {}, hadamard<16>{}.to_bfloat16(), {}, {}}));
  all.push_back(quantizing<nvfp4>(
      "four_over_six", 0x790E309F4C49233Bu,
      choices<four_over_six, nearest_even, no_transform, blocks_2d>{four_over_six{}, {}, {}, {}, {}}));
  all.push_back(quantizing<nvfp4>("search", 0x2AFA2473F71BEE66u, choices<search>{}));
  all.push_back(quantizing<nvfp4>("exact, toward zero", 0xA483E5E3C48CCAF5u, choices<exact, toward_zero>{}));
  all.push_back(quantizing<nvfp4>("compressed_tensors_gpu", 0x36BD93BAE9E39B52u, choices<compressed_tensors_gpu>{}));
  all.push_back(quantizing<nvfp4>("ggml", 0x7F926205BD71ED4Du, choices<ggml>{}));
  all.push_back(quantizing<mxfp8_e5m2>("mx_ceil", 0x79556B11943EF741u, choices<mx_ceil>{}));
  all.push_back(quantizing<fp8_e4m3>("fp8", 0xF16A6618C8CBCC50u, choices<tensor_amax>{}));
  all.push_back(dequantizing<float, nvfp4>("dequantize", 0x582AB42B34036A5Bu, decode_rule::amax_over_range));
  all.push_back(dequantizing<float16, nvfp4>("dequantize to float16", 0xA0C1BD0783E3215Au, decode_rule::quotient));
  all.push_back(dequantizing<bfloat16, mxfp4>("dequantize to bfloat16", 0x80B46CE31C8DBB00u, decode_rule::block_only));
  return all;
}

void add(std::uint64_t& hash, bytes const& b) {
  for (std::uint8_t const byte : b) { hash = (hash ^ byte) * 0x100000001B3u; }
}

/// What is wanted, and the amax of the values, computed in the normal environment.
struct expectation {
  std::vector<float> values;
  float amax;
  bytes wanted;
};

FP4_NOINLINE expectation expect(operation const& op, int kind) {
  std::vector<float> values = make_values(kind, rows * cols);
  float const amax = reference::amax(matrix_view<float const>(values.data(), rows, cols), no_transform{}, rowwise{});
  bytes wanted = op.reference(values, amax);
  return {std::move(values), amax, std::move(wanted)};
}

/// Floating-point modes of the caller.
struct mode {
  char const* name;
  int rounding;
  bool flushes;
};
constexpr mode modes[] = {{"normal", FE_TONEAREST, false},
                          {"flushing subnormals", FE_TONEAREST, true},
                          {"rounding up", FE_UPWARD, false},
                          {"rounding down", FE_DOWNWARD, false},
                          {"rounding to zero", FE_TOWARDZERO, false},
                          {"flushing and rounding up", FE_UPWARD, true}};

}  // namespace

TEST_CASE("bytes do not depend on the floating-point mode, which is the caller's again afterwards") {
  test::normal_environment const environment;
  for (operation const& op : operations()) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (int kind = 0; kind < value_kinds; ++kind) {
      expectation const e = expect(op, kind);
      add(hash, e.wanted);
      for (mode const& m : modes) {
        for (auto const path : test::paths()) {
          std::fesetround(m.rounding);
          bool const could = !m.flushes || test::flush_subnormals();
          std::uint64_t const before = test::floating_point_control();
          bytes const got = op.library(e.values, e.amax, path);
          std::uint64_t const after = test::floating_point_control();
          std::fesetenv(FE_DFL_ENV);
          CAPTURE(op.name, kind, m.name, cpu::name(path));
          CHECK(could);
          CHECK(after == before);
          auto const n = static_cast<std::int64_t>(got.size());
          REQUIRE(got.size() == e.wanted.size());
          CHECK(test::first_difference(got.data(), e.wanted.data(), n, n) == "");
        }
      }
    }
    CAPTURE(op.name);
    CHECK(hash == op.pinned);
  }
}

TEST_CASE("the modes do matter to arithmetic that is not protected") {
  test::normal_environment const environment;
  float const volatile tiny = 1e-40f, third = 1.0f / 3.0f;
  float const volatile normal_product = third * third;
  if (test::flush_subnormals()) {
    float const volatile flushed = tiny * 2.0f;
    CHECK((test::bits_of(flushed) & 0x7FFFFFFFu) == 0);
  }
  std::fesetenv(FE_DFL_ENV);
  std::fesetround(FE_UPWARD);
  float const volatile up = third * third;
  std::fesetround(FE_DOWNWARD);
  float const volatile down = third * third;
  std::fesetenv(FE_DFL_ENV);
  CHECK(test::bits_of(up) != test::bits_of(down));
  CHECK((test::bits_of(normal_product) == test::bits_of(up) || test::bits_of(normal_product) == test::bits_of(down)));
}
