// SPDX-License-Identifier: Apache-2.0
// Every coordinate of every tensor-core map against CuTe's own layouts, evaluated on the host.
#include <cutlass/version.h>
#include <cute/tensor.hpp>

#include <cute/atom/mma_traits_sm100.hpp>
#include <cute/atom/mma_traits_sm120.hpp>
#include <cutlass/detail/sm100_blockscaled_layout.hpp>

#include <cstdio>

#include <fp4/layout/descriptor_checks.hpp>

#include "catch.hpp"

namespace {

using cute::Int;
using cute::Shape;
using cutlass::float_e2m1_t;
using cutlass::float_ue4m3_t;
using cutlass::float_ue8m0_t;
using fp4::scale_vector;
using fp4::swizzle;
using k64 = fp4::mma_m16n8k64;
using k32 = fp4::mma_m16n8k32;

template <class Scale, int BlockSize>
using cute_k64 = cute::MMA_Traits<
    cute::SM120::BLOCKSCALED::SM120_16x8x64_TN_VS<float_e2m1_t, float_e2m1_t, float, Scale, BlockSize>>;
using cute_k32 = cute::MMA_Traits<
    cute::SM120::BLOCKSCALED::SM120_16x8x32_TN_VS<float_e2m1_t, float_e2m1_t, float, float_ue8m0_t, 32>>;
using cute_plain_k32 = cute::MMA_Traits<cute::SM120_16x8x32_TN<float_e2m1_t, float_e2m1_t, float>>;

/// A (thread, value) layout onto a column-major tile with Fragment::rows rows.
template <class Fragment, class Layout>
void check_fragment(Layout const& layout) {
  CHECK(int(cute::size(layout)) == 32 * Fragment::registers * Fragment::slots);
  int wrong = 0;
  for (int lane = 0; lane < 32; ++lane) {
    for (int value = 0; value < Fragment::registers * Fragment::slots; ++value) {
      auto const at = Fragment::position({lane, value / Fragment::slots, value % Fragment::slots});
      wrong += int(layout(lane, value)) != at.row + Fragment::rows * at.column;
    }
  }
  CHECK(wrong == 0);
}

/// The same for scales: CuTe lists all lanes, of which the thread-ids share out the reading.
template <class Fragment, class Layout>
void check_scales(Layout const& layout, int k) {
  CHECK(int(cute::size(layout)) == 32 * k);
  int const block_size = k / Fragment::blocks;
  int wrong = 0;
  for (int id = 0; id < Fragment::thread_ids; ++id) {
    for (int lane = 0; lane < 32; ++lane) {
      if (!Fragment::reads(lane, {id, 0})) { continue; }
      for (int value = 0; value < k; ++value) {
        auto const at = Fragment::position({lane, 0, value / block_size}, {id, 0});
        wrong += int(layout(lane, value)) != at.row + Fragment::rows * value || at.column != value / block_size;
      }
    }
  }
  CHECK(wrong == 0);
}

/// An operand tile of Rows x Columns in shared memory, in units of 4 bits.
template <swizzle Mode, class Atom, int Rows, int Columns>
void check_shared() {
  using map = fp4::k_major_shared<Mode>;
  auto const pattern = cute::tile_to_shape(Atom{}, Shape<Int<Rows>, Int<Columns>>{});  // acts on bytes of addresses
  auto const layout = cute::as_position_independent_swizzle_layout(pattern);           // the same on elements
  CHECK(int(cute::cosize(pattern.layout_b())) == 2 * map::bytes(Rows, Columns));
  int wrong = 0;
  for (int row = 0; row < Rows; ++row) {
    for (int column = 0; column < Columns; ++column) {
      wrong += std::int64_t(layout(row, column)) != 2 * map::offset(row, column, Rows) + column % 2;
    }
  }
  CHECK(wrong == 0);
}
template <swizzle Mode, class Atom>
void check_shared_tiles() {
  constexpr int columns = fp4::k_major_shared<Mode>::atom_columns;
  check_shared<Mode, Atom, 8, columns>();
  check_shared<Mode, Atom, 128, 256>();
  check_shared<Mode, Atom, 192, 768>();
}

/// Scales of Rows rows and Steps steps of k = 64 in tensor memory.
template <class Scale, int BlockSize, int Rows, int Steps, bool IsA>
void check_tensor_memory() {
  constexpr int blocks = 64 / BlockSize;
  using map = fp4::tensor_memory_scales<blocks == 4 ? scale_vector::x4 : scale_vector::x2>;
  using shape =
      Shape<Shape<Shape<cute::_32, Int<Rows / 32>>, Shape<Int<BlockSize>, Int<blocks>>>, cute::_1, Int<Steps>>;
  auto const layout = cute::UMMA::tmem_sf_frg<Scale, BlockSize, 1, IsA>::make(shape{}).layout();
  constexpr int lane_stride = int(cute::TMEM::DP<Scale>{});
  int wrong = 0;
  for (int row = 0; row < Rows; ++row) {
    for (int replica = 0; replica < 4; ++replica) {
      for (int k = 0; k < 64 * Steps; ++k) {
        int const step = k / 64, inside = k % 64;
        auto const found = int(layout(cute::make_coord(cute::make_coord(cute::make_coord(row % 32, row / 32), replica),
                                                       cute::make_coord(inside % BlockSize, inside / BlockSize)),
                                      0, step));
        auto const at = map::place(row, k / BlockSize, replica, Rows);
        wrong += found / lane_stride != at.lane || found % lane_stride != at.column * 4 + at.byte;
      }
    }
  }
  CHECK(wrong == 0);
}

/// Scales in global memory, batches outermost.
template <int BlockSize>
void check_global(int m, int k, int batches) {
  using config = cutlass::detail::Sm1xxBlockScaledConfig<BlockSize>;
  auto const a = config::tile_atom_to_shape_SFA(cute::make_shape(m, 1, k, batches));
  auto const b = config::tile_atom_to_shape_SFB(cute::make_shape(1, m, k, batches));
  std::int64_t const blocks = (k + BlockSize - 1) / BlockSize, bytes = fp4::tiled_128x4_scales::bytes(m, blocks);
  std::int64_t wrong = std::int64_t(cute::cosize(a)) != bytes * batches;
  for (int batch = 0; batch < batches; ++batch) {
    for (int row = 0; row < m; ++row) {
      for (int column = 0; column < k; ++column) {
        auto const wanted = batch * bytes + fp4::tiled_128x4_scales::offset(row, column / BlockSize, blocks);
        wrong += std::int64_t(a(row, column, batch)) != wanted || std::int64_t(b(row, column, batch)) != wanted;
      }
    }
  }
  CAPTURE(m, k, batches);
  CHECK(wrong == 0);
}

template <class Scale, int M, int N>
void check_instruction(int cta_group) {
  fp4::mxf4nvf4_instruction i;
  i.m = M, i.n = N, i.cta_group = cta_group;
  i.scales_are_e8m0 = std::is_same_v<Scale, float_ue8m0_t>;
  CAPTURE(M, N);
  CHECK(fp4::instruction_descriptor(i) ==
        std::uint32_t(cute::UMMA::make_instr_desc_block_scaled<float_e2m1_t, float_e2m1_t, float, Scale, M, N,
                                                               cute::UMMA::Major::K, cute::UMMA::Major::K>()));
}

/// All but the start address: CuTe prints on the host that it does not know it.
template <swizzle Mode, class Atom>
void check_matrix_descriptor() {
  auto const layout = cute::tile_to_shape(Atom{}, Shape<Int<128>, Int<256>>{});
  auto const tile = cute::make_tensor(cute::make_smem_ptr<float_e2m1_t>(static_cast<void*>(nullptr)), layout);
  auto const operand = cute::local_tile(tile, Shape<Int<128>, Int<64>>{}, cute::make_coord(0, 0));
  std::uint64_t const wanted = cute::UMMA::make_umma_desc<cute::UMMA::Major::K>(operand);
  auto const got = fp4::matrix_descriptor(fp4::shared_matrix::of(fp4::k_major_shared<Mode>{}, 0, 128));
  CHECK(got >> 16 == wanted >> 16);
}

using atom_none = cute::UMMA::Layout_K_INTER_Atom<float_e2m1_t>;
using atom_32 = cute::UMMA::Layout_K_SW32_Atom<float_e2m1_t>;
using atom_64 = cute::UMMA::Layout_K_SW64_Atom<float_e2m1_t>;
using atom_128 = cute::UMMA::Layout_K_SW128_Atom<float_e2m1_t>;

}  // namespace

