// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// An operand that is known at run time only, as bindings to other languages have it.

#include "choices.hpp"

namespace fp4::recipe {

/// What with_choices takes: every operand of the named recipes but those of bf16, and changes of them.
[[nodiscard]] constexpr check_result check(operand const& how) noexcept {
  bool const plain = !how.is_stochastic && !how.is_2d && how.hadamard == 0;
  bool const known_size = how.hadamard == 0 || how.hadamard == 16;
  if (how.format != number::bf16 && known_size && (how.format == number::nvfp4 || plain)) { return {}; }
  return {errc::unsupported_operand, static_cast<double>(how.hadamard), 16};
}

namespace detail {

/// Calls work with a value of the first type if `is_first`, else of the second.
template <class First, class Second, class Work>
void either(bool is_first, Work const& work) {
  if (is_first) {
    work(First{});
  } else {
    work(Second{});
  }
}

template <number Number, class Work>
void with_direction(bool is_columnwise, Work const& work) {
  using format = typename format_of<Number>::type;
  either<columnwise, rowwise>(is_columnwise, [&](auto direction) {
    work(format{}, bundle<Number, false, no_transform, blocks_1d, decltype(direction)>({}, {}, {}, {}));
  });
}

template <class Work>
void with_nvfp4(operand const& how, bool is_columnwise, matrix which, draw const& random, place const& where,
                Work const& work) {
  auto const with_transform = [&](auto const& transform) {
    either<columnwise, rowwise>(is_columnwise, [&](auto direction) {
      either<blocks_2d, blocks_1d>(how.is_2d, [&](auto shape) {
        either<std_types::true_type, std_types::false_type>(how.is_stochastic, [&](auto is_stochastic) {
          work(nvfp4{}, bundle<number::nvfp4, decltype(is_stochastic)::value, std_types::decay_t<decltype(transform)>,
                               decltype(shape), decltype(direction)>(transform, which, random, where));
        });
      });
    });
  };
  if (how.hadamard == 0) {
    with_transform(no_transform{});
  } else {
    with_transform(transform_of<16>(how.to_bfloat16));
  }
}

}  // namespace detail

/// Calls work(Format{}, choices) with what operands_of takes for this operand of a recipe: a block format, and the bundle
/// for cpu::quantize, cpu::amax and their likes. `work` is compiled for each of 24 combinations.
/// \pre check(how) is ok; check(random, where, rows, cols, how) is, of the matrix that is quantized.
template <class Work>
void with_choices(operand const& how, bool is_columnwise, matrix which, draw const& random, place const& where,
                  Work const& work) {
  switch (how.format) {
    case number::bf16: return;
    case number::nvfp4: return detail::with_nvfp4(how, is_columnwise, which, random, where, work);
    case number::mxfp8_e4m3: return detail::with_direction<number::mxfp8_e4m3>(is_columnwise, work);
    case number::mxfp8_e5m2: return detail::with_direction<number::mxfp8_e5m2>(is_columnwise, work);
    case number::fp8_e4m3: return detail::with_direction<number::fp8_e4m3>(is_columnwise, work);
    case number::fp8_e5m2: return detail::with_direction<number::fp8_e5m2>(is_columnwise, work);
  }
}

/// Calls work(Format{}, scaling) with the block format of a number that has one.
template <class Work>
void with_scaling(number which, Work const& work) {
  auto const call = [&work](auto found) {
    work(typename decltype(found)::type{}, typename decltype(found)::scaling{});
  };
  switch (which) {
    case number::bf16: return;
    case number::nvfp4: return call(detail::format_of<number::nvfp4>{});
    case number::mxfp8_e4m3: return call(detail::format_of<number::mxfp8_e4m3>{});
    case number::mxfp8_e5m2: return call(detail::format_of<number::mxfp8_e5m2>{});
    case number::fp8_e4m3: return call(detail::format_of<number::fp8_e4m3>{});
    case number::fp8_e5m2: return call(detail::format_of<number::fp8_e5m2>{});
  }
}

}  // namespace fp4::recipe
