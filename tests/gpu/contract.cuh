// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The contract on a device: gpu::quantize_async writes the bytes of reference::quantize, each of them and no other.

#include <fp4/gpu/quantize.cuh>
#include <fp4/reference/reference.hpp>

#include "ptx/programs/check.hpp"
#include "support/buffer.hpp"
#include "support/data.hpp"
#include "support/schemes.hpp"

namespace test {

using program::on_device;
using inputs = std::tuple<float, fp4::float16, fp4::bfloat16>;
using layouts = std::tuple<fp4::linear_scales, fp4::tiled_128x4_scales, fp4::tiled_8x4_scales>;
using roundings = std::tuple<fp4::nearest_even, fp4::stochastic, fp4::toward_zero>;

/// What varies besides the types.
struct situation {
  std::int64_t rows, cols;
  data_kind data;
  scale_kind scale;
  int variant;  ///< picks strides, alignments, random positions, and what lies in device memory
};

inline std::string describe(situation const& s) {
  return std::to_string(s.rows) + " x " + std::to_string(s.cols) + ", " + name(s.data) + ", " + name(s.scale) +
         ", variant " + std::to_string(s.variant);
}

template <class Rounding>
Rounding make_rounding(int variant, std::int64_t blocks) {
  if constexpr (fp4::is_stochastic_v<Rounding>) {
    std::uint64_t const seed = 0x9E3779B97F4A7C15u * static_cast<std::uint64_t>(variant + 1);
    Rounding const whole(seed, variant % 3 == 0 ? 0x7FFFFFFFFFFFFFFFu : static_cast<std::uint64_t>(variant));
    return variant % 2 == 0 ? whole : whole.at(variant * 1000003, 5, blocks + 7 + variant);
  } else {
    return {};
  }
}

template <class Transform>
Transform make_transform(int variant) {
  if constexpr (fp4::is_transformed_v<Transform>) {
    Transform const t = variant % 4 < 2 ? Transform{} : Transform::random_signs(static_cast<std::uint64_t>(variant));
    return variant % 2 == 0 ? t : t.to_bfloat16();
  } else {
    return {};
  }
}

/// Bytes of the host and a copy on the device, with room in front for misalignment.
class mirrored {
 public:
  mirrored(void const* from, std::int64_t size, int shift)
      : size_(static_cast<std::size_t>(size)), shift_(shift), device_(size_ + 64) {
    cudaMemcpy(data(), from, size_, cudaMemcpyHostToDevice);
  }
  [[nodiscard]] char* data() { return device_.data() + shift_; }
  void read(void* to) { cudaMemcpy(to, data(), size_, cudaMemcpyDeviceToHost); }

