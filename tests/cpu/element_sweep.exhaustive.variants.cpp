// SPDX-License-Identifier: Apache-2.0
// The element rounding of every path against e2m1's own, float by float: blocks whose scale and multiplier
// are 1 hand their values to it unchanged.
#include <fp4/cpu/quantize.hpp>

#include "catch.hpp"
#include "support/bits.hpp"
#include "support/mismatches.hpp"

namespace {

using namespace fp4;

#ifdef FP4_TEST_QUICK
constexpr std::uint32_t stride = 4099;
#else
constexpr std::uint32_t stride = 257;
#endif

constexpr float largest = 6.34375f;  // a sixth of it still rounds to the scale 1

/// Values of both signs up to `largest`: every stride-th float and ties +-2 ulp, or every 16-bit float. Each
/// block begins with 6; with `nan` each tile holds one NaN, for which a path may take another way.
template <class T>
std::vector<T> values_to_sweep(bool nan) {
  std::vector<T> values;
  auto const add = [&](std::uint32_t bits) {
    if (values.size() % 16 == 0) { values.push_back(fp4::detail::from_float_to<T>(6.0f)); }
    if (nan && values.size() % 1024 == 500) {
      values.push_back(
          fp4::detail::from_float_to<T>(test::float_of(values.size() % 2048 < 1024 ? 0x7FC00000u : 0xFFC12345u)));
    }
    if constexpr (std::is_same_v<T, float>) {
      values.push_back(test::float_of(bits));
    } else {
      values.push_back(T{static_cast<std::uint16_t>(bits)});
    }
  };
  if constexpr (std::is_same_v<T, float>) {
    for (std::uint32_t bits = 0; bits < test::bits_of(largest); bits += stride) { add(bits), add(bits | 0x80000000u); }
    for (float const tie : {0.25f, 0.5f, 0.75f, 1.0f, 1.25f, 1.5f, 1.75f, 2.0f, 2.5f, 3.0f, 3.5f, 4.0f, 5.0f, 6.0f}) {
      for (std::uint32_t bits = test::bits_of(tie) - 2; bits <= test::bits_of(tie) + 2; ++bits) {
        add(bits), add(bits | 0x80000000u);
      }
    }
  } else {
    for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
      std::uint32_t const magnitude = test::bits_of(T{static_cast<std::uint16_t>(bits)}.to_float()) & 0x7FFFFFFFu;
      if (magnitude <= test::bits_of(largest)) { add(bits); }
    }
  }
  while (values.size() % 16 != 0) { add(0); }
  return values;
}

template <class Rounding>
e2m1 expected(float x, Rounding rounding, std::uint64_t i) {
  if constexpr (is_stochastic_v<Rounding>) {
    uint32x4 const bits = block_bits(rounding.seed, rounding.stream, i / 16);
    return round_stochastic(x, element_bits(bits[static_cast<int>(i % 16 / 4)], static_cast<int>(i % 4)));
  } else {
    return encode<e2m1>(x, rounding);
  }
}

template <class T, class Rounding>
void sweep(Rounding rounding, bool nan) {
  std::vector<T> const values = values_to_sweep<T>(nan);
  auto const count = static_cast<std::int64_t>(values.size());
  std::vector<std::uint8_t> wanted;
  for (std::size_t i = 0; i < values.size(); ++i) {
    wanted.push_back(expected(fp4::detail::as_float(values[i]), rounding, i).bits);
  }
  choices<transformer_engine, Rounding> const how{{}, rounding};
  tensor_scale const scale = tensor_scale::from_encode(1.0f);
  for (cpu::path const p : {cpu::path::scalar, cpu::path::portable, cpu::path::avx2, cpu::path::neon}) {
    if (!cpu::available(p)) { continue; }
    std::vector<std::uint8_t> codes(values.size() / 2), scales(values.size() / 16);
    quantized_view<nvfp4> const out(codes.data(), scales.data(), count / 16, 1, count);
    cpu::quantize(matrix_view<T const>(values.data(), 1, count), out, {&scale, 1}, how, sequential{}, p);
    test::mismatches wrong_scales, wrong_codes;
    for (std::size_t i = 0; i < scales.size(); ++i) { wrong_scales.compare(i, scales[i], 0x38); }
    for (std::size_t i = 0; i < values.size(); ++i) {
      wrong_codes.compare(test::bits_of(fp4::detail::as_float(values[i])),
                          nibble(codes.data(), static_cast<std::int64_t>(i)), wanted[i]);
    }
    CAPTURE(cpu::name(p), nan, sizeof(T));
    CHECK(wrong_scales.report() == "");
    CHECK(wrong_codes.report() == "");
  }
}

}  // namespace

TEST_CASE("fp32 elements of every path are those of e2m1") {
  for (bool const nan : {false, true}) {
    sweep<float>(nearest_even{}, nan);
    sweep<float>(toward_zero{}, nan);
    sweep<float>(stochastic(0x0123456789ABCDEFu, 42), nan);
  }
}

TEST_CASE("16-bit elements of every path are those of e2m1") {
  for (bool const nan : {false, true}) {
    sweep<float16>(nearest_even{}, nan);
    sweep<float16>(stochastic(5), nan);
    sweep<bfloat16>(nearest_even{}, nan);
    sweep<bfloat16>(toward_zero{}, nan);
  }
}
