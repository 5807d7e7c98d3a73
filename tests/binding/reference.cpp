// SPDX-License-Identifier: Apache-2.0
// fp4::reference for the Python tests, which load it through ctypes.
#include <cstdint>
#include <fp4/recipe/with_choices.hpp>
#include <fp4/reference/reference.hpp>

using namespace fp4;

/// Quantizes [rows, cols] floats as `row` says, with their own amax. row: format, is_stochastic, is_2d, hadamard,
/// to_bfloat16. Memory holds the whole result.
extern "C" __attribute__((visibility("default"))) void reference_quantize(
    float const* values, std::int64_t rows, std::int64_t cols, std::int32_t const* row, bool is_columnwise, int matrix,
    std::uint64_t seed, std::uint64_t call, std::uint8_t* codes, std::uint8_t* scales, float* amax, float* decoded) {
  recipe::operand const how{static_cast<recipe::number>(row[0]), row[1] != 0, row[2] != 0, row[3], row[4] != 0};
  matrix_view<float const> const in(values, rows, cols);
  recipe::with_choices(
      how, is_columnwise, static_cast<recipe::matrix>(matrix), {seed, call}, {}, [&](auto format, auto const& choices) {
        using format_t = decltype(format);
        quantized_view<format_t> out(codes, scales, 0, is_columnwise ? cols : rows, is_columnwise ? rows : cols);
        out.scale_bytes = out.scale_bytes_needed();
        *amax = format_t::has_tensor_scale ? reference::amax(in, choices.transform, choices.direction) : 0.0f;
        auto const scale = tensor_scale::from_amax(*amax).with_range(choices.scaling.template range<format_t>());
        reference::quantize(in, out, {&scale, 1}, choices);
        quantized_view<format_t, linear_scales, std::uint8_t const> const written = out;
        reference::dequantize(written, {&scale, 1}, decltype(choices.scaling)::decoding,
                              matrix_view<float>(decoded, out.rows, out.cols));
      });
}
