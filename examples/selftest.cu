// SPDX-License-Identifier: Apache-2.0
// Proves the library on the card at hand: every path that it can take against the reference on the CPU, byte for byte.
//   nvcc -std=c++17 -O2 -Iinclude -arch=native examples/selftest.cu -o selftest && ./selftest [rows] [columns]
// For a Blackwell card name its own target (sm_100a, sm_103a, sm_120a, sm_121a): others lack the instructions for e2m1.
// Exit status: 0 all bytes are equal, 1 some are not, 2 CUDA failed, 77 there is no GPU.
#include <cstdlib>
#include <cstring>
#include <fp4/fp4.cuh>
#include <fp4/reference/reference.hpp>
#include <string>

#include "device.cuh"

namespace {

using namespace fp4;

/// What the device code that runs was compiled for.
struct device_facts {
  int arch, rounds, draws, decodes;
};
__global__ void tell(device_facts* out) {
#if FP4_DEVICE_CODE
  *out = {__CUDA_ARCH__, FP4_DEVICE_E2M1, FP4_DEVICE_STOCHASTIC_E2M1, FP4_DEVICE_E2M1};
#endif
}

/// The table that is printed, and whether all was well.
class report {
 public:
  void row(std::string const& path, std::int64_t compared, std::int64_t wrong) {
    std::printf("%-58s %12lld %12lld\n", path.c_str(), static_cast<long long>(compared), static_cast<long long>(wrong));
    wrong_ += wrong;
    compared_ += compared;
  }
  [[nodiscard]] bool all_equal() {
    row("all", compared_, wrong_);
    return wrong_ == 0;
  }

 private:
  std::int64_t compared_ = 0, wrong_ = 0;
};

template <class T>
std::int64_t differences(std::vector<T> const& a, std::vector<T> const& b) {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < a.size(); ++i) { n += std::memcmp(&a[i], &b[i], sizeof(T)) != 0; }
  return n;
}

/// A matrix here and on the device.
template <class In>
struct problem {
  std::int64_t rows, cols;
  std::vector<In> values;
  device_array<In> in;

  problem(std::int64_t rows_, std::int64_t cols_, std::vector<In> const& v)
      : rows(rows_), cols(cols_), values(v), in(v) {}
  matrix_view<In const> here() const { return {values.data(), rows, cols}; }
  matrix_view<In const> there() { return {in.data(), rows, cols}; }
};

/// Numbers of many sizes, one NaN and one infinity.
template <class In>
problem<In> some_numbers(std::int64_t rows, std::int64_t cols) {
  std::vector<In> values(static_cast<std::size_t>(rows * cols));
  std::uint32_t state = 1;
  for (auto& value : values) {
    state = state * 1664525u + 1013904223u;
    float const x = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
    float const scaled = x * x * x * static_cast<float>(1u << (state >> 9 & 15));
    if constexpr (sizeof(In) == 4) {
      value = scaled;
    } else {
      value = In::from_float(scaled);
    }
  }
  if (values.size() > 5000) {
    if constexpr (sizeof(In) == 2) { values[4500] = In::from_float(__builtin_nanf("")); }
  }
  return {rows, cols, values};
}
/// Every pattern of 16 bits, so that each row of 16 has one sign and about one size.
problem<bfloat16> every_bfloat16() {
  std::vector<bfloat16> values(65536);
  for (std::size_t i = 0; i < values.size(); ++i) { values[i] = bfloat16{static_cast<std::uint16_t>(i)}; }
  return {32, 2048, values};
}

