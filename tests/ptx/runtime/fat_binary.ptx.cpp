// SPDX-License-Identifier: Apache-2.0
#include "runtime/fat_binary.hpp"

#include <cstring>

#include "catch.hpp"

using namespace ptx;
using namespace ptx::runtime;

namespace {

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t at, T x) {
  std::memcpy(bytes.data() + at, &x, sizeof x);
}

/// A fat binary as nvcc lays it out.
class built {
 public:
  built() : bytes_(16) {
    put(bytes_, 0, std::uint32_t{0xBA55ED50});
    put(bytes_, 4, std::uint16_t{1});
    put(bytes_, 6, std::uint16_t{16});
  }
  built& image(std::uint16_t kind, std::string text, std::uint32_t compressed = 0) {
    text.resize((text.size() + 8) / 8 * 8);
    std::size_t const at = bytes_.size(), header = 80;
    bytes_.resize(at + header + text.size());
    put(bytes_, at, kind);
    put(bytes_, at + 4, static_cast<std::uint32_t>(header));
    put(bytes_, at + 8, static_cast<std::uint64_t>(text.size()));
    put(bytes_, at + 16, compressed);
    std::memcpy(bytes_.data() + at + header, text.data(), text.size());
    return *this;
  }
  void const* wrapper() {
    put(bytes_, 8, static_cast<std::uint64_t>(bytes_.size() - 16));
    put(wrapper_, 0, std::uint32_t{0x466243B1});
    put(wrapper_, 8, static_cast<void const*>(bytes_.data()));
    return wrapper_.data();
  }

 private:
  std::vector<std::byte> bytes_, wrapper_ = std::vector<std::byte>(24);
};

std::string text(char const* target) { return std::string(".version 9.0\n.target ") + target + "\n.address_size 64\n"; }

/// What a device takes of these targets; empty: nothing.
std::string taken(std::vector<char const*> const& targets, char const* device) {
  std::vector<image> images;
  for (auto const* t : targets) { images.push_back({target::parse(t), {}}); }
  auto const* const chosen = choose(images, target::parse(device));
  return chosen == nullptr ? "" : chosen->built_for.name();
}

}  // namespace

TEST_CASE("PTX is found among other images") {
  built b;
  b.image(2, "machine code").image(1, text("sm_80")).image(1, text("sm_100a, debug")).image(1, "????", 3);
  auto const found = read_fat_binary(b.wrapper());
  REQUIRE(found.images.size() == 2);
  CHECK(found.images[0].text == text("sm_80"));
  CHECK(found.images[1].built_for.name() == "sm_100a");
  CHECK(found.machine_code == 1);
  CHECK(found.compressed == 1);
  CHECK(list(found.images) == "compute_80, compute_100a");
}

TEST_CASE("what is no fat binary is refused") {
  std::uint32_t const zeros[8] = {};
  CHECK_THROWS_AS(read_fat_binary(zeros), error);
  built without_target;
  without_target.image(1, ".version 9.0");
  CHECK_THROWS_AS(read_fat_binary(without_target.wrapper()), error);
}

TEST_CASE("a device takes the image that a driver would take") {
  CHECK(taken({"sm_80", "sm_90", "sm_100"}, "sm_90") == "sm_90");
  CHECK(taken({"sm_80", "sm_90", "sm_100"}, "sm_89") == "sm_80");
  CHECK(taken({"sm_90"}, "sm_80").empty());
  CHECK(taken({"sm_90", "sm_100a"}, "sm_100a") == "sm_100a");
  CHECK(taken({"sm_90", "sm_100a"}, "sm_103a") == "sm_90");  // an `a` image runs on its own chip only
  CHECK(taken({"sm_90", "sm_100a"}, "sm_100") == "sm_90");
  CHECK(taken({"sm_90", "sm_100f"}, "sm_103a") == "sm_100f");  // an `f` image in its family
  CHECK(taken({"sm_90", "sm_100f"}, "sm_120a") == "sm_90");
  CHECK(taken({"sm_103f"}, "sm_100a").empty());
  CHECK(taken({"sm_100a", "sm_100f", "sm_100"}, "sm_100a") == "sm_100a");
  CHECK(taken({"sm_100a", "sm_100f", "sm_100"}, "sm_100f") == "sm_100f");
  CHECK(taken({"sm_100", "sm_100a"}, "sm_100") == "sm_100");
}
