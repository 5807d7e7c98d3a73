// SPDX-License-Identifier: Apache-2.0
// What quantize_file writes holds the library's bytes, and decodes by the documented formula to the library's
// values. The decoding here is written from the formats' definitions and uses nothing of the library.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fp4/fp4.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../../examples/io/safetensors.hpp"
#include "../../examples/io/write_safetensors.hpp"
#include "catch.hpp"
#include "programs.hpp"

namespace {

constexpr std::int64_t rows = 130, cols = 70;  // neither fits a tile or a block

std::vector<float> weights() {
  std::vector<float> values;
  for (int i = 0; i < rows * cols; ++i) {
    values.push_back(std::sin(static_cast<float>(i) * 12.9898f) * (i % 101 == 0 ? 30.0f : 0.3f));
  }
  return values;
}

/// A tensor of a file, as bytes.
struct entry {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;

  [[nodiscard]] double f32() const {
    float value = 0;
    REQUIRE((dtype == "F32" && shape.empty() && bytes.size() == 4));
    std::memcpy(&value, bytes.data(), 4);
    return static_cast<double>(value);
  }
};

struct contents {
  std::map<std::string, entry> tensors;
  std::map<std::string, std::string> metadata;
};

contents read(std::filesystem::path const& path) {
  io::tensor_file file = io::open_safetensors(path);
  contents all{{}, file.metadata};
  for (io::tensor_info const& tensor : file.tensors) {
    entry& e = all.tensors[tensor.name];
    e = {tensor.dtype_text, tensor.shape, {}};
    for (std::byte const b : file.read<std::byte>(tensor)) { e.bytes.push_back(std::to_integer<std::uint8_t>(b)); }
  }
  return all;
}

double e2m1(int code) {
  double const magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code < 8 ? magnitudes[code] : -magnitudes[code - 8];
}

double e4m3(int code) {
  int const exponent = code >> 3 & 15, mantissa = code & 7;
  double const magnitude = exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return code < 128 ? magnitude : -magnitude;
}

double e8m0(int code) { return std::ldexp(1.0, code - 127); }

double code_at(entry const& codes, std::int64_t row, std::int64_t col) {
  auto const stride = codes.shape[1];
  if (codes.dtype == "F8_E4M3") { return e4m3(codes.bytes[static_cast<std::size_t>(row * stride + col)]); }
  int const byte = codes.bytes[static_cast<std::size_t>(row * stride + col / 2)];
  return e2m1(col % 2 == 0 ? byte & 15 : byte >> 4);
}

/// Position of a scale in tiles of `tile_rows` x 4, in cuBLAS's order for 128 rows and in row order for 8.
std::size_t tiled(std::int64_t row, std::int64_t block, std::int64_t padded_blocks, std::int64_t tile_rows) {
  std::int64_t const tile = row / tile_rows * (padded_blocks / 4) + block / 4, r = row % tile_rows;
  std::int64_t const inside = tile_rows == 128 ? r % 32 * 16 + r / 32 * 4 : r * 4;
  return static_cast<std::size_t>(tile * tile_rows * 4 + inside + block % 4);
}

void check_same_values(std::vector<double> const& by_hand, std::vector<float> const& by_library, double tolerance) {
  REQUIRE(by_hand.size() == by_library.size());
  int differences = 0;
  for (std::size_t i = 0; i < by_hand.size(); ++i) {
    double const y = static_cast<double>(by_library[i]);
    differences += !(std::fabs(by_hand[i] - y) <= tolerance * std::fabs(y)) ? 1 : 0;
  }
  CHECK(differences == 0);
}

/// Runs the program on weights() and reads what it wrote.
contents written(std::vector<std::string> words) {
  io_test::temp_dir const dir;
  auto const values = weights();
  std::vector<std::int64_t> const integers = {7, 8};
  io::write_safetensors(dir / "in.safetensors",
                        {{"layer.weight", "F32", {2, rows / 2, cols}, io::to_bytes(values.data(), values.size())},
                         {"index", "I64", {2}, io::to_bytes(integers.data(), 2)}},
                        {{"format", "pt"}});
  words.insert(words.begin(), {(dir / "in.safetensors").string(), "--output", (dir / "out.safetensors").string()});
  io_test::ending const ended = io_test::run(words);
  INFO(ended.err);
  REQUIRE(ended.code == 0);
  CHECK(ended.out.find("\nwritten to ") != std::string::npos);
  return read(dir / "out.safetensors");
}

fp4::matrix_view<float const> view(std::vector<float> const& values, std::int64_t columns = cols) {
  return {values.data(), static_cast<std::int64_t>(values.size()) / columns, columns};
}

constexpr double two_ulp = 2.4e-7;

}  // namespace

