// SPDX-License-Identifier: Apache-2.0
// Descriptors: known bits, and each rule of each builder broken once.
#include <string>

#include "catch.hpp"

#include <fp4/layout/descriptor_checks.hpp>

namespace {

using fp4::errc;
using fp4::mxf4nvf4_instruction;
using fp4::packed_tensor_map;
using fp4::scale_vector;
using fp4::shared_matrix;
using fp4::swizzle;
using fp4::tcgen05_target;
using sw128 = fp4::k_major_shared<swizzle::bytes_128>;

void check_broken(fp4::check_result found, errc code, double value, double bound) {
  CHECK(found.code == code);
  CHECK(found.value == value);
  CHECK(found.bound == bound);
}

/// The instruction with one thing changed.
template <class Change>
mxf4nvf4_instruction changed(Change change) {
  mxf4nvf4_instruction i;
  change(i);
  return i;
}

constexpr mxf4nvf4_instruction pair_of_ctas(int m, int n) {
  mxf4nvf4_instruction i;
  i.m = m, i.n = n, i.cta_group = 2;
  return i;
}

}  // namespace

TEST_CASE("instruction descriptors have the ISA's bits", "[layout]") {
  STATIC_REQUIRE(fp4::instruction_descriptor({}) == 0x08400480u);  // M 128, N 256, ue4m3
  STATIC_REQUIRE(fp4::instruction_descriptor(pair_of_ctas(256, 16)) == (1u << 7 | 1u << 10 | 2u << 17 | 2u << 27));
  auto const bits = [](auto change) { return fp4::instruction_descriptor(changed(change)) ^ 0x08400480u; };
  CHECK(bits([](auto& i) { i.negate_a = true; }) == 1u << 13);
  CHECK(bits([](auto& i) { i.negate_b = true; }) == 1u << 14);
  CHECK(bits([](auto& i) { i.n = 8; }) == (33u << 17));
  CHECK(bits([](auto& i) { i.scales_are_e8m0 = true, i.vector = scale_vector::x2; }) == 1u << 23);
  CHECK(bits([](auto& i) { i.scales_are_e8m0 = true, i.vector = scale_vector::x2, i.scale_id_a = 2; }) ==
        (1u << 23 | 2u << 29));
  CHECK(bits([](auto& i) { i.scales_are_e8m0 = true, i.vector = scale_vector::x2, i.scale_id_b = 2; }) ==
        (1u << 23 | 2u << 4));
  CHECK(bits([](auto& i) { i.k = 96, i.target = tcgen05_target::sm_103; }) == 1u << 31);
}

TEST_CASE("illegal instructions are refused", "[layout]") {
  auto const found = [](auto change) { return fp4::check(changed(change)); };
  check_broken(found([](auto& i) { i.m = 64; }), errc::bad_mma_m, 64, 128);
  check_broken(found([](auto& i) { i.m = 256; }), errc::bad_mma_m, 256, 128);
  check_broken(found([](auto& i) { i.m = 192, i.cta_group = 2; }), errc::bad_mma_m, 192, 256);
  check_broken(found([](auto& i) { i.n = 0; }), errc::bad_mma_n, 0, 8);
  check_broken(found([](auto& i) { i.n = 12; }), errc::bad_mma_n, 12, 8);
  check_broken(found([](auto& i) { i.n = 264; }), errc::bad_mma_n, 264, 8);
  check_broken(found([](auto& i) { i.n = 24, i.cta_group = 2; }), errc::bad_mma_n, 24, 16);
  check_broken(found([](auto& i) { i.n = 24, i.k = 96, i.target = tcgen05_target::sm_103; }), errc::bad_mma_n, 24, 16);
  check_broken(found([](auto& i) { i.k = 32; }), errc::bad_mma_k, 32, 64);
  check_broken(found([](auto& i) { i.k = 96; }), errc::mma_k_needs_sm_103, 96, 64);
  check_broken(found([](auto& i) { i.k = 96, i.target = tcgen05_target::sm_110; }), errc::mma_k_needs_sm_103, 96, 64);
  check_broken(found([](auto& i) { i.cta_group = 3; }), errc::bad_cta_group, 3, 2);
  check_broken(found([](auto& i) { i.vector = scale_vector::x1; }), errc::bad_scale_vector, 1, 2);
  check_broken(found([](auto& i) { i.vector = scale_vector::x2; }), errc::scale_vector_needs_e8m0, 2, 4);
  check_broken(found([](auto& i) { i.scale_id_a = 2; }), errc::bad_scale_id, 2, 0);
  check_broken(found([](auto& i) { i.vector = scale_vector::x2, i.scales_are_e8m0 = true, i.scale_id_b = 1; }),
               errc::bad_scale_id, 1, 2);
  CHECK(fp4::check(pair_of_ctas(128, 256)).ok());
  CHECK_THROWS_WITH(fp4::instruction_descriptor(changed([](auto& i) { i.k = 96; })),
                    Catch::Matchers::ContainsSubstring("fp4::instruction_descriptor: K of one instruction must be 64"));
}

