// SPDX-License-Identifier: Apache-2.0
// The first program that anybody runs: it prints a row a format, and one sentence about a file that it cannot
// read.

#include <cmath>
#include <fp4/fp4.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "programs.hpp"

namespace {

std::string numbers(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(std::sin(static_cast<float>(i * i)) * (i % 7 == 0 ? 9.0f : 1.0f));
  }
  return io_test::float_bytes(values);
}

char const* const formats[] = {
    "NVFP4 ", "NVFP4 four_over_six ", "NVFP4 search ",       "NVFP4 stochastic ", "NVFP4 Hadamard 16 ",
    "MXFP4 ", "MXFP8 E4M3 ",          "FP8 E4M3 per tensor "};

}  // namespace

TEST_CASE("quickstart compares the formats on a .npy file", "[examples]") {
  io_test::temp_dir const dir;
  auto const path = dir.write("x.npy", io_test::npy("<f4", "(3, 100, 1024)", numbers(300 * 1024)));
  io_test::ending const ended = io_test::run({path.string()});
  CHECK(ended.code == 0);
  CHECK(ended.err.empty());
  CHECK(ended.out.find("300 x 1024 float32, 1.2 MB (" + path.string() + ")\n") == 0);
  CHECK(ended.out.find("processor path: ") != std::string::npos);
  for (std::string const format : formats) {
    CAPTURE(format, ended.out);
    auto const cells = io_test::words_of_line(ended.out, format);
    REQUIRE(cells.size() == 10);  // the share has a word for its %
    double const bits = std::stod(cells[0]), sqnr = std::stod(cells[1]), relative = std::stod(cells[2]);
    CHECK((bits >= 4.25 && bits <= 8.25));
    CHECK((sqnr > 14 && sqnr < 40));
    CHECK(std::fabs(relative - std::pow(10.0, -sqnr / 20)) < 1.6e-4);
    CHECK(cells[5] == "0");
    CHECK(std::stod(cells[6]) >= 0);
    CHECK(std::stod(cells[7]) >= 0);
    CHECK(cells[8] == "%");
    CHECK(std::stod(cells[9]) >= 0);
  }
}

TEST_CASE("quickstart says what a shape does not allow", "[examples]") {
  io_test::temp_dir const dir;
  auto const path = dir.write("x.npy", io_test::npy("<f4", "(4, 10)", numbers(40)));
  io_test::ending const ended = io_test::run({path.string()});
  CHECK(ended.code == 0);
  CHECK(ended.out.find("NVFP4 Hadamard 16    needs a multiple of 16 columns\n") != std::string::npos);
  CHECK(io_test::words_of_line(ended.out, "MXFP4 ").size() == 9);  // a "-" instead of "n %"
  CHECK(ended.out.find("; the tensor is too small to time\n") != std::string::npos);
}

TEST_CASE("quickstart counts NaN and infinity, in half precision too", "[examples]") {
  io_test::temp_dir const dir;
  std::string data;
  for (int i = 0; i < 32; ++i) {
    data += io_test::little_endian(i == 5 ? 0x7e00u : i == 9 ? 0xfc00u : 0x3c00u + static_cast<unsigned>(i), 2);
  }
  auto const path = dir.write("x.npy", io_test::npy("<f2", "(32,)", data));
  io_test::ending const ended = io_test::run({path.string()});
  CHECK(ended.code == 0);
  CHECK(ended.out.find("1 x 32 float32, 0.0 MB (" + path.string() + ", from F16)\n") == 0);
  for (std::string const format : formats) {
    CAPTURE(format, ended.out);
    auto const cells = io_test::words_of_line(ended.out, format);
    REQUIRE(cells.size() == 9);
    CHECK(cells[5] == "2");
    CHECK(cells[6] == "-");
  }
}

TEST_CASE("quickstart finds nothing exact where there is nothing to compare", "[examples]") {
  io_test::temp_dir const dir;
  for (unsigned const bits : {0x7e00u, 0x7c00u, 0xfc00u}) {  // NaN and the infinities of half precision
    std::string data;
    for (int i = 0; i < 32; ++i) { data += io_test::little_endian(bits, 2); }
    io_test::ending const ended = io_test::run({dir.write("x.npy", io_test::npy("<f2", "(2, 16)", data)).string()});
    CHECK(ended.code == 0);
    for (std::string const format : formats) {
      CAPTURE(format, ended.out);
      auto const cells = io_test::words_of_line(ended.out, format);
      REQUIRE(cells.size() == 9);
      CHECK(cells[1] == "-");
      CHECK(cells[2] == "-");
      CHECK(cells[5] == "32");
    }
  }
}

TEST_CASE("quickstart ends with one sentence where it cannot go on", "[examples]") {
  io_test::temp_dir const dir;
  auto const refused = [](std::vector<std::string> const& words) {
    io_test::ending const ended = io_test::run(words);
    CHECK(ended.code == 1);
    CHECK(ended.out.empty());
    CHECK(io_test::split(ended.err, '\n').size() == 1);
    return ended.err;
  };
  std::string const missing = (dir / "missing.npy").string();
  CHECK(refused({missing}) == "quickstart: " + missing + ": does not exist\n");
  std::string const cut = dir.write("cut.npy", io_test::npy("<f4", "(4, 16)", numbers(63))).string();
  CHECK(refused({cut}) ==
        "quickstart: " + cut + ": the array of shape [4, 16] takes 256 bytes, but 252 follow the header\n");
  std::string const empty = dir.write("empty.npy", io_test::npy("<f4", "(0, 16)", "")).string();
  CHECK(refused({empty}) == "quickstart: " + empty + ": the array of shape [0, 16] is empty\n");
  std::string const usage = "usage: quickstart [FILE.npy]   (float32, float16 or bfloat16)\n";
  CHECK(refused({"--fast"}) == usage);
  CHECK(refused({"a.npy", "b.npy"}) == usage);
  CHECK(io_test::run({"--help"}).out == usage);
}