TEST_CASE("an NVFP4 file decodes to the library's values, in each scale layout", "[examples]") {
  auto const values = weights();
  auto const q = fp4::quantize<fp4::nvfp4>(view(values));
  auto const expected = fp4::dequantize<float>(q);
  for (std::string const layout : {"linear", "128x4", "8x4"}) {
    CAPTURE(layout);
    contents const file = written({"--layout", layout});
    CHECK(file.tensors.size() == 4);
    entry const& codes = file.tensors.at("layer.weight");
    entry const& scales = file.tensors.at("layer.weight_scale");
    double const scale_2 = file.tensors.at("layer.weight_scale_2").f32();
    CHECK(codes.dtype == "U8");
    CHECK(codes.shape == std::vector<std::int64_t>{rows, 40});  // 5 blocks of 8 bytes
    CHECK(codes.bytes == q.codes());
    bool const is_linear = layout == "linear";
    std::int64_t const tile_rows = layout == "128x4" ? 128 : 8;
    CHECK(scales.dtype == (is_linear ? "F8_E4M3" : "U8"));
    CHECK(scales.shape == (is_linear ? std::vector<std::int64_t>{rows, 5}
                                     : std::vector<std::int64_t>{layout == "128x4" ? 256 : 136, 8}));
    std::vector<double> decoded;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        std::size_t const place = is_linear ? static_cast<std::size_t>(r * 5 + c / 16) : tiled(r, c / 16, 8, tile_rows);
        decoded.push_back(code_at(codes, r, c) * (e4m3(scales.bytes[place]) * scale_2));
      }
    }
    check_same_values(decoded, expected, two_ulp);
    CHECK(file.metadata.at("fp4.scale_layout") == layout);
  }
}

TEST_CASE("a file says how it was made and keeps what was not quantized", "[examples]") {
  contents const file = written({"--scaling", "four_over_six", "--stochastic", "9"});
  entry const& index = file.tensors.at("index");
  CHECK(index.dtype == "I64");
  CHECK(index.shape == std::vector<std::int64_t>{2});
  CHECK(index.bytes == std::vector<std::uint8_t>{7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0});
  CHECK(file.metadata.at("format") == "pt");  // from the input
  CHECK(file.metadata.at("fp4.format") == "nvfp4");
  CHECK(file.metadata.at("fp4.scaling") == "four_over_six");
  CHECK(file.metadata.at("fp4.rounding") == "stochastic, seed 9");
  CHECK(file.metadata.at("fp4.transform") == "none");
  CHECK(nlohmann::json::parse(file.metadata.at("fp4.shapes")) ==
        nlohmann::json::parse(R"({"layer.weight": [2, 65, 70]})"));
}

