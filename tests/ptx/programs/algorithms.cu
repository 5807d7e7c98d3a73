// SPDX-License-Identifier: Apache-2.0
// What CUB and Thrust make of a few thousand elements.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "check.hpp"

namespace {

constexpr int n = 5000;

std::vector<int> numbers() {
  std::vector<int> x(n);
  for (int i = 0; i < n; ++i) { x[i] = static_cast<int>((i * 7919u + 13u) % 4001u) - 2000; }
  return x;
}

struct square {
  __host__ __device__ double operator()(int x) const { return static_cast<double>(x) * x; }
};

__global__ void sums_of_blocks(int const* in, int count, int* out) {
  using reduce = cub::BlockReduce<int, 256>;
  __shared__ reduce::TempStorage storage;
  int const i = static_cast<int>(blockIdx.x * 256 + threadIdx.x);
  int const total = reduce(storage).Sum(i < count ? in[i] : 0);
  if (threadIdx.x == 0) { out[blockIdx.x] = total; }
}

/// Calls a CUB algorithm twice: for the size of its storage, and to run it.
template <class Algorithm>
void with_storage(Algorithm&& run) {
  std::size_t bytes = 0;
  CUDA(run(nullptr, bytes));
  program::on_device<char> storage(bytes + 1);
  CUDA(run(storage.data(), bytes));
}

}  // namespace

CASE(cub_device_reduce) {
  auto const x = numbers();
  program::on_device<int> in(x), out(1);
  with_storage([&](void* p, std::size_t& bytes) { return cub::DeviceReduce::Max(p, bytes, in.data(), out.data(), n); });
  CHECK_EQUAL(out.back()[0], *std::max_element(x.begin(), x.end()));
  with_storage([&](void* p, std::size_t& bytes) { return cub::DeviceReduce::Sum(p, bytes, in.data(), out.data(), n); });
  CHECK_EQUAL(out.back()[0], std::accumulate(x.begin(), x.end(), 0));
}

CASE(cub_block_reduce) {
  auto const x = numbers();
  program::on_device<int> in(x), out(20);
  sums_of_blocks<<<20, 256>>>(in.data(), n, out.data());
  auto const got = out.back();
  CHECK_EQUAL(std::accumulate(got.begin(), got.end(), 0), std::accumulate(x.begin(), x.end(), 0));
  CHECK_EQUAL(got[3], std::accumulate(x.begin() + 768, x.begin() + 1024, 0));
}

// Blocks wait for what the blocks before them publish: decoupled look-back.
CASE(cub_device_scan) {
  int const many = 30000;
  std::vector<int> x(many);
  for (int i = 0; i < many; ++i) { x[i] = i % 17 - 5; }
  program::on_device<int> in(x), out(many);
  with_storage([&](void* p, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(p, bytes, in.data(), out.data(), many);
  });
  auto const got = out.back();
  int running = 0, wrong = 0;
  for (int i = 0; i < many; ++i) { wrong += got[i] != (running += x[i]); }
  CHECK_EQUAL(wrong, 0);
}

CASE(thrust_transform_reduce) {
  auto const x = numbers();
  thrust::device_vector<int> const v(x.begin(), x.end());
  double wanted = 0;
  for (int const i : x) { wanted += static_cast<double>(i) * i; }
  CHECK_EQUAL(thrust::transform_reduce(v.begin(), v.end(), square{}, 0.0, thrust::plus<double>()), wanted);
}

CASE(thrust_sort) {
  auto x = numbers();
  thrust::device_vector<int> v(x.begin(), x.end());
  thrust::sort(v.begin(), v.end());  // radix sort
  std::sort(x.begin(), x.end());
  thrust::host_vector<int> const got = v;
  CHECK(std::equal(got.begin(), got.end(), x.begin()));
}

int main(int argc, char** argv) { return program::run(argc, argv); }
