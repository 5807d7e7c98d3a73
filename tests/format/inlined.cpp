// SPDX-License-Identifier: Apache-2.0
// Conversions of one number become part of the caller, also where the compiler would not put protected code into
// unprotected code: this program calls them in loops and yet holds no copy of them. A name that nobody defines is
// null when it is declared weak.
#include <vector>

#include "catch.hpp"

#include <fp4/format/half.hpp>
#include <fp4/rounding/rounding.hpp>

#if defined(__GNUC__) && !defined(__clang__) && defined(__ELF__)

extern "C" void e4m3_from_float() __asm__("_ZN3fp49minifloatILb1ELi4ELi3ELi7ELNS_14float_specialsE1EE10from_floatEf")
    __attribute__((weak));
extern "C" void e2m1_toward_zero() __asm__(
    "_ZN3fp49minifloatILb1ELi2ELi1ELi1ELNS_14float_specialsE0EE22from_float_toward_zeroEf") __attribute__((weak));
extern "C" void float16_from_float() __asm__("_ZN3fp47float1610from_floatEf") __attribute__((weak));
extern "C" void bfloat16_from_float() __asm__("_ZN3fp48bfloat1610from_floatEf") __attribute__((weak));
extern "C" void round_stochastic() __asm__("_ZN3fp416round_stochasticEfj") __attribute__((weak));
extern "C" void block_bits() __asm__("_ZN3fp410block_bitsEmmm") __attribute__((weak));
extern "C" void present() __asm__("a_function_of_this_program") __attribute__((weak));

struct symbol {
  char const* name;
  void (*address)();
};
symbol const volatile conversions[] = {
    {"e4m3_from_float", e4m3_from_float},       {"e2m1_toward_zero", e2m1_toward_zero},
    {"float16_from_float", float16_from_float}, {"bfloat16_from_float", bfloat16_from_float},
    {"round_stochastic", round_stochastic},     {"block_bits", block_bits},
};
symbol const volatile this_program[] = {{"present", present}};  // that the method can tell

extern "C" FP4_NOINLINE int a_function_of_this_program(int i) { return i + 1; }

TEST_CASE("number conversions leave no function behind") {
  std::vector<unsigned> codes;
  for (int i = 0; i < 100; ++i) {
    float const x = static_cast<float>(a_function_of_this_program(i)) * 0.07f;
    fp4::uint32x4 const random = fp4::block_bits(1, 2, static_cast<std::uint64_t>(i));
    codes.push_back(fp4::e4m3::from_float(x).bits);
    codes.push_back(fp4::e2m1::from_float_toward_zero(x).bits);
    codes.push_back(fp4::float16::from_float(x).bits);
    codes.push_back(fp4::bfloat16::from_float(x).bits);
    codes.push_back(fp4::round_stochastic(x, fp4::element_bits(random[i % 4], i % 4)).bits);
  }
  CHECK(codes.size() == 500);
  CHECK(this_program[0].address != nullptr);
  for (auto const& conversion : conversions) {
    CAPTURE(conversion.name);
    CHECK(conversion.address == nullptr);
  }
}

#else

TEST_CASE("number conversions leave no function behind") {
  skip_test("only g++ lets a test name a function by its symbol, and only g++ needs help to inline these");
}

#endif
