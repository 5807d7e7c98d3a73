// SPDX-License-Identifier: Apache-2.0
// Reads .npy files as NumPy writes them, and refuses each kind of broken one with its own sentence.

#include "../../examples/io/npy.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "io_files.hpp"

namespace {

using io_test::half_bits;
using io_test::little_endian;

std::string const good_header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
std::string const six_floats = std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0\x00\x00\x00\x3f\x00\x00\x40\x40", 16) +
                               std::string("\x00\x00\x80\x7f\x00\x00\x00\x80", 8);  // 1 -2 0.5 3 inf -0

std::string npy(std::string const& header, std::string const& data, int major = 1) {
  return std::string("\x93NUMPY") + static_cast<char>(major) + '\0' + little_endian(header.size(), major == 1 ? 2 : 4) +
         header + data;
}

/// The header with one thing replaced; fails when it is not there.
std::string with(std::string const& old_text, std::string const& new_text) {
  std::string header = good_header;
  std::size_t const at = header.find(old_text);
  REQUIRE(at != std::string::npos);
  return header.replace(at, old_text.size(), new_text);
}

void check_all_refused(std::vector<io_test::broken_file> const& files) {
  io_test::check_all_refused("broken.npy", files, [](auto const& path) { return io::open_npy(path); });
}

}  // namespace

TEST_CASE("an .npy file of each version gives its name, shape and elements", "[examples][npy]") {
  io_test::temp_dir const dir;
  for (int const version : {1, 2, 3}) {
    CAPTURE(version);
    auto file = io::open_npy(dir.write("weights.npy", npy(good_header, six_floats, version)));
    REQUIRE(file.tensors.size() == 1);
    io::tensor_info const& tensor = file.tensors[0];
    CHECK(tensor.name == "weights");
    CHECK(tensor.dtype_text == "F32");
    CHECK(tensor.element == io::dtype::f32);
    CHECK(tensor.shape == std::vector<std::int64_t>{2, 3});
    CHECK(tensor.count == 6);
    CHECK(tensor.bytes == 24);
    std::vector<float> const values = file.read<float>(tensor);
    REQUIRE(values.size() == 6);
    CHECK(values[0] == 1.0f);
    CHECK(values[1] == -2.0f);
    CHECK(values[2] == 0.5f);
    CHECK(values[3] == 3.0f);
    CHECK(io::to_bytes(values.data(), values.size()) == file.read<std::byte>(tensor));
  }
}

TEST_CASE("bfloat16 is read as NumPy 2.4 saves the dtype of ml_dtypes 0.6", "[examples][npy]") {
  io_test::temp_dir const dir;
  std::string const header = "{'descr': '<V2', 'fortran_order': False, 'shape': (3,), }";
  std::string const padding(117 - header.size(), ' ');  // to a multiple of 64 with the 10 bytes before it
  std::string const saved = npy(header + padding + '\n', std::string("\x80\x3f\x00\xc0\x00\x3f", 6));
  REQUIRE(saved.size() == 134);
  auto file = io::open_npy(dir.write("b.npy", saved));
  CHECK(file.tensors[0].element == io::dtype::bf16);
  CHECK(file.tensors[0].dtype_text == "BF16");
  auto const values = file.read<half_bits>(file.tensors[0]);
  REQUIRE(values.size() == 3);
  CHECK(values[0].bits == 0x3f80);
  CHECK(values[1].bits == 0xc000);
  CHECK(values[2].bits == 0x3f00);
}

