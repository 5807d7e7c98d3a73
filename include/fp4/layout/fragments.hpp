// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What each lane of a warp holds in `mma.sync` with 4-bit operands. Each fragment is a type: place(row, column) is
/// where an element lies in the registers of the warp, position(place) inverts it.
///
///     lane = 4 * group + quad    group 0 to 7 (PTX: groupID), quad 0 to 3 (PTX: threadID_in_group)
///
/// A is [m, k], B is [n, k] (so that k runs along rows in both), C and D are [m, n].
/// Source: PTX ISA 9.7.14.5, "Matrix Fragments for mma.m16n8k64" and "Block Scaling"; CUTLASS mma_traits_sm120.hpp.

#include "../config.hpp"

namespace fp4 {

/// A place in the registers of a warp. Slots divide a register from its lowest bits upwards.
struct fragment_place {
  int lane;  ///< 0 to 31
  int reg;   ///< index of the register in the lane's operand
  int slot;  ///< nibble, byte or, for 32-bit elements, 0
};

/// An element of a tile.
struct tile_position {
  int row;
  int column;
};

/// What one lane holds of a fragment, aligned so that it moves in one access.
template <class Fragment>
struct alignas(Fragment::registers * 4) lane_registers {
  using fragment = Fragment;
  typename Fragment::word reg[Fragment::registers];
};

/// A or B: Rows is 16 or 8, elements take Bits bits (4, or 8 where the container is a byte). Register i holds rows
/// group + 8 * (i % (Rows / 8)); its elements follow each other along k.
template <int Rows, int Columns, int Bits>
struct operand_fragment {
  using word = uint32_t;
  static constexpr int rows = Rows;
  static constexpr int columns = Columns;
  static constexpr int element_bits = Bits;
  static constexpr int slots = 32 / Bits;
  static constexpr int registers = Rows * Columns / 32 / slots;
  static constexpr int bytes = 32 * 4 * registers;  ///< of a whole warp

  [[nodiscard]] FP4_HD FP4_INLINE static constexpr fragment_place place(int row, int k) noexcept {
    return {row % 8 * 4 + k / slots % 4, row / 8 + row_groups * (k / (4 * slots)), k % slots};
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr tile_position position(fragment_place at) noexcept {
    return {at.lane / 4 + 8 * (at.reg % row_groups),
            slots * (at.lane % 4) + 4 * slots * (at.reg / row_groups) + at.slot};
  }

 private:
  static constexpr int row_groups = Rows / 8;
};

/// C and D, 16 x 8 of fp32: lane 4 * group + quad holds columns 2 * quad and 2 * quad + 1 of rows group and group + 8.
struct accumulator_fragment {
  using word = float;
  static constexpr int rows = 16;
  static constexpr int columns = 8;
  static constexpr int element_bits = 32;
  static constexpr int slots = 1;
  static constexpr int registers = 4;
  static constexpr int bytes = 32 * 4 * registers;

  [[nodiscard]] FP4_HD FP4_INLINE static constexpr fragment_place place(int row, int column) noexcept {
    return {row % 8 * 4 + column / 2, row / 8 * 2 + column % 2, 0};
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr tile_position position(fragment_place at) noexcept {
    return {at.lane / 4 + 8 * (at.reg / 2), at.lane % 4 * 2 + at.reg % 2};
  }
};

/// `.scale_vec::1X`, `2X` and `4X`: scales that a row of A or B has along the k of one instruction.
enum class scale_vector { x1 = 1, x2 = 2, x4 = 4 };

/// The operands {byte-id, thread-id} beside a scale register: which lanes supply it, and from which of its bytes on.
struct scale_selector {
  int thread_id = 0;
  int byte_id = 0;
};

/// The scales of A (16 rows) or B (8): one register a lane, of which the selector names the lanes and bytes that the
/// instruction reads. The other lanes and bytes may hold scales of other tiles: two of A, four of B.
template <int Rows, scale_vector Vector>
struct scale_fragment {
  using word = uint32_t;
  static constexpr int rows = Rows;
  static constexpr int blocks = static_cast<int>(Vector);
  static constexpr int registers = 1;
  static constexpr int thread_ids = 32 / Rows;  ///< thread-id is 0 to 1 for A, 0 to 3 for B
  static constexpr int byte_ids = 4 / blocks;   ///< byte-id is a multiple of `blocks` below 4

