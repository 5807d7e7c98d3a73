// SPDX-License-Identifier: Apache-2.0
// Runtime calls at their edges: what they refuse, and what they must not refuse.
#include <sys/wait.h>
#include <unistd.h>

#include "check.hpp"

namespace {

__global__ void store(int* x, int value) { *x = value; }

__managed__ int shared_with_host = 3;

void refuses(cudaError_t got, char const* call, int line) {
  program::check(got == cudaErrorInvalidValue || got == cudaErrorInvalidResourceHandle, call, __FILE__, line,
                 std::string(" says ") + cudaGetErrorName(got));
  cudaGetLastError();
}
#define REFUSES(call) refuses(call, #call, __LINE__)

/// Whether reading one int at p ends a copy of this process by a segmentation fault.
bool crashes_host(int const* p) {
  pid_t const child = fork();
  if (child == 0) {
    int const volatile seen = *p;
    _exit(seen & 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

}  // namespace

CASE(each_kind_of_memory_is_freed_by_its_own_call) {
  void *device = nullptr, *host = nullptr, *managed = nullptr;
  CUDA(cudaMalloc(&device, 64));
  CUDA(cudaMallocHost(&host, 64));
  CUDA(cudaMallocManaged(&managed, 64));
  REFUSES(cudaFree(host));
  REFUSES(cudaFreeHost(device));
  REFUSES(cudaFreeHost(managed));
  REFUSES(cudaFree(&shared_with_host));
  REFUSES(cudaFree(static_cast<char*>(device) + 16));
  int on_stack = 0;
  REFUSES(cudaFree(&on_stack));
  CUDA(cudaFree(device));
  CUDA(cudaFreeHost(host));
  CUDA(cudaFree(managed));
  REFUSES(cudaFree(device));
}

CASE(empty_copies_need_no_pointers) {
  program::on_device<int> x(4);
  int host = 0;
  CUDA(cudaMemcpy(nullptr, &host, 0, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(x.data(), nullptr, 0, cudaMemcpyHostToDevice));
  CUDA(cudaMemset(nullptr, 0, 0));
  REFUSES(cudaMemcpy(nullptr, &host, 4, cudaMemcpyHostToDevice));
  REFUSES(cudaMemset(nullptr, 0, 4));
}

CASE(a_launch_without_arguments) {
  void* const function = reinterpret_cast<void*>(&store);
  REFUSES(cudaLaunchKernel(function, dim3(1), dim3(1), nullptr, 0, nullptr));
}

CASE(the_default_stream_stays) { REFUSES(cudaStreamDestroy(nullptr)); }

CASE(limits_are_remembered) {
  std::size_t value = 0;
  CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  CUDA(cudaDeviceGetLimit(&value, cudaLimitStackSize));
  CHECK_EQUAL(value, std::size_t{4096});
}

CASE(host_code_reaches_only_memory_that_is_its_own_too) {
  int *device = nullptr, *host = nullptr, *managed = nullptr;
  CUDA(cudaMalloc(&device, 4));
  CUDA(cudaMallocHost(&host, 4));
  CUDA(cudaMallocManaged(&managed, 4));
  store<<<1, 1>>>(device, 5);
  store<<<1, 1>>>(host, 6);
  store<<<1, 1>>>(managed, 7);
  CUDA(cudaDeviceSynchronize());
  CHECK(crashes_host(device));
  CHECK_EQUAL(*host, 6);
  CHECK_EQUAL(*managed, 7);
  CHECK_EQUAL(shared_with_host, 3);
  CUDA(cudaMemPrefetchAsync(managed, 4, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, nullptr));
  REFUSES(cudaMemPrefetchAsync(device, 4, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, nullptr));
  CUDA(cudaFree(managed));
  CHECK(crashes_host(managed));
  CUDA(cudaFreeHost(host));
  CUDA(cudaFree(device));
}

int main(int argc, char** argv) { return program::run(argc, argv); }
