// SPDX-License-Identifier: Apache-2.0
// Every path that this processor has gives the bytes of the scalar one.
#include "cpu/paths.hpp"

#include "catch.hpp"

namespace {

using namespace fp4;
using test::quantized;

// Positions cross 2^32 inside a row.
stochastic const drawn = stochastic(0x123456789ABCDEF0u, 0x7000000000000001u).at(0, 0xFFFFFFF0, 0x100000F00);

/// The rule of this scaling divides, and rounds to bfloat16 before the element.
using rounded_twice = compressed_tensors_gpu;

}  // namespace

TEST_CASE("a processor has the paths that were compiled for it") {
  CHECK(cpu::available(cpu::path::portable) == (FP4_HAS_VECTOR_EXTENSIONS != 0));
  CHECK(cpu::available(cpu::path::neon) == (FP4_HAS_NEON_PATH != 0));
}

TEST_CASE("every pair of element rule, rounding and input type on every path") {
  CHECK(quantized<nvfp4, float, transformer_engine>() == "");
  CHECK(quantized<nvfp4, bfloat16, transformer_engine>(toward_zero{}) == "");
  CHECK(quantized<nvfp4, float16, transformer_engine>(drawn) == "");
  CHECK(quantized<nvfp4, bfloat16, modelopt>() == "");
  CHECK(quantized<nvfp4, float16, modelopt>(toward_zero{}) == "");
  CHECK(quantized<nvfp4, float, modelopt>(drawn) == "");
  CHECK(quantized<nvfp4, float16, rounded_twice>() == "");
  CHECK(quantized<nvfp4, float, rounded_twice>(toward_zero{}) == "");
  CHECK(quantized<nvfp4, bfloat16, rounded_twice>(drawn) == "");
  CHECK(quantized<nvfp4, float, jax>() == "");
  CHECK(quantized<nvfp4, bfloat16, jax>(toward_zero{}) == "");
  CHECK(quantized<nvfp4, float16, jax>(drawn) == "");
}

TEST_CASE("factors of zero and infinity on every path") { CHECK(quantized<nvfp4, float, flashinfer>() == ""); }

TEST_CASE("formats on every path") {
  CHECK(quantized<nvfp4_block32, float16, transformer_engine>() == "");
  CHECK(quantized<mxfp4, bfloat16, mx_ceil>(drawn) == "");
  CHECK(quantized<mxfp6_e2m3, float, mx_floor>() == "");
  CHECK(quantized<mxfp6_e3m2, float, mx_ceil>(toward_zero{}) == "");
  CHECK(quantized<mxfp8_e5m2, bfloat16, mx_floor>(toward_zero{}) == "");
  CHECK(quantized<fp8_e4m3, float, tensor_amax>() == "");
}

TEST_CASE("transforms, directions and 2D blocks on every path") {
  test::outcome found;
  test::compare_paths<nvfp4, bfloat16>(
      found,
      choices<transformer_engine, nearest_even, hadamard<128>>{{}, {}, hadamard<128>::random_signs(7).to_bfloat16()}, 2,
      1280);
  test::compare_paths<nvfp4, float16>(
      found, choices<transformer_engine, toward_zero, no_transform, blocks_1d, columnwise>{}, 530, 19);
  test::compare_paths<nvfp4, bfloat16>(
      found, choices<transformer_engine, stochastic, no_transform, blocks_2d, rowwise>{{}, stochastic(3), {}, {}, {}},
      35, 50);
  CHECK(found.first == "");
}
