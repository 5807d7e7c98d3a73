// SPDX-License-Identifier: Apache-2.0
// Algorithms of CUB and Thrust whose blocks overtake each other in the same memory, or compute what they discard.
#include <thrust/device_vector.h>
#include <thrust/remove.h>
#include <thrust/unique.h>
#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <cstdint>

#include "check.hpp"

namespace {

constexpr int n = 5000;

std::vector<int> numbers() {
  std::vector<int> x(n);
  for (int i = 0; i < n; ++i) { x[i] = i / 3 % 100; }
  return x;
}

struct is_odd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};

/// With bytes that nobody ever writes.
struct padded {
  int value;
  std::int8_t small;
};
struct sum {
  __host__ __device__ int operator()(int a, int b) const { return a + b; }
  __host__ __device__ padded operator()(padded const& a, padded const& b) const {
    return {a.value + b.value, static_cast<std::int8_t>(a.small + b.small)};
  }
};

bool equal(int a, int b) { return a == b; }
bool equal(padded const& a, padded const& b) { return a.value == b.value && a.small == b.small; }

template <class Value>
void check_reduction_by_key(Value (*value_of)(int)) {
  auto const keys = numbers();
  std::vector<Value> values;
  for (int i = 0; i < n; ++i) { values.push_back(value_of(i)); }
  program::on_device<int> in_keys(keys), out_keys(n), runs(1);
  program::on_device<Value> in(values), out(n);
  std::size_t bytes = 0;
  auto const reduce = [&](void* storage) {
    return cub::DeviceReduce::ReduceByKey(storage, bytes, in_keys.data(), out_keys.data(), in.data(), out.data(),
                                          runs.data(), sum{}, n);
  };
  CUDA(reduce(nullptr));
  program::on_device<char> storage(bytes);
  CUDA(reduce(storage.data()));

  std::vector<Value> wanted;
  for (int i = 0; i < n; ++i) {
    if (i == 0 || keys[i] != keys[i - 1]) {
      wanted.push_back(values[i]);
    } else {
      wanted.back() = sum{}(wanted.back(), values[i]);
    }
  }
  CHECK_EQUAL(static_cast<std::size_t>(runs.back()[0]), wanted.size());
  auto const got = out.back();
  CHECK(
      std::equal(wanted.begin(), wanted.end(), got.begin(), [](auto const& a, auto const& b) { return equal(a, b); }));
}

template <class Step>
void check_in_place(Step&& step) {
  auto x = numbers();
  thrust::device_vector<int> v(x);
  auto const end = step(v.begin(), v.end());
  x.erase(step(x.begin(), x.end()), x.end());
  v.erase(end, v.end());
  std::vector<int> got(v.size());
  thrust::copy(v.begin(), v.end(), got.begin());
  CHECK(got == x);
}

}  // namespace

CASE(unique_in_place) {
  check_in_place([](auto from, auto to) { return thrust::unique(from, to); });
}
CASE(remove_if_in_place) {
  check_in_place([](auto from, auto to) { return thrust::remove_if(from, to, is_odd{}); });
}
CASE(reduce_by_key) {
  check_reduction_by_key<int>([](int i) { return i; });
  check_reduction_by_key<padded>([](int i) { return padded{i, static_cast<std::int8_t>(i)}; });
}

int main(int argc, char** argv) { return program::run(argc, argv); }
