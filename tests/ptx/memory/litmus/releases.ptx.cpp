// SPDX-License-Identifier: Apache-2.0
// Fences, flags, releases and acquires; each program as it should be and with one ordering left out.
#include "twins.hpp"

using namespace litmus;

TEST_CASE("a fence, a flag and a fence order what lies around") {
  for (int left_out = 0; left_out < 3; ++left_out) {
    check_twins([&](launch& l, bool right) {
      auto const data = l.words(1), flag = l.words(1);
      l.write(3, data, 42);
      if (right || left_out != 0) { l.fence(3); }
      l.write(3, flag, 1, order::relaxed);
      if (right || left_out != 1) { expect(l.read(70, flag, order::relaxed), 1); }
      if (right || left_out != 2) { l.fence(70); }
      expect(l.read(70, data), 42);
    });
  }
}

TEST_CASE("release and acquire order; relaxed accesses do not") {
  check_twins([](launch& l, bool right) {
    auto const data = l.words(1), flag = l.words(1);
    l.write(3, data, 42);
    l.write(3, flag, 1, right ? order::release : order::relaxed);
    l.read(70, flag, order::acquire);
    l.read(70, data);
  });
  check_twins([](launch& l, bool right) {
    auto const data = l.words(1), flag = l.words(1);
    l.write(3, data, 42);
    l.write(3, flag, 1, order::release);
    l.read(70, flag, right ? order::acquire : order::relaxed);
    l.read(70, data);
  });
  check_twins([](launch& l, bool right) {  // what comes after the release is not released
    auto const data = l.words(1), flag = l.words(1);
    if (right) { l.write(3, data, 42); }
    l.write(3, flag, 1, order::release);
    if (!right) { l.write(3, data, 42); }
    l.read(70, flag, order::acquire);
    l.read(70, data);
  });
}

TEST_CASE("a block-wide fence does not reach other blocks") {
  check_twins([](launch& l, bool right) {
    auto const data = l.words(1), flag = l.words(1);
    l.write(3, data, 42);
    l.fence(3, right ? scope::device : scope::block);
    l.write(3, flag, 1, order::relaxed);
    l.read(70, flag, order::relaxed);
    l.fence(70);
    l.read(70, data);
  });
  launch l;
  CHECK(found([&] {
          auto const data = l.words(1), flag = l.words(1);
          l.write(3, data, 42);
          l.fence(3, scope::block);
          l.write(3, flag, 1, order::relaxed);
          l.read(40, flag, order::relaxed);
          l.fence(40, scope::block);
          l.read(40, data);
        }) == std::nullopt);
}

TEST_CASE("the last block of a reduction may read what the others wrote") {
  check_twins([](launch& l, bool right) {
    auto const partial = l.words(3), counter = l.words(1);
    for (std::uint32_t b = 0; b < 3; ++b) {
      l.write(64 * b + 7, partial + 4 * b, b);
      l.block(b).barrier();
      if (right || b != 1) { l.fence(64 * b); }
      l.add(64 * b, counter);
    }
    l.fence(128);
    l.block(2).barrier();
    for (std::uint32_t b = 0; b < 3; ++b) { expect(l.read(130, partial + 4 * b), b); }
  });
}

TEST_CASE("what a block learned it passes on: decoupled look-back") {
  check_twins([](launch& l, bool right) {
    auto const value = l.words(3), status = l.words(3);
    for (std::uint32_t b = 0; b < 3; ++b) {
      if (b > 0) { l.read(64 * b, status + 4 * (b - 1), order::acquire); }
      l.write(64 * b + 1, value + 4 * b, b);
      if (right || b != 0) { l.block(b).warp_sync(0, ~0u); }
      l.write(64 * b, status + 4 * b, 1, order::release);
    }
    l.block(2).barrier();
    expect(l.read(2 * 64 + 50, value), 0);  // written by block 0, heard of through block 1
  });
}

TEST_CASE("an atomic orders the writes that it saw at its address, and nothing else of those who made them") {
  check_twins([](launch& l, bool right) {
    auto const counter = l.words(1);
    for (std::uint32_t b = 0; b < 3; ++b) { l.add(64 * b, counter); }
    if (!right) { l.add(65, counter); }  // not seen
    l.write(128, counter, 0);            // the last one resets the counter
  });
  check_twins([](launch& l, bool right) {  // and so does another thread that has heard of the last one
    auto const counter = l.words(1);
    for (std::uint32_t b = 0; b < 3; ++b) { l.add(64 * b, counter); }
    if (right) { l.block(2).barrier(); }
    expect(l.read(130, counter), 3);
  });
  check_twins([](launch& l, bool right) {  // a plain write in between hides what was before
    auto const flag = l.words(1);
    l.write(0, flag, 1, order::relaxed);
    if (!right) { l.write(64, flag, 2, order::relaxed); }
    l.read(128, flag, order::relaxed);
    expect(l.read(128, flag), 1);
  });
  check_twins([](launch& l, bool right) {
    auto const data = l.words(1), counter = l.words(1);
    if (!right) { l.write(0, data, 42); }
    l.add(0, counter);
    l.add(128, counter);
    l.read(128, data);
  });
}

TEST_CASE("a barrier after an atomic does for its block what a fence does") {
  for (int left_out = 0; left_out < 3; ++left_out) {
    check_twins([&](launch& l, bool right) {
      auto const data = l.words(1), counter = l.words(1);
      l.write(7, data, 42);
      l.block(0).barrier();
      if (right || left_out != 0) { l.fence(0); }
      l.add(0, counter);
      if (right || left_out != 1) {
        l.add(128, counter);
      } else {
        l.read(128, counter, order::relaxed);  // only atomics are taken for that
      }
      if (right || left_out != 2) { l.block(2).barrier(); }
      expect(l.read(130, data), 42);
    });
  }
}

TEST_CASE("reads are over where a relaxed write after them was seen, writes are not") {
  for (int left_out = 0; left_out < 3; ++left_out) {
    check_twins([&](launch& l, bool right) {
      auto const data = l.words(1), flag = l.words(1);
      if (right || left_out != 0) { l.read(5, data); }
      if (right || left_out != 1) { l.block(0).barrier(); }
      l.write(0, flag, 1, order::relaxed);
      if (!right && left_out == 0) { l.read(5, data); }
      if (right || left_out != 2) { l.read(64, flag, order::relaxed); }
      l.block(1).barrier();
      l.write(70, data, 1);
    });
  }
  check_twins([](launch& l, bool right) {  // volatile ones have the system's scope
    auto const data = l.words(1), flag = l.words(1);
    l.read(0, data);
    l.write(0, flag, 1, order::relaxed, space::global, right ? scope::device : scope::system);
    l.read(64, flag, order::relaxed);
    l.write(64, data, 1);
  });
  check_twins([](launch& l, bool right) {
    auto const data = l.words(1), flag = l.words(1);
    right ? static_cast<void>(l.read(0, data)) : l.write(0, data, 1);
    l.write(0, flag, 1, order::relaxed);
    l.read(64, flag, order::relaxed);
    l.write(64, data, 1);
  });
}
