// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One result of a kernel that may have two: what it is told of it, and how a block of it is encoded and stored.

#include "../arguments.cuh"
#include "../block.cuh"
#include "hadamard.cuh"
#include "quantize_rows.cuh"
#include "scale_order.cuh"

namespace fp4::gpu::detail {

/// Where a result lies, or a group's part of it, and where its random numbers begin.
struct side_frame {
  uint8_t* codes;
  uint8_t* scales;
  int64_t code_stride;
  int64_t rows, cols;  ///< of the result
  int64_t blocks;      ///< in a row
  scale_order order;
  uint64_t random_row;             ///< positions from one row to the next
  int64_t first_row, first_block;  ///< in the whole matrix that random numbers are counted in
};

/// Everything that a kernel is told of one result. Its types are what it is compiled for; the scale layout is data.
/// `PerRow`: each row of the result has its own tensor scale, in device memory.
template <class Format, class Scaling, class Rounding, class Transform, bool PerRow>
struct side {
  using format = Format;
  using rounding = Rounding;
  using transform = Transform;
  using codes = block_codes<Format>;
  using tensor = decltype(std_types::declval<Scaling const&>().template for_tensor<Format>(
      std_types::declval<tensor_scale const&>()));
  static constexpr bool exists = true, has_codes = true, per_row = PerRow;
  /// Thread blocks that a multiprocessor should hold: random numbers and formulas of each row take registers.
  static constexpr int resident = 4 - int{is_stochastic_v<Rounding>} - int{PerRow};
  static constexpr int elements = codes::elements;
  static constexpr int groups = elements / 16;
  static constexpr int code_bytes = elements * Format::storage_bits / 8;
  static constexpr int transform_size = Transform::size;
  static_assert(std_types::is_trivially_copyable<tensor>::value, "formulas are plain numbers");

  side_frame whole;
  bool aligned;    ///< codes can be written by 8 bytes
  tensor on_host;  ///< the formulas, where the tensor scale is known on the host
  scale_argument scale;
  Scaling scaling;
  Rounding how;
  random_argument random;
  transform_task<Transform> turn;
  uint32_t top = random_top;

  /// True where the target rounds in software, or where each row has formulas of its own.
  __device__ static constexpr bool takes_many_registers() {
    return PerRow || has_quick_way<Format, tensor, Rounding>();
  }
  /// The formulas of tensor scale i in device memory.
  __device__ __forceinline__ tensor make_tensor(int64_t i) const {
    return scaling.template for_tensor<Format>(scale.read(i).with_range(scaling.template range<Format>()));
  }
};

/// Where a kernel has one result only.
struct no_side {
  static constexpr bool exists = false, per_row = false;
  static constexpr int resident = 4;
  static constexpr int elements = 16, transform_size = 1;
  side_frame whole;
};

/// What a thread block keeps of a result's tensor scales. `Rows` of the result are dealt with at a time.
template <class Side, int Rows>
struct side_memory {
  using format = typename Side::format;
  using tensor = typename Side::tensor;
  static constexpr bool has_table = !Side::per_row && tensor::scales == scale_rule::rounded;

  template <bool Table, class Dummy = void>
  struct factor_kind {
    using type = tabulated_factors<format, tensor, has_quick_way<format, tensor, typename Side::rounding>()>;
    static constexpr int size = type::size;
  };
  template <class Dummy>
  struct factor_kind<false, Dummy> {
    using type = computed_factors<format, tensor>;
    static constexpr int size = 1;
  };
  using factors = typename factor_kind<has_table>::type;

  alignas(16) unsigned char tensors[sizeof(tensor) * (Side::per_row ? Rows : 1)];
  float table[factor_kind<has_table>::size];

  /// Fills it, for tensor scale `index`, or those of Rows rows of the result from `index` on. Ends with a barrier.
  __device__ __forceinline__ void fill(Side const& s, int64_t index) {
    tensor* const made = reinterpret_cast<tensor*>(tensors);
    if constexpr (Side::per_row) {
      int const row = static_cast<int>(threadIdx.x);
      static_assert(Rows <= threads_per_cta, "a thread for each row");
      int64_t const last = s.whole.rows - 1;  // rows that are padding have none
      if (row < Rows) { made[row] = s.make_tensor(index + row < last ? index + row : last); }
    } else if (threadIdx.x == 0) {
      made[0] = s.scale.in_memory() ? s.make_tensor(index) : s.on_host;
    }
    __syncthreads();
    if constexpr (has_table) {
      factors::fill(made[0], table);
      __syncthreads();
    }
  }
  __device__ __forceinline__ void flush(Side const&, int64_t) const {}
  __device__ __forceinline__ tensor tensor_of(int row) const {
    return reinterpret_cast<tensor const*>(tensors)[Side::per_row ? row : 0];
  }
  __device__ __forceinline__ factors make_factors() const {
    if constexpr (has_table) {
      factors made{ptx::shared_address(table)};
      ptx::order_after_barrier(made.table);
      return made;
    } else {
      return {};
    }
  }
};

/// Encodes and stores blocks of one result.
template <class Side, class Memory, bool Columnwise>
class side_encoder {
  using format = typename Side::format;
  using codes = typename Side::codes;
  using rounding = typename Side::rounding;

 public:
  __device__ __forceinline__ side_encoder(Side const& s, side_frame const& frame, Memory const& memory)
      : side_(s),
        frame_(frame),
        memory_(memory),
        factors_(memory.make_factors()),
        how_(s.how),
        tensor_(only_tensor(memory)) {
    if constexpr (is_stochastic_v<rounding>) {
      how_ = s.random.read(s.how);
      if (Columnwise) { how_.stream |= uint64_t{1} << 63; }
    }
  }

