// SPDX-License-Identifier: Apache-2.0
// Classic kernels whose right answers the host knows.
#include <algorithm>
#include <cstdint>
#include <cuda/barrier>
#include <numeric>

#include "check.hpp"

namespace {

std::vector<int> numbers(std::size_t n) {
  std::vector<int> x(n);
  std::uint32_t state = 12345;
  for (auto& v : x) { v = static_cast<int>((state = state * 1664525u + 1013904223u) >> 20) - 2048; }
  return x;
}

constexpr unsigned all_lanes = 0xFFFFFFFFu;

__device__ int warp_sum(int v) {
  for (int step = 16; step > 0; step /= 2) { v += __shfl_down_sync(all_lanes, v, step); }
  return v;
}

__global__ void sum(int const* in, int n, int* out) {
  __shared__ int of_warp[32];
  int v = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += gridDim.x * blockDim.x) {
    v += in[i];
  }
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) { of_warp[threadIdx.x / 32] = v; }
  __syncthreads();
  if (threadIdx.x < 32) {
    v = warp_sum(threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0);
    if (threadIdx.x == 0) { atomicAdd(out, v); }
  }
}

/// Every block writes a partial sum; the one that counts last adds them up.
__global__ void sum_by_last_block(int const* in, int n, int volatile* partial, unsigned* counter, int* out) {
  __shared__ bool last;
  __shared__ int total;
  if (threadIdx.x == 0) { total = 0; }
  __syncthreads();
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { atomicAdd(&total, in[i]); }
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = total;
    __threadfence();
    last = atomicAdd(counter, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int v = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) { v += partial[b]; }
    *out = v;
  }
}

__device__ unsigned finished = 0;

/// The same as NVIDIA's sample of __threadfence has it: plain partial sums, no fence after the atomic, and the counter is
/// reset for the next launch.
__global__ void sum_in_one_pass(int const* in, int n, int* partial) {
  __shared__ int total;
  __shared__ bool last;
  if (threadIdx.x == 0) { total = 0; }
  __syncthreads();
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { atomicAdd(&total, in[i]); }
  __syncthreads();
  if (threadIdx.x == 0) { partial[blockIdx.x] = total; }
  __threadfence();
  if (threadIdx.x == 0) { last = atomicInc(&finished, gridDim.x) == gridDim.x - 1; }
  __syncthreads();
  if (!last) { return; }
  if (threadIdx.x == 0) { total = 0; }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) { atomicAdd(&total, partial[b]); }
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[0] = total;
    finished = 0;
  }
}

template <int threads>
__global__ void block_scan(int const* in, int* out) {
  __shared__ int x[2][threads];
  unsigned const t = threadIdx.x;
  int from = 0;
  x[0][t] = in[blockIdx.x * threads + t];
  for (unsigned step = 1; step < threads; step *= 2) {
    __syncthreads();
    x[1 - from][t] = x[from][t] + (t >= step ? x[from][t - step] : 0);
    from = 1 - from;
  }
  out[blockIdx.x * threads + t] = x[from][t];
}

__global__ void transpose(float const* in, int rows, int cols, float* out) {
  __shared__ float tile[32][33];
  int const col = static_cast<int>(blockIdx.x * 32 + threadIdx.x), row = static_cast<int>(blockIdx.y * 32);
  for (int i = threadIdx.y; i < 32 && row + i < rows; i += blockDim.y) {
    if (col < cols) { tile[i][threadIdx.x] = in[(row + i) * cols + col]; }
  }
  __syncthreads();
  int const out_col = static_cast<int>(blockIdx.y * 32 + threadIdx.x), out_row = static_cast<int>(blockIdx.x * 32);
  for (int i = threadIdx.y; i < 32 && out_row + i < cols; i += blockDim.y) {
    if (out_col < rows) { out[(out_row + i) * rows + out_col] = tile[threadIdx.x][i]; }
  }
}

__global__ void histogram(std::uint8_t const* in, int n, unsigned* bins) {
  __shared__ unsigned mine[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) { mine[i] = 0; }
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&mine[in[i]], 1u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) { atomicAdd(&bins[i], mine[i]); }
}

/// Lanes run apart for different numbers of turns and meet again.
__global__ void collatz(int* turns, unsigned* votes) {
  int const lane = static_cast<int>(threadIdx.x);
  long long n = lane + 1;
  int count = 0;
  while (n != 1) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    ++count;
  }
  turns[lane] = count;
  __syncwarp();
  votes[0 + lane] = __ballot_sync(all_lanes, count > 10);
  votes[32 + lane] = __match_any_sync(all_lanes, count % 4);
  votes[64 + lane] = __reduce_max_sync(all_lanes, static_cast<unsigned>(count));
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursion(int* out) { out[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x)); }

/// Threads wait for each other at an object instead of __syncthreads.
__global__ void reverse_twice(int* x) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> all_here;
  __shared__ int s[2][64];
  unsigned const t = threadIdx.x;
  if (t == 0) { init(&all_here, blockDim.x); }
  __syncthreads();
  s[0][t] = x[t];
  all_here.wait(all_here.arrive());
  s[1][t] = s[0][63 - t] + 1;
  all_here.arrive_and_wait();
  x[t] = s[1][63 - t];
}

struct triple {
  double a;
  int b[3];
  char c;
};
__constant__ int factor[4];
__device__ int offset = 7;
__global__ void symbols(triple t, int const* in, int* out) {
  out[threadIdx.x] =
      in[threadIdx.x] * factor[threadIdx.x % 4] + offset + t.b[threadIdx.x % 3] + static_cast<int>(t.a) + t.c;
}