TEST_CASE("matrix descriptors have the ISA's bits", "[layout]") {
  constexpr std::uint64_t version = std::uint64_t{1} << 46;
  STATIC_REQUIRE(fp4::matrix_descriptor(shared_matrix::of(sw128{}, 0x400, 128)) ==
                 (0x40u | 1u << 16 | std::uint64_t{64} << 32 | version | std::uint64_t{2} << 61));
  // The third step of k = 64 begins 64 bytes further on; the fifth in the next atom.
  STATIC_REQUIRE((fp4::matrix_descriptor(shared_matrix::of(sw128{}, 0x400, 128, 2)) & 0x3FFF) == 0x44);
  STATIC_REQUIRE((fp4::matrix_descriptor(shared_matrix::of(sw128{}, 0x400, 128, 4)) & 0x3FFF) == 0x440);
  auto const code = [](auto map) { return fp4::matrix_descriptor(shared_matrix::of(map, 0, 64)) >> 61; };
  CHECK(code(fp4::k_major_shared<swizzle::none>{}) == 0);
  CHECK(code(fp4::k_major_shared<swizzle::bytes_64>{}) == 4);
  CHECK(code(fp4::k_major_shared<swizzle::bytes_32>{}) == 6);
  constexpr auto plain = shared_matrix::of(fp4::k_major_shared<swizzle::none>{}, 0x80, 64);
  STATIC_REQUIRE(fp4::matrix_descriptor(plain) == (8u | 64u << 16 | std::uint64_t{8} << 32 | version));
  STATIC_REQUIRE(fp4::matrix_descriptor(shared_matrix::of(fp4::tcgen05_scale_copy{}, 0x200)) ==
                 (0x20u | std::uint64_t{8} << 32 | version));
}

TEST_CASE("illegal operands in shared memory are refused", "[layout]") {
  shared_matrix m = shared_matrix::of(sw128{}, 0x400, 128);
  REQUIRE(fp4::check(m).ok());
  SECTION("not 16 bytes") {
    m.address = 0x408;
    check_broken(fp4::check(m), errc::misaligned_shared_matrix, 0x408, 16);
    m.address = 0x400, m.leading_bytes = 8;
    check_broken(fp4::check(m), errc::misaligned_shared_matrix, 8, 16);
  }
  SECTION("past the end") {
    m.address = 1u << 18;
    check_broken(fp4::check(m), errc::shared_offset_too_large, 0x1p18, 0x1p18);
    m.address = 0x400, m.stride_bytes = 1u << 20;
    check_broken(fp4::check(m), errc::shared_offset_too_large, 0x1p20, 0x1p18);
  }
  SECTION("inside an atom") {
    m.address = 0x480;  // its second row
    check_broken(fp4::check(m), errc::misaligned_swizzle_atom, 0x480, 1024);
    m.address = 0x400, m.stride_bytes = 512;
    check_broken(fp4::check(m), errc::misaligned_swizzle_atom, 512, 1024);
    CHECK_THROWS_WITH(fp4::matrix_descriptor(m), Catch::Matchers::ContainsSubstring("fp4::matrix_descriptor"));
    m.mode = swizzle::bytes_64;
    CHECK(fp4::check(m).ok());
  }
}

TEST_CASE("a tensor map counts codes, and rows in bytes", "[layout]") {
  constexpr auto map = fp4::tensor_map(0x1000, 300, 512, 256, swizzle::bytes_128, 128, 256);
  STATIC_REQUIRE((map.dims[0] == 512 && map.dims[1] == 300 && map.strides[0] == 256));
  STATIC_REQUIRE((map.box[0] == 256 && map.box[1] == 128 && map.swizzle_value() == 3));
  STATIC_REQUIRE((map.element_strides[0] == 1 && map.element_strides[1] == 1));
}

