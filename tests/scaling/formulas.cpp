// SPDX-License-Identifier: Apache-2.0
// Every scaling formula, driven one block at a time, gives the bytes of the reference, and the decoder its
// values.
#include <fp4/reference/reference.hpp>

#include "catch.hpp"
#include "support/buffer.hpp"
#include "support/data.hpp"
#include "support/schemes.hpp"

namespace {

using namespace fp4;

float amax_of(float const* x, int count) {
  float most = 0;
  for (int i = 0; i < count; ++i) {
    float const a = test::float_of(test::bits_of(x[i]) & 0x7FFFFFFFu);
    if (a > most) { most = a; }
  }
  return most;
}

/// What stands in a row of the result: codes one a byte, then the scale.
struct block_codes {
  std::vector<std::uint8_t> elements;
  std::uint8_t scale = 0;
};

template <class Tensor>
float scaled(Tensor const& t, float x, float factor) {
  if constexpr (Tensor::elements == element_rule::multiply) { return x * factor; }
  if constexpr (Tensor::elements == element_rule::divide) { return x / factor; }
  if constexpr (Tensor::elements == element_rule::divide_to_bfloat16) {
    return bfloat16::from_float(x / factor).to_float();
  }
  if constexpr (Tensor::elements == element_rule::divide_twice) { return x / t.first_divisor / factor; }
}

template <class Format, class Scaling, class Rounding>
block_codes quantize_block(Scaling const& scaling, tensor_scale scale, Rounding const& rounding, float const* x,
                           std::int64_t row) {
  constexpr int n = Format::block_size;
  auto const t = scaling.template for_tensor<Format>(scale.with_range(scaling.template range<Format>()));
  using tensor = std::decay_t<decltype(t)>;
  float const amax = amax_of(x, n);
  block_codes result;
  typename Format::scale code{};
  float factor = 0;
  if constexpr (tensor::scales == scale_rule::none) {
    factor = t.encode;
  } else {
    float value = amax;
    if constexpr (tensor::scales == scale_rule::rounded) {
      t.scale_value(value);
      code = Format::scale::from_float(value);
    } else if constexpr (tensor::scales == scale_rule::computed) {
      code = t.scale_for(amax);
    } else {
      code = t.choose([x](int i) { return x[i]; }, n, amax);
    }
    factor = code.to_float();
    t.factor(factor, amax, value);
    result.scale = code.bits;
  }
  for (int i = 0; i < n; ++i) {
    std::uint32_t random16 = 0;
    if constexpr (is_stochastic_v<Rounding>) {
      auto const words =
          block_bits(rounding.seed, rounding.stream, static_cast<std::uint64_t>(row * (n / 16) + i / 16));
      random16 = element_bits(words[i % 16 / 4], i % 4);
    }
    if constexpr (tensor::elements == element_rule::own) {
      result.elements.push_back(t.element(x[i], code, rounding, random16).bits);
    } else if constexpr (is_stochastic_v<Rounding>) {
      result.elements.push_back(round_stochastic(scaled(t, x[i], factor), random16).bits);
    } else {
      result.elements.push_back(encode<typename Format::element>(scaled(t, x[i], factor), rounding).bits);
    }
  }
  return result;
}

/// One block a row, so that each row may have its own tensor scale.
template <class Format, class Scaling, class Rounding>
std::string compare(Scaling const& scaling, Rounding const& rounding, test::matrix const& m, test::scale_kind kind) {
  constexpr int n = Format::block_size;
  matrix_view<float const> const in(m.values.data(), m.rows, n);
  float const amax = reference::amax(in, no_transform{}, rowwise{});
  float const range = scaling.template range<Format>();
  auto const scales = test::make_scales(kind, amax, range, m.rows);
  tensor_scales_view const scales_view{scales.data(), static_cast<std::int64_t>(scales.size())};

  test::poisoned_buffer codes(m.rows * Format::row_bytes(n), 0xA5), block_scales(m.rows, 0x7F);
  quantized_view<Format> const out(codes.data(), block_scales.data(), m.rows, m.rows, n);
  reference::quantize(in, out, scales_view, choices<Scaling, Rounding>{scaling, rounding, {}, {}, {}});

  for (std::int64_t r = 0; r < m.rows; ++r) {
    block_codes const got = quantize_block<Format>(scaling, scales_view.of_row(r), rounding, in.row(r), r);
    std::vector<std::uint8_t> wanted;
    for (int i = 0; i < n; ++i) { wanted.push_back(element_at<Format>(out.code_row(r), i).bits); }
    std::string text = test::first_difference(got.elements.data(), wanted.data(), n, n);
    if (Format::has_block_scale && got.scale != block_scales.data()[r]) {
      text += "\n  scale " + std::to_string(got.scale) + ", wanted " + std::to_string(block_scales.data()[r]);
    }
    if (!text.empty()) {
      char where[160];
      auto const s = scales_view.of_row(r);
      std::snprintf(where, sizeof where, "row %d, tensor scale %a (made from %d), block amax %a: ", static_cast<int>(r),
                    static_cast<double>(s.stored()), static_cast<int>(s.made_from()),
                    static_cast<double>(amax_of(in.row(r), n)));
      return where + text;
    }
  }
  return codes.guards_hold() && block_scales.guards_hold() ? "" : "the reference wrote outside";
}

template <class Rounding>
void compare_all(Rounding const& rounding, char const* rounding_name) {
#ifdef FP4_TEST_QUICK
  constexpr std::uint64_t seeds = 13;
#else
  constexpr std::uint64_t seeds = 52;
#endif
  auto const one = [&](auto scheme) {
    using format = typename decltype(scheme)::format;
    using scaling = typename decltype(scheme)::scaling;
    constexpr bool defined = (!is_stochastic_v<Rounding> || std::is_same_v<typename format::element, e2m1>)&&(
        !std::is_same_v<scaling, ggml> || std::is_same_v<Rounding, nearest_even>);
    if constexpr (defined) {
      for (int which = 0; which < test::variants_of<scaling>; ++which) {
        for (int k = 0; k < test::data_kinds; ++k) {
          auto const kind = static_cast<test::data_kind>(k);
          for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            auto const scale = static_cast<test::scale_kind>(seed % test::scale_kinds);
            int const n = format::block_size;
            std::string const difference =
                compare<format>(test::make_scaling<scaling>(which), rounding,
                                test::make_data(kind, n == 1 ? 512 : 32, n, seed, {1, n}), scale);
            if (!difference.empty()) {
              FAIL_CHECK(scheme.name << " (" << which << "), " << rounding_name << ", " << test::name(kind) << " "
                                     << seed << ", " << test::name(scale) << ": " << difference);
              break;
            }
          }
        }
      }
    }
  };
  std::apply([&](auto... scheme) { (one(scheme), ...); }, test::schemes);
  SUCCEED();
}

}  // namespace

TEST_CASE("formulas round to nearest as the reference does") { compare_all(nearest_even{}, "nearest_even"); }
TEST_CASE("formulas round toward zero as the reference does") { compare_all(toward_zero{}, "toward_zero"); }
TEST_CASE("formulas round stochastically as the reference does") {
  compare_all(stochastic{0x123456789ABCDEFu, 0x7FFFFFFFFFFFFFFFu}, "stochastic");
}
