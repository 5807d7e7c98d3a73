// SPDX-License-Identifier: Apache-2.0
// What a broken precondition says, and what it leaves behind.
#include <set>
#include <string>

#include "catch.hpp"
#include "errors/quantize_problem.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

using problem = test::quantize_problem<>;

/// Runs cpu::quantize on a problem that must be refused; nothing of the output may change.
void check_refused(problem& p, fp4::errc code) {
  std::vector<std::uint8_t> const bytes = p.bytes;
  std::vector<float> const values = p.values;
  CAPTURE(fp4::rule_of(code));
  try {
    fp4::cpu::quantize(p.in, p.out, p.scales, p.how);
    FAIL_CHECK("not refused");
  } catch (fp4::precondition_error const& error) {
    CHECK(error.code() == code);
    CHECK(error.value() == p.check().value);
    CHECK_THAT(error.what(), ContainsSubstring("fp4::cpu::quantize") && ContainsSubstring(fp4::rule_of(code)));
  }
  CHECK(p.bytes == bytes);
  CHECK(p.values == values);
}

}  // namespace

TEST_CASE("an error names the function, the rule, the value and the bound", "[errors]") {
  problem p;
  p.in.stride = 31;
  try {
    fp4::cpu::quantize(p.in, p.out, p.scales, p.how);
    FAIL("not refused");
  } catch (std::invalid_argument const& error) {
    CHECK(std::string(error.what()) ==
          "fp4::cpu::quantize: the row stride must be at least the number of columns (got 31, bound 32)");
  }
}

TEST_CASE("every rule has a sentence of its own", "[errors]") {
  std::set<std::string> sentences;
  int count = 0;
  for (int code = 0; std::string(fp4::rule_of(static_cast<fp4::errc>(code))) != "unknown rule"; ++code, ++count) {
    sentences.insert(fp4::rule_of(static_cast<fp4::errc>(code)));
  }
  CHECK(count > static_cast<int>(fp4::errc::bad_thread_count));
  CHECK(static_cast<int>(sentences.size()) == count);
}

TEST_CASE("require throws for a broken rule alone", "[errors]") {
  CHECK_NOTHROW(fp4::require({}, "somewhere"));
  CHECK_THROWS_AS(fp4::require({fp4::errc::null_data, 0, 5}, "somewhere"), fp4::precondition_error);
  CHECK_THROWS_WITH(fp4::require({fp4::errc::bad_tensor_scale, -0.5, 0}, "somewhere"),
                    ContainsSubstring("somewhere: ") && ContainsSubstring("got -0.5"));
  CHECK_THROWS_WITH(fp4::require({fp4::errc::negative_size, -4294967296.0, 0}, "x"),
                    ContainsSubstring("got -4294967296, bound 0"));
  CHECK_THROWS_WITH(fp4::require({fp4::errc::scale_buffer_too_small, 12345678901.0, 0x1p63}, "x"),
                    ContainsSubstring("got 12345678901, bound 9223372036854775808"));
  CHECK_THROWS_WITH(fp4::require({fp4::errc::bad_tensor_scale, 1.5e300, -1e-45}, "x"),
                    ContainsSubstring("got 1.5e+300, bound -1e-45"));
}

TEST_CASE("nothing is written before a throw", "[errors]") {
  problem p;
  SECTION("negative size") {
    p.in.rows = -1;
    check_refused(p, fp4::errc::negative_size);
  }
  SECTION("more elements than can be addressed") {
    p.in.rows = p.in.cols = p.in.stride = std::int64_t{1} << 40;
    check_refused(p, fp4::errc::too_large);
  }
  SECTION("null data") {
    p.in.data = nullptr;
    check_refused(p, fp4::errc::null_data);
  }
  SECTION("row stride") {
    p.in.stride = 5;
    check_refused(p, fp4::errc::row_stride_too_small);
  }
  SECTION("shape") {
    p.out.cols = 16;
    check_refused(p, fp4::errc::shape_mismatch);
  }
  SECTION("code stride") {
    p.out.code_stride = 4;
    check_refused(p, fp4::errc::code_stride_too_small);
  }
  SECTION("scale buffer") {
    p.out.scale_bytes = 1;
    check_refused(p, fp4::errc::scale_buffer_too_small);
  }
  SECTION("overlap") {
    p.out.codes = reinterpret_cast<std::uint8_t*>(p.values.data());
    check_refused(p, fp4::errc::overlapping_output);
  }
  SECTION("tensor scale") {
    p.tensor_scales[0] = fp4::tensor_scale::from_decode(0.0f);
    check_refused(p, fp4::errc::bad_tensor_scale);
  }
  SECTION("tensor scale count") {
    p.scales.count = 2;
    check_refused(p, fp4::errc::bad_tensor_scale_count);
  }
}

TEST_CASE("the right problem is not refused, and writes", "[errors]") {
  problem p;
  std::vector<std::uint8_t> const bytes = p.bytes;
  CHECK_NOTHROW(fp4::cpu::quantize(p.in, p.out, p.scales, p.how));
  CHECK(p.bytes != bytes);
}

TEST_CASE("a path or a thread count that cannot be is refused before anything is written", "[errors]") {
  problem p;
  std::vector<std::uint8_t> const bytes = p.bytes;
  auto const missing = fp4::cpu::available(fp4::cpu::path::neon) ? fp4::cpu::path::avx2 : fp4::cpu::path::neon;
  CHECK_THROWS_WITH(fp4::cpu::quantize(p.in, p.out, p.scales, p.how, fp4::sequential{}, missing),
                    ContainsSubstring("a forced path must exist on this processor"));
#if FP4_HAS_OPENMP
  CHECK_THROWS_WITH(fp4::cpu::quantize(p.in, p.out, p.scales, p.how, fp4::openmp{-1}),
                    ContainsSubstring("the number of threads must not be negative (got -1"));
#endif
  CHECK(p.bytes == bytes);
}

TEST_CASE("dequantize writes nothing before a throw", "[errors]") {
  problem p;
  std::vector<float> out(128, 7.0f);
  std::vector<float> const before = out;
  p.tensor_scales[0] = fp4::tensor_scale::from_decode(0.0f);
  CHECK_THROWS_WITH(fp4::cpu::dequantize(p.out, p.scales, fp4::transformer_engine::decoding,
                                         fp4::matrix_view<float>(out.data(), 4, 32)),
                    ContainsSubstring("fp4::cpu::dequantize") && ContainsSubstring("got 0"));
  CHECK(out == before);
}
