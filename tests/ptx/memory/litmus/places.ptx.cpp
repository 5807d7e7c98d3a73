// SPDX-License-Identifier: Apache-2.0
// Bounds, alignment, lifetime and initialisation, each as it should be and with a fault.
#include "block.hpp"
#include "catch.hpp"

using namespace litmus;

TEST_CASE("accesses stay inside allocations") {
  launch l;
  auto const at = l.words(100);
  CHECK(found([&] { l.read(0, at + 396); }) == std::nullopt);
  CHECK(found([&] { l.read(0, at + 400); }) == problem::out_of_bounds);
  CHECK(found([&] { l.read(0, at - 4); }) == problem::out_of_bounds);
  CHECK(found([&] { l.write(0, 0); }) == problem::out_of_bounds);
  CHECK(found([&] { l.write(0, ~std::uint64_t{3}); }) == problem::out_of_bounds);
  CHECK(found([&] { l.read(0, at + 384, order::weak, space::global, scope::device, 16); }) == std::nullopt);
  auto const odd = l.memory().allocate(10);
  CHECK(found([&] { l.write(0, odd + 8, 0, order::weak, space::global, scope::device, 2); }) == std::nullopt);
  CHECK(found([&] { l.write(0, odd + 8, 0, order::weak, space::global, scope::device, 4); }) == problem::out_of_bounds);
}

TEST_CASE("shared and local memory end where they end, also through generic addresses") {
  for (auto const& [where, base, size] : {std::tuple{space::shared, std::uint64_t{0}, 1024},
                                          {space::local, std::uint64_t{0}, 64},
                                          {space::generic, ptx::shared_window, 1024},
                                          {space::generic, ptx::local_window, 64}}) {
    launch l;
    auto const last = base + static_cast<std::uint64_t>(size) - 4;
    auto const in = where;
    CHECK(found([&] { l.write(1, last, 1, order::weak, in); }) == std::nullopt);
    CHECK(found([&] { l.write(1, last + 4, 1, order::weak, in); }) == problem::out_of_bounds);
  }
}

TEST_CASE("a generic address of shared memory is the shared memory") {
  launch l;
  l.write(1, 8, 77, order::weak, space::shared);
  CHECK(l.read(1, ptx::shared_window + 8, order::weak, space::generic) == 77);
}

TEST_CASE("addresses are multiples of the access's size") {
  launch l;
  auto const at = l.words(8);
  CHECK(found([&] { l.read(0, at + 2, order::weak, space::global, scope::device, 2); }) == std::nullopt);
  CHECK(found([&] { l.read(0, at + 2); }) == problem::misaligned);
  CHECK(found([&] { l.read(0, at + 8, order::weak, space::global, scope::device, 16); }) == problem::misaligned);
}

TEST_CASE("freed memory is not touched") {
  launch l;
  auto const at = l.words(8);
  CHECK(found([&] { l.read(0, at); }) == std::nullopt);
  l.memory().free(at);
  CHECK(found([&] { l.read(0, at); }) == problem::use_after_free);
  CHECK_THROWS_AS(l.memory().free(at), ptx::error);
  CHECK_THROWS_AS(l.memory().free(at + 4), ptx::error);
  auto const next = l.words(8);  // takes other addresses
  CHECK(found([&] { l.read(0, at); }) == problem::use_after_free);
  CHECK(found([&] { l.read(0, next); }) == std::nullopt);
}

TEST_CASE("constants are not written") {
  launch l;
  auto const at = l.memory().allocate(8, ptx::allocation_kind::constant);
  std::uint64_t const value = 5;
  l.memory().copy_in(at, &value, 8);
  CHECK(l.read(0, at) == 5);
  CHECK(found([&] { l.write(0, at); }) == problem::read_only);
}

TEST_CASE("bytes are undefined until somebody writes them") {
  launch l;
  auto const at = l.memory().allocate(64);
  l.read(0, at);
  CHECK(l.defined() == 0);
  l.write(0, at + 1, 1, order::weak, space::global, scope::device, 1);
  l.read(0, at);
  CHECK(l.defined() == 0b0010);
  std::uint16_t const two = 2;
  l.memory().copy_in(at + 2, &two, 2);
  l.read(0, at);
  CHECK(l.defined() == 0b1110);
  auto const copy = l.memory().allocate(64);
  l.memory().copy(copy, at, 4);  // undefined bytes stay undefined
  l.read(0, copy);
  CHECK(l.defined() == 0b1110);
  l.memory().fill(copy, 0, 64);
  l.read(0, copy, order::weak, space::global, scope::device, 32);
  CHECK(l.defined() == ~0u);
  CHECK(l.memory().undefined_bytes(at, 64) == 61);
  l.read(0, 0, order::weak, space::shared);
  CHECK(l.defined() == 0);
  CHECK(found([&] { l.add(0, at); }) == problem::undefined);
  CHECK(found([&] { l.add(0, copy); }) == std::nullopt);
}

TEST_CASE("shared and local memory are undefined again in the next block") {
  ptx::memory memory(std::uint64_t{64} << 20);
  ptx::launch_memory launch(memory, 2, 32);
  for (std::uint32_t b = 0; b < 2; ++b) {
    ptx::block_memory block(launch, b, 256, 16);
    for (auto const where : {space::shared, space::local}) {
      ptx::request r;
      r.where = where, r.lanes = 2;
      block.load(0, r, [](unsigned, std::byte const*, std::uint32_t defined) { CHECK(defined == 0); });
      block.store(0, r, [](unsigned, std::byte*) { return 0xFu; });
      block.load(0, r, [](unsigned, std::byte const*, std::uint32_t defined) { CHECK(defined == 0xF); });
    }
  }
}

TEST_CASE("the host's copies stay inside allocations") {
  ptx::memory memory(std::uint64_t{64} << 20);
  auto const at = memory.allocate(16);
  char buffer[64] = {};
  memory.copy_in(at, buffer, 16);
  CHECK_THROWS_AS(memory.copy_in(at, buffer, 17), ptx::error);
  CHECK_THROWS_AS(memory.copy_out(buffer, at + 8, 9), ptx::error);
  CHECK_THROWS_AS(memory.fill(at - 1, 0, 1), ptx::error);
  memory.free(at);
  CHECK_THROWS_AS(memory.copy_out(buffer, at, 1), ptx::error);
}

TEST_CASE("memory comes to an end, and back") {
  ptx::memory memory(std::uint64_t{64} << 20);
  CHECK_THROWS_AS(memory.allocate(std::uint64_t{65} << 20), ptx::error);
  for (int i = 0; i < 8; ++i) {
    auto const at = memory.allocate(std::uint64_t{40} << 20);
    CHECK_THROWS_AS(memory.allocate(std::uint64_t{40} << 20), ptx::error);
    memory.free(at);
  }
  CHECK(memory.bytes_in_use() == 0);
}
