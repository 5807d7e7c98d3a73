// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The kernel of results down columns, alone or with results along rows: each value is read once. A thread block takes a
/// tile, deals with its blocks along rows from registers and with those down columns by way of shared memory. What is
/// made of a block is the sides' affair: codes and scales (side.cuh), a largest magnitude (amax_side.cuh).

#include "matrix_parts.cuh"
#include "side.cuh"
#include "tile.cuh"

namespace fp4::gpu::detail {

/// The tile of a kernel with results Row and Col (either may be no_side): whole transforms both ways, and so many rows
/// that 32 bytes of codes or more lie together in each row of a column-wise result.
template <class In, class Row, class Col>
struct tile_shape {
  static constexpr bool is_tall = Col::exists && sizeof(In) == 2;
  static constexpr int rows = larger(is_tall ? 128 : 64, Col::transform_size);
  static constexpr int cols = larger((is_tall ? 16384 : 8192) / rows, Row::transform_size);
  using type = tile<In, Row::elements, Col::elements, rows, cols>;
  /// True where it fits into the shared memory that every device has.
  static constexpr bool fits = !Col::exists || type::size_words * 4 <= 40 * 1024;
};

/// Everything that the kernel is told. `Parts` is one_matrix or grouped_rows.
template <class In, class Row, class Col, class Parts>
struct tiles_task {
  using value = In;
  using row_side = Row;
  using col_side = Col;
  using parts_type = Parts;
  using shape = tile_shape<In, Row, Col>;
  static constexpr int resident = (Row::resident < Col::resident ? Row::resident : Col::resident) - int{!Parts::is_one};

  matrix_view<In const> in;
  bool aligned;  ///< every block along a row can be read by 16 bytes
  Row rowwise;
  Col columnwise;
  Parts parts;
};

/// What a side keeps in shared memory and what deals with its blocks. `Rows` of the result are dealt with at a time;
/// blocks of one row are in `Lanes` neighbouring lanes.
template <class Side, int Rows, int Lanes, bool Columnwise>
struct side_parts {
  using memory = side_memory<Side, Rows>;
  using encoder = side_encoder<Side, memory, Columnwise>;
};
template <int Rows, int Lanes, bool Columnwise>
struct side_parts<no_side, Rows, Lanes, Columnwise> {
  struct memory {};
  struct encoder {
    __device__ __forceinline__ void finish() const {}
  };
};

/// A thread's work on a tile. Its blocks along rows lie in one column of blocks, those down columns in a few columns;
/// blocks one below the other are in neighbouring lanes. What a phase needs is computed at its beginning: kept from
/// tile to tile it would not fit into the registers.
template <class Task>
class tile_worker {
  using value = typename Task::value;
  using row_side = typename Task::row_side;
  using col_side = typename Task::col_side;
  using shape = typename Task::shape;
  using tile_type = typename shape::type;
  using row_values = block_values<value, row_side::elements>;
  using row_parts = side_parts<row_side, shape::rows, tile_type::blocks_across, false>;
  using col_parts = side_parts<col_side, shape::cols, tile_type::block_rows, true>;
  using row_encoder = typename row_parts::encoder;
  using col_encoder = typename col_parts::encoder;

  static constexpr uint32_t row_blocks = shape::rows * tile_type::blocks_across;
  static constexpr uint32_t row_rounds = row_blocks / threads_per_cta;
  static constexpr uint32_t row_step = threads_per_cta / tile_type::blocks_across;  ///< rows from round to round
  static constexpr uint32_t col_items = tile_type::words * tile_type::block_rows;
  static constexpr uint32_t col_rounds = (col_items + threads_per_cta - 1) / threads_per_cta;
  static constexpr uint32_t col_step =
      threads_per_cta / tile_type::block_rows * tile_type::per_word;  ///< columns, likewise
  static_assert(row_blocks % threads_per_cta == 0 && threads_per_cta % tile_type::blocks_across == 0 &&
                    (col_items % threads_per_cta == 0 || (col_items < threads_per_cta && col_items % 32 == 0)),
                "tiles are shared evenly, by whole warps");

 public:
  using row_memory = typename row_parts::memory;
  using col_memory = typename col_parts::memory;

  __device__ __forceinline__ tile_worker(Task const& task, matrix_part const& part, uint32_t* memory)
      : task_(task), part_(part), memory_(memory) {}

  using parts_memory = typename Task::parts_type::memory;