__global__ void big_shared(int* out) {
  extern __shared__ int words[];
  for (unsigned i = threadIdx.x; i < 20000; i += blockDim.x) { words[i] = static_cast<int>(i); }
  __syncthreads();
  int v = 0;
  for (unsigned i = threadIdx.x; i < 20000; i += blockDim.x) { v += words[19999 - i] & 1; }
  atomicAdd(out, v);
}

}  // namespace

CASE(reduction_with_shuffles) {
  auto const x = numbers(5000);
  int const wanted = std::accumulate(x.begin(), x.end(), 0);
  program::on_device<int> in(x), out(std::vector<int>{0}), partial(20);
  sum<<<7, 256>>>(in.data(), 5000, out.data());
  CHECK_EQUAL(out.back()[0], wanted);
  program::on_device<unsigned> counter(std::vector<unsigned>{0});
  sum_by_last_block<<<20, 256>>>(in.data(), 5000, partial.data(), counter.data(), out.data());
  CHECK_EQUAL(out.back()[0], wanted);
  for (int turn = 0; turn < 2; ++turn) {
    sum_in_one_pass<<<20, 256>>>(in.data(), 5000, partial.data());
    CHECK_EQUAL(partial.back()[0], wanted);
  }
}

CASE(scan_in_blocks) {
  auto const x = numbers(1024);
  program::on_device<int> in(x), out(1024);
  block_scan<256><<<4, 256>>>(in.data(), out.data());
  auto const got = out.back();
  for (int b = 0, running = 0; b < 1024; ++b) {
    running = (b % 256 == 0 ? 0 : running) + x[b];
    CHECK_EQUAL(got[b], running);
  }
}

CASE(transpose_through_shared_memory) {
  int const rows = 70, cols = 45;
  std::vector<float> x(rows * cols);
  std::iota(x.begin(), x.end(), 0.0f);
  program::on_device<float> in(x), out(x.size());
  transpose<<<dim3(2, 3), dim3(32, 8)>>>(in.data(), rows, cols, out.data());
  auto const got = out.back();
  int wrong = 0;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) { wrong += got[c * rows + r] != x[r * cols + c]; }
  }
  CHECK_EQUAL(wrong, 0);
}

CASE(histogram_with_atomics) {
  std::vector<std::uint8_t> x(6000);
  std::vector<unsigned> wanted(256);
  for (std::size_t i = 0; i < x.size(); ++i) { ++wanted[x[i] = static_cast<std::uint8_t>(i * i / 7)]; }
  program::on_device<std::uint8_t> in(x);
  program::on_device<unsigned> bins(std::vector<unsigned>(256, 0));
  histogram<<<5, 128>>>(in.data(), 6000, bins.data());
  CHECK(bins.back() == wanted);
}

CASE(lanes_apart) {
  program::on_device<int> turns(32);
  program::on_device<unsigned> votes(96);
  collatz<<<1, 32>>>(turns.data(), votes.data());
  auto const t = turns.back();
  auto const v = votes.back();
  CHECK_EQUAL(t[26], 111);  // 27 takes 111 steps
  CHECK_EQUAL(t[0], 0);
  for (int i = 0; i < 32; ++i) {
    unsigned over = 0, same = 0;
    for (int j = 0; j < 32; ++j) {
      over |= static_cast<unsigned>(t[j] > 10) << j;
      same |= static_cast<unsigned>(t[j] % 4 == t[i] % 4) << j;
    }
    CHECK_EQUAL(v[i], over);
    CHECK_EQUAL(v[32 + i], same);
    CHECK_EQUAL(v[64 + i], static_cast<unsigned>(*std::max_element(t.begin(), t.end())));
  }
}

CASE(calls_and_local_memory) {
  program::on_device<int> out(12);
  recursion<<<1, 12>>>(out.data());
  auto const got = out.back();
  CHECK_EQUAL(got[11], 89);
  CHECK_EQUAL(got[2], 1);
}

CASE(barrier_objects) {
  auto const x = numbers(64);
  program::on_device<int> d(x);
  reverse_twice<<<1, 64>>>(d.data());
  auto const got = d.back();
  for (int i = 0; i < 64; ++i) { CHECK_EQUAL(got[i], x[i] + 1); }
}

CASE(symbols_and_parameters) {
  int const factors[4] = {1, 10, 100, 1000};
  CUDA(cudaMemcpyToSymbol(factor, factors, sizeof factors));
  int where = 0;
  CUDA(cudaMemcpyFromSymbol(&where, offset, sizeof where));
  CHECK_EQUAL(where, 7);
  program::on_device<int> in(std::vector<int>{5, 6, 7, 8}), out(4);
  symbols<<<1, 4>>>(triple{2.5, {10, 20, 30}, 3}, in.data(), out.data());
  CHECK((out.back() == std::vector<int>{5 + 7 + 10 + 2 + 3, 60 + 7 + 20 + 5, 700 + 7 + 30 + 5, 8000 + 7 + 10 + 5}));
}

CASE(more_shared_memory_than_48_kilobytes) {
  program::on_device<int> out(std::vector<int>{0});
  big_shared<<<1, 128, 80000>>>(out.data());
  CHECK_EQUAL(static_cast<int>(cudaGetLastError()), static_cast<int>(cudaErrorInvalidValue));
  CUDA(cudaFuncSetAttribute(big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 80000));
  big_shared<<<1, 128, 80000>>>(out.data());
  CUDA(cudaGetLastError());
  CHECK_EQUAL(out.back()[0], 10000);
}

int main(int argc, char** argv) { return program::run(argc, argv); }