TEST_CASE("CuTe of this version", "[cutlass]") {
  std::printf("CUTLASS %d.%d.%d\n", CUTLASS_MAJOR, CUTLASS_MINOR, CUTLASS_PATCH);
  CHECK(CUTLASS_MAJOR >= 4);
}

TEST_CASE("fragments of m16n8k64 are CuTe's", "[cutlass]") {
  using nvfp4 = cute_k64<float_ue4m3_t, 16>;
  using mxfp4 = cute_k64<float_ue8m0_t, 32>;
  check_fragment<k64::a>(nvfp4::ALayout{});
  check_fragment<k64::b>(nvfp4::BLayout{});
  check_fragment<k64::c>(nvfp4::CLayout{});
  check_scales<k64::scales_a<scale_vector::x4>>(nvfp4::SFALayout{}, 64);
  check_scales<k64::scales_b<scale_vector::x4>>(nvfp4::SFBLayout{}, 64);
  check_scales<k64::scales_a<scale_vector::x2>>(mxfp4::SFALayout{}, 64);
  check_scales<k64::scales_b<scale_vector::x2>>(mxfp4::SFBLayout{}, 64);
}

TEST_CASE("fragments of m16n8k32 are CuTe's", "[cutlass]") {
  check_fragment<k32::a>(cute_k32::ALayout{});
  check_fragment<k32::b>(cute_k32::BLayout{});
  check_fragment<k32::c>(cute_k32::CLayout{});
  check_fragment<k32::a>(cute_plain_k32::ALayout{});
  check_fragment<k32::b>(cute_plain_k32::BLayout{});
  check_scales<k32::scales_a>(cute_k32::SFALayout{}, 32);
  check_scales<k32::scales_b>(cute_k32::SFBLayout{}, 32);
}