  /// A selector that the instruction takes.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr bool valid(scale_selector s) noexcept {
    return s.thread_id >= 0 && s.thread_id < thread_ids && s.byte_id >= 0 && s.byte_id < 4 && s.byte_id % blocks == 0;
  }
  /// The selector of literals, refused at compile time where it is out of range.
  template <int ThreadId, int ByteId = 0>
  [[nodiscard]] FP4_HD static constexpr scale_selector select() noexcept {
    static_assert(ThreadId >= 0 && ThreadId < thread_ids, "thread-id must be 0 or 1 for A, and 0 to 3 for B");
    static_assert(valid({0, ByteId}), "byte-id must be 0 for 4X, 0 or 2 for 2X, and 0 to 3 for 1X");
    return {ThreadId, ByteId};
  }
  /// Whether the instruction reads this lane's register.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr bool reads(int lane, scale_selector s) noexcept {
    return lane % 4 / row_groups == s.thread_id;
  }
  /// Where the scale of (row, block) lies; the slot is a byte.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr fragment_place place(int row, int block, scale_selector s) noexcept {
    return {row % 8 * 4 + s.thread_id * row_groups + row / 8, 0, s.byte_id + block};
  }
  /// The row and block (as column) of a byte that is read.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr tile_position position(fragment_place at,
                                                                          scale_selector s) noexcept {
    return {at.lane / 4 + 8 * (at.lane % row_groups), at.slot - s.byte_id};
  }

 private:
  static constexpr int row_groups = Rows / 8;
};

/// `mma.sync.aligned.m16n8k64` of `kind::mxf4nvf4` and `kind::mxf4`: packed 4-bit operands, scales along k.
struct mma_m16n8k64 {
  static constexpr int m = 16, n = 8, k = 64;
  using a = operand_fragment<m, k, 4>;
  using b = operand_fragment<n, k, 4>;
  using c = accumulator_fragment;
  /// NVFP4's blocks of 16 are 4X, blocks of 32 are 2X.
  template <scale_vector Vector = scale_vector::x4>
  using scales_a = scale_fragment<m, Vector>;
  template <scale_vector Vector = scale_vector::x4>
  using scales_b = scale_fragment<n, Vector>;
};

/// `mma.sync.aligned.m16n8k32` of `kind::f8f6f4` and `kind::mxf8f6f4`: every operand in containers of 8 bits, of which
/// a 4-bit code takes bits 2 to 5. Scales (mxf8f6f4 alone) are 1X.
///
///     bit   7 6   5     4 3     2    1 0
///         [ 0 0 | S ] [ E E ] [ M | 0 0 ]
struct mma_m16n8k32 {
  static constexpr int m = 16, n = 8, k = 32;
  using a = operand_fragment<m, k, 8>;
  using b = operand_fragment<n, k, 8>;
  using c = accumulator_fragment;
  using scales_a = scale_fragment<m, scale_vector::x1>;
  using scales_b = scale_fragment<n, scale_vector::x1>;

  /// The container of a 4-bit code, and back.
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr uint8_t container(uint8_t code) noexcept {
    return static_cast<uint8_t>((code & 0xF) << 2);
  }
  [[nodiscard]] FP4_HD FP4_INLINE static constexpr uint8_t code(uint8_t container) noexcept {
    return static_cast<uint8_t>(container >> 2 & 0xF);
  }
};

static_assert(mma_m16n8k64::a::registers == 4 && mma_m16n8k64::b::registers == 2, "");
static_assert(mma_m16n8k32::a::registers == 4 && mma_m16n8k32::b::registers == 2, "");
static_assert(sizeof(lane_registers<mma_m16n8k64::a>) == 16 && alignof(lane_registers<mma_m16n8k64::a>) == 16, "");

}  // namespace fp4