TEST_CASE("every spelling of the header that NumPy accepts is read", "[examples][npy]") {
  io_test::temp_dir const dir;
  struct spelling {
    std::string header;
    io::dtype element;
    std::vector<std::int64_t> shape;
    std::size_t bytes;
  };
  std::vector<spelling> const spellings = {
      {with("(2, 3)", "()"), io::dtype::f32, {}, 4},
      {with("(2, 3)", "(0, 5)"), io::dtype::f32, {0, 5}, 0},
      {with("(2, 3)", "(1, 1, 1, 1, 1, 1, 1, 1, 1, 2)"), io::dtype::f32, {1, 1, 1, 1, 1, 1, 1, 1, 1, 2}, 8},
      {with("(2, 3)", "(2L, 3L)"), io::dtype::f32, {2, 3}, 24},
      {with("<f4", "<f2"), io::dtype::f16, {2, 3}, 12},
      {with("<f4", "|V2"), io::dtype::bf16, {2, 3}, 12},
      {with("<f4", "bfloat16"), io::dtype::bf16, {2, 3}, 12},
      {"\t{ \"shape\":(2,3) ,\n'descr' :\"<f4\",'fortran_order':False}   \n", io::dtype::f32, {2, 3}, 24},
  };
  for (spelling const& s : spellings) {
    CAPTURE(s.header);
    auto file = io::open_npy(dir.write("x.npy", npy(s.header, std::string(s.bytes, '\0'))));
    CHECK(file.tensors[0].element == s.element);
    CHECK(file.tensors[0].shape == s.shape);
    CHECK(file.tensors[0].bytes == s.bytes);
    CHECK(file.read<std::byte>(file.tensors[0]).size() == s.bytes);
  }
}

TEST_CASE("a file that is no .npy file at all is refused", "[examples][npy]") {
  io_test::temp_dir const dir;
  auto const problem = [](std::filesystem::path const& path) {
    return io_test::problem_with(path, [&] { static_cast<void>(io::open_npy(path)); });
  };
  CHECK(problem(dir / "missing.npy") == "does not exist");
  CHECK(problem(dir / "missing" / "x.npy") == "does not exist");
  CHECK(problem(dir / "") == "is a directory, not a file");
  check_all_refused({
      {"", "is empty (0 bytes)"},
      {"\x93NUM", "has 4 bytes, too few for the start of a .npy file"},
      {"PK\x03\x04 a zip file", "is not a .npy file: it does not begin with \"\\x93NUMPY\""},
      {npy(good_header, six_floats, 4), "has .npy version 4.0; 1.0, 2.0 and 3.0 are read"},
      {std::string("\x93NUMPY\x01\x07", 8), "has .npy version 1.7; 1.0, 2.0 and 3.0 are read"},
  });
}

TEST_CASE("a size that the .npy file does not have is refused before it is allocated", "[examples][npy]") {
  std::string const start("\x93NUMPY\x02\x00", 8);
  check_all_refused({
      {start + "\x10", "ends inside the length of its .npy header"},
      {start + little_endian(0xffffffff, 4) + "{}", "claims a .npy header of 4294967295 bytes, but only 2 follow"},
      {start + little_endian(3, 4) + "{}", "claims a .npy header of 3 bytes, but only 2 follow"},
      {npy(good_header, six_floats).substr(0, 40), "claims a .npy header of 59 bytes, but only 30 follow"},
      {npy(good_header, six_floats.substr(1)), "the array of shape [2, 3] takes 24 bytes, but 23 follow the header"},
      {npy(good_header, six_floats + "x"), "the array of shape [2, 3] takes 24 bytes, but 25 follow the header"},
      {npy(with("(2, 3)", "(1099511627776,)"), six_floats),
       "the array of shape [1099511627776] takes 4398046511104 bytes, but 24 follow the header"},
      {npy(with("(2, 3)", "(4294967296, 4294967296)"), six_floats),
       "the array claims shape [4294967296, 4294967296] of F32, which is more than 2^63 - 1 bits"},
      {npy(with("(2, 3)", "(0, 4294967296, 4294967296)"), ""),
       "the array claims shape [0, 4294967296, 4294967296] of F32, which is more than 2^63 - 1 bits"},
      {npy(with("(2, 3)", "(9223372036854775808,)"), six_floats), "the array claims a dimension of more than 2^63 - 1"},
      {npy(with("(2, 3)", "(9223372036854775807,)"), six_floats),
       "the array claims shape [9223372036854775807] of F32, which is more than 2^63 - 1 bits"},
  });
}

TEST_CASE("an array that is not C-order float32, float16 or bfloat16 is refused", "[examples][npy]") {
  std::string const rule = "; '<f4', '<f2' and bfloat16 ('<V2') are read";
  check_all_refused({
      {npy(with("<f4", ">f4"), six_floats), "the array has dtype \">f4\", which is big-endian" + rule},
      {npy(with("<f4", "|O"), six_floats), "the array has dtype \"|O\", Python objects" + rule},
      {npy(with("<f4", "<f8"), six_floats), "the array has dtype \"<f8\", which is not supported" + rule},
      {npy(with("<f4", "<V1"), six_floats), "the array has dtype \"<V1\", which is not supported" + rule},
      {npy(with("<f4", ""), six_floats), "the array has dtype \"\", which is not supported" + rule},
      {npy(with("'<f4'", "[('x', '<f4')]"), six_floats),
       "the array has a structured dtype, and only plain numbers are read"},
      {npy(with("False", "True"), six_floats), "the array is in Fortran order; only C order is read"},
  });
}