  /// Reads the tile, encodes its blocks along rows and leaves its values in shared memory.
  __device__ __forceinline__ void rows(row_memory& known) const {
    auto const run = [&](auto const& encoder) {
      unsigned const left = is_whole() ? whole_rows(encoder) : ~0u;
      if (left != 0) { any_rows(encoder, left); }
      encoder.finish();
    };
    if constexpr (row_side::exists) {
      run(row_encoder(task_.rowwise, task_.parts.row_frame(task_.rowwise, part_), known));
    } else {
      run(row_encoder{});
    }
  }
  /// Encodes the blocks down the columns of the tile in shared memory.
  __device__ __forceinline__ void columns(col_memory& known, parts_memory const& counted) const {
    if (col_items < threads_per_cta && threadIdx.x >= col_items) { return; }
    col_encoder const encoder(task_.columnwise, task_.parts.column_frame(task_.columnwise, part_, counted), known);
    unsigned const left = is_whole() ? whole_columns(encoder) : ~0u;
    if (left != 0) { any_columns(encoder, left); }
    encoder.finish();
  }

 private:
  __device__ __forceinline__ static int64_t first_column() { return int64_t{blockIdx.x} * shape::cols; }

  /// True where every block of the tile exists and can be read and written by whole words.
  __device__ __forceinline__ bool is_whole() const {
    bool whole =
        part_.row + shape::rows <= part_.rows && first_column() + shape::cols <= task_.in.cols && task_.aligned;
    if constexpr (row_side::exists) { whole = whole && task_.rowwise.aligned; }
    if constexpr (col_side::exists) { whole = whole && task_.columnwise.aligned; }
    return whole;
  }

  /// Rounds that are interleaved: as many as the registers hold.
  template <class Side>
  __device__ static constexpr int at_once(uint32_t rounds) {
    if (!Side::takes_many_registers()) { return rounds; }
    return rounds > 1 && Task::parts_type::is_one ? rounds / 2 : 1;
  }

  /// The thread's first block along rows.
  struct row_place {
    uint32_t row, block;
    int64_t matrix_row, matrix_block;  ///< in the part

    __device__ __forceinline__ explicit row_place(matrix_part const& part) {
      uint32_t const thread = ptx::computed_here(threadIdx.x);
      row = thread / tile_type::blocks_across, block = thread % tile_type::blocks_across;
      matrix_row = part.row + row, matrix_block = first_column() / row_side::elements + block;
    }
  };

  /// Bits of the result name the rounds that have to be done again.
  __device__ __forceinline__ unsigned whole_rows(row_encoder const& encoder) const {
    row_place const at(part_);
    value const* from = task_.in.row(part_.first_row + at.matrix_row) + at.matrix_block * row_side::elements;
    unsigned left = 0;
    if constexpr (row_side::exists) {
      auto const first = encoder.at(at.matrix_row, at.matrix_block);
      auto to = first;
#pragma unroll(at_once <row_side>(row_rounds))
      for (uint32_t u = 0; u < row_rounds; ++u) {
        auto const x = row_values::load_aligned(from);
        from += row_step * task_.in.stride;
        if constexpr (col_side::exists) { tile_type::store(memory_, at.row + u * row_step, at.block, x); }
        typename row_side::codes out;
        if (encoder.encode(transformed(task_.rowwise.turn, x), at.row + u * row_step, to, out)) { left |= 1u << u; }
        encoder.store(to, out);
        if (u + 1 < row_rounds) { encoder.template move_down<row_step>(to, first, u + 1); }
      }
    } else {
#pragma unroll
      for (uint32_t u = 0; u < row_rounds; ++u) {
        tile_type::store(memory_, at.row + u * row_step, at.block, row_values::load_aligned(from));
        from += row_step * task_.in.stride;
      }
    }
    return left;
  }

  __device__ __forceinline__ void any_rows(row_encoder const& encoder, unsigned rounds) const {
    row_place const at(part_);
    int64_t const column = at.matrix_block * row_side::elements, left = task_.in.cols - column;
    int const most = left < row_side::elements ? static_cast<int>(left) : row_side::elements;
#pragma unroll 1
    for (uint32_t u = 0; u < row_rounds; ++u) {
      if ((rounds >> u & 1) == 0) { continue; }
      uint32_t const row = at.row + u * row_step;
      int64_t const r = at.matrix_row + u * row_step;
      auto const x = row_values::load(task_.in.row(part_.first_row + r) + column, r < part_.rows ? most : 0);
      if constexpr (col_side::exists) { tile_type::store(memory_, row, at.block, x); }
      if constexpr (row_side::exists) {
        auto const to = encoder.at(r, at.matrix_block);
        typename row_side::codes out;
        encoder.encode_carefully(transformed(task_.rowwise.turn, x), row, to, out);
        encoder.store_any(to, r, at.matrix_block, out);
      }
    }
  }

