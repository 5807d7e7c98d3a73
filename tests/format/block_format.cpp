// SPDX-License-Identifier: Apache-2.0
// Sizes of rows under each block format.
#include "catch.hpp"

#include <fp4/format/block_format.hpp>

TEST_CASE("block formats state their sizes", "[format]") {
  STATIC_REQUIRE(fp4::nvfp4::row_bytes(0) == 0);
  STATIC_REQUIRE(fp4::nvfp4::row_bytes(1) == 8);
  STATIC_REQUIRE(fp4::nvfp4::row_bytes(17) == 16);
  STATIC_REQUIRE(fp4::nvfp4::blocks(33) == 3);
  STATIC_REQUIRE(fp4::nvfp4_block32::row_bytes(33) == 32);
  STATIC_REQUIRE(fp4::mxfp4::blocks(33) == 2);
  STATIC_REQUIRE(fp4::mxfp6_e2m3::row_bytes(33) == 64);  // a byte an element
  STATIC_REQUIRE(fp4::mxfp8_e5m2::row_bytes(32) == 32);
  STATIC_REQUIRE(fp4::fp8_e4m3::row_bytes(33) == 33);  // blocks of one: no padding
  STATIC_REQUIRE(fp4::nvfp4::row_bytes(std::int64_t{1} << 40) == std::int64_t{1} << 39);
  STATIC_REQUIRE((fp4::nvfp4::has_tensor_scale && fp4::nvfp4::has_block_scale));
  STATIC_REQUIRE((!fp4::mxfp4::has_tensor_scale && fp4::mxfp4::has_block_scale));
  STATIC_REQUIRE((fp4::fp8_e5m2::has_tensor_scale && !fp4::fp8_e5m2::has_block_scale));
}
