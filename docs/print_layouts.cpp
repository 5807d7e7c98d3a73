// SPDX-License-Identifier: Apache-2.0
// What docs/draw_layouts.py draws, from the index functions themselves. A line is a box:
//   picture,row,column,width,colour,label
#include <cstdio>

#include <fp4/layout/gguf.hpp>
#include <fp4/layout/shared_memory.hpp>
#include <fp4/layout/tensor_memory.hpp>

namespace {

using k64 = fp4::mma_m16n8k64;
using k32 = fp4::mma_m16n8k32;
using fp4::scale_vector;

/// Elements of a matrix, as many as lie together in a register, and the lane that holds them.
template <class Fragment>
void fragment(char const* picture, char letter) {
  for (int row = 0; row < Fragment::rows; ++row) {
    for (int column = 0; column < Fragment::columns; column += Fragment::slots) {
      auto const at = Fragment::place(row, column);
      std::printf("%s,%d,%d,%d,%d,T%d %c%d\n", picture, row, column, Fragment::slots, at.lane, at.lane, letter, at.reg);
    }
  }
}

/// Scales of a tile, [row, block], once for each thread-id side by side.
template <class Fragment>
void scales(char const* picture) {
  for (int id = 0; id < Fragment::thread_ids; ++id) {
    for (int row = 0; row < Fragment::rows; ++row) {
      for (int block = 0; block < Fragment::blocks; ++block) {
        auto const at = Fragment::place(row, block, {id, 0});
        std::printf("%s,%d,%d,1,%d,T%d.%d\n", picture, row, id * (Fragment::blocks + 1) + block, at.lane, at.lane,
                    at.slot);
      }
    }
  }
}

/// Memory as lines of 64 bytes: four lanes each.
template <class Codes>
void fragment_order(char const* picture) {
  for (int offset = 0; offset < Codes::tile_bytes; offset += 4) {
    auto const at = Codes::position(offset, Codes::tile_columns);
    std::printf("%s,%d,%d,4,%d,r%d k%d\n", picture, offset / 64, offset % 64, offset / 16, static_cast<int>(at.row),
                static_cast<int>(at.column));
  }
}

/// An atom as lines of 128 bytes, in chunks of 16.
template <fp4::swizzle Mode>
void atom(char const* picture) {
  using map = fp4::k_major_shared<Mode>;
  for (int offset = 0; offset < map::atom_bytes; offset += 16) {
    auto const at = map::position(offset, map::atom_rows);
    std::printf("%s,%d,%d,16,%d,r%d k%d\n", picture, offset / 128, offset % 128, static_cast<int>(at.row),
                static_cast<int>(at.row), static_cast<int>(at.column));
  }
}

/// A tile of scales in memory, in words of four blocks.
template <class Layout>
void scale_tile(char const* picture, int rows, int line) {
  for (int offset = 0; offset < rows * 4; offset += 4) {
    auto const at = Layout::position(offset, 4);
    int const row = static_cast<int>(at.row);
    std::printf("%s,%d,%d,4,%d,%d\n", picture, offset / line, offset % line, row, row);
  }
}

/// Tensor memory, [lane, column], of 256 rows of scales.
void tensor_memory(char const* picture) {
  using map = fp4::tensor_memory_scales<scale_vector::x4>;
  for (int lane = 0; lane < 128; lane += 8) {
    for (int column = 0; column < map::columns(256, 8); ++column) {
      auto const at = map::position({lane, column, 0}, 256);
      std::printf("%s,%d,%d,1,%d,r%d b%d\n", picture, lane / 8, column, static_cast<int>(at.row),
                  static_cast<int>(at.row), static_cast<int>(at.block));
    }
  }
}

/// A block of GGUF: a scale of 16 values, or the two values of a byte.
void gguf(char const* picture) {
  using block = fp4::gguf_nvfp4_block;
  for (int i = 0; i < 4; ++i) { std::printf("%s,0,%d,1,%d,s%d\n", picture, block::scale_offset(i), i, i); }
  for (int low = 0; low < block::values; ++low) {
    for (int high = 0; high < block::values; ++high) {
      int const offset = block::code_offset(low);
      if (offset != block::code_offset(high) || block::is_high(low) || !block::is_high(high)) { continue; }
      std::printf("%s,%d,%d,1,%d,%d %d\n", picture, (offset + 4) / 8, (offset + 4) % 8, low / 16, low, high);
    }
  }
}

}  // namespace

int main() {
  fragment<k64::a>("mma_m16n8k64_a", 'a');
  fragment<k64::b>("mma_m16n8k64_b", 'b');
  fragment<k64::c>("mma_m16n8k64_c", 'c');
  fragment<k32::a>("mma_m16n8k32_a", 'a');
  fragment<k32::b>("mma_m16n8k32_b", 'b');
  scales<k64::scales_a<>>("mma_m16n8k64_scales_a");
  scales<k64::scales_b<>>("mma_m16n8k64_scales_b");
  fragment_order<fp4::fragment_codes_a>("fragment_codes_a");
  fragment_order<fp4::fragment_codes_b>("fragment_codes_b");
  scale_tile<fp4::tiled_32x4_scales>("tiled_32x4_scales", 32, 16);
  scale_tile<fp4::tiled_128x4_scales>("tiled_128x4_scales", 128, 16);
  scale_tile<fp4::tiled_8x4_scales>("tiled_8x4_scales", 8, 16);
  atom<fp4::swizzle::none>("k_major_none");
  atom<fp4::swizzle::bytes_32>("k_major_32");
  atom<fp4::swizzle::bytes_64>("k_major_64");
  atom<fp4::swizzle::bytes_128>("k_major_128");
  tensor_memory("tensor_memory_scales");
  gguf("gguf_nvfp4_block");
}
