// SPDX-License-Identifier: Apache-2.0
// Kernels with a planted fault, which the checks must find, and their corrected twins, which must pass. Only for the
// stand-in runtime: a device lets most of these go by.
#include <cuda_pipeline.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>

#include "check.hpp"

/// As nvcc's own start-up code calls it.
extern "C" void __cudaRegisterFunction(void**, char const*, char*, char const*, int, uint3*, uint3*, dim3*, dim3*,
                                       int*);

namespace {

/// What a call prints on stderr.
std::string printed(std::function<void()> const& run) {
  std::FILE* const file = std::tmpfile();
  int const before = dup(2);
  std::fflush(stderr);
  dup2(fileno(file), 2);
  run();
  std::fflush(stderr);
  dup2(before, 2);
  close(before);
  std::rewind(file);
  std::string text;
  for (int c; (c = std::fgetc(file)) != EOF;) { text += static_cast<char>(c); }
  std::fclose(file);
  return text;
}

/// launch(true) is right; launch(false) must end with this error and these words on stderr.
void twins(char const* words, cudaError_t wanted, int line, std::function<void(bool, int*)> const& launch) {
  for (bool const right : {true, false}) {
    CUDA(cudaDeviceReset());
    cudaError_t code = cudaSuccess;
    std::string const text = printed([&] {
      int* data = nullptr;
      cudaMalloc(&data, 64 * sizeof(int));
      cudaMemset(data, 0, 64 * sizeof(int));
      launch(right, data);
      code = cudaDeviceSynchronize();
    });
    if (right) {
      program::check(code == cudaSuccess, "the right twin passes", __FILE__, line, "\n" + text);
    } else {
      program::check(code == wanted, "the fault's error", __FILE__, line, std::string(" is ") + cudaGetErrorName(code));
      bool const found = text.find(words) != std::string::npos && text.find("PTX line") != std::string::npos &&
                         text.find("\n  from ") != std::string::npos;
      program::check(found, words, __FILE__, line, " is not in the report:\n" + text);
    }
  }
  cudaDeviceReset();
}

__constant__ int table[4];

template <bool right>
__global__ void past_the_end(int* x) {
  if (right ? threadIdx.x < 64 : threadIdx.x <= 64) { x[threadIdx.x] = 1; }
}
template <bool right>
__global__ void crooked(int* x) {
  *reinterpret_cast<int*>(reinterpret_cast<char*>(x) + (right ? 4 : 5)) = 1;
}
__global__ void touch(int* x) { x[threadIdx.x] = 1; }
__global__ void increment(int* x) { x[threadIdx.x] += 1; }
template <bool right>
__global__ void fresh_shared(int* x) {
  __shared__ int s[64];
  if (right || threadIdx.x > 0) { s[threadIdx.x] = 1; }
  __syncthreads();
  x[threadIdx.x] = s[63 - threadIdx.x] * 3;
}
template <bool right>
__global__ void no_barrier(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (right) { __syncthreads(); }
  x[threadIdx.x] = s[63 - threadIdx.x];
}
template <bool right>
__global__ void no_warp_barrier(int* x) {
  __shared__ int s[32];
  s[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (right) { __syncwarp(); }
  x[threadIdx.x] = s[threadIdx.x ^ 1];
}
template <bool right>
__global__ void same_value(int* x) {
  if (!right || threadIdx.x == 0) { *x = 7; }
}
template <bool right>
__global__ void blocks_collide(int* x) {
  x[right ? blockIdx.x : 0] = 1;
}
template <bool right>
__global__ void flag(int* x) {
  int volatile* const ready = x + 1;
  if (blockIdx.x == 0) {
    x[0] = 42;
    if (right) { __threadfence(); }
    *ready = 1;
  } else {
    while (*ready == 0) {}
    __threadfence();
    x[2] = x[0];
  }
}
template <bool right>
__global__ void plain_and_atomic(int* x) {
  if (threadIdx.x == 5 && !right) {
    *x = 1;
  } else {
    atomicAdd(x, 1);
  }
}
template <bool right>
__global__ void absent_lanes(int* x) {
  if (right || threadIdx.x < 16) { x[threadIdx.x] = __shfl_xor_sync(0xFFFFFFFFu, static_cast<int>(threadIdx.x), 1); }
  __syncthreads();  // where the others wait
}
template <bool right>
__global__ void ended_lanes(int* x) {
  if (threadIdx.x >= 16) { return; }
  x[threadIdx.x] = __shfl_xor_sync(right ? 0xFFFFu : 0xFFFFFFFFu, static_cast<int>(threadIdx.x), 1);
}
template <bool right>
__global__ void no_barrier_for_the_ended(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (right) { __syncthreads(); }
  if (threadIdx.x >= 32) { return; }
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x + 32];
}
template <bool right>
__global__ void two_copies(int* x) {
  __shared__ int s[2][32];
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][threadIdx.x], x + 32 * k + threadIdx.x, sizeof(int));
    __pipeline_commit();
  }
  __pipeline_wait_prior(right ? 1 : 2);  // all but the last one, or two
  x[threadIdx.x] = s[0][threadIdx.x];
}
template <bool right>
__device__ __noinline__ int sum_of_some(int const* x) {
  int some[4];
  for (int i = 0; i < (right ? 4 : 3); ++i) { some[i] = x[i]; }
  return some[x[4] & 3] + some[3];
}
template <bool right>
__global__ void stale_frame(int* x) {
  int const first = sum_of_some<true>(x);
  x[8] = first + sum_of_some<right>(x);
}
__global__ void not_implemented() { asm volatile("pmevent 1;"); }
template <bool right>
__global__ void endless(int* x) {
  int volatile* const flag = x;
  while (!right && *flag == 0) {}
}
template <bool right>
__global__ void trap(int* x) {
  if (!right && threadIdx.x == 3) { __trap(); }
  x[threadIdx.x] = 1;
}
}  // namespace

