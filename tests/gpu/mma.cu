// SPDX-License-Identifier: Apache-2.0
// gpu::mma_m16n8k64 against reference::mma_m16n8k64: what 32 lanes hold in, and what they hold afterwards.
#include <fp4/gpu/mma.cuh>
#include <fp4/reference/mma.hpp>

#include <cstdlib>
#include <cstring>
#include <random>

#include "blackwell.hpp"

namespace {

using namespace fp4;
using program::on_device;
using mma = mma_m16n8k64;
template <class Fragment>
using warp = reference::warp_registers<Fragment>;

/// One call: operands and what is selected.
template <scale_vector Vector>
struct call {
  warp<mma::a> a;
  warp<mma::b> b;
  warp<mma::c> c;
  warp<mma::scales_a<Vector>> scales_a;
  warp<mma::scales_b<Vector>> scales_b;
  scale_selector selector_a, selector_b;
};

/// A warp a call.
template <class Scale, scale_vector Vector>
__global__ void multiply(call<Vector> const* calls, warp<mma::c>* results) {
  call<Vector> const& x = calls[blockIdx.x];
  unsigned const lane = threadIdx.x;
  results[blockIdx.x].lane[lane] =
      gpu::mma_m16n8k64<Scale, Vector>(x.a.lane[lane], x.b.lane[lane], x.c.lane[lane], x.scales_a.lane[lane],
                                       x.selector_a, x.scales_b.lane[lane], x.selector_b);
}

/// Numbers for operands.
class source {
 public:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(generator_() % n); }
  /// Registers of any codes. Rows differ pairwise: 512 or 256 random nibbles do.
  template <class Fragment>
  void fill(warp<Fragment>& x) {
    for (auto& lane : x.lane) {
      for (auto& word : lane.reg) { word = static_cast<std::uint32_t>(generator_()); }
    }
  }
  /// Four scales from first on, in every byte of every lane: those that no selector names differ from those it does.
  template <class Fragment>
  void fill_scales(warp<Fragment>& x, std::uint32_t first, std::uint32_t count) {
    for (auto& lane : x.lane) {
      std::uint32_t word = 0;
      for (int i = 0; i < 4; ++i) { word = word << 8 | (first + below(count)); }
      lane.reg[0] = word;
    }
  }
  void fill_sums(warp<mma::c>& x, float unit) {
    for (auto& lane : x.lane) {
      for (float& sum : lane.reg) { sum = (static_cast<float>(below(1 << 12)) - 2048) * unit; }
    }
  }

 private:
  std::mt19937 generator_{7};
};

/// Calls with all selectors, `count` of each. Scales are codes from `first` on.
template <scale_vector Vector>
std::vector<call<Vector>> make_calls(std::uint32_t first, std::uint32_t codes, int count) {
  source numbers;
  std::vector<call<Vector>> calls;
  constexpr int step = static_cast<int>(Vector);
  for (int thread_a = 0; thread_a < 2; ++thread_a) {
    for (int thread_b = 0; thread_b < 4; ++thread_b) {
      for (int byte_a = 0; byte_a < 4; byte_a += step) {
        for (int byte_b = 0; byte_b < 4; byte_b += step) {
          for (int i = 0; i < count; ++i) {
            call<Vector> x;
            numbers.fill(x.a), numbers.fill(x.b);
            numbers.fill_sums(x.c, 0.25f);
            numbers.fill_scales(x.scales_a, first, codes), numbers.fill_scales(x.scales_b, first, codes);
            x.selector_a = {thread_a, byte_a}, x.selector_b = {thread_b, byte_b};
            calls.push_back(x);
          }
        }
      }
    }
  }
  return calls;
}

template <class Scale, scale_vector Vector>
void check_calls(std::vector<call<Vector>> const& calls) {
  on_device<call<Vector>> in(calls);
  on_device<warp<mma::c>> out(calls.size());
  multiply<Scale, Vector><<<static_cast<unsigned>(calls.size()), 32>>>(in.data(), out.data());
  CUDA(cudaDeviceSynchronize());
  auto const got = out.back();
  int wrong = 0, distinct = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    call<Vector> const& x = calls[i];
    auto const wanted =
        reference::mma_m16n8k64<Scale, Vector>(x.a, x.b, x.c, x.scales_a, x.selector_a, x.scales_b, x.selector_b);
    wrong += std::memcmp(&got[i], &wanted, sizeof wanted) != 0;
    distinct += wanted.lane[0].reg[0] != wanted.lane[17].reg[2];
  }
  CHECK_EQUAL(wrong, 0);
  CHECK(distinct * 2 > static_cast<int>(calls.size()));  // not a comparison of constants
}

}  // namespace

// Products of e2m1 are multiples of 1/4 up to 36. Scales of 1 to 1.875 are multiples of 1/8, so that products are
// multiples of 2^-8 and 64 of them stay below 2^13 + 2^10: exact in fp32 in any order.
CASE(nvfp4_with_all_selectors) { check_calls<ue4m3>(make_calls<scale_vector::x4>(0x38, 8, 4)); }
CASE(mxfp4_with_all_selectors) { check_calls<e8m0>(make_calls<scale_vector::x2>(126, 4, 2)); }

// Every scale, where hardware may round between: the interpreter rounds once, as the reference does.
CASE(any_scale) {
  if (std::getenv("FP4_PTX_TARGET") == nullptr) { return; }
  check_calls<ue4m3>(make_calls<scale_vector::x4>(0, 0x7F, 8));
}

int main(int argc, char** argv) { return test::run_on(12, argc, argv); }
