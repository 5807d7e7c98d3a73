// SPDX-License-Identifier: Apache-2.0
// Sectors and bank conflicts against the numbers that the CUDA programming guide's examples give.
#include "block.hpp"
#include "catch.hpp"

namespace {

ptx::request lanes(std::uint8_t bytes, std::function<std::uint64_t(unsigned)> const& address,
                   std::uint32_t which = ~0u) {
  ptx::request r;
  r.bytes = bytes, r.lanes = which;
  for (unsigned i = 0; i < 32; ++i) { r.address[i] = address(i); }
  return r;
}

}  // namespace

TEST_CASE("sectors of a request") {
  CHECK(ptx::sectors(lanes(4, [](unsigned i) { return 4 * i; })) == 4);
  CHECK(ptx::sectors(lanes(16, [](unsigned i) { return 16 * i; })) == 16);
  CHECK(ptx::sectors(lanes(4, [](unsigned i) { return 4 * i + 16; })) == 5);
  CHECK(ptx::sectors(lanes(4, [](unsigned i) { return 32 * i; })) == 32);
  CHECK(ptx::sectors(lanes(4, [](unsigned) { return 64; })) == 1);
  CHECK(ptx::sectors(lanes(4, [](unsigned i) { return 4 * (31 - i); })) == 4);
  CHECK(ptx::sectors(lanes(1, [](unsigned i) { return i * 7 % 32; })) == 1);
  CHECK(ptx::sectors(lanes(
            4, [](unsigned i) { return 128 * i; }, 0x101)) == 2);
}

TEST_CASE("bank conflicts of a request") {
  CHECK(ptx::bank_conflicts(lanes(4, [](unsigned i) { return 4 * i; })) == 0);
  CHECK(ptx::bank_conflicts(lanes(4, [](unsigned i) { return 8 * i; })) == 1);
  CHECK(ptx::bank_conflicts(lanes(4, [](unsigned i) { return 128 * i; })) == 31);
  CHECK(ptx::bank_conflicts(lanes(4, [](unsigned i) { return 132 * i; })) == 0);
  CHECK(ptx::bank_conflicts(lanes(4, [](unsigned) { return 4; })) == 0);  // a broadcast
  CHECK(ptx::bank_conflicts(lanes(1, [](unsigned i) { return i; })) == 0);
  CHECK(ptx::bank_conflicts(lanes(8, [](unsigned i) { return 8 * i; })) == 0);
  CHECK(ptx::bank_conflicts(lanes(16, [](unsigned i) { return 16 * i; })) == 0);
  CHECK(ptx::bank_conflicts(lanes(16, [](unsigned i) { return 32 * i; })) == 4);  // twice in each of four passes
}

TEST_CASE("a launch counts bytes by space and width") {
  litmus::launch l;
  auto const at = l.words(64);
  auto r = lanes(8, [&](unsigned i) { return at + 8 * i; });
  l.block(0).load(0, r, [](unsigned, std::byte const*, std::uint32_t) {});
  l.block(0).store(0, r, [](unsigned, std::byte*) { return 0xFFu; });
  auto const& counts = l.state().counts;
  CHECK(counts.global.bytes_read[3] == 256);
  CHECK(counts.global.total_read() == 256);
  CHECK(counts.global.sectors_read == 8);
  CHECK(counts.global.bytes_written[3] == 256);
  CHECK(counts.global.read_requests == 1);
  CHECK(counts.shared.total_read() + counts.local.total_read() == 0);
}
