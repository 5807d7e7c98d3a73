// SPDX-License-Identifier: Apache-2.0
// Opens .safetensors files as Hugging Face's library writes them, and refuses each kind of broken one with
// its own sentence.

#include "../../examples/io/safetensors.hpp"

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../examples/io/open.hpp"
#include "catch.hpp"
#include "io_files.hpp"

namespace {

using io_test::half_bits;
using io_test::little_endian;

std::string safetensors(std::string const& header, std::string const& data) {
  return little_endian(header.size(), 8) + header + data;
}

/// A header with one tensor "a".
std::string one(std::string const& dtype, std::string const& shape, std::string const& offsets) {
  return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

/// A header with byte tensors "a" and "b".
std::string two(std::string const& a_shape, std::string const& a_offsets, std::string const& b_shape,
                std::string const& b_offsets) {
  return R"({"b":{"dtype":"U8","shape":)" + b_shape + R"(,"data_offsets":)" + b_offsets +
         R"(},"a":{"dtype":"U8","shape":)" + a_shape + R"(,"data_offsets":)" + a_offsets + "}}";
}

/// What safetensors 0.8.0 for Python saved: w = [[1, -2], [0.5, 3]], h = [1, 2, 3] in bfloat16, i = [7] in
/// int16.
std::string const saved_by_python = safetensors(
    R"({"__metadata__":{"format":"np"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
    R"("h":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]},)"
    R"("i":{"dtype":"I16","shape":[1],"data_offsets":[22,24]}} )",
    std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0\x00\x00\x00\x3f\x00\x00\x40\x40\x80\x3f\x00\x40\x40\x40\x07\x00",
                24));

void check_all_refused(std::vector<io_test::broken_file> const& files) {
  io_test::check_all_refused("broken.safetensors", files, [](auto const& path) { return io::open_safetensors(path); });
}

}  // namespace

TEST_CASE("a .safetensors file gives its tensors in the order of their bytes", "[examples][safetensors]") {
  io_test::temp_dir const dir;
  auto file = io::open_safetensors(dir.write("model.safetensors", saved_by_python));
  CHECK(file.metadata == std::map<std::string, std::string>{{"format", "np"}});
  REQUIRE(file.tensors.size() == 3);

  io::tensor_info const& w = file.tensors[0];
  CHECK(w.name == "w");
  CHECK(w.dtype_text == "F32");
  CHECK(w.element == io::dtype::f32);
  CHECK(w.shape == std::vector<std::int64_t>{2, 2});
  CHECK(w.count == 4);
  CHECK(w.offset == 208);
  CHECK(w.bytes == 16);
  CHECK(file.read<float>(w) == std::vector<float>{1.0f, -2.0f, 0.5f, 3.0f});

  io::tensor_info const& h = file.tensors[1];
  CHECK(h.name == "h");
  CHECK(h.element == io::dtype::bf16);
  auto const bits = file.read<half_bits>(h);
  REQUIRE(bits.size() == 3);
  CHECK(bits[0].bits == 0x3f80);
  CHECK(bits[2].bits == 0x4040);

  io::tensor_info const& i = file.tensors[2];
  CHECK(i.dtype_text == "I16");
  CHECK(i.element == io::dtype::other);  // listed, to be skipped
  CHECK(file.read<std::byte>(i) == std::vector<std::byte>{std::byte{7}, std::byte{0}});
}

TEST_CASE("a file is opened by its name", "[examples][safetensors]") {
  io_test::temp_dir const dir;
  CHECK(io::open_tensors(dir.write("a.safetensors", saved_by_python)).tensors.size() == 3);
  auto const npy = dir.write("a.npy", saved_by_python);
  CHECK(io_test::problem_with(npy, [&] { static_cast<void>(io::open_tensors(npy)); }) ==
        "is not a .npy file: it does not begin with \"\\x93NUMPY\"");
  auto const bin = dir.write("a.bin", saved_by_python);
  CHECK(io_test::problem_with(bin, [&] { static_cast<void>(io::open_tensors(bin)); }) ==
        "has a name that ends neither in .npy nor in .safetensors");
}

