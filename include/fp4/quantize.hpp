// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The front door: quantize and dequantize with choices in any order.

#include <vector>

#include "cpu/amax.hpp"
#include "cpu/dequantize.hpp"
#include "cpu/quantize.hpp"
#include "quantized.hpp"

namespace fp4 {

/// Asks for one tensor scale a row of the result, from that row's amax.
struct per_row_scale {};

namespace detail {

/// What this translation unit's defaults are, as a template argument: units that differ in them share no symbol.
template <class Execution, class Path>
struct build {};
using this_build = build<default_execution, cpu::path>;

struct tensor_scale_choice {};

template <class T, class = void>
struct choice_category {
  using type = void;
};
template <class T>
struct choice_category<T, std_types::void_t<typename T::choice>> {
  using type = typename T::choice;
};
template <>
struct choice_category<cpu::path> {
  using type = path_choice;
};
template <>
struct choice_category<tensor_scale> {
  using type = tensor_scale_choice;
};
template <>
struct choice_category<tensor_scales_view> {
  using type = tensor_scale_choice;
};
template <>
struct choice_category<per_row_scale> {
  using type = tensor_scale_choice;
};

template <class T, class Category>
inline constexpr bool is_choice_v = std_types::is_same<typename choice_category<T>::type, Category>::value;

/// The argument of a category, or the default.
template <class Category, class Default>
constexpr Default pick(Default value) noexcept {
  return value;
}
template <class Category, class Default, class First, class... Rest>
constexpr auto pick(Default value, First const& first, Rest const&... rest) noexcept {
  if constexpr (is_choice_v<First, Category>) {
    return first;
  } else {
    return pick<Category>(value, rest...);
  }
}

template <class Category, class... Arguments>
inline constexpr int count_of_v = (0 + ... + int{is_choice_v<Arguments, Category>});

template <class... Arguments>
constexpr void require_choices() noexcept {
  static_assert(
      (... && !std_types::is_same<typename choice_category<Arguments>::type, void>::value),
      "an argument is no choice: pass scalings, roundings, transforms, scale layouts, blocks_1d or blocks_2d, "
      "rowwise or columnwise, a tensor_scale, per_row_scale, an execution or a cpu::path");
  static_assert(count_of_v<scaling_choice, Arguments...> <= 1, "two scalings");
  static_assert(count_of_v<rounding_choice, Arguments...> <= 1, "two roundings");
  static_assert(count_of_v<transform_choice, Arguments...> <= 1, "two transforms");
  static_assert(count_of_v<scale_layout_choice, Arguments...> <= 1, "two scale layouts");
  static_assert(count_of_v<block_shape_choice, Arguments...> <= 1, "two block shapes");
  static_assert(count_of_v<direction_choice, Arguments...> <= 1, "two directions");
  static_assert(count_of_v<tensor_scale_choice, Arguments...> <= 1, "two tensor scales");
  static_assert(count_of_v<execution_choice, Arguments...> <= 1, "two executions");
  static_assert(count_of_v<path_choice, Arguments...> <= 1, "two paths");
}

template <class Format, class... Arguments>
constexpr auto bundle(Arguments const&... arguments) noexcept {
  auto const scaling = pick<scaling_choice>(default_scaling_t<Format>{}, arguments...);
  auto const rounding = pick<rounding_choice>(nearest_even{}, arguments...);
  auto const transform = pick<transform_choice>(no_transform{}, arguments...);
  auto const shape = pick<block_shape_choice>(blocks_1d{}, arguments...);
  auto const direction = pick<direction_choice>(rowwise{}, arguments...);
  return choices<std_types::remove_const_t<decltype(scaling)>, std_types::remove_const_t<decltype(rounding)>,
                 std_types::remove_const_t<decltype(transform)>, std_types::remove_const_t<decltype(shape)>,
                 std_types::remove_const_t<decltype(direction)>>{scaling, rounding, transform, shape, direction};
}

/// The preconditions of what was given as tensor scale for `rows` rows of the result.
template <class Format, class Given>
check_result check_given_scales(Given const& given, int64_t rows) noexcept {
  constexpr bool is_one = std_types::is_same<Given, tensor_scale>::value;
  constexpr bool is_view = std_types::is_same<Given, tensor_scales_view>::value;
  static_assert(Format::has_tensor_scale || !(is_one || is_view || std_types::is_same<Given, per_row_scale>::value),
                "a tensor scale was given, but this format has none");
  if constexpr (is_one) { return check_tensor_scales({&given, 1}, rows); }
  if constexpr (is_view) { return check_tensor_scales(given, rows); }
  return {};
}

/// What can be checked of a call before anything is computed for it.
template <class Format, class In, class Choices, class Given, class Execution>
void require_call(matrix_view<In> in, Choices const& how, Given const& given, Execution execution, cpu::path path) {
  constexpr char const* where = "fp4::quantize";
  require(check(in), where);
  require(check(how.transform, Choices::is_columnwise ? in.rows : in.cols), where);
  require(check_given_scales<Format>(given, Choices::is_columnwise ? in.cols : in.rows), where);
  require(check(execution), where);
  require(cpu::check(path), where);
}

/// The tensor scales of a quantization: those given, or from the amax of what is quantized.
template <class Format, class In, class Choices, class Given, class Execution>
std::vector<tensor_scale> find_tensor_scales(matrix_view<In> in, Choices const& how, Given const& given,
                                             Execution execution, cpu::path path) {
  float const range = how.scaling.template range<Format>();
  std::vector<tensor_scale> scales;
  if constexpr (std_types::is_same<Given, tensor_scales_view>::value) {
    for (int64_t i = 0; i < given.count; ++i) { scales.push_back(given.data[i].with_range(range)); }
  } else if constexpr (std_types::is_same<Given, tensor_scale>::value) {
    scales.push_back(given.with_range(range));
  } else if constexpr (std_types::is_same<Given, per_row_scale>::value) {
    for (float const amax : cpu::row_amaxes(in, how.transform, how.direction, execution, path)) {
      scales.push_back(tensor_scale::from_amax(amax).with_range(range));
    }
  } else if constexpr (Format::has_tensor_scale) {
    scales.push_back(
        tensor_scale::from_amax(cpu::amax(in, how.transform, how.direction, execution, path)).with_range(range));
  } else {
    scales.push_back(tensor_scale::from_amax(0.0f));
  }
  return scales;
}

}  // namespace detail

/// Quantizes a matrix into caller's memory; the layout is that of `out`.
///
/// Choices, in any order, each optional: a scaling (default_scaling_t<Format>), a rounding (nearest_even), a transform
/// (none), blocks_2d, columnwise, a tensor scale (a tensor_scale, a tensor_scales_view, per_row_scale; else from the
/// amax of what is quantized, which takes one more pass), an execution, a cpu::path. \returns the tensor scales used,
/// one or one a row: dequantize needs them, with the scaling's `decoding`. \throws precondition_error naming the value
/// and the rule; then nothing was written. See cpu::quantize.
template <class In, class Format, class ScaleLayout, class Build = detail::this_build, class... Choices>
std::vector<tensor_scale> quantize(matrix_view<In> in, quantized_view<Format, ScaleLayout> out,
                                   Choices const&... chosen) {
  detail::require_choices<Choices...>();
  static_assert(detail::count_of_v<scale_layout_choice, Choices...> == 0, "the output view fixes the scale layout");
  auto const how = detail::bundle<Format>(chosen...);
  auto const execution = detail::pick<execution_choice>(default_execution{}, chosen...);
  cpu::path const path = detail::pick<path_choice>(cpu::path::automatic, chosen...);
  auto const given = detail::pick<detail::tensor_scale_choice>(no_transform{}, chosen...);
  tensor_scale const placeholder = tensor_scale::from_amax(0.0f);
  require(check(in, out, {&placeholder, 1}, how), "fp4::quantize");
  detail::require_call<Format>(in, how, given, execution, path);
  std::vector<tensor_scale> scales = detail::find_tensor_scales<Format>(in, how, given, execution, path);
  cpu::quantize(in, out, {scales.data(), static_cast<int64_t>(scales.size())}, how, execution, path);
  return scales;
}

/// Quantizes a matrix and owns the result. Choices as above, and a scale layout (linear_scales).
///
///     auto q = fp4::quantize<fp4::nvfp4>(fp4::matrix_view<float const>{data, rows, cols});
///     auto r = fp4::quantize<fp4::nvfp4>(view, fp4::stochastic{seed}, fp4::hadamard<16>{}, fp4::tiled_128x4_scales{});
///
/// \param  in  values [rows, cols]: float, float16 or bfloat16, any row stride, any shape; a last block that is not
/// full
///             is padded with zeros.
/// \throws precondition_error naming the value and the rule.
/// \note   The same bytes on every machine, path and thread count.
template <class Format, class In, class Build = detail::this_build, class... Choices>
[[nodiscard]] auto quantize(matrix_view<In> in, Choices const&... chosen) {
  detail::require_choices<Choices...>();
  auto const how = detail::bundle<Format>(chosen...);
  using bundle = std_types::remove_const_t<decltype(how)>;
  using layout = decltype(detail::pick<scale_layout_choice>(linear_scales{}, chosen...));
  auto const execution = detail::pick<execution_choice>(default_execution{}, chosen...);
  cpu::path const path = detail::pick<path_choice>(cpu::path::automatic, chosen...);
  auto const given = detail::pick<detail::tensor_scale_choice>(no_transform{}, chosen...);
  detail::require_call<Format>(in, how, given, execution, path);
  quantized<Format, layout> result(bundle::is_columnwise ? in.cols : in.rows, bundle::is_columnwise ? in.rows : in.cols,
                                   decltype(bundle::scaling)::decoding);
  auto scales = detail::find_tensor_scales<Format>(in, how, given, execution, path);
  cpu::quantize(in, result.view(), {scales.data(), static_cast<int64_t>(scales.size())}, how, execution, path);
  result.set_tensor_scales(std::move(scales));
  return result;
}

/// Quantizes a matrix into an earlier result. Its memory is used again where the shape is the same; else it gets new
/// memory. Choices as above, but that the layout is that of `out`. \throws precondition_error naming the value and the
/// rule; then `out` is what it was.
template <class In, class Format, class ScaleLayout, class Build = detail::this_build, class... Choices>
void quantize(matrix_view<In> in, quantized<Format, ScaleLayout>& out, Choices const&... chosen) {
  static_assert(detail::count_of_v<scale_layout_choice, Choices...> == 0, "the earlier result fixes the scale layout");
  using bundle = decltype(detail::bundle<Format>(chosen...));
  if (out.rows() != (bundle::is_columnwise ? in.cols : in.rows) ||
      out.cols() != (bundle::is_columnwise ? in.rows : in.cols)) {
    out = quantize<Format>(in, ScaleLayout{}, chosen...);
    return;
  }
  out.set_tensor_scales(quantize(in, out.view(), chosen...));
  out.set_decoding(decltype(bundle::scaling)::decoding);
}

/// Both directions of one matrix, as training needs them.
template <class Quantized>
struct both_directions {
  Quantized rowwise;     ///< [rows, cols]
  Quantized columnwise;  ///< [cols, rows]: the transpose, packed along its rows
};

/// quantize(in, choices...) and quantize(in, columnwise{}, choices...). With blocks_2d both decode to the same values;
/// a transform with blocks_2d is refused, since the two directions transform different axes.
template <class Format, class In, class Build = detail::this_build, class... Choices>
[[nodiscard]] auto quantize_both(matrix_view<In> in, Choices const&... chosen) {
  static_assert(detail::count_of_v<direction_choice, Choices...> == 0, "quantize_both takes no direction");
  using bundle = decltype(detail::bundle<Format>(chosen...));
  static_assert(!bundle::is_2d || !is_transformed_v<decltype(bundle::transform)>,
                "2D blocks with a transform are one direction a call");
  auto by_row = quantize<Format>(in, chosen...);
  return both_directions<decltype(by_row)>{std::move(by_row), quantize<Format>(in, columnwise{}, chosen...)};
}

/// Decodes into caller's memory, [rows, cols] of q. Values quantized with a transform come back transformed: see
/// cpu::inverse_transform. \throws precondition_error as cpu::dequantize.
template <class Format, class ScaleLayout, class Out, class Build = detail::this_build, class... Choices>
void dequantize(quantized<Format, ScaleLayout> const& q, matrix_view<Out> out, Choices const&... chosen) {
  detail::require_choices<Choices...>();
  static_assert(detail::count_of_v<execution_choice, Choices...> + detail::count_of_v<path_choice, Choices...> ==
                    static_cast<int>(sizeof...(Choices)),
                "dequantize takes an execution and a path; everything else is in the quantized matrix");
  cpu::dequantize(q.view(), q.tensor_scales_view(), q.decoding(), out,
                  detail::pick<execution_choice>(default_execution{}, chosen...),
                  detail::pick<path_choice>(cpu::path::automatic, chosen...));
}

/// Decodes to a vector of rows * cols values, row-major. T is float, float16 or bfloat16.
template <class T, class Format, class ScaleLayout, class Build = detail::this_build, class... Choices>
[[nodiscard]] std::vector<T> dequantize(quantized<Format, ScaleLayout> const& q, Choices const&... chosen) {
  std::vector<T> values(static_cast<size_t>(q.rows() * q.cols()));
  dequantize(q, matrix_view<T>(values.data(), q.rows(), q.cols()), chosen...);
  return values;
}

}  // namespace fp4
