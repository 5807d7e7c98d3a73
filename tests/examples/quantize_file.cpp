// SPDX-License-Identifier: Apache-2.0
// The table of quantize_file is right, and whatever it cannot do ends in one sentence and exit code 1.

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fp4/fp4.hpp>
#include <limits>
#include <string>
#include <vector>

#include "../../examples/io/write_safetensors.hpp"
#include "catch.hpp"
#include "programs.hpp"

namespace {

std::vector<float> wave(int count, float amplitude) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) { values.push_back(amplitude * std::sin(static_cast<float>(i * i))); }
  return values;
}

io::named_tensor f32(std::string const& name, std::vector<std::int64_t> shape, std::vector<float> const& values) {
  return {name, "F32", std::move(shape), io::to_bytes(values.data(), values.size())};
}

/// What the program says when it refuses, without its name and the line's end.
std::string refusal(std::vector<std::string> const& words, std::string const& before = "") {
  io_test::ending const ended = io_test::run(words, before);
  CHECK(ended.code == 1);
  auto const lines = io_test::split(ended.err, '\n');
  std::string const start = "quantize_file: ";
  if (lines.size() != 1 || lines[0].compare(0, start.size(), start) != 0) { return "not one sentence: " + ended.err; }
  return lines[0].substr(start.size());
}

/// As above, after the name of the file, which it must begin with.
std::string refusal_of(std::filesystem::path const& path) {
  std::string const said = refusal({path.string()});
  std::string const start = path.string() + ": ";
  return said.compare(0, start.size(), start) == 0 ? said.substr(start.size()) : "the file is not named in: " + said;
}

struct sums {
  double signal = 0, noise = 0;
  void add(std::vector<float> const& values, std::int64_t cols) {
    auto const count = static_cast<std::int64_t>(values.size());
    fp4::matrix_view<float const> const in(values.data(), count / cols, cols);
    auto const back = fp4::dequantize<float>(fp4::quantize<fp4::nvfp4>(in));
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const x = static_cast<double>(values[i]), error = static_cast<double>(back[i]) - x;
      signal += x * x, noise += error * error;
    }
  }
  [[nodiscard]] double sqnr() const { return 10 * std::log10(signal / noise); }
};

}  // namespace

TEST_CASE("the table has a row a tensor, the reason for each that is skipped, and a total", "[examples]") {
  io_test::temp_dir const dir;
  auto const small = wave(6 * 32, 1.0f), large = wave(160, 100.0f);
  std::vector<std::int64_t> const integers = {1, 2, 3};
  std::vector<std::uint16_t> const halves(48, 0x3c00);
  io::write_safetensors(dir / "x.safetensors", {f32("small", {2, 3, 32}, small),
                                                f32("large", {160}, large),
                                                f32("nothing", {0, 16}, {}),
                                                f32("one", {}, {2.5f}),
                                                {"half", "F16", {3, 16}, io::to_bytes(halves.data(), 48)},
                                                {"index", "I64", {3}, io::to_bytes(integers.data(), 3)}});
  std::string const path = (dir / "x.safetensors").string();
  io_test::ending const ended = io_test::run({path, "--no-speed"});
  INFO(ended.out);
  CHECK(ended.code == 0);
  CHECK(ended.err.empty());
  auto const row = [&](std::string const& start) { return io_test::words_of_line(ended.out, start); };

  sums of_small, of_large, of_all;
  of_small.add(small, 32);
  of_large.add(large, 160);
  of_all.add(small, 32);
  of_all.add(large, 160);
  of_all.signal += 48 + 2.5 * 2.5;  // "half" and "one" come back exactly
  auto const check_row = [&](std::vector<std::string> const& cells, std::size_t first, double sqnr) {
    REQUIRE(cells.size() == first + 6);
    CHECK(cells[first] == "4.50");
    CHECK(std::fabs(std::stod(cells[first + 1]) - sqnr) < 0.006);
    CHECK(std::fabs(std::stod(cells[first + 2]) - std::pow(10.0, -sqnr / 20)) < 6e-5);
    CHECK(cells[first + 5] == "0");
  };
  check_row(row("small"), 4, of_small.sqnr());  // the shape [2, 3, 32] is three words
  check_row(row("large"), 2, of_large.sqnr());
  REQUIRE(row("total").size() == 6);
  CHECK(std::fabs(std::stod(row("total")[1]) - of_all.sqnr()) < 0.006);
  CHECK(row("one") == std::vector<std::string>{"[]", "F32", "72.00", "exact", "0", "0", "0", "0"});
  CHECK(row("half")[3] == "4.50");
  CHECK(row("half")[4] == "exact");
  CHECK(ended.out.find("nothing  skipped: it has no values\n") != std::string::npos);
  CHECK(ended.out.find("index    skipped: I64 is not quantized\n") != std::string::npos);
  CHECK(io_test::run({path, "--no-speed"}).out == ended.out);

  io_test::ending const with_speed = io_test::run({path});
  CHECK(with_speed.code == 0);
  CHECK(io_test::words_of_line(with_speed.out, "total").size() == 8);
  io_test::ending const transformed = io_test::run({path, "--rht"});
  CHECK(transformed.code == 0);
  CHECK(transformed.out.find("one      skipped: --rht needs a multiple of 16 columns\n") != std::string::npos);
}