/// Quantizes on both, with the amax that the device finds, and the way back.
template <class Format, class Layout, class In, class Choices>
void check_path(report& r, std::string const& path, problem<In>& p, Choices const& how) {
  constexpr bool turned = Choices::is_columnwise;
  std::int64_t const rows = turned ? p.cols : p.rows, cols = turned ? p.rows : p.cols;
  std::int64_t const blocks = Format::blocks(cols),
                     scale_bytes = Format::has_block_scale ? Layout::bytes(rows, blocks) : 0;
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(rows * Format::row_bytes(cols)));
  std::vector<std::uint8_t> scales(static_cast<std::size_t>(scale_bytes) + 1);
  device_array<std::uint8_t> device_codes(std::vector<std::uint8_t>(codes.size(), 0xA5)), device_scales(scales);
  auto const view = [&](std::uint8_t* c, std::uint8_t* s) {
    return quantized_view<Format, Layout>(c, s, scale_bytes, rows, cols);
  };
  float const amax = reference::amax(p.here(), how.transform, how.direction);
  tensor_scale const scale = tensor_scale::from_amax(amax).with_range(how.scaling.template range<Format>());
  reference::quantize(p.here(), view(codes.data(), scales.data()), {&scale, 1}, how);
  device_array<float> device_amax(std::vector<float>{amax});
  gpu::quantize_async(p.there(), view(device_codes.data(), device_scales.data()),
                      gpu::scale_argument::from_amax(device_amax.data()), how);
  check(cudaDeviceSynchronize(), path.c_str());
  r.row(path, rows * cols, differences(codes, device_codes.read()) + differences(scales, device_scales.read()));
}

template <class Format, class Layout, class Out>
void check_way_back(report& r, std::string const& path, std::int64_t rows, std::int64_t cols) {
  std::int64_t const scale_bytes = Layout::bytes(rows, Format::blocks(cols));
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(rows * Format::row_bytes(cols)));
  std::vector<std::uint8_t> scales(static_cast<std::size_t>(scale_bytes));
  for (std::size_t i = 0; i < codes.size(); ++i) { codes[i] = static_cast<std::uint8_t>(i * 2654435761u >> 13); }
  for (std::size_t i = 0; i < scales.size(); ++i) { scales[i] = static_cast<std::uint8_t>(i % 0x7F); }
  device_array<std::uint8_t> device_codes(codes), device_scales(scales);
  std::vector<Out> wanted(static_cast<std::size_t>(rows * cols));
  device_array<Out> out(wanted.size());
  tensor_scale const scale = tensor_scale::from_amax(3.5f);
  quantized_view<Format, Layout, std::uint8_t const> const here(codes.data(), scales.data(), scale_bytes, rows, cols);
  quantized_view<Format, Layout, std::uint8_t const> const there(device_codes.data(), device_scales.data(), scale_bytes,
                                                                 rows, cols);
  constexpr decode_rule rule = transformer_engine::decoding;
  reference::dequantize(here, {&scale, 1}, rule, matrix_view<Out>(wanted.data(), rows, cols));
  gpu::dequantize_async(there, scale, rule, matrix_view<Out>(out.data(), rows, cols));
  check(cudaDeviceSynchronize(), path.c_str());
  r.row(path, rows * cols, differences(wanted, out.read()));
}

template <class In>
void check_amax(report& r, std::string const& path, problem<In>& p) {
  device_array<float> amax(1);
  gpu::amax_async(p.there(), amax.data());
  check(cudaDeviceSynchronize(), path.c_str());
  float const wanted = reference::amax(p.here(), no_transform{}, rowwise{});
  r.row(path, p.rows * p.cols, differences(std::vector<float>{wanted}, amax.read()));
}

template <class Scaling, class Rounding, class... Others>
auto with(Scaling scaling, Rounding rounding, Others... others) {
  return choices<Scaling, Rounding, Others...>{scaling, rounding, others...};
}