TEST_CASE("a .npy header that NumPy would not write is refused", "[examples][npy]") {
  auto const found = [](std::string const& text, int at, std::string const& wanted) {
    return "the .npy header has \"" + text + "\" at its byte " + std::to_string(at) + ", where NumPy writes " + wanted;
  };
  check_all_refused({
      {npy("garbage", six_floats), found("garbage", 0, "'{'")},
      {npy("", six_floats), found("", 0, "'{'")},
      {npy("{}", six_floats), "the .npy header lacks the key \"descr\""},
      {npy("{'descr': '<f4'}", six_floats), "the .npy header lacks the key \"fortran_order\""},
      {npy("{'descr': '<f4', 'fortran_order': False}", six_floats), "the .npy header lacks the key \"shape\""},
      {npy(with("}", ""), six_floats), found("", 58, "a string")},
      {npy(good_header + "x", six_floats), found("x", 59, "the end of the header")},
      {npy(good_header + std::string(1, '\0'), six_floats), found("\\x00", 59, "the end of the header")},
      {npy(with("descr", "dscr"), six_floats), "the .npy header has the unknown key \"dscr\""},
      {npy(with("'fortran_order': False", "'descr': '<f2'"), six_floats),
       "the .npy header has the key \"descr\" twice"},
      {npy(with("False", "0"), six_floats), found("0, 'shape': (2, 3), }", 34, "True or False")},
      {npy(with("(2, 3)", "[2, 3]"), six_floats), found("[2, 3], }", 50, "'('")},
      {npy(with("(2, 3)", "(2, -3)"), six_floats), found("-3), }", 54, "a dimension (a whole number, not negative)")},
      {npy(with("(2, 3)", "(2, 3.5)"), six_floats), found(".5), }", 55, "','")},
      {npy(with("(2, 3)", "(2, 3"), six_floats), found("}", 57, "a dimension (a whole number, not negative)")},
      {npy(with("'<f4'", "4"), six_floats), found("4, 'fortran_order': False, 'shape': (2, 3), }", 10, "a string")},
      {npy("{'descr", six_floats), found("'descr", 1, "a string that ends")},
      {npy(std::string(60000, '('), six_floats), found(std::string(60, '(') + "...", 0, "'{'")},
      {npy("\x1b[2J", six_floats), found("\\x1b[2J", 0, "'{'")},  // nothing reaches the terminal as a command
  });
}

TEST_CASE("a .npy file that shrinks after it was opened is reported when it is read", "[examples][npy]") {
  io_test::temp_dir const dir;
  std::string const contents = npy(good_header, six_floats);
  auto const path = dir.write("x.npy", contents);
  auto file = io::open_npy(path);
  std::filesystem::resize_file(path, contents.size() - 1);
  CHECK(io_test::problem_with(path, [&] { static_cast<void>(file.read<float>(file.tensors[0])); }) ==
        "ended or failed while 24 bytes were read at byte 69");
  CHECK_THROWS_AS(file.read<double>(file.tensors[0]), std::invalid_argument);
}

TEST_CASE("a mutated .npy file loads or throws file_error, and nothing else", "[examples][npy][fuzz]") {
  io_test::temp_dir const dir;
  std::mt19937 random(20240704);
  int loaded = 0;
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    auto const path = dir.write("x.npy", io_test::mutated(npy(good_header, six_floats, 1 + round % 3), random));
    std::string const problem = io_test::problem_with(path, [&] {
      auto file = io::open_npy(path);
      CHECK(file.read<std::byte>(file.tensors[0]).size() == file.tensors[0].bytes);
      CHECK(file.tensors[0].offset + file.tensors[0].bytes == file.file.size());
    });
    ++(problem.empty() ? loaded : refused);
    REQUIRE(problem.find('\n') == std::string::npos);
  }
  CHECK(loaded > 100);
  CHECK(refused > 1000);
}
