// SPDX-License-Identifier: Apache-2.0
// Each litmus program is run twice: as it should be, and with one ordering left out, which must be found.
#include "twins.hpp"

using namespace litmus;

TEST_CASE("a barrier orders a write and a read of another warp") {
  check_twins([](launch& l, bool right) {
    auto const at = l.words(1);
    l.write(0, at);
    if (right) { l.block(0).barrier(); }
    expect(l.read(40, at), 1);
  });
}

TEST_CASE("a barrier orders reads and a later write") {
  check_twins([](launch& l, bool right) {
    auto const at = l.words(1);
    for (std::uint32_t t = 0; t < 64; ++t) { l.read(t, at); }
    if (right) { l.block(0).barrier(); }
    l.write(5, at);
  });
}

TEST_CASE("a barrier says nothing to other blocks") {
  launch l;
  auto const at = l.words(1);
  l.write(0, at);
  l.block(0).barrier();
  l.block(1).barrier();
  CHECK(found([&] { l.read(64, at); }) == problem::race);
}

TEST_CASE("writing the same value is a race too; shared memory is checked as global memory is") {
  check_twins([](launch& l, bool right) {
    l.write(0, 16, 7, order::weak, space::shared);
    if (right) { l.block(0).barrier(); }
    l.write(1, 16, 7, order::weak, space::shared);
  });
  // Each block has its own.
  launch l;
  l.write(0, 16, 7, order::weak, space::shared);
  CHECK(found([&] { l.write(64, 16, 7, order::weak, space::shared); }) == std::nullopt);
}

TEST_CASE("a thread does not race with itself, nor do readers with each other") {
  launch l;
  auto const at = l.words(2);
  CHECK(found([&] {
          for (std::uint32_t t = 0; t < 128; ++t) { l.read(t, at); }
          l.write(3, at + 4), l.read(3, at + 4), l.write(3, at + 4);
        }) == std::nullopt);
}

TEST_CASE("a warp operation orders the lanes that take part, and only those") {
  check_twins([](launch& l, bool right) {
    auto const at = l.words(1);
    l.write(0, at);
    l.block(0).warp_sync(0, right ? ~0u : ~2u);
    l.read(1, at);
  });
  check_twins([](launch& l, bool right) {
    auto const at = l.words(1);
    l.write(0, at);
    l.block(0).warp_sync(0, 0b0101);
    l.block(0).warp_sync(0, right ? 0b0110 : 0b1010);  // lane 2 tells lane 1, or lane 3 does, who knows nothing
    l.read(1, at);
  });
  check_twins([](launch& l, bool right) {
    auto const at = l.words(1);
    l.write(0, at);
    l.block(0).warp_sync(right ? 0 : 1, ~0u);  // the other warp's lanes met
    l.read(1, at);
  });
}

TEST_CASE("bytes are told apart") {
  check_twins([](launch& l, bool right) {
    auto const at = l.words(1);
    for (std::uint32_t t = 0; t < 4; ++t) { l.write(t, at + t, t, order::weak, space::global, scope::device, 1); }
    if (!right) { l.read(9, at + 2, order::weak, space::global, scope::device, 1); }
  });
  check_twins([](launch& l, bool right) {  // the word is touched as a whole after its bytes
    auto const at = l.words(1);
    for (std::uint32_t t = 0; t < 4; ++t) { l.write(t, at + t, t, order::weak, space::global, scope::device, 1); }
    if (right) { l.block(0).barrier(); }
    expect(l.read(33, at), 0x03020100);
  });
  check_twins([](launch& l, bool right) {  // and before
    auto const at = l.words(1);
    for (std::uint32_t t = 0; t < 64; ++t) { l.read(t, at); }
    if (right) { l.block(0).barrier(); }
    l.write(1, at + 3, 1, order::weak, space::global, scope::device, 1);
    l.write(2, at + 2, 1, order::weak, space::global, scope::device, 1);
  });
}

TEST_CASE("wide accesses are checked in all their words") {
  check_twins([](launch& l, bool right) {
    auto const at = l.words(8);
    l.write(0, at + 12);
    if (right) { l.block(0).barrier(); }
    l.read(1, at, order::weak, space::global, scope::device, 16);
  });
}

