// SPDX-License-Identifier: Apache-2.0
// Local memory of kernels and of the functions that they call.
#include "one_kernel.hpp"

#include "catch.hpp"

using namespace one_kernel;

namespace {

/// A function with 8 bytes of local memory: f(how) does `body` with its own memory at %l.
std::string function(std::string const& body) {
  return ".func (.param .b64 result) f(.param .b32 how) { .local .align 8 .b8 mine[8]; .reg .b64 %l; .reg .b32 %v;\n"
         ".reg .b64 %g; .reg .pred %q; ld.param.u32 %v, [how]; mov.b64 %l, mine; cvta.local.u64 %g, %l;\n" +
         body + "\nst.param.b64 [result], %g; ret; }\n";
}
std::string call(std::string const& argument) {
  return "{ .param .b32 a; .param .b64 b; st.param.b32 [a], " + argument +
         "; call (b), f, (a); ld.param.b64 %d1, [b]; }\n";
}
std::string const own = ".local .align 8 .b8 own[8]; mov.b64 %d2, own; st.local.u32 [%d2+4], 5;\n";

}  // namespace

TEST_CASE("local memory of a function ends where it ends") {
  CHECK(found(call("0"), 32, 1, function("st.local.u32 [%l+4], %v;")) == std::nullopt);
  CHECK(found(call("0"), 32, 1, function("st.local.u32 [%l+8], %v;")) == problem::out_of_bounds);
  CHECK(found(call("0"), 32, 1, function("st.u32 [%g+64], %v;")) == problem::out_of_bounds);
}

TEST_CASE("a kernel's local memory ends where it ends, although it calls functions") {
  CHECK(found(own + call("0") + "ld.local.u32 %r1, [%d2+4]; st.global.u32 [%mine], %r1;", 32, 1, function("")) ==
        std::nullopt);
  CHECK(found(own + "st.local.u32 [%d2+8], 1;" + call("0"), 32, 1, function("")) == problem::out_of_bounds);
  CHECK(found(own + call("0"), 32, 1, function("st.local.u32 [%l+-8], %v;")) == problem::out_of_bounds);
}

TEST_CASE("what an earlier call wrote is not there any more") {
  std::string const two_calls = call("0") + call("1");
  std::string const first_writes = "setp.eq.u32 %q, %v, 0; @%q st.local.u32 [%l], 7; ";
  std::string const use = "ld.local.u32 %v, [%l]; setp.eq.u32 %q, %v, 7; @%q mov.u64 %g, 0;";
  CHECK(found(two_calls, 32, 1, function("st.local.u32 [%l], 7;" + use)) == std::nullopt);
  CHECK(found(two_calls, 32, 1, function(first_writes + use)) == problem::undefined);
}

TEST_CASE("the address of a function's local memory is of no use after its return") {
  CHECK(found(call("0") + "ld.u32 %r1, [%d1];", 32, 1, function("st.local.u32 [%l], 7;")) == problem::use_after_free);
}

TEST_CASE("a function may write to its caller's local memory") {
  std::string const through = own +
                              "cvta.local.u64 %d3, %d2; { .param .b64 a; st.param.b64 [a], %d3; call g, (a); }\n"
                              "ld.local.u32 %r1, [%d2]; st.global.u32 [%mine], %r1;";
  CHECK(found(through, 32, 1,
              ".func g(.param .b64 p) { .reg .b64 %a; .local .b32 x; ld.param.u64 %a, [p]; st.u32 [%a], 9; ret; }\n") ==
        std::nullopt);
}

TEST_CASE("endless recursion runs out of local memory") {
  CHECK(found(call("0"), 1, 1, function(R"({ .param .b32 a; .param .b64 b; st.param.b32 [a], 0; call (b), f, (a);
                                             ld.param.b64 %g, [b]; })")) == problem::out_of_bounds);
}
