// SPDX-License-Identifier: Apache-2.0
// What nvcc's start-up code and kernel stubs call. crt/host_runtime.h of the toolkit declares these functions.
#include <stack>

#include "device.hpp"

namespace {

using namespace ptx::runtime;

struct configuration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};
thread_local std::stack<configuration> configurations;

std::size_t index_of(void** handle) { return reinterpret_cast<std::size_t>(handle) - 1; }

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  auto& d = device::get();
  binary b;
  try {
    b.content = read_fat_binary(wrapper);
  } catch (ptx::error const& e) { d.fail(cudaErrorNoKernelImageForDevice, e.what()); }
  d.binaries.push_back(std::move(b));
  return reinterpret_cast<void**>(d.binaries.size());  // only a handle: never a null pointer
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void** handle, char const* host, char*, char const* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  CUkern_st& kernel = device::get().kernels[host];
  kernel.name = name;
  kernel.binary = index_of(handle);
}

void __cudaRegisterVar(void** handle, char* host, char*, char const* name, int, std::size_t size, int, int) {
  device::get().variables[host] = {name, index_of(handle), size, nullptr};
}

void __cudaRegisterManagedVar(void** handle, void** host, char*, char const* name, int, std::size_t size, int, int) {
  device::get().variables[host] = {name, index_of(handle), size, host};
}

/// Gives the host the addresses of a module's __managed__ variables.
char __cudaInitModule(void** handle) {
  for (auto& [host, v] : device::get().variables) {
    if (v.managed == nullptr || v.binary != index_of(handle) || *v.managed != nullptr) { continue; }
    call("__managed__ variable",
         [&, &one = v] { *one.managed = reinterpret_cast<void*>(device::get().where(one).address); });
  }
  return 1;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, CUstream_st* stream) {
  configurations.push({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (configurations.empty()) {
    return device::get().fail(cudaErrorMissingConfiguration, "a kernel stub was called without <<<...>>>");
  }
  auto const& c = configurations.top();
  *grid = c.grid, *block = c.block, *shared = c.shared;
  *static_cast<cudaStream_t*>(stream) = c.stream;
  configurations.pop();
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, void const* function) {
  return call("__cudaGetKernel", [&] { *kernel = &kernel_of(function); });
}

}  // extern "C"
