// SPDX-License-Identifier: Apache-2.0
// One matrix of a million values for each family of code: tiles, threads and ragged ends meet here.
#include "catch.hpp"
#include "contract.hpp"

namespace {

using namespace fp4;

template <class In, class Format, class Layout, class Scaling, class Rounding = nearest_even,
          class Transform = no_transform, class Shape = blocks_1d, class Direction = rowwise>
void holds(test::data_kind data, test::scale_kind scale = test::scale_kind::amax) {
#ifdef FP4_TEST_QUICK
  test::situation const s{130, 1064, data, scale, 7};
#else
  test::situation const s{515, 2056, data, scale, 7};
#endif
  CHECK(test::broken<In, Format, Layout, Scaling, Rounding, Transform, Shape, Direction>(s) == "");
}

using test::data_kind;

}  // namespace

TEST_CASE("large: 1D row-wise") {
  holds<bfloat16, nvfp4, linear_scales, transformer_engine>(data_kind::tie_aligned);
  holds<bfloat16, nvfp4, tiled_128x4_scales, transformer_engine>(data_kind::decades, test::scale_kind::per_row);
  holds<float, nvfp4, linear_scales, transformer_engine, stochastic>(data_kind::heavy_tailed);
  holds<float16, nvfp4, tiled_128x4_scales, trtllm, nearest_even, hadamard<16>>(data_kind::normal);
}

TEST_CASE("large: 1D column-wise") {
  holds<bfloat16, nvfp4, tiled_128x4_scales, transformer_engine, stochastic, hadamard<16>, blocks_1d, columnwise>(
      data_kind::heavy_tailed);
  holds<float, nvfp4, tiled_8x4_scales, compressed_tensors, toward_zero, no_transform, blocks_1d, columnwise>(
      data_kind::specials, test::scale_kind::per_row);
}

TEST_CASE("large: 2D") {
  holds<bfloat16, nvfp4, linear_scales, transformer_engine, nearest_even, no_transform, blocks_2d>(
      data_kind::tie_aligned);
  holds<bfloat16, nvfp4, tiled_128x4_scales, transformer_engine, stochastic, no_transform, blocks_2d, columnwise>(
      data_kind::decades);
  holds<float, nvfp4, linear_scales, four_over_six, nearest_even, hadamard<128>, blocks_2d, columnwise>(
      data_kind::normal);
}

TEST_CASE("large: other formats") {
  holds<bfloat16, nvfp4_block32, linear_scales, transformer_engine, stochastic>(data_kind::normal);
  holds<bfloat16, nvfp4_ue5m3, linear_scales, transformer_engine>(data_kind::decades);
  holds<bfloat16, mxfp4, tiled_128x4_scales, mx_floor>(data_kind::heavy_tailed);
  holds<bfloat16, mxfp8_e4m3, tiled_128x4_scales, mx_ceil, nearest_even, no_transform, blocks_1d, columnwise>(
      data_kind::decades);
  holds<bfloat16, fp8_e4m3, linear_scales, tensor_amax>(data_kind::heavy_tailed, test::scale_kind::per_row);
}
