// SPDX-License-Identifier: Apache-2.0
// float16 against the compiler's own binary16, where it has one.
#include "catch.hpp"
#include "support/bits.hpp"
#include "support/mismatches.hpp"

#include <fp4/format/half.hpp>

#if defined(__FLT16_MANT_DIG__)

namespace {

__extension__ using compiler_half = _Float16;

std::uint16_t compiler_encode(float x) {
  auto const half = static_cast<compiler_half>(x);
  std::uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

std::uint32_t compiler_decode(std::uint16_t bits) {
  compiler_half half;
  std::memcpy(&half, &bits, sizeof half);
  return test::bits_of(static_cast<float>(half));
}

bool is_nan(unsigned code) { return (code & 0x7FFFu) > 0x7C00u; }

}  // namespace

TEST_CASE("float16 decodes as the compiler's binary16", "[format]") {
  test::mismatches wrong;
  for (unsigned code = 0; code <= 0xFFFFu; ++code) {
    auto const bits = static_cast<std::uint16_t>(code);
    if (is_nan(code)) { continue; }
    wrong.compare(code, test::bits_of(fp4::float16{bits}.to_float()), compiler_decode(bits));
  }
  CHECK(wrong.report() == "");
}

TEST_CASE("float16 encodes as the compiler's binary16", "[format]") {
  test::mismatches wrong;
  auto const compare = [&](std::uint32_t bits) {
    unsigned const got = fp4::float16::from_float(test::float_of(bits)).bits;
    unsigned const wanted = compiler_encode(test::float_of(bits));
    if (is_nan(wanted)) {
      wrong.compare(bits, is_nan(got) && got >> 15 == wanted >> 15, true);
    } else {
      wrong.compare(bits, got, wanted);
    }
  };
  for (std::uint64_t bits = 0; bits <= 0xFFFFFFFFu; bits += 257) { compare(static_cast<std::uint32_t>(bits)); }
  for (std::uint32_t tie = 0x33000000u; tie < 0x47800000u; tie += 0x1000u) {  // all ties of normal numbers, and more
    for (std::uint32_t bits = tie - 2; bits <= tie + 2; ++bits) { compare(bits), compare(bits | 0x80000000u); }
  }
  CHECK(wrong.report() == "");
}

#else

TEST_CASE("float16 agrees with the compiler's binary16", "[format]") { skip_test("this compiler has no _Float16"); }

#endif
