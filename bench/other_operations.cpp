// SPDX-License-Identifier: Apache-2.0
// Everything but quantization: back to values, the parts of a quantization alone, scales to another layout.
#include "operation.hpp"

namespace bench {
namespace {

template <class Out>
operation dequantization() {
  auto const run = [](problem const& p, int threads) {
    fp4::quantized_view<fp4::nvfp4, fp4::linear_scales, std::uint8_t const> const quantized(
        p.codes, p.scales, p.values() / fp4::nvfp4::block_size, p.rows, p.cols);
    fp4::tensor_scale const scale = fp4::tensor_scale::from_amax(p.amax);
    with_threads(threads, [&](auto execution) {
      fp4::cpu::dequantize(quantized, {&scale, 1}, fp4::transformer_engine::decoding, p.output<Out>(), execution);
    });
  };
  return {"dequantize", type_name<Out>(), 0.5625, sizeof(Out), limit::write, false, run};
}

template <class In>
operation largest_magnitude() {
  auto const run = [](problem const& p, int threads) {
    with_threads(threads, [&](auto execution) {
      float volatile const amax = fp4::cpu::amax(p.input<In>(), fp4::no_transform{}, fp4::rowwise{}, execution);
      static_cast<void>(amax);
    });
  };
  return {"amax", type_name<In>(), sizeof(In), 0, limit::read, false, run};
}

template <class In, int N>
operation transformation() {
  auto const run = [](problem const& p, int threads) {
    with_threads(threads, [&](auto execution) {
      fp4::cpu::transform(p.input<In>(), fp4::hadamard<N>{}, p.output<float>(), execution);
    });
  };
  return {"hadamard_" + std::to_string(N), type_name<In>(), sizeof(In), 4, limit::copy, false, run};
}

/// Two scales for each value of the problem, so that its sizes are those of the caches here too; 512 a row,
/// as rows of 8192 values have.
operation scale_relayout() {
  auto const run = [](problem const& p, int threads) {
    auto const* const from = reinterpret_cast<std::uint8_t const*>(p.fp32);
    auto* const to = reinterpret_cast<std::uint8_t*>(p.out);
    constexpr std::int64_t blocks = 512;
    std::int64_t const bytes = 2 * p.values();
    with_threads(threads, [&](auto execution) {
      fp4::cpu::relayout_scales<fp4::linear_scales, fp4::tiled_128x4_scales>(from, bytes, to, bytes, bytes / blocks,
                                                                             blocks, execution);
    });
  };
  return {"scales_to_128x4", "bytes", 2, 2, limit::copy, true, run};
}

/// A quantized matrix of seven times the columns, 3.9375 bytes for each value of the problem, to the order of a
/// tensor-core instruction or back.
template <class Codes, class Scales, bool Packs>
operation packing(char const* name) {
  auto const run = [](problem const& p, int threads) {
    auto* const in = const_cast<std::uint8_t*>(reinterpret_cast<std::uint8_t const*>(p.fp32));  // read alone
    auto* const out = reinterpret_cast<std::uint8_t*>(p.out);
    std::int64_t const cols = 7 * p.cols, codes = p.rows * cols / 2, scales = p.rows * cols / 16;
    fp4::quantized_view<fp4::nvfp4> const rows(Packs ? in : out, (Packs ? in : out) + codes, scales, p.rows, cols);
    auto* const tiles = Packs ? out : in;
    fp4::packed_view<fp4::nvfp4, Codes, Scales> const packed(tiles, codes, tiles + codes, scales, p.rows, cols);
    with_threads(threads, [&](auto execution) {
      if constexpr (Packs) {
        fp4::cpu::pack(rows, packed, execution);
      } else {
        fp4::cpu::unpack(packed, rows, execution);
      }
    });
  };
  return {name, "bytes", 3.9375, 3.9375, limit::copy, false, run};
}

template <class T>
void add_operations(std::vector<operation>& list) {
  list.push_back(dequantization<T>());
  list.push_back(largest_magnitude<T>());
  list.push_back(transformation<T, 16>());
  list.push_back(transformation<T, 128>());
}

}  // namespace

std::vector<operation> other_operations() {
  std::vector<operation> list;
  add_operations<float>(list);
  add_operations<fp4::bfloat16>(list);
  add_operations<fp4::float16>(list);
  list.push_back(scale_relayout());
  using mma_scales = fp4::tiled_32x4_scales;
  using tiles = fp4::tcgen05_codes<fp4::swizzle::bytes_128>;
  using tile_scales = fp4::tiled_128x4_scales;
  list.push_back(packing<fp4::fragment_codes_a, mma_scales, true>("pack_a"));
  list.push_back(packing<fp4::fragment_codes_b, mma_scales, true>("pack_b"));
  list.push_back(packing<tiles, tile_scales, true>("pack_tcgen05"));
  list.push_back(packing<fp4::fragment_codes_a, mma_scales, false>("unpack_a"));
  list.push_back(packing<tiles, tile_scales, false>("unpack_tcgen05"));
  return list;
}

}  // namespace bench