  /// Where a block is written and drawn for.
  struct cursor {
    uint8_t* code;
    uint8_t* scale;
    uint64_t position;
  };
  __device__ __forceinline__ cursor at(int64_t row, int64_t block) const {
    uint64_t position = 0;
    if constexpr (is_stochastic_v<rounding>) {
      position = static_cast<uint64_t>(how_.first_row + frame_.first_row + row) * frame_.random_row +
                 static_cast<uint64_t>(how_.first_block + frame_.first_block + block) * Side::groups;
    }
    return {frame_.codes + row * frame_.code_stride + block * Side::code_bytes,
            frame_.scales + frame_.order.offset(row, block), position};
  }
  /// From an even row to the next.
  __device__ __forceinline__ void move_to_odd(cursor& c) const {
    c.code += frame_.code_stride;
    c.scale += frame_.order.next_row;
    if constexpr (is_stochastic_v<rounding>) { c.position += frame_.random_row; }
  }
  /// `Rows` rows further down, to `times` * Rows below `first`, whose row is less than Rows, a power of two, beyond a
  /// multiple of that distance.
  template <int Rows>
  __device__ __forceinline__ void move_down(cursor& c, cursor const& first, int times) const {
    c.code += Rows * frame_.code_stride;
    if constexpr (Rows % 128 == 0) {
      c.scale += (Rows >> frame_.order.row_bits) * frame_.order.row_tile_bytes;
    } else if constexpr (Rows % 32 == 0) {
      c.scale += Rows / 32 * frame_.order.next_32_rows;
    } else {
      c.scale = first.scale + frame_.order.offset(times * Rows, 0);
    }
    if constexpr (is_stochastic_v<rounding>) { c.position += Rows * frame_.random_row; }
  }
  /// The formulas of the one tensor scale.
  __device__ __forceinline__ typename Side::tensor const& tensor() const { return tensor_; }
  /// By given formulas: the usual way, false where it does not hold; and the way that is right for any number.
  template <class Tensor, class Values>
  __device__ __forceinline__ bool encode_with(Tensor const& t, Values const& x, cursor const& c, codes& out) const {
    return quantize_usually(t, factors_, how_, random_at(c), x, out, side_.top);
  }
  template <class Tensor, class Values>
  __device__ __forceinline__ void encode_carefully_with(Tensor const& t, Values const& x, cursor const& c,
                                                        codes& out) const {
    quantize_carefully(t, factors_, how_, random_at(c), x, out);
  }
  /// The usual way; true where the block has to be done again, carefully. `row` is counted from that of `memory`.
  template <class Values>
  __device__ __forceinline__ bool encode(Values const& x, int row, cursor const& c, codes& out) const {
    bool again = !encode_with(tensor_of(row), x, c, out);
    if constexpr (is_transformed_v<typename Side::transform>) {  // lanes that transform together go together
      again = __any_sync(~0u, again);
    }
    return again;
  }
  /// Right for any number.
  template <class Values>
  __device__ __forceinline__ void encode_carefully(Values const& x, int row, cursor const& c, codes& out) const {
    encode_carefully_with(tensor_of(row), x, c, out);
  }

  /// Stores a whole block.
  __device__ __forceinline__ static void store(cursor const& c, codes const& out) {
    store_codes_aligned(c.code, out);
    if constexpr (format::has_block_scale) { *c.scale = static_cast<uint8_t>(out.scale); }
  }

  __device__ __forceinline__ void finish() const {}

  /// How many elements of a block exist.
  __device__ __forceinline__ int count_of(int64_t row, int64_t block) const {
    int64_t const left = frame_.cols - block * Side::elements;
    if (row >= frame_.rows || left <= 0) { return 0; }
    return left < Side::elements ? static_cast<int>(left) : Side::elements;
  }
  /// Stores any block, also one that is cut or is padding of the scales.
  __device__ __forceinline__ void store_any(cursor const& c, int64_t row, int64_t block, codes& out) const {
    int const count = count_of(row, block);
    if constexpr (format::has_block_scale) {
      if (row < frame_.order.padded_rows(frame_.rows) && block < frame_.order.padded_blocks(frame_.blocks)) {
        *c.scale = count > 0 ? static_cast<uint8_t>(out.scale) : uint8_t{0};
      }
    }
    if (count == 0) { return; }
    uint8_t* const to = c.code;
    if (side_.aligned && count == Side::elements) {
      store_codes_aligned(to, out);
    } else {
      out.keep(count);
      // Without block scales, rows of codes end where the elements do.
      int const bytes = format::has_block_scale ? Side::code_bytes : count * format::storage_bits / 8;
#pragma unroll
      for (int i = 0; i < Side::code_bytes; ++i) {
        if (i < bytes) { to[i] = static_cast<uint8_t>(out.word[i / 4] >> i % 4 * 8); }
      }
    }
  }

 private:
  struct none {};
  __device__ __forceinline__ static auto only_tensor(Memory const& memory) {
    if constexpr (Side::per_row) {
      return none{};
    } else {
      return memory.tensor_of(0);
    }
  }
  __device__ __forceinline__ typename Side::tensor tensor_of(int row) const {
    if constexpr (Side::per_row) {
      return memory_.tensor_of(row);
    } else {
      return tensor_;
    }
  }

  /// The random words of a block's sixteens.
  __device__ __forceinline__ auto random_at(cursor const& c) const {
    if constexpr (is_stochastic_v<rounding>) {
      return random_words<Side::groups>(how_.seed, how_.stream, c.position, 1);
    } else {
      return no_random{};
    }
  }

  Side const& side_;
  side_frame frame_;
  Memory const& memory_;
  typename Memory::factors factors_;
  rounding how_;
  std_types::conditional_t<Side::per_row, none, typename Side::tensor> tensor_;
};

}  // namespace fp4::gpu::detail