 private:
  std::size_t size_;
  int shift_;
  on_device<char> device_;
};

/// Runs one call on the device and on the host. Empty when the bytes are equal.
template <class In, class Format, class Layout, class Scaling, class Rounding, class Transform = fp4::no_transform>
std::string broken(situation const& s) {
  using namespace fp4;
  using chosen = choices<Scaling, Rounding, Transform>;
  int const v = s.variant;
  chosen const how{make_scaling<Scaling>(v),
                   make_rounding<Rounding>(v, Format::blocks(s.cols)),
                   make_transform<Transform>(v),
                   {},
                   {}};
  matrix const m = make_data(s.data, s.rows, s.cols, static_cast<std::uint64_t>(v));
  std::int64_t const stride = s.cols + (v % 3 == 1 ? 5 : v % 3 == 2 ? 8 : 0);
  std::vector<In> const values = as_values<In>(m, stride);
  matrix_view<In const> const in(values.data(), s.rows, s.cols, stride);
  float const amax = reference::amax(in, how.transform, rowwise{});
  tensor_scale const scale = make_scales(s.scale, amax, how.scaling.template range<Format>(), 1).front();

  std::int64_t const code_stride = Format::row_bytes(s.cols) + (v % 4 == 3 ? 9 : v % 4 == 2 ? 8 : 0);
  std::uint8_t const fill = v % 2 == 0 ? 0x7F : 0xA5;
  poisoned_buffer wanted_codes(s.rows * code_stride, fill), got_codes(s.rows * code_stride, fill);
  std::int64_t const scale_bytes = Format::has_block_scale ? Layout::bytes(s.rows, Format::blocks(s.cols)) : 0;
  poisoned_buffer wanted_scales(scale_bytes, fill), got_scales(scale_bytes, fill);
  auto const view = [&](void* codes, void* scales) {
    quantized_view<Format, Layout> q(static_cast<std::uint8_t*>(codes), static_cast<std::uint8_t*>(scales), scale_bytes,
                                     s.rows, s.cols);
    q.code_stride = code_stride;
    return q;
  };
  reference::quantize(in, view(wanted_codes.data(), wanted_scales.data()), tensor_scales_view{&scale, 1}, how);

  int const element = static_cast<int>(sizeof(In));
  mirrored x(values.data(), static_cast<std::int64_t>(values.size()) * element, v % 5 == 4 ? element : 0);
  mirrored codes(got_codes.data(), got_codes.size(), v % 7 == 6 ? 3 : 0), scales(got_scales.data(), scale_bytes, 0);
  auto const* const data = reinterpret_cast<In const*>(x.data());
  on_device<float> stored(std::vector<float>{scale.stored()});
  gpu::scale_argument argument = scale;
  if (v % 2 == 1) {
    argument = scale.made_from() == tensor_scale::source::amax     ? gpu::scale_argument::from_amax(stored.data())
               : scale.made_from() == tensor_scale::source::encode ? gpu::scale_argument::from_encode(stored.data())
                                                                   : gpu::scale_argument::from_decode(stored.data());
  }
  gpu::random_argument random;
  chosen given = how;
  on_device<std::uint64_t> numbers(2);
  if constexpr (is_stochastic_v<Rounding>) {
    if (v % 3 == 1) {
      std::uint64_t const pair[2] = {how.rounding.seed, how.rounding.stream};
      cudaMemcpy(numbers.data(), pair, sizeof pair, cudaMemcpyHostToDevice);
      random = {numbers.data(), numbers.data() + 1};
      given.rounding.seed = given.rounding.stream = 12345;
    }
  }
  gpu::quantize_async(matrix_view<In const>(data, s.rows, s.cols, stride), view(codes.data(), scales.data()), argument,
                      given, nullptr, random);
  if (cudaError_t const code = cudaDeviceSynchronize(); code != cudaSuccess) { return cudaGetErrorString(code); }
  codes.read(got_codes.data());
  scales.read(got_scales.data());
  std::string text = first_difference(got_scales.data(), wanted_scales.data(), scale_bytes, Format::blocks(s.cols));
  if (!text.empty()) { return "scales: " + text; }
  text = first_difference(got_codes.data(), wanted_codes.data(), got_codes.size(), code_stride);
  return text.empty() ? "" : "codes: " + text;
}

template <int S>
using scheme_at = std::tuple_element_t<S, std::remove_const_t<decltype(schemes)>>;

/// Scheme S with rounding R; layout and input type follow, so that over all S and R each pair of the four occurs.
template <int S, int R>
void run_scheme() {
  using format = typename scheme_at<S>::format;
  using scaling = typename scheme_at<S>::scaling;
  using rounding = std::tuple_element_t<R, roundings>;
  using layout = std::tuple_element_t<(R + S) % 3, layouts>;
  using in = std::tuple_element_t<(R + S / 3) % 3, inputs>;
  constexpr bool legal = (!fp4::is_stochastic_v<rounding> || std::is_same_v<typename format::element, fp4::e2m1>)&&(
      R == 0 || !std::is_same_v<scaling, fp4::ggml>);
  if constexpr (legal) {
    constexpr std::int64_t sizes[][2] = {{33, 1040}, {1, 17}, {200, 80}, {1, 16}, {0, 32}, {5, 2048}, {3, 4112}};
    for (int i = 0; i < 14; ++i) {
      auto const scale = static_cast<scale_kind>((i + i / 4 + S) % 4);
      situation const now{sizes[i % 7][0], sizes[i % 7][1], static_cast<data_kind>((i + S) % data_kinds), scale,
                          i + 3 * S + R};
      std::string const text = broken<in, format, layout, scaling, rounding>(now);
      program::check(text.empty(), std::get<S>(schemes).name, __FILE__, __LINE__,
                     ", rounding " + std::to_string(R) + "; " + describe(now) + ": " + text);
    }
  }
}

template <int R, int First, int... S>
void run_schemes(std::integer_sequence<int, S...>) {
  (run_scheme<First + S, R>(), ...);
}

}  // namespace test
