// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Every scaling with the block formats that it is defined for, and the tensor scales to try it with.

#include <fp4/choices.hpp>
#include <tuple>
#include <vector>

namespace test {

template <class Format, class Scaling>
struct scheme {
  using format = Format;
  using scaling = Scaling;
  char const* name;
};

// clang-format off
inline constexpr auto schemes = std::make_tuple(
    scheme<fp4::nvfp4, fp4::transformer_engine>{"transformer_engine"},
    scheme<fp4::nvfp4_ue5m3, fp4::transformer_engine>{"transformer_engine, ue5m3"},
    scheme<fp4::nvfp4_block32, fp4::transformer_engine>{"transformer_engine, blocks of 32"},
    scheme<fp4::nvfp4, fp4::transformer_engine_v2_13>{"transformer_engine_v2_13"},
    scheme<fp4::nvfp4, fp4::transformer_engine_v2_13_rowwise>{"transformer_engine_v2_13_rowwise"},
    scheme<fp4::nvfp4, fp4::trtllm>{"trtllm"},
    scheme<fp4::nvfp4, fp4::vllm>{"vllm"},
    scheme<fp4::nvfp4, fp4::flashinfer>{"flashinfer"},
    scheme<fp4::nvfp4, fp4::vllm_emulation>{"vllm_emulation"},
    scheme<fp4::nvfp4, fp4::torchao>{"torchao"},
    scheme<fp4::nvfp4, fp4::modelopt>{"modelopt"},
    scheme<fp4::nvfp4, fp4::modelopt_static>{"modelopt_static"},
    scheme<fp4::nvfp4, fp4::compressed_tensors>{"compressed_tensors"},
    scheme<fp4::nvfp4, fp4::compressed_tensors_gpu>{"compressed_tensors_gpu"},
    scheme<fp4::nvfp4, fp4::jax>{"jax"},
    scheme<fp4::nvfp4, fp4::ggml>{"ggml"},
    scheme<fp4::nvfp4, fp4::exact>{"exact"},
    scheme<fp4::nvfp4, fp4::round_up>{"round_up"},
    scheme<fp4::nvfp4, fp4::search>{"search"},
    scheme<fp4::nvfp4, fp4::four_over_six>{"four_over_six"},
    scheme<fp4::mxfp4, fp4::mx_floor>{"mxfp4, mx_floor"},
    scheme<fp4::mxfp4, fp4::mx_ceil>{"mxfp4, mx_ceil"},
    scheme<fp4::mxfp6_e2m3, fp4::mx_floor>{"mxfp6_e2m3, mx_floor"},
    scheme<fp4::mxfp6_e3m2, fp4::mx_ceil>{"mxfp6_e3m2, mx_ceil"},
    scheme<fp4::mxfp8_e4m3, fp4::mx_ceil>{"mxfp8_e4m3, mx_ceil"},
    scheme<fp4::mxfp8_e5m2, fp4::mx_floor>{"mxfp8_e5m2, mx_floor"},
    scheme<fp4::fp8_e4m3, fp4::tensor_amax>{"fp8_e4m3"},
    scheme<fp4::fp8_e5m2, fp4::tensor_amax>{"fp8_e5m2"});
// clang-format on
inline constexpr int scheme_count = std::tuple_size_v<decltype(schemes)>;

/// The scaling with its parameters, if it has any, chosen by `which`: its variants(...) in turn.
template <class Scaling>
Scaling make_scaling(int which) {
  if constexpr (std::is_same_v<Scaling, fp4::four_over_six>) {
    constexpr fp4::block_error measures[] = {fp4::block_error::mean_square, fp4::block_error::mean_absolute,
                                             fp4::block_error::largest};
    return Scaling{measures[which % 3], which / 3 % 2 == 1};
  } else {
    return Scaling{};
  }
}
template <class Scaling>
inline constexpr int variants_of = std::is_same_v<Scaling, fp4::four_over_six> ? 6 : 1;

/// How a test makes its tensor scale from the largest magnitude of the values.
enum class scale_kind {
  amax,          ///< As it should be.
  decode,        ///< From the factor amax / range.
  encode,        ///< From the factor range / amax.
  smaller_amax,  ///< From a third of it: a calibration that the values exceed.
  per_row,       ///< One for each row of the result, all different.
};
inline constexpr int scale_kinds = 5;

inline char const* name(scale_kind kind) {
  constexpr char const* names[] = {"amax", "decode", "encode", "smaller_amax", "per_row"};
  return names[static_cast<int>(kind)];
}

/// Tensor scales for values of the given amax (NaN-free). A factor needs a positive finite amax, else the
/// amax stands.
inline std::vector<fp4::tensor_scale> make_scales(scale_kind kind, float amax, float range, std::int64_t rows) {
  using fp4::tensor_scale;
  bool const usable = amax > 1e-30f && amax < 1e30f;
  switch (kind) {
    case scale_kind::decode:
      if (usable) { return {tensor_scale::from_decode(amax / range)}; }
      break;
    case scale_kind::encode:
      if (usable) { return {tensor_scale::from_encode(range / amax)}; }
      break;
    case scale_kind::smaller_amax: return {tensor_scale::from_amax(amax / 3)};
    case scale_kind::per_row: {
      std::vector<tensor_scale> scales;
      for (std::int64_t r = 0; r < rows; ++r) {
        float const row_amax = r % 5 == 4 ? amax : amax * (1.0f + static_cast<float>(r % 7) * 0.25f);
        if (r % 3 == 1 && usable) {
          scales.push_back(tensor_scale::from_encode(range / row_amax));
        } else {
          scales.push_back(tensor_scale::from_amax(row_amax));
        }
      }
      return scales;
    }
    case scale_kind::amax: break;
  }
  return {tensor_scale::from_amax(amax)};
}

}  // namespace test