TEST_CASE("illegal tensor maps are refused", "[layout]") {
  packed_tensor_map t = fp4::tensor_map(0x1000, 300, 512, 256, swizzle::bytes_128, 128, 256);
  REQUIRE(fp4::check(t).ok());
  SECTION("address") {
    t.address = 0x1008;
    check_broken(fp4::check(t), errc::misaligned_tensor, 0x1008, 16);
  }
  SECTION("size") {
    t.dims[1] = 0;
    check_broken(fp4::check(t), errc::bad_tensor_size, 0, 0x1p32);
    t.dims[1] = (std::uint64_t{1} << 32) + 1;
    check_broken(fp4::check(t), errc::bad_tensor_size, 0x1p32 + 1, 0x1p32);
  }
  SECTION("odd columns") {
    t.dims[0] = 511;
    check_broken(fp4::check(t), errc::odd_tensor_columns, 511, 2);
  }
  SECTION("stride") {
    t.strides[0] = 264;
    check_broken(fp4::check(t), errc::bad_tensor_stride, 264, 16);
    t.strides[0] = std::uint64_t{1} << 40;
    check_broken(fp4::check(t), errc::bad_tensor_stride, 0x1p40, 16);
    t.strides[0] = 240;
    check_broken(fp4::check(t), errc::code_stride_too_small, 240, 256);
  }
  SECTION("box") {
    t.box[1] = 257;
    check_broken(fp4::check(t), errc::bad_box, 257, 256);
    t.box[1] = 0;
    check_broken(fp4::check(t), errc::bad_box, 0, 256);
    t.box[1] = 8, t.box[0] = 48;
    check_broken(fp4::check(t), errc::bad_box_columns, 48, 32);
    t.box[0] = 256, t.mode = swizzle::bytes_64;
    check_broken(fp4::check(t), errc::box_wider_than_swizzle, 256, 128);
    t.mode = swizzle::none;
    check_broken(fp4::check(t), errc::box_wider_than_swizzle, 256, 32);
  }
  CHECK_THROWS_WITH(fp4::tensor_map(8, 1, 64, 32, swizzle::none, 8, 32),
                    Catch::Matchers::ContainsSubstring("fp4::tensor_map: a tensor in global memory must begin"));
}

TEST_CASE("what cublasLt does not take is refused", "[layout]") {
  fp4::cublaslt_nvfp4_matmul p;
  p.m = 64, p.n = 33, p.k = 96;
  REQUIRE(fp4::check(p).ok());
  SECTION("k") {
    p.k = 80;
    check_broken(fp4::check(p), errc::cublaslt_k, 80, 32);
  }
  SECTION("m") {
    p.m = 68;
    check_broken(fp4::check(p), errc::cublaslt_m, 68, 8);
    p.output_bits = 32;
    CHECK(fp4::check(p).ok());
    p.m = 48, p.output_bits = 4;
    check_broken(fp4::check(p), errc::cublaslt_m, 48, 32);
  }
  SECTION("output") {
    p.output_bits = 8;
    check_broken(fp4::check(p), errc::cublaslt_output, 8, 16);
  }
  SECTION("negative") {
    p.n = -1;
    check_broken(fp4::check(p), errc::negative_size, -1, 0);
  }
  SECTION("addresses") {
    for (auto* address : {&p.a, &p.b, &p.d, &p.scales_a, &p.scales_b}) {
      *address = 24;
      check_broken(fp4::check(p), errc::misaligned_tensor, 24, 16);
      *address = 0;
    }
  }
}

TEST_CASE("scale selectors out of range are refused", "[layout]") {
  using mma = fp4::mma_m16n8k64;
  CHECK(fp4::check(mma::scales_a<>{}, {1, 0}).ok());
  check_broken(fp4::check(mma::scales_a<>{}, {2, 0}), errc::bad_thread_id, 2, 1);
  check_broken(fp4::check(mma::scales_b<>{}, {4, 0}), errc::bad_thread_id, 4, 3);
  check_broken(fp4::check(mma::scales_b<>{}, {-1, 0}), errc::bad_thread_id, -1, 3);
  check_broken(fp4::check(mma::scales_b<>{}, {0, 2}), errc::bad_byte_id, 2, 0);
  check_broken(fp4::check(mma::scales_b<scale_vector::x2>{}, {0, 1}), errc::bad_byte_id, 1, 2);
  check_broken(fp4::check(fp4::mma_m16n8k32::scales_a{}, {0, 4}), errc::bad_byte_id, 4, 3);
}