TEST_CASE("atomics do not race with each other, but with plain accesses") {
  launch l;
  auto const at = l.words(1);
  CHECK(found([&] {
          for (std::uint32_t t = 0; t < 128; ++t) { l.add(t, at); }
          expect(l.read(7, at, order::relaxed), 128);
        }) == std::nullopt);
  CHECK(found([&] { l.read(7, at); }) == std::nullopt);  // it saw them all
  CHECK(found([&] { l.read(9, at); }) == problem::race);
  check_twins([](launch& one, bool right) {
    auto const counter = one.words(1);
    for (std::uint32_t t = 0; t < 64; ++t) { one.add(t, counter); }
    if (right) { one.block(0).barrier(); }
    expect(one.read(62, counter), 64);  // the last one saw all others
  });
}

TEST_CASE("only writes among atomic and volatile accesses hurt a plain read") {
  check_twins([](launch& l, bool right) {
    auto const at = l.words(1);
    l.read(1, at, order::relaxed);
    l.read(40, at, order::relaxed);
    if (!right) { l.write(2, at, 1, order::relaxed); }
    l.read(0, at);
  });
}

TEST_CASE("a barrier of some warps orders those") {
  check_twins([](launch& l, bool right) {
    auto const at = l.words(1);
    l.write(0, at);
    std::vector<std::uint32_t> const both{~0u, ~0u}, second{0, ~0u}, first{~0u, 0};
    l.block(0).barrier(right ? both : second, both);
    l.read(40, at);
  });
  check_twins([](launch& l, bool right) {  // who only arrives learns nothing
    auto const at = l.words(1);
    std::vector<std::uint32_t> const both{~0u, ~0u}, second{0, ~0u}, first{~0u, 0};
    l.write(right ? 0 : 40, at);
    l.block(0).barrier(both, second);
    l.read(right ? 40 : 0, at);
  });
}

TEST_CASE("many readers of one word are remembered") {
  for (bool const exact : {true, false}) {
    for (std::uint32_t const forgotten : {0u, 1u, 100u, 198u}) {
      check_twins(
          [&](launch& l, bool right) {
            if (!exact) { l.state().clocks.most_entries = 0; }  // one entry for each block
            auto const at = l.words(1), counter = l.words(1);
            for (std::uint32_t t = 0; t < 200 * 64; ++t) { l.read(t, at); }
            for (std::uint32_t b = 0; b < 200; ++b) {
              l.block(b).barrier();
              if (!right && b == forgotten) { continue; }
              l.add(64 * b, counter, order::acq_rel);
            }
            l.write(64 * 199, at);  // the last block has heard of all others, or of all but one
          },
          200);
    }
  }
}

TEST_CASE("many single readers are remembered as such") {
  for (std::uint32_t const forgotten : {0u, 1u, 100u, 398u}) {
    check_twins(
        [&](launch& l, bool right) {
          auto const at = l.words(1), counter = l.words(1);
          for (std::uint32_t t = 0; t < 400; ++t) {  // one of each warp, none of which has heard of the warp's others
            l.read(32 * t, at);
            l.fence(32 * t);
            if (right || t != forgotten) { l.add(32 * t, counter); }
          }
          l.fence(32 * 399);
          l.write(32 * 399, at);
        },
        200);
  }
}

TEST_CASE("launches follow each other") {
  ptx::memory memory(std::uint64_t{64} << 20);
  auto const at = memory.allocate(4);
  for (int i = 0; i < 3; ++i) {
    ptx::launch_memory one(memory, 1, 64);
    ptx::block_memory block(one, 0, 0, 0);
    ptx::request r;
    r.lanes = 1u << i, r.address[i] = at;
    CHECK(found([&] { block.store(0, r, [](unsigned, std::byte*) { return 0xFu; }); }) == std::nullopt);
  }
}

TEST_CASE("a race names both parties") {
  launch l;
  auto const at = l.words(2);
  l.write(70, at + 4);
  try {
    l.read(9, at + 4);
    FAIL("not found");
  } catch (ptx::fault const& f) {
    auto const& what = f.what_happened;
    CHECK((what.block == 0 && what.thread == 9 && what.instruction == 9));
    CHECK((what.has_other && what.other_block == 1 && what.other_thread == 6 && what.other_instruction == 70));
    CHECK(what.message.find("byte 4 of the 8 bytes") != std::string::npos);
  }
}
