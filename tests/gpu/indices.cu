// SPDX-License-Identifier: Apache-2.0
// The index arithmetic of tile kernels, on the host and far beyond 2^31.
#include <fp4/gpu/detail/scale_order.cuh>
#include <fp4/gpu/row_groups.cuh>

#include "ptx/programs/check.hpp"
#include "support/data.hpp"

namespace {

using namespace fp4;
using std::int64_t;
using linear = linear_scales;
using tiles_128 = tiled_128x4_scales;
using tiles_8 = tiled_8x4_scales;
using tiles_32 = tiled_32x4_scales;

template <class Layout>
void compare_offsets(char const* what) {
  constexpr int64_t far = (int64_t{1} << 33) + 77;
  for (int64_t const blocks : {int64_t{1}, int64_t{5}, int64_t{64}, int64_t{1000003}}) {
    auto const order = gpu::detail::scale_order::of<Layout>(blocks);
    for (int64_t const top : {int64_t{0}, int64_t{1} << 31, far}) {
      for (int64_t row = top; row < top + 260; ++row) {
        for (int64_t const block : {int64_t{0}, blocks / 2, blocks - 1}) {
          program::check(order.offset(row, block) == Layout::offset(row, block, blocks), what, __FILE__, __LINE__,
                         ", row " + std::to_string(row) + ", block " + std::to_string(block));
        }
        if (row % 2 == 0) { CHECK(order.offset(row + 1, 0) - order.offset(row, 0) == order.next_row); }
        if (row % 128 < 96) { CHECK(order.offset(row + 32, 0) - order.offset(row, 0) == order.next_32_rows); }
      }
      CHECK(order.padded_rows(top + 3) * order.padded_blocks(blocks) == Layout::bytes(top + 3, blocks));
    }
  }
}

}  // namespace

CASE(offsets_of_large_matrices) {
  compare_offsets<linear>("linear");
  compare_offsets<tiles_128>("128x4");
  compare_offsets<tiles_32>("32x4");
  compare_offsets<tiles_8>("8x4");
}
CASE(groups_never_overlap) {
  test::random_numbers random(1);
  for (int64_t const alignment : {1, 4, 8, 128}) {
    int64_t offset = (int64_t{1} << 40) + 3;
    for (int64_t g = 0; g < 1000; ++g) {
      int64_t const rows = random.below(3) == 0 ? 0 : random.below(700);
      int64_t const start = gpu::detail::aligned_start(offset, g, alignment);
      int64_t const next = gpu::detail::aligned_start(offset + rows, g + 1, alignment);
      CHECK(start % alignment == 0 && next - start >= (rows + alignment - 1) / alignment * alignment);
      offset += rows;
    }
  }
}

int main(int argc, char** argv) { return program::run(argc, argv); }
