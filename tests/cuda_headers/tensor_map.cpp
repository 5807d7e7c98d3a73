// SPDX-License-Identifier: Apache-2.0
// The library names enumerators of cuda.h by value; here is whether they still have it.
#include <cuda.h>

#include <fp4/layout/descriptor_checks.hpp>

#include "catch.hpp"

TEST_CASE("tensor maps use the values of cuda.h", "[layout]") {
  using map = fp4::packed_tensor_map;
  STATIC_REQUIRE(map::data_type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B);
  STATIC_REQUIRE(map::interleave == CU_TENSOR_MAP_INTERLEAVE_NONE);
  STATIC_REQUIRE(map::oob_fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  STATIC_REQUIRE(map{}.l2_promotion == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  auto const value = [](fp4::swizzle mode) {
    map m;
    m.mode = mode;
    return m.swizzle_value();
  };
  CHECK(value(fp4::swizzle::none) == CU_TENSOR_MAP_SWIZZLE_NONE);
  CHECK(value(fp4::swizzle::bytes_32) == CU_TENSOR_MAP_SWIZZLE_32B);
  CHECK(value(fp4::swizzle::bytes_64) == CU_TENSOR_MAP_SWIZZLE_64B);
  CHECK(value(fp4::swizzle::bytes_128) == CU_TENSOR_MAP_SWIZZLE_128B);
}