TEST_CASE("shared memory is CuTe's in all swizzles", "[cutlass]") {
  check_shared_tiles<swizzle::none, atom_none>();
  check_shared_tiles<swizzle::bytes_32, atom_32>();
  check_shared_tiles<swizzle::bytes_64, atom_64>();
  check_shared_tiles<swizzle::bytes_128, atom_128>();
}

TEST_CASE("tensor memory is CuTe's", "[cutlass]") {
  check_tensor_memory<float_ue4m3_t, 16, 128, 1, true>();
  check_tensor_memory<float_ue4m3_t, 16, 128, 4, true>();
  check_tensor_memory<float_ue4m3_t, 16, 256, 4, false>();
  check_tensor_memory<float_ue4m3_t, 16, 128, 3, false>();
  check_tensor_memory<float_ue8m0_t, 32, 128, 4, true>();
  check_tensor_memory<float_ue8m0_t, 32, 256, 2, false>();
}

TEST_CASE("scales in global memory are CuTe's, ragged rows, k and batches included", "[cutlass]") {
  for (int const m : {1, 31, 32, 33, 127, 128, 129, 300}) {
    for (int const k : {16, 48, 64, 80, 128, 200, 320}) {
      for (int const batches : {1, 3}) {
        check_global<16>(m, k, batches);
        check_global<32>(m, k, batches);
      }
    }
  }
}

TEST_CASE("instruction descriptors are CuTe's", "[cutlass]") {
  check_instruction<float_ue4m3_t, 128, 8>(1);
  check_instruction<float_ue4m3_t, 128, 192>(1);
  check_instruction<float_ue4m3_t, 128, 256>(1);
  check_instruction<float_ue4m3_t, 256, 256>(2);
  check_instruction<float_ue4m3_t, 256, 16>(2);
}

TEST_CASE("matrix descriptors are CuTe's", "[cutlass]") {
  check_matrix_descriptor<swizzle::none, atom_none>();
  check_matrix_descriptor<swizzle::bytes_32, atom_32>();
  check_matrix_descriptor<swizzle::bytes_64, atom_64>();
  check_matrix_descriptor<swizzle::bytes_128, atom_128>();
}
