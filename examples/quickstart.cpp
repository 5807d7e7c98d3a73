// SPDX-License-Identifier: Apache-2.0
// Quantizes one tensor to NVFP4 in several ways, to MXFP4 and to FP8, and says what each way costs in
// accuracy and how fast it ran. Needs a C++17 compiler and nothing else:
//   g++ -std=c++17 -O3 -fopenmp -Iinclude examples/quickstart.cpp -o quickstart && ./quickstart [file.npy]

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fp4/fp4.hpp>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "io/npy.hpp"
#include "matrix.hpp"
#include "report.hpp"

namespace {

/// A matrix, and where it comes from in words.
struct input {
  matrix values;
  std::string source;
};

/// Random numbers that are the same on every machine.
class generator {
 public:
  /// Nearly normal: the sum of 12 uniform 16-bit integers. Every step is exact, so nothing depends on the
  /// compiler or its math library.
  float normal() {
    std::int32_t sum = 0;
    for (int word = 0; word < 3; ++word) {
      std::uint64_t const bits = next();
      for (int i = 0; i < 64; i += 16) { sum += static_cast<std::int32_t>(bits >> i & 0xffff); }
    }
    return static_cast<float>(2 * sum - 12 * 0xffff) / 0x20000;
  }

 private:
  /// splitmix64.
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::uint64_t state_ = 2026;
};

/// What activations look like: normal numbers, and a few channels that are far larger.
input generated() {
  constexpr std::int64_t size = 4096, one_in = 256;
  constexpr float factor = 20;
  matrix made{size, size, {}};
  made.values.reserve(static_cast<std::size_t>(size * size));
  generator random;
  for (std::int64_t i = 0; i < size * size; ++i) {
    made.values.push_back(random.normal() * (i % one_in == one_in / 2 ? factor : 1.0f));
  }
  return {std::move(made), "generated: normal, 1 column in 256 is 20 times larger"};
}

input read(char const* path) {
  io::tensor_file opened = io::open_npy(path);
  io::tensor_info const& array = opened.tensors.front();
  if (array.count == 0) { opened.file.fail("the array of shape " + io::shape_text(array.shape) + " is empty"); }
  bool const is_wide = array.element == io::dtype::f32;
  return {read_matrix(opened, array), path + (is_wide ? "" : ", from " + array.dtype_text)};
}

/// Seconds in which all threads together read the values once: each word is or-ed to a sum, and that is all.
double seconds_to_read(std::vector<float> const& values, double budget) {
  auto const words = static_cast<std::int64_t>(values.size() / 8);
  std::uint64_t sum = 0;
  double const seconds = report::median_seconds(budget, [&] {
#ifdef _OPENMP
#pragma omp parallel for reduction(| : sum)
#endif
    for (std::int64_t i = 0; i < words; ++i) {
      std::uint64_t piece[4];
      std::memcpy(piece, values.data() + 8 * i, sizeof piece);
      sum |= (piece[0] | piece[1]) | (piece[2] | piece[3]);
    }
  });
  std::uint64_t const volatile kept = sum;  // so that the loop is not removed
  static_cast<void>(kept);
  return seconds;
}

/// The table: a call is a row.
class comparison {
 public:
  explicit comparison(input const& given) : matrix_(given.values), table_(columns()) {
    auto const bytes = static_cast<double>(matrix_.values.size() * sizeof(float));
    std::printf("%lld x %lld float32, %.1f MB (%s)\n", static_cast<long long>(matrix_.rows),
                static_cast<long long>(matrix_.cols), bytes / 1e6, given.source.c_str());
    is_timed_ = bytes >= report::least_timed_bytes;
    std::string const speed = report::gigabytes_per_second(bytes, seconds_to_read(matrix_.values, 0.5));
    std::string const read =
        is_timed_ ? "a streaming read of the tensor runs at " + speed + " GB/s" : "the tensor is too small to time";
    std::printf("processor path: %s, %s; %s\n\n", fp4::cpu::name(fp4::cpu::best()), report::threads_text().c_str(),
                read.c_str());
    table_.print_header();
  }

