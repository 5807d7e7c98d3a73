// SPDX-License-Identifier: Apache-2.0
// Writes .safetensors files to the byte, and never leaves half of one behind.

#include "../../examples/io/write_safetensors.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../examples/io/safetensors.hpp"
#include "catch.hpp"
#include "io_files.hpp"

namespace {

io::named_tensor bytes_named(std::string const& name, std::size_t size) {
  return {name, "U8", {static_cast<std::int64_t>(size)}, std::vector<std::byte>(size, std::byte{0x5a})};
}

std::string problem_of_writing(std::filesystem::path const& path, std::vector<io::named_tensor> const& tensors) {
  return io_test::problem_with(path, [&] { io::write_safetensors(path, tensors); });
}

}  // namespace

TEST_CASE("a written file has these bytes on every host", "[examples][safetensors]") {
  io_test::temp_dir const dir;
  float const w[] = {1.0f, -2.0f};
  std::uint16_t const h[] = {0x3c00};
  io::write_safetensors(
      dir / "x.safetensors",
      {bytes_named("codes", 3), {"w", "F32", {1, 2}, io::to_bytes(w, 2)}, {"h", "F16", {}, io::to_bytes(h, 1)}},
      {{"format", "\xc3\xa9"}});
  // The widest elements first; the header padded to a multiple of 8.
  std::string const header = R"({"__metadata__":{"format":")"
                             "\xc3\xa9"
                             R"("},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                             R"("h":{"dtype":"F16","shape":[],"data_offsets":[8,10]},)"
                             R"("codes":{"dtype":"U8","shape":[3],"data_offsets":[10,13]}})";
  std::string const padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  REQUIRE(padded.size() % 8 == 0);
  std::string const data("\x00\x00\x80\x3f\x00\x00\x00\xc0\x00\x3c\x5a\x5a\x5a", 13);
  CHECK(io_test::contents_of(dir / "x.safetensors") == io_test::little_endian(padded.size(), 8) + padded + data);
}

TEST_CASE("what was written is what is read", "[examples][safetensors]") {
  io_test::temp_dir const dir;
  std::vector<io::named_tensor> tensors = {bytes_named("a", 5),
                                           bytes_named("\xe5\xb1\x82.0 \"q\"\n", 8),
                                           {"empty", "F32", {0, 4}, {}},
                                           bytes_named("", 0),
                                           {"half a byte each", "F4", {2, 3}, std::vector<std::byte>(3)}};
  std::map<std::string, std::string> const metadata = {{"k", "v"}, {"", "\\\""}};
  io::write_safetensors(dir / "x.safetensors", tensors, metadata);
  auto file = io::open_safetensors(dir / "x.safetensors");
  CHECK(file.metadata == metadata);
  REQUIRE(file.tensors.size() == tensors.size());
  for (io::named_tensor const& wanted : tensors) {
    CAPTURE(wanted.name);
    int found = 0;
    for (io::tensor_info const& tensor : file.tensors) {
      if (tensor.name != wanted.name) { continue; }
      ++found;
      CHECK(tensor.dtype_text == wanted.dtype_text);
      CHECK(tensor.shape == wanted.shape);
      CHECK(file.read<std::byte>(tensor) == wanted.bytes);
    }
    CHECK(found == 1);
  }
  io::write_safetensors(dir / "x.safetensors", {});
  CHECK(io::open_safetensors(dir / "x.safetensors").tensors.empty());
}

TEST_CASE("a file that is open for reading can be written over", "[examples][safetensors]") {
  io_test::temp_dir const dir;
  auto const path = dir / "x.safetensors";
  io::write_safetensors(path, {bytes_named("old", 100)});
  auto old_file = io::open_safetensors(path);
  io::write_safetensors(path, {bytes_named("new", 3)});
  CHECK(old_file.read<std::byte>(old_file.tensors[0]) == std::vector<std::byte>(100, std::byte{0x5a}));
  CHECK(io::open_safetensors(path).tensors[0].name == "new");
}

