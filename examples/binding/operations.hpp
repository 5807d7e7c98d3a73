// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a binding to another language calls: operations on a batch of matrices of T, with choices known at run time. The
/// caller's buffers become views here, and nothing is copied.

#include <algorithm>
#include <cstdint>
#include <fp4/fp4.hpp>

namespace binding {

/// Matrices one behind the other.
template <class T>
struct batch {
  T* data;
  std::int64_t count;
  std::int64_t rows;
  std::int64_t cols;

  [[nodiscard]] fp4::matrix_view<T> operator[](std::int64_t i) const { return {data + i * rows * cols, rows, cols}; }
};

/// How a matrix is quantized: the attributes of a call.
struct request {
  fp4::recipe::operand how;
  bool is_columnwise;
  fp4::recipe::matrix which;
};

/// Draw and place of matrix i: rows of the two integer inputs. [seed low, seed high, call low, call high] and
/// [first row, first column, rows of the whole, columns of the whole].
inline fp4::recipe::draw draw_at(std::uint32_t const* random, std::int64_t i) {
  auto const wide = [&](int word) {
    return std::uint64_t{random[4 * i + word + 1]} << 32 | std::uint64_t{random[4 * i + word]};
  };
  return {wide(0), wide(2)};
}
inline fp4::recipe::place place_at(std::int32_t const* place, std::int64_t i) {
  return {place[4 * i], place[4 * i + 1], place[4 * i + 2], place[4 * i + 3]};
}

/// largest[i] = amax of matrix i as it is quantized.
template <class T>
void amax(batch<T const> in, request const& asked, float* largest) {
  fp4::recipe::with_choices(asked.how, asked.is_columnwise, asked.which, {}, {}, [&](auto, auto const& choices) {
    for (std::int64_t i = 0; i < in.count; ++i) {
      largest[i] = fp4::cpu::amax(in[i], choices.transform, choices.direction, fp4::sequential{});
    }
  });
}

template <class T>
void quantize(batch<T const> in, float const* amaxes, std::uint32_t const* random, std::int32_t const* place,
              request const& asked, std::uint8_t* codes, std::uint8_t* scales) {
  std::int64_t const rows = asked.is_columnwise ? in.cols : in.rows;
  std::int64_t const cols = asked.is_columnwise ? in.rows : in.cols;
  for (std::int64_t i = 0; i < in.count; ++i) {
    auto const drawn = draw_at(random, i);
    auto const where = place_at(place, i);
    fp4::require(check(drawn, where, in.rows, in.cols, asked.how), "fp4 binding: quantize");
    fp4::recipe::with_choices(asked.how, asked.is_columnwise, asked.which, drawn, where,
                              [&](auto format, auto const& choices) {
                                using format_t = decltype(format);
                                fp4::quantized_view<format_t> out(nullptr, nullptr, 0, rows, cols);
                                out.scale_bytes = out.scale_bytes_needed();
                                out.codes = codes + i * out.code_bytes_needed();
                                out.scales = scales + i * out.scale_bytes;
                                auto const scale = fp4::tensor_scale::from_amax(amaxes[i]);
                                fp4::cpu::quantize(in[i], out, {&scale, 1}, choices, fp4::sequential{});
                              });
  }
}

template <class T>
void dequantize(fp4::recipe::number format, std::uint8_t const* codes, std::uint8_t const* scales, float const* amaxes,
                batch<T> out) {
  fp4::recipe::with_scaling(format, [&](auto tag, auto const& scaling) {
    using format_t = decltype(tag);
    for (std::int64_t i = 0; i < out.count; ++i) {
      fp4::quantized_view<format_t, fp4::linear_scales, std::uint8_t const> in(nullptr, nullptr, 0, out.rows, out.cols);
      in.scale_bytes = in.scale_bytes_needed();
      in.codes = codes + i * in.code_bytes_needed();
      in.scales = scales + i * in.scale_bytes;
      auto const scale = fp4::tensor_scale::from_amax(amaxes[i]).with_range(scaling.template range<format_t>());
      fp4::cpu::dequantize(in, {&scale, 1}, scaling.decoding, out[i], fp4::sequential{});
    }
  });
}

/// Rows in groups of `size` through the Hadamard transform, or back.
template <class T, int Size>
void hadamard_of(batch<T const> in, bool to_bfloat16, bool is_inverse, float* out) {
  fp4::hadamard<Size> const how = to_bfloat16 ? fp4::hadamard<Size>().to_bfloat16() : fp4::hadamard<Size>();
  fp4::matrix_view<T const> const values(in.data, in.count * in.rows, in.cols);
  fp4::matrix_view<float> const result(out, values.rows, values.cols);
  if (is_inverse) {
    std::transform(in.data, in.data + values.size(), out, [](T x) { return fp4::detail::as_float(x); });
    fp4::cpu::inverse_transform(result, how, fp4::sequential{});
  } else {
    fp4::cpu::transform(values, how, result, fp4::sequential{});
  }
}

template <class T>
void hadamard(batch<T const> in, std::int64_t size, bool to_bfloat16, bool is_inverse, float* out) {
  switch (size) {
    case 16: return hadamard_of<T, 16>(in, to_bfloat16, is_inverse, out);
    case 32: return hadamard_of<T, 32>(in, to_bfloat16, is_inverse, out);
    case 64: return hadamard_of<T, 64>(in, to_bfloat16, is_inverse, out);
    case 128: return hadamard_of<T, 128>(in, to_bfloat16, is_inverse, out);
    default: return hadamard_of<T, 256>(in, to_bfloat16, is_inverse, out);
  }
}

/// What one source file compiles for one value type. The other files see the declarations alone.
#define FP4_BINDING_OPERATIONS(prefix, T)                                                                         \
  prefix template void amax<T>(batch<T const>, request const&, float*);                                           \
  prefix template void quantize<T>(batch<T const>, float const*, std::uint32_t const*, std::int32_t const*,       \
                                   request const&, std::uint8_t*, std::uint8_t*);                                 \
  prefix template void dequantize<T>(fp4::recipe::number, std::uint8_t const*, std::uint8_t const*, float const*, \
                                     batch<T>);                                                                   \
  prefix template void hadamard<T>(batch<T const>, std::int64_t, bool, bool, float*);

}  // namespace binding