  template <class Format, class Scaling = fp4::default_scaling_t<Format>, class Rounding = fp4::nearest_even,
            class Transform = fp4::no_transform>
  void row(char const* label, Scaling scaling = Scaling(), Rounding rounding = Rounding(),
           Transform transform = Transform()) {
    if (matrix_.cols % Transform::size != 0) {
      return table_.print_note(label, "needs a multiple of " + std::to_string(Transform::size) + " columns");
    }
    fp4::quantized<Format> q(matrix_.rows, matrix_.cols, Scaling::decoding);
    double const reading = seconds_to_read(matrix_.values, 0.1);
    auto const result = report::measure(matrix_.view(), transform, q, memory_, 0.25, [&] {
      return fp4::quantize(matrix_.view(), q.view(), scaling, rounding, transform);
    });
    double const share = 100 * reading / result.quantize_seconds;
    std::vector<std::string> cells = {label};
    for (std::string const& cell : report::accuracy(result)) { cells.push_back(cell); }
    cells.push_back(report::gigabytes_per_second(result.bytes(), result.quantize_seconds));
    cells.push_back(is_timed_ ? io::fixed(share, share < 10 ? 1 : 0) + " %" : "-");
    cells.push_back(report::gigabytes_per_second(result.bytes(), result.dequantize_seconds));
    table_.print_row(cells);
  }

 private:
  static std::vector<io::column> columns() {
    std::vector<io::column> all = {{"", "format", 19}};
    for (io::column const& c : report::accuracy_columns()) { all.push_back(c); }
    all.push_back({"quantize", "GB/s"});
    all.push_back({"of a", "read"});
    all.push_back({"dequantize", "GB/s"});
    return all;
  }

  matrix const& matrix_;
  bool is_timed_ = false;
  io::table table_;
  report::scratch memory_;
};

void compare(input const& given) {
  comparison table(given);
  table.row<fp4::nvfp4>("NVFP4");
  table.row<fp4::nvfp4>("NVFP4 four_over_six", fp4::four_over_six());
  table.row<fp4::nvfp4>("NVFP4 search", fp4::search());
  table.row<fp4::nvfp4>("NVFP4 stochastic", fp4::transformer_engine(), fp4::stochastic(/*seed=*/1));
  table.row<fp4::nvfp4>("NVFP4 Hadamard 16", fp4::transformer_engine(), fp4::nearest_even(), fp4::hadamard<16>());
  table.row<fp4::mxfp4>("MXFP4");
  table.row<fp4::mxfp8_e4m3>("MXFP8 E4M3", fp4::mx_ceil());
  table.row<fp4::fp8_e4m3>("FP8 E4M3 per tensor");
  std::puts(R"(
bits         codes and block scales
SQNR         signal to quantization noise, higher is better: 6 dB more halve the error (rel. L2)
saturated    blocks with a value that was clipped; in FP8, which has no blocks, values
underflowed  blocks that are not zero but decode to zeros
quantize     input bytes a second, with the pass that finds the largest magnitude where there is a tensor scale
of a read    its share of a streaming read, a plain loop over the same memory, timed again just before it
dequantize   output bytes a second
Speeds are medians of up to 9 runs into memory that was there before. "Hadamard 16" spreads each value over 16
columns and is undone, outside the time, before the error is measured.

Next: `quickstart weights.npy` for a tensor of yours, examples/round_trip.cpp for the code to write, and for a whole
model quantize_file (needs nlohmann-json), in the folder that holds CMakePresets.json:
    cmake --preset quickstart && cmake --build --preset quickstart --target example_quantize_file
    build/quickstart/examples/quantize_file model.safetensors)");
}

}  // namespace

int main(int argc, char** argv) {
  std::string const argument = argc > 1 ? argv[1] : "";
  if (argc > 2 || argument.substr(0, 1) == "-") {
    bool const is_help = argument == "--help" || argument == "-h";
    std::fprintf(is_help ? stdout : stderr, "usage: quickstart [FILE.npy]   (float32, float16 or bfloat16)\n");
    return is_help ? 0 : 1;
  }
  try {
    compare(argument.empty() ? generated() : read(argv[1]));
  } catch (std::bad_alloc const&) {
    std::fputs("quickstart: there is not enough memory\n", stderr);
    return 1;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "quickstart: %s\n", error.what());
    return 1;
  }
}
