// SPDX-License-Identifier: Apache-2.0
// Runs one operation over and over on one thread, for bench/count_instructions.sh, which counts its instructions.
//   fp4_count_instructions <operation> <passes>      operations and elements a pass: fp4_count_instructions list
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fp4/fp4.hpp>

namespace {

constexpr std::int64_t rows = 64, cols = 4096;

/// Sums of uniform numbers from a linear congruential generator: near enough to normal, and cheap to start with.
std::vector<float> values() {
  std::vector<float> x(static_cast<std::size_t>(rows * cols));
  std::uint32_t state = 1;
  for (float& v : x) {
    v = 0;
    for (int i = 0; i < 4; ++i) {
      state = state * 1664525u + 1013904223u;
      v += static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
    }
  }
  return x;
}

template <class In>
struct benchmark {
  using view = fp4::quantized_view<fp4::nvfp4>;

  std::vector<In> in;
  std::vector<std::uint8_t> codes = std::vector<std::uint8_t>(static_cast<std::size_t>(rows * cols / 2));
  std::vector<std::uint8_t> scales = std::vector<std::uint8_t>(static_cast<std::size_t>(rows * cols / 16));
  fp4::tensor_scale scale = fp4::tensor_scale::from_amax(2.0f);

  benchmark() {
    for (float const x : values()) { in.push_back(fp4::detail::from_float_to<In>(x)); }
  }

  view quantized() { return {codes.data(), scales.data(), rows * cols / 16, rows, cols}; }

  template <class Scaling, class Rounding, class Transform>
  void quantize(Scaling scaling, Rounding rounding, Transform transform, int passes) {
    fp4::choices<Scaling, Rounding, Transform> const how{scaling, rounding, transform, {}, {}};
    fp4::matrix_view<In const> const x(in.data(), rows, cols);
    for (int i = 0; i < passes; ++i) { fp4::cpu::quantize(x, quantized(), {&scale, 1}, how, fp4::sequential{}); }
  }

  template <class Out>
  void dequantize(int passes) {
    fp4::cpu::quantize(fp4::matrix_view<In const>(in.data(), rows, cols), quantized(), {&scale, 1},
                       fp4::choices<fp4::transformer_engine>{}, fp4::sequential{});
    std::vector<Out> out(static_cast<std::size_t>(rows * cols));
    for (int i = 0; i < passes; ++i) {
      fp4::cpu::dequantize(quantized(), {&scale, 1}, fp4::decode_rule::amax_over_range,
                           fp4::matrix_view<Out>(out.data(), rows, cols), fp4::sequential{});
    }
  }

  float amax(int passes) {
    float found = 0;
    for (int i = 0; i < passes; ++i) {
      found += fp4::cpu::amax(fp4::matrix_view<In const>(in.data(), rows, cols), fp4::no_transform{}, fp4::rowwise{},
                              fp4::sequential{});
    }
    return found;
  }
};

struct operation {
  char const* name;
  void (*run)(int passes);
};

template <class In, class Scaling, class Rounding, class Transform>
void quantize(int passes, Scaling scaling, Rounding rounding, Transform transform) {
  benchmark<In>().quantize(scaling, rounding, transform, passes);
}

constexpr fp4::nearest_even nearest{};
constexpr fp4::no_transform none{};
constexpr operation operations[] = {
    {"nearest", [](int n) { quantize<float>(n, fp4::transformer_engine{}, nearest, none); }},
    {"nearest_bfloat16", [](int n) { quantize<fp4::bfloat16>(n, fp4::transformer_engine{}, nearest, none); }},
    {"nearest_float16", [](int n) { quantize<fp4::float16>(n, fp4::transformer_engine{}, nearest, none); }},
    {"stochastic", [](int n) { quantize<float>(n, fp4::transformer_engine{}, fp4::stochastic(1), none); }},
    {"hadamard16_nearest", [](int n) { quantize<float>(n, fp4::transformer_engine{}, nearest, fp4::hadamard<16>{}); }},
    {"hadamard128_nearest",
     [](int n) { quantize<float>(n, fp4::transformer_engine{}, nearest, fp4::hadamard<128>{}); }},
    {"exact", [](int n) { quantize<float>(n, fp4::exact{}, nearest, none); }},
    {"search", [](int n) { quantize<float>(n, fp4::search{}, nearest, none); }},
    {"four_over_six", [](int n) { quantize<float>(n, fp4::four_over_six{}, nearest, none); }},
    {"dequantize", [](int n) { benchmark<float>().dequantize<float>(n); }},
    {"dequantize_bfloat16", [](int n) { benchmark<float>().dequantize<fp4::bfloat16>(n); }},
    {"dequantize_float16", [](int n) { benchmark<float>().dequantize<fp4::float16>(n); }},
    {"amax", [](int n) { std::printf("amax %g\n", static_cast<double>(benchmark<float>().amax(n))); }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "list") {
    std::printf("%lld elements a pass\n", static_cast<long long>(rows * cols));
    for (auto const& op : operations) { std::printf("%s\n", op.name); }
    return 0;
  }
  int const passes = argc == 3 ? std::atoi(argv[2]) : 0;
  for (auto const& op : operations) {
    if (passes > 0 && std::string(argv[1]) == op.name) {
      op.run(passes);
      return 0;
    }
  }
  std::fprintf(stderr, "usage: fp4_count_instructions list | <operation> <passes>\n");
  return 1;
}