  /// The thread's first blocks down columns.
  struct col_place {
    uint32_t word, block_row;
    int64_t result_row, result_block;

    __device__ __forceinline__ explicit col_place(matrix_part const& part) {
      uint32_t const thread = ptx::computed_here(threadIdx.x);
      word = thread / tile_type::block_rows, block_row = thread % tile_type::block_rows;
      result_row = first_column() + word * tile_type::per_word;
      result_block = part.row / col_side::elements + block_row;
    }
  };

  __device__ __forceinline__ unsigned whole_columns(col_encoder const& encoder) const {
    col_place const at(part_);
    auto const first = encoder.at(at.result_row, at.result_block);
    auto to = first;
    unsigned left = 0;
#pragma unroll(at_once <col_side>(col_rounds))
    for (uint32_t u = 0; u < col_rounds; ++u) {
      uint32_t v[col_side::elements];
      tile_type::load(memory_, at.block_row, at.word + u * (col_step / tile_type::per_word), v);
      auto next = to;
#pragma unroll
      for (uint32_t i = 0; i < tile_type::per_word; ++i) {
        typename col_side::codes out;
        auto const x = transformed(task_.columnwise.turn, tile_type::column_of(v, i));
        if (encoder.encode(x, at.word * tile_type::per_word + u * col_step + i, next, out)) { left |= 1u << u; }
        encoder.store(next, out);
        if (i + 1 < tile_type::per_word) { encoder.move_to_odd(next); }
      }
      if (u + 1 < col_rounds) { encoder.template move_down<col_step>(to, first, u + 1); }
    }
    return left;
  }

  __device__ __forceinline__ void any_columns(col_encoder const& encoder, unsigned rounds) const {
    col_place const at(part_);
#pragma unroll 1
    for (uint32_t u = 0; u < col_rounds; ++u) {
      if ((rounds >> u & 1) == 0) { continue; }
      uint32_t v[col_side::elements];
      tile_type::load(memory_, at.block_row, at.word + u * (col_step / tile_type::per_word), v);
#pragma unroll 1
      for (uint32_t i = 0; i < tile_type::per_word; ++i) {
        int64_t const r = at.result_row + u * col_step + i;
        auto const to = encoder.at(r, at.result_block);
        typename col_side::codes out;
        auto const x = transformed(task_.columnwise.turn, tile_type::column_of(v, i));
        encoder.encode_carefully(x, at.word * tile_type::per_word + u * col_step + i, to, out);
        encoder.store_any(to, r, at.result_block, out);
      }
    }
  }

  Task const& task_;
  matrix_part const& part_;
  uint32_t* memory_;
};

template <class Task>
__global__ void __launch_bounds__(threads_per_cta, Task::resident) run_tiles(Task const __grid_constant__ task) {
  using row_side = typename Task::row_side;
  using col_side = typename Task::col_side;
  using shape = typename Task::shape;
  using worker = tile_worker<Task>;
  __shared__ typename worker::row_memory of_rows;
  __shared__ typename worker::col_memory of_cols;
  __shared__ alignas(16) uint32_t memory[col_side::exists ? shape::type::size_words : 1];

  __shared__ typename worker::parts_memory counted;

  int64_t group = -1;
  auto const flush = [&] {
    if (group < 0) { return; }
    if constexpr (row_side::exists) { of_rows.flush(task.rowwise, group); }
    if constexpr (col_side::exists) { of_cols.flush(task.columnwise, group); }
  };
#pragma unroll 1
  for (int64_t row = int64_t{blockIdx.y} * shape::rows; row < task.parts.end; row += int64_t{gridDim.y} * shape::rows) {
    matrix_part const part = task.parts.find(row);
    if (part.row >= part.end) { continue; }  // between two groups
    if (part.group != group) {
      flush();
      if constexpr (row_side::exists && !row_side::per_row) { of_rows.fill(task.rowwise, part.group); }
      if constexpr (col_side::exists) {
        task.parts.template count_blocks<col_side>(part.group, counted);
        of_cols.fill(task.columnwise, col_side::per_row ? int64_t{blockIdx.x} * shape::cols : part.group);
      }
      group = part.group;
    }
    if constexpr (row_side::per_row) { of_rows.fill(task.rowwise, part.first_row + part.row); }
    worker const w(task, part, memory);
    w.rows(of_rows);
    __syncthreads();
    if constexpr (col_side::exists) {
      w.columns(of_cols, counted);
      __syncthreads();
    }
  }
  flush();
}

}  // namespace fp4::gpu::detail