TEST_CASE("where no value can be compared, there is no error to print", "[examples]") {
  io_test::temp_dir const dir;
  std::vector<float> const nan(32, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> infinite(32, std::numeric_limits<float>::infinity());
  infinite[1] = -infinite[1];
  io::write_safetensors(dir / "x.safetensors", {f32("nan", {2, 16}, nan), f32("infinite", {2, 16}, infinite)});
  io_test::ending const none = io_test::run({(dir / "x.safetensors").string(), "--no-speed"});
  INFO(none.out);
  for (std::string const row : {"nan ", "infinite ", "total "}) {
    CAPTURE(row);
    auto cells = io_test::words_of_line(none.out, row);
    REQUIRE(cells.size() >= 6);
    cells.erase(cells.begin(), cells.end() - 6);
    CHECK(cells[1] == "-");
    CHECK(cells[2] == "-");
    CHECK(cells[5] == (row == "total " ? "64" : "32"));
  }
  io::write_safetensors(dir / "x.safetensors", {f32("nan", {2, 16}, nan), f32("zero", {16}, std::vector<float>(16))});
  io_test::ending const zero = io_test::run({(dir / "x.safetensors").string(), "--no-speed"});
  CHECK(io_test::words_of_line(zero.out, "total ")[1] == "exact");  // the zeros were
}

TEST_CASE("a .npy file is one tensor", "[examples]") {
  io_test::temp_dir const dir;
  auto values = wave(64, 1.0f);
  values[3] = std::numeric_limits<float>::quiet_NaN();
  values[4] = std::numeric_limits<float>::infinity();
  auto const path = dir.write("my weights.npy", io_test::npy("<f4", "(2, 32)", io_test::float_bytes(values)));
  io_test::ending const ended = io_test::run({path.string(), "--no-speed", "--format", "mxfp4"});
  auto const cells = io_test::words_of_line(ended.out, "my weights");
  REQUIRE(cells.size() == 9);
  CHECK(cells[3] == "4.25");
  CHECK(cells.back() == "2");
}

TEST_CASE("a file that is no tensor file ends in one sentence", "[examples]") {
  io_test::temp_dir const dir;
  auto const safetensors = [&](std::string const& header, std::string const& data) {
    return dir.write("x.safetensors", io_test::little_endian(header.size(), 8) + header + data);
  };
  std::string const four(4 * 4, '\0');
  CHECK(refusal_of(dir / "missing.npy") == "does not exist");
  CHECK(refusal_of(dir.write("x.bin", "hello")) == "has a name that ends neither in .npy nor in .safetensors");
  CHECK(refusal_of(dir.write("x.npy", io_test::npy("<f4", "(4,)", four.substr(1)))) ==
        "the array of shape [4] takes 16 bytes, but 15 follow the header");
  CHECK(refusal_of(dir.write("x.npy", io_test::npy("<i4", "(4,)", four))).find("the array has dtype \"<i4\"") == 0);
  CHECK(refusal_of(dir.write("x.npy", io_test::npy("<f4", "(1048576, 1048576)", four))) ==
        "the array of shape [1048576, 1048576] takes 4398046511104 bytes, but 16 follow the header");
  CHECK(refusal_of(dir.write("x.safetensors", io_test::little_endian(1000, 8) + "{}")) ==
        "claims a header of 1000 bytes, but only 2 follow");
  CHECK(refusal_of(safetensors(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,32]}})", four)) ==
        "tensor \"a\" has data_offsets [0, 32], but the file holds 16 bytes of data");
  CHECK(refusal_of(safetensors(R"({"a":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,16]}})", four)) ==
        "tensor \"a\" has data_offsets [0, 16], 16 bytes, but shape [1099511627776] of F32 takes "
        "4398046511104");
  CHECK(refusal_of(safetensors(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", four.substr(1))) ==
        "tensor \"a\" has data_offsets [0, 16], but the file holds 15 bytes of data");
  CHECK(refusal_of(safetensors("{", "")) == "the header of 1 bytes ends before its JSON does");
}

TEST_CASE("a command line that is not in the help ends in one sentence", "[examples]") {
  CHECK(refusal({}) == "no file was named; --help says how");
  CHECK(refusal({"a.npy", "--fast"}) == "unknown option \"--fast\"; --help lists those that there are");
  CHECK(refusal({"a.npy", "b.npy"}) == "takes one file, not \"b.npy\" as well");
  CHECK(refusal({"a.npy", "--format"}) == "--format needs a value; --help says which");
  CHECK(refusal({"a.npy", "--format", "int4"}) == "there is no format \"int4\" here; --help lists them");
  CHECK(refusal({"a.npy", "--scaling", "mx_floor"}) ==
        "there is no format \"nvfp4\" with the scaling \"mx_floor\" here; --help lists them");
  CHECK(refusal({"a.npy", "--layout", "4x4"}) == "--layout is linear, 128x4 or 8x4, not \"4x4\"");
  for (std::string const seed : {"", "-1", "1.5", "0x10", "18446744073709551616", " 1"}) {
    CHECK(refusal({"a.npy", "--stochastic", seed}) ==
          "--stochastic needs a whole number from 0 to 2^64 - 1, not \"" + seed + "\"");
  }
  CHECK(refusal({"a.npy", "--format", "fp8_e4m3", "--stochastic", "1"}) ==
        "stochastic rounding is for 4-bit formats, and fp8_e4m3 is none");
  io_test::ending const help = io_test::run({"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("usage: quantize_file INPUT [option...]\n") == 0);
  CHECK(help.out.find("  nvfp4        four_over_six\n") != std::string::npos);
}

TEST_CASE("a file that cannot or must not be written ends in one sentence, and there is no half of it", "[examples]") {
  io_test::temp_dir const dir;
  auto const finite = wave(32, 1.0f);
  auto infinite = finite;
  infinite[7] = -std::numeric_limits<float>::infinity();
  std::string const good = (dir / "good.safetensors").string(), bad = (dir / "bad.safetensors").string();
  io::write_safetensors(good, {f32("a", {2, 16}, finite)});
  io::write_safetensors(bad, {f32("a", {2, 16}, finite), f32("b", {2, 16}, infinite)});
  std::string const before = io_test::contents_of(good);

  std::filesystem::create_symlink(good, dir / "link.safetensors");
  CHECK(refusal({good, "--output", (dir / "link.safetensors").string()}) ==
        (dir / "link.safetensors").string() + ": is the input, which is not written over");
  CHECK(io_test::contents_of(good) == before);
  CHECK(refusal({good, "--output", (dir / "no").string() + "/x.safetensors"}) ==
        (dir / "no").string() + ": is no folder to write to");
  CHECK(refusal({good, "--output", (dir / "x.npy").string()}) ==
        (dir / "x.npy").string() + ": has a name that does not end in .safetensors, which is what is written");

  for (std::string const format : {"nvfp4", "mxfp4", "fp8_e4m3"}) {
    CHECK(refusal({bad, "--format", format, "--output", (dir / "x.safetensors").string()}) ==
          bad + ": tensor \"b\" has an infinite magnitude, so no scale fits it; nothing was saved");
    CHECK(io_test::run({bad, "--format", format}).code == 0);
  }
  std::string const large = (dir / "large.safetensors").string();
  io::write_safetensors(large, {f32("a", {64, 64}, wave(64 * 64, 1.0f))});
  std::string const limited = refusal({large, "--output", (dir / "x.safetensors").string()}, "ulimit -f 1;");
  CHECK(limited == (dir / "x.safetensors").string() + ": cannot be written (File too large)");
  int files = 0;
  for (auto const& entry : std::filesystem::directory_iterator(std::filesystem::path(good).parent_path())) {
    static_cast<void>(entry);
    ++files;
  }
  CHECK(files == 4);
}

TEST_CASE("two tensors that would be written under one name are refused before any is quantized", "[examples]") {
  io_test::temp_dir const dir;
  auto const values = wave(32, 1.0f);
  auto const in = dir / "in.safetensors";
  std::string const out = (dir / "out.safetensors").string();
  auto const check_refused = [&](std::vector<std::string> words, std::string const& tensors, std::string const& name) {
    words.insert(words.begin(), {in.string(), "--output", out});
    CHECK(refusal(words) == in.string() + ": tensors " + tensors + " would both be written as " + name);
    CHECK(io_test::run(words).out.empty());
    CHECK_FALSE(std::filesystem::exists(out));
  };
  io::write_safetensors(in, {f32("w", {2, 16}, values), f32("w_scale", {2, 16}, values)});
  for (std::string const format : {"nvfp4", "mxfp4", "fp8_e4m3"}) {
    check_refused({"--format", format}, R"("w" and "w_scale")", R"("w_scale")");
  }
  CHECK(io_test::run({in.string()}).code == 0);

  std::vector<std::int64_t> const integers = {1, 2};  // copied under its own name
  io::write_safetensors(in, {{"w_scale_2", "I64", {2}, io::to_bytes(integers.data(), 2)}, f32("w", {2, 16}, values)});
  check_refused({}, R"("w_scale_2" and "w")", R"("w_scale_2")");
  CHECK(io_test::run({in.string(), "--format", "mxfp4", "--output", out}).code == 0);

  std::filesystem::remove(out);
  io::write_safetensors(in, {f32("w", {2, 15}, {values.begin(), values.begin() + 30}), f32("w_scale", {}, {1.0f})});
  CHECK(io_test::run({in.string(), "--rht", "--output", out}).code == 0);  // all are copied
}