bool run(std::int64_t rows, std::int64_t cols) {
  cudaDeviceProp card{};
  check(cudaGetDeviceProperties(&card, 0), "cudaGetDeviceProperties");
  device_array<device_facts> told(1);
  tell<<<1, 1>>>(told.data());
  check(cudaDeviceSynchronize(), "first kernel");
  device_facts const facts = told.read()[0];
  std::printf("%s, compute capability %d.%d; code of sm_%d, e2m1 by %s, stochastic by %s; %lld x %lld\n\n", card.name,
              card.major, card.minor, facts.arch / 10, facts.rounds != 0 ? "instruction" : "software",
              facts.draws != 0 ? "instruction" : "software", static_cast<long long>(rows),
              static_cast<long long>(cols));
  std::printf("%-58s %12s %12s\n", "path", "elements", "mismatches");

  report r;
  using te = transformer_engine;
  stochastic const draws(0x9E3779B97F4A7C15u, 7);
  auto bf16 = some_numbers<bfloat16>(rows, cols);
  auto fp16 = some_numbers<float16>(rows, cols);
  auto fp32 = some_numbers<float>(rows, cols);
  auto ragged = some_numbers<bfloat16>(33, 1051);
  auto all = every_bfloat16();

  check_amax(r, "amax, bfloat16", bf16);
  check_path<nvfp4, linear_scales>(r, "nearest, bfloat16", bf16, with(te{}, nearest_even{}));
  check_path<nvfp4, tiled_128x4_scales>(r, "nearest, float, 128x4 scales", fp32, with(te{}, nearest_even{}));
  check_path<nvfp4, tiled_8x4_scales>(r, "nearest, float16, 8x4 scales", fp16, with(te{}, nearest_even{}));
  check_path<nvfp4, tiled_128x4_scales>(r, "nearest, ragged and misaligned rows", ragged, with(te{}, nearest_even{}));
  check_path<nvfp4, linear_scales>(r, "nearest, every bfloat16", all, with(te{}, nearest_even{}));
  check_path<nvfp4, tiled_128x4_scales>(r, "stochastic, bfloat16, 128x4 scales", bf16, with(te{}, draws));
  check_path<nvfp4, linear_scales>(r, "stochastic, every bfloat16", all, with(te{}, draws));
  check_path<nvfp4, linear_scales>(r, "Hadamard 16, nearest, bfloat16", bf16,
                                   with(te{}, nearest_even{}, hadamard<16>{}.to_bfloat16()));
  check_path<nvfp4, linear_scales>(r, "Hadamard 16, stochastic, bfloat16", bf16, with(te{}, draws, hadamard<16>{}));
  check_path<nvfp4, tiled_128x4_scales>(r, "column-wise, Hadamard 16, stochastic, bfloat16", bf16,
                                        with(te{}, draws, hadamard<16>{}, columnwise{}));
  check_path<nvfp4, tiled_128x4_scales>(r, "trtllm, nearest, bfloat16, 128x4 scales", bf16,
                                        with(trtllm{}, nearest_even{}));
  check_path<nvfp4, linear_scales>(r, "four_over_six, nearest, bfloat16", ragged,
                                   with(four_over_six{}, nearest_even{}));
  check_path<mxfp4, tiled_128x4_scales>(r, "mxfp4, nearest, float", fp32, with(mx_floor{}, nearest_even{}));
  check_path<mxfp8_e4m3, linear_scales>(r, "mxfp8, nearest, float", fp32, with(mx_ceil{}, nearest_even{}));
  check_way_back<nvfp4, tiled_128x4_scales, bfloat16>(r, "dequantize to bfloat16, 128x4 scales", rows, cols);
  check_way_back<nvfp4, linear_scales, float>(r, "dequantize to float", rows, cols);
  bool const good = r.all_equal();
  std::printf("\n%s\n", good ? "Every byte is the reference's." : "SOME BYTES DIFFER: please report this table.");
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaError_t const code = cudaGetDeviceCount(&devices); code != cudaSuccess || devices == 0) {
    std::printf("skipped: there is no GPU that CUDA can use (%s)\n", cudaGetErrorString(code));
    return skipped;
  }
  std::int64_t const rows = argc > 1 ? std::atoll(argv[1]) : 1024, cols = argc > 2 ? std::atoll(argv[2]) : 2048;
  if (rows < 16 || cols < 16 || rows % 16 != 0 || cols % 16 != 0) {
    std::fprintf(stderr, "usage: selftest [rows] [columns], both multiples of 16 (Hadamard along either)\n");
    return 2;
  }
  return exit_status([&] { return run(rows, cols) ? 0 : 1; });
}