#define TWINS(words, code, kernel, blocks, threads)        \
  twins(words, code, __LINE__, [](bool right, int* data) { \
    if (right) {                                           \
      kernel<true><<<blocks, threads>>>(data);             \
    } else {                                               \
      kernel<false><<<blocks, threads>>>(data);            \
    }                                                      \
  })

CASE(places) {
  TWINS("out of bounds", cudaErrorIllegalAddress, past_the_end, 1, 96);
  TWINS("misaligned", cudaErrorMisalignedAddress, crooked, 1, 1);
  twins("read-only", cudaErrorIllegalAddress, __LINE__, [](bool right, int* data) {
    void* constant = nullptr;
    cudaGetSymbolAddress(&constant, table);
    touch<<<1, 4>>>(right ? data : static_cast<int*>(constant));
  });
  twins("use after free", cudaErrorIllegalAddress, __LINE__, [](bool right, int* data) {
    if (!right) { cudaFree(data); }
    touch<<<1, 32>>>(data);
  });
}

CASE(undefined_bytes) {
  TWINS("undefined", cudaErrorLaunchFailure, fresh_shared, 1, 64);
  twins("undefined", cudaErrorLaunchFailure, __LINE__, [](bool right, int* data) {
    int* other = nullptr;
    cudaMalloc(&other, 256);
    increment<<<1, 64>>>(right ? data : other);
  });
  TWINS("undefined", cudaErrorLaunchFailure, stale_frame, 1, 1);
}

CASE(races) {
  TWINS("race", cudaErrorLaunchFailure, no_barrier, 1, 64);
  TWINS("race", cudaErrorLaunchFailure, no_warp_barrier, 1, 32);
  TWINS("race", cudaErrorLaunchFailure, same_value, 1, 64);
  TWINS("race", cudaErrorLaunchFailure, blocks_collide, 2, 1);
  TWINS("race", cudaErrorLaunchFailure, flag, 2, 1);
  TWINS("race", cudaErrorLaunchFailure, plain_and_atomic, 1, 32);
  TWINS("race", cudaErrorLaunchFailure, no_barrier_for_the_ended, 1, 64);
  TWINS("a cp.async to it is under way", cudaErrorLaunchFailure, two_copies, 1, 32);
}

CASE(meetings_and_traps) {
  TWINS("barrier", cudaErrorLaunchFailure, absent_lanes, 1, 32);
  TWINS("0xffff0000 of the membermask ended", cudaErrorLaunchFailure, ended_lanes, 1, 32);
  TWINS("trap", cudaErrorLaunchFailure, trap, 1, 32);
}

CASE(endless_loops) {
  setenv("FP4_PTX_STEPS", "1000000", 1);
  TWINS("timeout", cudaErrorLaunchTimeout, endless, 1, 1);
  unsetenv("FP4_PTX_STEPS");
}

CASE(kernels_that_the_ptx_lacks) {
  static char host = 0;
  __cudaRegisterFunction(reinterpret_cast<void**>(1), &host, nullptr, "missing", -1, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
  std::string const text = printed(
      [&] { CHECK(cudaLaunchKernel(&host, dim3(1), dim3(1), nullptr, 0, nullptr) == cudaErrorInvalidDeviceFunction); });
  CHECK(text.find("missing") != std::string::npos);
  cudaGetLastError();
}

CASE(kernels_that_are_not_implemented) {
  int* data = nullptr;
  CUDA(cudaMalloc(&data, 128));
  std::string const text = printed([&] { not_implemented<<<1, 1>>>(); });
  CHECK(cudaGetLastError() == cudaErrorInvalidPtx);
  CHECK(text.find("not_implemented()") != std::string::npos && text.find("pmevent 1") != std::string::npos);
  touch<<<1, 32>>>(data);  // the others are not touched by it
  CUDA(cudaDeviceSynchronize());
}

CASE(errors_stay) {
  int* data = nullptr;
  CUDA(cudaMalloc(&data, 4));
  printed([&] { past_the_end<false><<<1, 96>>>(data); });
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaMemset(data, 0, 4) == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CUDA(cudaDeviceReset());
  CHECK(cudaGetLastError() == cudaSuccess);
}

int main(int argc, char** argv) { return program::run(argc, argv); }