TEST_CASE("a ModelOpt file decodes exactly, stochastic and transformed ones within the last bits", "[examples]") {
  auto const values = weights();
  auto const decode = [](contents const& file, std::int64_t columns) {
    entry const& codes = file.tensors.at("layer.weight");
    entry const& scales = file.tensors.at("layer.weight_scale");
    auto const scale_2 = static_cast<float>(file.tensors.at("layer.weight_scale_2").f32());
    std::vector<double> decoded;
    for (std::int64_t r = 0; r < codes.shape[0]; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        auto const place = static_cast<std::size_t>(r * scales.shape[1] + c / 16);
        float const scale = static_cast<float>(e4m3(scales.bytes[place])) * scale_2;
        decoded.push_back(static_cast<double>(static_cast<float>(code_at(codes, r, c)) * scale));
      }
    }
    return decoded;
  };
  auto const modelopt = fp4::quantize<fp4::nvfp4>(view(values), fp4::modelopt());
  check_same_values(decode(written({"--scaling", "modelopt"}), cols), fp4::dequantize<float>(modelopt), 0);
  auto const stochastic = fp4::quantize<fp4::nvfp4>(view(values), fp4::stochastic(5, /*stream=*/1));
  check_same_values(decode(written({"--stochastic", "5"}), cols), fp4::dequantize<float>(stochastic), two_ulp);

  // 70 columns are no multiple of 16, so nothing is transformed, and the tensor is copied.
  contents const skipped = written({"--rht"});
  CHECK(skipped.tensors.at("layer.weight").dtype == "F32");
  CHECK(skipped.tensors.at("layer.weight").shape == std::vector<std::int64_t>{2, 65, 70});
}

TEST_CASE("a transformed file holds the codes of the fused transform", "[examples]") {
  io_test::temp_dir const dir;
  auto values = weights();
  values.resize(100 * 64);
  io::write_safetensors(dir / "in.safetensors", {{"w", "F32", {100, 64}, io::to_bytes(values.data(), values.size())}});
  REQUIRE(
      io_test::run({(dir / "in.safetensors").string(), "--rht", "--output", (dir / "out.safetensors").string()}).code ==
      0);
  contents const file = read(dir / "out.safetensors");
  auto const q = fp4::quantize<fp4::nvfp4>(view(values, 64), fp4::hadamard<16>());
  CHECK(file.tensors.at("w").bytes == q.codes());
  CHECK(file.tensors.at("w_scale").bytes == q.scales());
  CHECK(file.tensors.at("w_scale_2").f32() == static_cast<double>(q.tensor_scale().decode()));
  CHECK(file.metadata.at("fp4.transform") == "hadamard 16, signs 0xd7e8");
}

TEST_CASE("MX and FP8 files decode exactly", "[examples]") {
  auto const values = weights();
  std::vector<double> decoded;
  SECTION("MXFP4") {
    contents const file = written({"--format", "mxfp4"});
    entry const& scales = file.tensors.at("layer.weight_scale");
    CHECK(scales.dtype == "U8");
    CHECK(file.tensors.count("layer.weight_scale_2") == 0);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        decoded.push_back(code_at(file.tensors.at("layer.weight"), r, c) *
                          e8m0(scales.bytes[static_cast<std::size_t>(r * 3 + c / 32)]));
      }
    }
    check_same_values(decoded, fp4::dequantize<float>(fp4::quantize<fp4::mxfp4>(view(values))), 0);
  }
  SECTION("MXFP8") {
    contents const file = written({"--format", "mxfp8_e4m3"});
    entry const& codes = file.tensors.at("layer.weight");
    CHECK(codes.dtype == "F8_E4M3");
    CHECK(codes.shape == std::vector<std::int64_t>{rows, 96});
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        decoded.push_back(code_at(codes, r, c) *
                          e8m0(file.tensors.at("layer.weight_scale").bytes[static_cast<std::size_t>(r * 3 + c / 32)]));
      }
    }
    check_same_values(decoded, fp4::dequantize<float>(fp4::quantize<fp4::mxfp8_e4m3>(view(values), fp4::mx_ceil())), 0);
  }
  SECTION("FP8") {
    contents const file = written({"--format", "fp8_e4m3"});
    auto const scale = static_cast<float>(file.tensors.at("layer.weight_scale").f32());
    CHECK(file.tensors.at("layer.weight").shape == std::vector<std::int64_t>{rows, cols});
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        decoded.push_back(
            static_cast<double>(static_cast<float>(code_at(file.tensors.at("layer.weight"), r, c)) * scale));
      }
    }
    check_same_values(decoded, fp4::dequantize<float>(fp4::quantize<fp4::fp8_e4m3>(view(values))), 0);
  }
}
