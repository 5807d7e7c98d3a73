// SPDX-License-Identifier: Apache-2.0
// Streams, events, graphs, and what a launch refuses.
#include "check.hpp"

namespace {

__global__ void scale(float* x, int n, float by) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) { x[i] *= by; }
}
__global__ void __launch_bounds__(128) bounded(int* out) {
  if (threadIdx.x == 0) { *out = 1; }
}

void CUDART_CB count_up(void* counter) { ++*static_cast<int*>(counter); }

void expect(cudaError_t got, cudaError_t wanted, int line) {
  program::check(got == wanted, cudaGetErrorName(wanted), __FILE__, line,
                 std::string("  got ") + cudaGetErrorName(got));
  cudaGetLastError();
}

}  // namespace

CASE(streams_and_events) {
  cudaStream_t one, two;
  cudaEvent_t begin, ready;
  CUDA(cudaStreamCreate(&one));
  CUDA(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  CUDA(cudaEventCreate(&begin));
  CUDA(cudaEventCreate(&ready));
  std::vector<float> x(100, 3.0f);
  program::on_device<float> d(100);
  CUDA(cudaEventRecord(begin, one));
  CUDA(cudaMemcpyAsync(d.data(), x.data(), 400, cudaMemcpyHostToDevice, one));
  scale<<<1, 128, 0, one>>>(d.data(), 100, 2.0f);
  CUDA(cudaEventRecord(ready, one));
  CUDA(cudaStreamWaitEvent(two, ready, 0));
  scale<<<4, 32, 0, two>>>(d.data(), 100, 5.0f);
  CUDA(cudaMemcpyAsync(x.data(), d.data(), 400, cudaMemcpyDeviceToHost, two));
  CUDA(cudaStreamSynchronize(two));
  CHECK_EQUAL(x[0], 30.0f);
  CHECK_EQUAL(x[99], 30.0f);
  float ms = -1;
  CUDA(cudaEventElapsedTime(&ms, begin, ready));
  CHECK(ms >= 0);
  CUDA(cudaEventDestroy(begin));
  CUDA(cudaEventDestroy(ready));
  CUDA(cudaStreamDestroy(one));
  CUDA(cudaStreamDestroy(two));
}

CASE(a_captured_graph_runs_again) {
  cudaStream_t stream, side;
  cudaEvent_t fork, join;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamCreate(&side));
  CUDA(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CUDA(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  program::on_device<float> a(100), b(100);
  std::vector<float> x(100, 1.0f), y(100, 0.0f);
  int calls = 0;

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CUDA(cudaMemcpyAsync(a.data(), x.data(), 400, cudaMemcpyHostToDevice, stream));
  CUDA(cudaEventRecord(fork, stream));
  CUDA(cudaStreamWaitEvent(side, fork, 0));
  CUDA(cudaMemsetAsync(b.data(), 0, 400, side));
  scale<<<1, 128, 0, stream>>>(a.data(), 100, 4.0f);
  CUDA(cudaEventRecord(join, side));
  CUDA(cudaStreamWaitEvent(stream, join, 0));
  CUDA(cudaMemcpyAsync(b.data(), a.data(), 200, cudaMemcpyDeviceToDevice, stream));
  CUDA(cudaMemcpyAsync(y.data(), b.data(), 400, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaLaunchHostFunc(stream, count_up, &calls));
  CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_EQUAL(calls, 0);  // nothing ran
  std::size_t nodes = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK_EQUAL(nodes, std::size_t{6});
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphDestroy(graph));
  for (int i = 1; i <= 3; ++i) {
    x.assign(100, static_cast<float>(i));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK_EQUAL(calls, i);
    CHECK_EQUAL(y[0], 4.0f * static_cast<float>(i));
    CHECK_EQUAL(y[49], 4.0f * static_cast<float>(i));
    CHECK_EQUAL(y[50], 0.0f);
  }
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaStreamDestroy(side));
}

CASE(a_graph_built_by_hand) {
  program::on_device<float> a(std::vector<float>(64, 1.5f));
  float* data = a.data();
  int n = 64;
  float by = 2.0f;
  void* arguments[] = {&data, &n, &by};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(scale);
  kernel.gridDim = dim3(2), kernel.blockDim = dim3(32), kernel.kernelParams = arguments;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t first, second;
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
  by = 3.0f;
  CUDA(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, nullptr));
  CUDA(cudaDeviceSynchronize());
  CHECK_EQUAL(a.back()[63], 9.0f);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
}

CASE(launches_that_cannot_be) {
  program::on_device<int> out(1);
  program::on_device<float> x(1);
  bounded<<<0, 32>>>(out.data());
  expect(cudaGetLastError(), cudaErrorInvalidConfiguration, __LINE__);
  bounded<<<1, 2048>>>(out.data());
  expect(cudaGetLastError(), cudaErrorInvalidConfiguration, __LINE__);
  bounded<<<dim3(1, 70000), 32>>>(out.data());
  expect(cudaGetLastError(), cudaErrorInvalidConfiguration, __LINE__);
  scale<<<1, 32, 49 * 1024>>>(x.data(), 1, 1.0f);
  expect(cudaGetLastError(), cudaErrorInvalidValue, __LINE__);
  expect(cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 * 1024), cudaErrorInvalidValue,
         __LINE__);
  expect(cudaFuncSetAttribute(reinterpret_cast<void const*>(&count_up), cudaFuncAttributeMaxDynamicSharedMemorySize, 1),
         cudaErrorInvalidDeviceFunction, __LINE__);
  expect(cudaSetDevice(99), cudaErrorInvalidDevice, __LINE__);
  int here = 1;
  expect(cudaMalloc(static_cast<void**>(nullptr), 64), cudaErrorInvalidValue, __LINE__);
  expect(cudaMemcpy(nullptr, &here, 4, cudaMemcpyDefault), cudaErrorInvalidValue, __LINE__);
  expect(cudaMemcpy(&here, nullptr, 4, cudaMemcpyDefault), cudaErrorInvalidValue, __LINE__);
  cudaFuncAttributes attributes;
  CUDA(cudaFuncGetAttributes(&attributes, bounded));
  CHECK_EQUAL(attributes.maxThreadsPerBlock, 128);
  bounded<<<1, 32>>>(out.data());  // and all is well again
  CUDA(cudaGetLastError());
  CHECK_EQUAL(out.back()[0], 1);
}

CASE(captures_refuse_what_would_wait) {
  cudaStream_t stream;
  cudaGraph_t graph = nullptr;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  cudaStreamCaptureStatus status;
  CUDA(cudaStreamIsCapturing(stream, &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphDestroy(graph));
  expect(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState, __LINE__);
  CUDA(cudaStreamDestroy(stream));
}

int main(int argc, char** argv) { return program::run(argc, argv); }