TEST_CASE("what the format allows is read", "[examples][safetensors]") {
  io_test::temp_dir const dir;
  std::vector<std::string> const files = {
      safetensors("{}", ""),
      safetensors("  {}  ", ""),
      safetensors(R"({"__metadata__":{}})", ""),
      safetensors(one(R"("F16")", "[]", "[0,2]"), "xx"),
      safetensors(one(R"("F4")", "[3,2]", "[0,3]"), "xxx"),
      safetensors(one(R"("F32")", "[1099511627776,0]", "[0,0]"), ""),
      safetensors(two("[0]", "[4,4]", "[4]", "[0,4]"), "1234"),
      safetensors(two("[4]", "[4,8]", "[4]", "[0,4]"), "12345678"),
      safetensors(R"({"a":{"later":{"x":[1]},"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x"),
  };
  for (std::string const& contents : files) {
    auto const path = dir.write("x.safetensors", contents);
    std::string const problem = io_test::problem_with(path, [&] { static_cast<void>(io::open_safetensors(path)); });
    CAPTURE(contents, problem);
    CHECK(problem.empty());
  }
}

TEST_CASE("a header that the .safetensors file does not have is refused before it is allocated",
          "[examples][safetensors]") {
  io_test::temp_dir const dir;
  auto const missing = dir / "missing.safetensors";
  CHECK(io_test::problem_with(missing, [&] { static_cast<void>(io::open_safetensors(missing)); }) == "does not exist");
  check_all_refused({
      {"", "is empty (0 bytes)"},
      {"1234567", "has 7 bytes, but a safetensors file begins with 8 bytes of length"},
      {little_endian(3, 8) + "{}", "claims a header of 3 bytes, but only 2 follow"},
      {little_endian(std::uint64_t{1} << 60, 8) + "{}",
       "claims a header of 1152921504606846976 bytes, but only 2 follow"},
      {little_endian(~std::uint64_t{0}, 8) + "{}", "claims a header of 18446744073709551615 bytes, but only 2 follow"},
      {saved_by_python.substr(0, 100), "claims a header of 200 bytes, but only 92 follow"},
  });

  auto const long_header = dir.write("long.safetensors", little_endian(100000001, 8));
  std::filesystem::resize_file(long_header, 100000100);  // a hole: takes no room on the disk
  CHECK(io_test::problem_with(long_header, [&] { static_cast<void>(io::open_safetensors(long_header)); }) ==
        "claims a header of 100000001 bytes; at most 100000000 are read");
}

TEST_CASE("a header that is no JSON object is refused", "[examples][safetensors]") {
  check_all_refused({
      {safetensors("", ""), "the header of 0 bytes ends before its JSON does"},
      {safetensors("{\"a\":", ""), "the header of 5 bytes ends before its JSON does"},
      {safetensors("{\"a", ""), "the header of 3 bytes ends before its JSON does"},
      {safetensors("garbage", ""), "the header of 7 bytes is not valid JSON at its byte 0"},
      {safetensors("{} x", ""), "the header of 4 bytes is not valid JSON at its byte 3"},
      {safetensors(std::string("{}\0x", 4), ""), "the header of 4 bytes is not valid JSON at its byte 2"},
      {safetensors("{\"\xff\":0}", ""), "the header of 7 bytes is not valid JSON at its byte 2"},  // not UTF-8
      {safetensors(one(R"("F32")", "[1e999]", "[0,4]"), "1234"), "the JSON header holds a number that is out of range"},
      {safetensors("[]", ""), "the JSON header must be an object, but is an array"},
      {safetensors("3", ""), "the JSON header must be an object, but is 3"},
      {safetensors("null", ""), "the JSON header must be an object, but is null"},
      {safetensors(std::string(1000000, '['), ""), "the JSON header is nested more than 32 levels deep"},
      {safetensors("{\"a\":" + std::string(1000000, '[') + std::string(1000000, ']') + "}", ""),
       "the JSON header is nested more than 32 levels deep"},
      {safetensors(R"({"__metadata__":{},"__metadata__":{}})", ""),
       "the JSON header has the key \"__metadata__\" twice"},
      {safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                   R"("\u0061":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                   "12"),
       "the JSON header has the key \"a\" twice"},
      {safetensors(R"({"a":{"dtype":"U8","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "1234"),
       "the JSON header has the key \"dtype\" twice"},
      {safetensors(R"({"__metadata__":{"k":3}})", ""),
       "\"__metadata__\" must map strings to strings, but maps \"k\" to 3"},
      {safetensors(R"({"__metadata__":{"k":{}}})", ""),
       "\"__metadata__\" must map strings to strings, but maps \"k\" to an object"},
      {safetensors(R"({"__metadata__":"x"})", ""), "\"__metadata__\" must map strings to strings, but is \"x\""},
      {safetensors(R"({"__metadata__":["x"]})", ""), "\"__metadata__\" must map strings to strings, but is an array"},
      {safetensors(R"({"__metadata__":[]})", ""), "\"__metadata__\" must map strings to strings, but is an array"},
      {safetensors(R"({"__metadata__":null})", ""), "\"__metadata__\" must map strings to strings, but is null"},
  });
}

TEST_CASE("an entry that does not describe a tensor is refused", "[examples][safetensors]") {
  std::string const whole = R"( must be an array of whole numbers from 0 to 2^63 - 1, but )";
  std::string const shape = R"(tensor "a": "shape")" + whole;
  std::string const offsets = R"(tensor "a": "data_offsets")" + whole;
  auto const of_shape = [](std::string const& s) { return safetensors(one(R"("F32")", s, "[0,4]"), "1234"); };
  auto const of_offsets = [](std::string const& s) { return safetensors(one(R"("F32")", "[1]", s), "1234"); };
  check_all_refused({
      {safetensors(R"({"a":3})", ""), R"(tensor "a" must be a JSON object, but is 3)"},
      {safetensors(R"({"a":[]})", ""), R"(tensor "a" must be a JSON object, but is an array)"},
      {safetensors(R"({"a\n\u001b[2J":3})", ""), R"(tensor "a\x0a\x1b[2J" must be a JSON object, but is 3)"},
      {safetensors("{\"" + std::string(1000, 'n') + "\":3}", ""),
       "tensor \"" + std::string(60, 'n') + "...\" must be a JSON object, but is 3"},

      {safetensors(R"({"a":{}})", ""), R"(tensor "a" has no "dtype")"},
      {safetensors(one("5", "[1]", "[0,4]"), "1234"), R"(tensor "a": "dtype" must be a string, but is 5)"},
      {safetensors(one(R"("F33")", "[1]", "[0,4]"), "1234"), R"(tensor "a" has the unknown dtype "F33")"},
      {safetensors(one(R"("f32")", "[1]", "[0,4]"), "1234"), R"(tensor "a" has the unknown dtype "f32")"},

      {safetensors(R"({"a":{"dtype":"U8"}})", ""), shape + "is missing"},
      {of_shape("4"), shape + "is 4"},
      {of_shape(R"("1")"), shape + R"(is "1")"},
      {of_shape("{}"), shape + "is an object"},
      {of_shape("[-1]"), shape + "holds -1"},
      {of_shape("[1.0]"), shape + "holds 1.0"},
      {of_shape(R"(["1"])"), shape + R"(holds "1")"},
      {of_shape("[[1]]"), shape + "holds an array"},
      {of_shape("[true]"), shape + "holds true"},
      {of_shape("[9223372036854775808]"), shape + "holds 9223372036854775808"},
      {of_shape("[18446744073709551617]"), shape + "holds 1.8446744073709552e+19"},

      {safetensors(R"({"a":{"dtype":"U8","shape":[]}})", ""), offsets + "is missing"},
      {of_offsets("4"), offsets + "is 4"},
      {of_offsets("[0,-4]"), offsets + "holds -4"},
      {of_offsets("[0,4.0]"), offsets + "holds 4.0"},
      {of_offsets("[0]"), R"(tensor "a": "data_offsets" must hold 2 numbers, but holds 1)"},
      {of_offsets("[0,2,4]"), R"(tensor "a": "data_offsets" must hold 2 numbers, but holds 3)"},
  });
}

TEST_CASE("offsets that do not fit the shape, the file or each other are refused", "[examples][safetensors]") {
  auto const f32 = [](std::string const& shape, std::string const& offsets, std::string const& data) {
    return safetensors(one(R"("F32")", shape, offsets), data);
  };
  check_all_refused({
      {f32("[1]", "[4,0]", "1234"), R"(tensor "a" has data_offsets [4, 0], which end before they begin)"},
      {f32("[1]", "[1,5]", "1234"), R"(tensor "a" has data_offsets [1, 5], but the file holds 4 bytes of data)"},
      {f32("[1]", "[9223372036854775803,9223372036854775807]", "1234"),
       R"(tensor "a" has data_offsets [9223372036854775803, 9223372036854775807], )"
       R"(but the file holds 4 bytes of data)"},
      {f32("[2,3]", "[0,20]", std::string(20, 'x')),
       R"(tensor "a" has data_offsets [0, 20], 20 bytes, but shape [2, 3] of F32 takes 24)"},
      {f32("[]", "[0,0]", ""), R"(tensor "a" has data_offsets [0, 0], 0 bytes, but shape [] of F32 takes 4)"},
      {f32("[1048576,1048576]", "[0,4]", "1234"), R"(tensor "a" has data_offsets [0, 4], 4 bytes, )"
                                                  R"(but shape [1048576, 1048576] of F32 takes 4398046511104)"},
      {f32("[4294967296,4294967296]", "[0,0]", ""),  // 2^64 elements: 0 when the product wraps
       R"(tensor "a" claims shape [4294967296, 4294967296] of F32, which is more than 2^63 - 1 bits)"},
      {f32("[0,4294967296,4294967296]", "[0,0]", ""),
       R"(tensor "a" claims shape [0, 4294967296, 4294967296] of F32, which is more than 2^63 - 1 bits)"},
      {f32("[1,1,1,1,1,1,1,1,9223372036854775807]", "[0,0]", ""),
       R"(tensor "a" claims shape [1, 1, 1, 1, 1, 1, 1, 1, ...] of F32, which is more than 2^63 - 1 bits)"},
      {safetensors(one(R"("F4")", "[3]", "[0,1]"), "x"),
       R"(tensor "a" claims shape [3] of F4, which is not a whole number of bytes)"},

      {safetensors(two("[4]", "[0,4]", "[4]", "[2,6]"), "123456"),
       R"(tensors "a" and "b" overlap at byte 2 of the data)"},
      {safetensors(two("[4]", "[0,4]", "[4]", "[0,4]"), "1234"),
       R"(tensors "a" and "b" overlap at byte 0 of the data)"},
      {safetensors(two("[8]", "[0,8]", "[0]", "[4,4]"), "12345678"),
       R"(tensors "a" and "b" overlap at byte 4 of the data)"},
      {safetensors(two("[2]", "[0,2]", "[2]", "[4,6]"), "123456"),
       "bytes 2 to 4 of the data belong to no tensor, and safetensors allows no gap"},
      {f32("[1]", "[4,8]", "12345678"), "bytes 0 to 4 of the data belong to no tensor, and safetensors allows no gap"},
      {f32("[1]", "[0,4]", "12345"), "bytes 4 to 5 of the data belong to no tensor, and safetensors allows no gap"},
      {safetensors("{}", "x"), "bytes 0 to 1 of the data belong to no tensor, and safetensors allows no gap"},
  });
}

TEST_CASE("a tensor is read only when asked for, and only as what it is", "[examples][safetensors]") {
  io_test::temp_dir const dir;
  auto const path = dir.write("x.safetensors", saved_by_python);
  auto file = io::open_safetensors(path);
  std::filesystem::resize_file(path, saved_by_python.size() - 1);
  CHECK(file.read<float>(file.tensors[0]).size() == 4);
  CHECK(io_test::problem_with(path, [&] { static_cast<void>(file.read<std::byte>(file.tensors[2])); }) ==
        "ended or failed while 2 bytes were read at byte 230");
  CHECK(file.read<half_bits>(file.tensors[1]).size() == 3);  // a failed read leaves the file usable
  CHECK_THROWS_AS(file.read<half_bits>(file.tensors[0]), std::invalid_argument);
  CHECK_THROWS_AS(file.read<float>(file.tensors[1]), std::invalid_argument);
}

TEST_CASE("a mutated .safetensors file loads or throws file_error, and nothing else", "[examples][safetensors][fuzz]") {
  io_test::temp_dir const dir;
  std::mt19937 random(20240705);
  int loaded = 0;
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    auto const path = dir.write("x.safetensors", io_test::mutated(saved_by_python, random));
    std::string const problem = io_test::problem_with(path, [&] {
      auto file = io::open_safetensors(path);
      for (io::tensor_info const& tensor : file.tensors) {
        CHECK(file.read<std::byte>(tensor).size() == tensor.bytes);
        CHECK(tensor.offset + tensor.bytes <= file.file.size());
      }
    });
    ++(problem.empty() ? loaded : refused);
    REQUIRE(problem.find('\n') == std::string::npos);
  }
  CHECK(loaded > 100);
  CHECK(refused > 1000);
}
