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

/// One result of a call: its memory on both sides, and what the call is told of it in one of several ways.
template <class Format, class Layout, class Choices>
class result {
 public:
  /// [rows, cols] of the result.
  result(std::int64_t rows, std::int64_t cols, Choices const& how, fp4::tensor_scale scale, int variant)
      : rows_(rows),
        cols_(cols),
        code_stride_(Format::row_bytes(cols) + (variant % 4 == 3   ? 9
                                                : variant % 4 == 2 ? 8
                                                                   : 0)),
        scale_bytes_(Format::has_block_scale ? Layout::bytes(rows, Format::blocks(cols)) : 0),
        variant_(variant),
        how_(how),
        scale_(scale),
        wanted_codes_(rows * code_stride_, fill()),
        got_codes_(rows * code_stride_, fill()),
        wanted_scales_(scale_bytes_, fill()),
        got_scales_(scale_bytes_, fill()),
        codes_(got_codes_.data(), got_codes_.size(), variant % 7 == 6 ? 3 : 0),
        scales_(got_scales_.data(), scale_bytes_, 0),
        stored_(std::vector<float>{scale.stored()}),
        numbers_(2) {}

  fp4::quantized_view<Format, Layout> wanted() { return view(wanted_codes_.data(), wanted_scales_.data()); }
  fp4::quantized_view<Format, Layout> out() { return view(codes_.data(), scales_.data()); }
  Choices const& how() const { return how_; }
  fp4::tensor_scales_view scales() const { return {&scale_, 1}; }

  /// The tensor scale by value, or where it lies on the device.
  fp4::gpu::scale_argument argument() {
    using fp4::gpu::scale_argument;
    if (variant_ % 2 == 0) { return scale_; }
    switch (scale_.made_from()) {
      case fp4::tensor_scale::source::amax: return scale_argument::from_amax(stored_.data());
      case fp4::tensor_scale::source::encode: return scale_argument::from_encode(stored_.data());
      default: return scale_argument::from_decode(stored_.data());
    }
  }
  /// The choices; where random() holds seed and stream, with others, which do not count.
  Choices given() {
    Choices changed = how_;
    if constexpr (fp4::is_stochastic_v<decltype(Choices::rounding)>) {
      if (variant_ % 3 == 1) { changed.rounding.seed = changed.rounding.stream = 12345; }
    }
    return changed;
  }
  fp4::gpu::random_argument random() {
    if constexpr (fp4::is_stochastic_v<decltype(Choices::rounding)>) {
      if (variant_ % 3 == 1) {
        std::uint64_t const pair[2] = {how_.rounding.seed, how_.rounding.stream};
        cudaMemcpy(numbers_.data(), pair, sizeof pair, cudaMemcpyHostToDevice);
        return {numbers_.data(), numbers_.data() + 1};
      }
    }
    return {};
  }

  /// Empty when the device's bytes are the reference's.
  std::string difference() {
    if (cudaError_t const code = cudaDeviceSynchronize(); code != cudaSuccess) { return cudaGetErrorString(code); }
    codes_.read(got_codes_.data());
    scales_.read(got_scales_.data());
    std::string text = first_difference(got_scales_.data(), wanted_scales_.data(), scale_bytes_, Format::blocks(cols_));
    if (!text.empty()) { return "scales: " + text; }
    text = first_difference(got_codes_.data(), wanted_codes_.data(), got_codes_.size(), code_stride_);
    return text.empty() ? "" : "codes: " + text;
  }

 private:
  [[nodiscard]] std::uint8_t fill() const { return variant_ % 2 == 0 ? 0x7F : 0xA5; }
  fp4::quantized_view<Format, Layout> view(void* codes, void* scales) const {
    fp4::quantized_view<Format, Layout> q(static_cast<std::uint8_t*>(codes), static_cast<std::uint8_t*>(scales),
                                          scale_bytes_, rows_, cols_);
    q.code_stride = code_stride_;
    return q;
  }

  std::int64_t rows_, cols_, code_stride_, scale_bytes_;
  int variant_;
  Choices how_;
  fp4::tensor_scale scale_;
  poisoned_buffer wanted_codes_, got_codes_, wanted_scales_, got_scales_;
  mirrored codes_, scales_;
  on_device<float> stored_;
  on_device<std::uint64_t> numbers_;
};

/// A matrix of one situation on both sides.
template <class In>
class input {
 public:
  explicit input(situation const& s, block_extent block = {})
      : rows_(s.rows),
        cols_(s.cols),
        stride_(s.cols + (s.variant % 3 == 1   ? 5
                          : s.variant % 3 == 2 ? 8
                                               : 0)),
        values_(
            as_values<In>(make_data(s.data, s.rows, s.cols, static_cast<std::uint64_t>(s.variant), block), stride_)),
        device_(values_.data(), static_cast<std::int64_t>(values_.size() * sizeof(In)),
                s.variant % 5 == 4 ? static_cast<int>(sizeof(In)) : 0) {}

  fp4::matrix_view<In const> on_host() const { return {values_.data(), rows_, cols_, stride_}; }
  fp4::matrix_view<In const> on_gpu() { return {reinterpret_cast<In const*>(device_.data()), rows_, cols_, stride_}; }

 private:
  std::int64_t rows_, cols_, stride_;
  std::vector<In> values_;
  mirrored device_;
};

/// Choices for a situation, and the tensor scale that belongs to the values.
template <class Choices, class Format>
Choices make_choices(situation const& s) {
  int const v = s.variant;
  std::int64_t const length = Choices::is_columnwise && !Choices::is_2d ? s.rows : s.cols;
  return {make_scaling<decltype(Choices::scaling)>(v),
          make_rounding<decltype(Choices::rounding)>(v, Format::blocks(length)),
          make_transform<decltype(Choices::transform)>(v),
          {},
          {}};
}
template <class Format, class In, class Choices>
fp4::tensor_scale make_scale(situation const& s, fp4::matrix_view<In const> in, Choices const& how) {
  float const amax = fp4::reference::amax(in, how.transform, how.direction);
  return make_scales(s.scale, amax, how.scaling.template range<Format>(), 1).front();
}

/// Runs one call on the device and on the host. Empty when the bytes are equal.
template <class In, class Format, class Layout, class Choices>
std::string broken_call(situation const& s) {
  input<In> in(s, {Choices::is_2d ? 16 : 1, 16});
  auto const how = make_choices<Choices, Format>(s);
  bool const turned = Choices::is_columnwise;
  result<Format, Layout, Choices> one(turned ? s.cols : s.rows, turned ? s.rows : s.cols, how,
                                      make_scale<Format>(s, in.on_host(), how), s.variant);
  fp4::reference::quantize(in.on_host(), one.wanted(), one.scales(), how);
  fp4::gpu::quantize_async(in.on_gpu(), one.out(), one.argument(), one.given(), nullptr, one.random());
  return one.difference();
}
template <class In, class Format, class Layout, class Scaling, class Rounding, class Transform = fp4::no_transform>
std::string broken(situation const& s) {
  return broken_call<In, Format, Layout, fp4::choices<Scaling, Rounding, Transform>>(s);
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