TEST_CASE("what the format cannot hold is refused, and the old file stays", "[examples][safetensors]") {
  io_test::temp_dir const dir;
  auto const path = dir.write("x.safetensors", "old");
  CHECK(problem_of_writing(path, {{"a", "U7", {1}, std::vector<std::byte>(1)}}) ==
        R"(tensor "a" has the unknown dtype "U7")");
  CHECK(problem_of_writing(path, {{"a", "F32", {3}, std::vector<std::byte>(8)}}) ==
        R"(tensor "a" has 8 bytes, but shape [3] of F32 takes 12)");
  CHECK(problem_of_writing(path, {{"a", "F32", {-1}, {}}}) ==
        R"(tensor "a" claims shape [-1] of F32, but no dimension may be negative)");
  CHECK(problem_of_writing(path, {{"a", "F4", {3}, std::vector<std::byte>(2)}}) ==
        R"(tensor "a" claims shape [3] of F4, which is not a whole number of bytes)");
  CHECK(problem_of_writing(path, {bytes_named("a", 1), bytes_named("a", 2)}) == R"(cannot hold two entries named "a")");
  CHECK(problem_of_writing(path, {bytes_named("__metadata__", 1)}) ==
        R"(cannot hold two entries named "__metadata__")");
  CHECK(problem_of_writing(path, {bytes_named("\xff", 1)}) == "cannot hold a name or metadata that is not UTF-8");
  CHECK(io_test::contents_of(path) == "old");
}

TEST_CASE("a file that cannot be written leaves nothing behind", "[examples][safetensors]") {
  io_test::temp_dir const dir;
  CHECK(problem_of_writing(dir / "missing" / "x.safetensors", {bytes_named("a", 1)}) ==
        "cannot be written (No such file or directory)");

  std::filesystem::create_directory(dir / "taken");
  auto const inside = dir.write("taken/file", "");  // so that no rename can replace the folder
  CHECK(problem_of_writing(dir / "taken", {bytes_named("a", 1)}).rfind("cannot be written (", 0) == 0);
  CHECK(std::filesystem::exists(inside));
  CHECK_FALSE(std::filesystem::exists(dir / "taken.partial"));
}

TEST_CASE("what has the name of the unfinished file stays as it is", "[examples][safetensors]") {
  io_test::temp_dir const dir;
  auto const path = dir / "x.safetensors";
  auto const in_the_way = dir / "x.safetensors.partial";
  auto const check_written = [&] {
    io::write_safetensors(path, {bytes_named("a", 3)});
    CHECK(io::open_safetensors(path).tensors.size() == 1);
    CHECK_FALSE(std::filesystem::exists(dir / "x.safetensors.partial-1"));
  };
  SECTION("a file") {
    static_cast<void>(dir.write("x.safetensors.partial", "mine"));
    check_written();
    CHECK(io_test::contents_of(in_the_way) == "mine");
  }
  SECTION("a link to a file") {
    auto const input = dir.write("input.safetensors", "mine");
    std::filesystem::create_symlink(input, in_the_way);
    check_written();
    CHECK(io_test::contents_of(input) == "mine");
    CHECK(std::filesystem::is_symlink(in_the_way));
  }
  SECTION("a link to nothing") {
    std::filesystem::create_symlink(dir / "nothing", in_the_way);
    check_written();
    CHECK_FALSE(std::filesystem::exists(dir / "nothing"));
    CHECK(std::filesystem::is_symlink(in_the_way));
  }
  SECTION("an empty folder") {
    std::filesystem::create_directory(in_the_way);
    check_written();
    CHECK(std::filesystem::is_directory(in_the_way));
    std::filesystem::create_directory(dir / "taken");
    static_cast<void>(dir.write("taken/file", ""));
    std::filesystem::create_directory(dir / "taken.partial");
    CHECK(problem_of_writing(dir / "taken", {bytes_named("a", 1)}).rfind("cannot be written (", 0) == 0);
    CHECK(std::filesystem::is_directory(dir / "taken.partial"));
    CHECK_FALSE(std::filesystem::exists(dir / "taken.partial-1"));
  }
  SECTION("a hundred files") {
    for (int n = 0; n < 100; ++n) {
      std::string const name = "x.safetensors.partial" + (n == 0 ? "" : "-" + std::to_string(n));
      static_cast<void>(dir.write(name.c_str(), "mine"));
    }
    CHECK(problem_of_writing(path, {bytes_named("a", 1)}) ==
          "cannot be written: beside it x.safetensors.partial and 99 names like it are taken");
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK(io_test::contents_of(in_the_way) == "mine");
    CHECK(io_test::contents_of(dir / "x.safetensors.partial-99") == "mine");
  }
}
