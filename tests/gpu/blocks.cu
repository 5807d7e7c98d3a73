// SPDX-License-Identifier: Apache-2.0
// The functions for kernels of one's own: a block's way into any scale layout and back, ragged and misaligned rows.
#include <fp4/gpu/block.cuh>
#include <fp4/reference/reference.hpp>

#include <cstring>
#include <limits>
#include <type_traits>

#include "ptx/programs/check.hpp"
#include "support/buffer.hpp"
#include "support/data.hpp"

namespace {

using namespace fp4;
using program::on_device;

/// A thread block takes a row, a thread its blocks.
template <class Format, class Layout, class Tensor>
__global__ void quantize(float const* in, Tensor tensor, quantized_view<Format, Layout> out) {
  constexpr int elements = gpu::block_codes<Format>::elements;
  std::int64_t const row = blockIdx.x;
  for (std::int64_t b = threadIdx.x; b * elements < out.cols; b += blockDim.x) {
    std::int64_t const left = out.cols - b * elements;
    int const count = left < elements ? static_cast<int>(left) : elements;
    auto const x = gpu::block_values<float, elements>::load(in + row * out.cols + b * elements, count);
    gpu::store_block(out, row, b, gpu::quantize_block<Format>(tensor, nearest_even{}, x));
  }
  gpu::clear_scale_padding(out, row * blockDim.x + threadIdx.x, std::int64_t{gridDim.x} * blockDim.x);
}

template <class Out, class Format, class Layout>
__global__ void dequantize(quantized_view<Format, Layout> in, block_decoder decoder, Out* values) {
  constexpr int elements = gpu::block_codes<Format>::elements;
  std::int64_t const row = blockIdx.x;
  std::int64_t const blocks = (in.cols + elements - 1) / elements;
  for (std::int64_t b = threadIdx.x; b < blocks; b += blockDim.x) {
    auto const x = gpu::dequantize_block<Out>(decoder, gpu::load_block(in, row, b));
    x.store_aligned(values + (row * blocks + b) * elements);
  }
}

template <class Out, class Format, class Layout, class Scaling>
void run(char const* what, Scaling scaling, std::int64_t rows, std::int64_t cols, tensor_scale given, int shift) {
  std::string const text = ", " + std::to_string(rows) + " x " + std::to_string(cols);
  auto const x = test::make_data(test::data_kind::specials, rows, cols, 5).values;
  tensor_scale const scale = given.with_range(scaling.template range<Format>());
  std::int64_t const blocks = Format::blocks(cols), scale_bytes = Layout::bytes(rows, blocks);
  std::int64_t const stride = Format::row_bytes(cols) + shift;
  std::vector<std::uint8_t> wanted_codes(static_cast<std::size_t>(rows * stride + 16), 0xA5),
      wanted_scales(static_cast<std::size_t>(scale_bytes), 0xA5);
  on_device<std::uint8_t> codes(wanted_codes), scales(wanted_scales);
  on_device<float> in(x);
  auto const view = [&](std::uint8_t* c, std::uint8_t* s) {
    quantized_view<Format, Layout> q(c + shift, s, scale_bytes, rows, cols);
    q.code_stride = stride;
    return q;
  };
  reference::quantize(matrix_view<float const>(x.data(), rows, cols), view(wanted_codes.data(), wanted_scales.data()),
                      {&scale, 1}, choices<Scaling>{scaling});
  quantize<<<static_cast<unsigned>(rows), 32>>>(in.data(), scaling.template for_tensor<Format>(scale),
                                                view(codes.data(), scales.data()));
  CUDA(cudaDeviceSynchronize());
  program::check(codes.back() == wanted_codes, what, __FILE__, __LINE__, text + ": codes");
  program::check(scales.back() == wanted_scales, what, __FILE__, __LINE__, text + ": scales");

  if constexpr (std::is_same_v<typename Format::element, e2m1>) {  // the way back is theirs alone
    constexpr int elements = gpu::block_codes<Format>::elements;
    std::int64_t const wide = (cols + elements - 1) / elements * elements;
    std::vector<Out> wanted(static_cast<std::size_t>(rows * wide));
    on_device<Out> values(wanted.size());
    quantized_view<Format, Layout, std::uint8_t const> const decoded = view(wanted_codes.data(), wanted_scales.data());
    reference::dequantize(decoded, {&scale, 1}, Scaling::decoding, matrix_view<Out>(wanted.data(), rows, cols, wide));
    dequantize<<<static_cast<unsigned>(rows), 32>>>(view(codes.data(), scales.data()),
                                                    block_decoder(Scaling::decoding, scale), values.data());
    CUDA(cudaDeviceSynchronize());
    auto const got = values.back();
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < rows * wide; ++i) {
      auto const k = static_cast<std::size_t>(i);
      wrong += i % wide < cols && std::memcmp(&got[k], &wanted[k], sizeof(Out)) != 0;
    }
    program::check(wrong == 0, what, __FILE__, __LINE__, text + ": " + std::to_string(wrong) + " values differ");
  }
}

}  // namespace

CASE(there_and_back) {
  auto const usual = tensor_scale::from_amax(10.0f);
  run<float, nvfp4, tiled_128x4_scales>("128x4", transformer_engine{}, 33, 1051, usual, 0);
  run<bfloat16, nvfp4, tiled_8x4_scales>("8x4", transformer_engine{}, 5, 160, usual, 3);
  run<bfloat16, nvfp4, linear_scales>("linear", trtllm{}, 17, 320, usual, 8);
  run<float16, mxfp4, tiled_128x4_scales>("mxfp4", mx_floor{}, 3, 100, usual, 0);
  run<float, fp8_e4m3, linear_scales>("fp8", tensor_amax{}, 5, 20, usual, 0);
}
// Factors that the quick way cannot take, and a quotient.
CASE(back_with_care) {
  run<bfloat16, nvfp4, linear_scales>("huge", transformer_engine{}, 3, 64, tensor_scale::from_decode(3e38f), 0);
  run<float, nvfp4, linear_scales>("infinite", transformer_engine{}, 3, 64,
                                   tensor_scale::from_amax(std::numeric_limits<float>::infinity()), 0);
  run<float16, nvfp4, linear_scales>("quotient", vllm{}, 3, 64, tensor_scale::from_amax(10.0f), 0);
}

int main(int argc, char** argv) { return program::run(argc, argv); }
