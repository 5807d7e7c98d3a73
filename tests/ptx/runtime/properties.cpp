// SPDX-License-Identifier: Apache-2.0
// What the emulated device says of itself and of kernels.
#include <algorithm>
#include <cstring>

#include "device.hpp"

using namespace ptx::runtime;

namespace {

constexpr int kib = 1024;
constexpr int max_static_shared = 48 * kib, reserved_shared = kib, registers = 64 * kib, l2_bytes = 50 << 20;

/// From the table of compute capabilities in the CUDA programming guide; the multiprocessors are those of A100, RTX
/// 3090, RTX 4090, H100, B200, B300, Thor, RTX 5090 and GB10.
constexpr traits known_devices[] = {
    {80, 108, 2048, 32, 164 * kib, 163 * kib},  {86, 82, 1536, 16, 100 * kib, 99 * kib},
    {89, 128, 1536, 24, 100 * kib, 99 * kib},   {90, 132, 2048, 32, 228 * kib, 227 * kib},
    {100, 148, 2048, 32, 228 * kib, 227 * kib}, {103, 148, 2048, 32, 228 * kib, 227 * kib},
    {110, 20, 1536, 24, 228 * kib, 227 * kib},  {120, 170, 1536, 24, 100 * kib, 99 * kib},
    {121, 48, 1536, 24, 100 * kib, 99 * kib}};

traits const& traits_of(int number) {
  for (auto const& t : known_devices) {
    if (t.number == number) { return t; }
  }
  throw refusal(cudaErrorNotSupported, "no table of what an sm_" + std::to_string(number) + " has");
}

int attribute(cudaDeviceAttr which) {
  auto& d = device::get();
  auto const& t = d.what();
  switch (which) {
    case cudaDevAttrComputeCapabilityMajor: return t.number / 10;
    case cudaDevAttrComputeCapabilityMinor: return t.number % 10;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: return 1024;
    case cudaDevAttrMaxBlockDimZ: return 64;
    case cudaDevAttrMaxGridDimX: return 0x7FFFFFFF;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock: return max_static_shared;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return t.shared_per_block;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return t.shared_per_multiprocessor;
    case cudaDevAttrReservedSharedMemoryPerBlock: return reserved_shared;
    case cudaDevAttrTotalConstantMemory: return 64 * kib;
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: return registers;
    case cudaDevAttrMultiProcessorCount: return t.multiprocessors;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return t.threads_per_multiprocessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return t.blocks_per_multiprocessor;
    case cudaDevAttrL2CacheSize: return l2_bytes;
    case cudaDevAttrTextureAlignment: return 512;
    case cudaDevAttrClusterLaunch: return t.number >= 90;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrConcurrentManagedAccess: return 1;
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrIntegrated:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrMaxPersistingL2CacheSize:
    case cudaDevAttrComputeMode: return 0;
    default: throw refusal(cudaErrorNotSupported, "device attribute " + std::to_string(which) + " is not implemented");
  }
}

void fill(cudaDeviceProp& p) {
  auto& d = device::get();
  auto const& t = d.what();
  p = {};
  std::strncpy(p.name, ("PTX interpreter, " + d.gpu().which().name()).c_str(), sizeof p.name - 1);
  p.totalGlobalMem = d.bytes().capacity();
  p.major = t.number / 10, p.minor = t.number % 10;
  p.warpSize = 32;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024, p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7FFFFFFF, p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.sharedMemPerBlock = max_static_shared;
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(t.shared_per_block);
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(t.shared_per_multiprocessor);
  p.reservedSharedMemPerBlock = reserved_shared;
  p.totalConstMem = 64 * kib;
  p.regsPerBlock = p.regsPerMultiprocessor = registers;
  p.multiProcessorCount = t.multiprocessors;
  p.maxThreadsPerMultiProcessor = t.threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = t.blocks_per_multiprocessor;
  p.l2CacheSize = l2_bytes;
  p.textureAlignment = 512, p.texturePitchAlignment = 32, p.memPitch = 0x7FFFFFFF;
  p.clusterLaunch = t.number >= 90;
  p.unifiedAddressing = p.concurrentKernels = p.managedMemory = p.canMapHostMemory = p.cooperativeLaunch =
      p.streamPrioritiesSupported = p.concurrentManagedAccess = p.asyncEngineCount = 1;
}

/// An estimate: the assembler spills what would not let one block fit.
int registers_of(ptx::kernel_info const& info) {
  int const fit = registers / (32 * ((info.max_threads + 31) / 32)) / 8 * 8;
  return std::clamp((info.registers + 7) / 8 * 8, 8, std::min(fit, 255));
}

int resident_blocks(CUkern_st const& kernel, int threads, std::size_t dynamic_shared) {
  auto const& t = device::get().what();
  auto const& info = device::get().info(kernel);
  if (threads <= 0 || threads > info.max_threads) { return 0; }
  int const warps = (threads + 31) / 32;
  auto const shared = static_cast<int>(dynamic_shared + info.static_shared) + reserved_shared;
  int const in_warp = registers_of(info) * 32;
  return std::min({t.blocks_per_multiprocessor, t.threads_per_multiprocessor / (32 * warps),
                   registers / (in_warp * warps), t.shared_per_multiprocessor / shared});
}

/// What cudaFuncSetAttribute may ask for.
int dynamic_limit(CUkern_st const& kernel) {
  return device::get().what().shared_per_block - static_cast<int>(device::get().info(kernel).static_shared);
}

}  // namespace

namespace ptx::runtime {

traits const& device::what() { return traits_of(gpu().which().number); }

}  // namespace ptx::runtime

extern "C" {

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int which) {
  return call("cudaGetDeviceProperties", [&] {
    if (which != 0) { throw refusal(cudaErrorInvalidDevice, "there is one device, number 0"); }
    fill(*p);
  });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int number) {
  return call("cudaDeviceGetAttribute", [&] {
    if (number != 0) { throw refusal(cudaErrorInvalidDevice, "there is one device, number 0"); }
    *value = attribute(which);
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, void const* function) {
  return call("cudaFuncGetAttributes", [&] {
    auto const& kernel = kernel_of(function);
    auto const& info = device::get().info(kernel);
    *a = {};
    a->sharedSizeBytes = info.static_shared;
    a->localSizeBytes = info.local_bytes;
    a->maxThreadsPerBlock = info.max_threads;
    a->numRegs = registers_of(info);
    a->maxDynamicSharedSizeBytes = std::min(kernel.dynamic_shared, dynamic_limit(kernel));
    auto const& b = device::get().binaries.at(kernel.binary);
    a->ptxVersion = a->binaryVersion = choose(b.content.images, device::get().gpu().which())->built_for.number;
    a->preferredShmemCarveout = -1;
    a->clusterDimMustBeSet = info.cluster.count() > 1;
  });
}
cudaError_t cudaFuncSetAttribute(void const* function, cudaFuncAttribute which, int value) {
  return call("cudaFuncSetAttribute", [&] {
    auto& kernel = kernel_of(function);
    if (which == cudaFuncAttributePreferredSharedMemoryCarveout) { return; }
    if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) {
      throw refusal(cudaErrorNotSupported, "function attribute " + std::to_string(which) + " is not implemented");
    }
    if (value < 0 || value > dynamic_limit(kernel)) {
      throw refusal(cudaErrorInvalidValue, std::to_string(value) + " bytes of dynamic shared memory for " +
                                               ptx::readable(kernel.name) + ", the limit is " +
                                               std::to_string(dynamic_limit(kernel)));
    }
    kernel.dynamic_shared = value;
  });
}
cudaError_t cudaFuncSetCacheConfig(void const*, cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaFuncGetName(char const** name, void const* function) {
  return call("cudaFuncGetName", [&] { *name = kernel_of(function).name.c_str(); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void const* function, int threads,
                                                                   std::size_t shared, unsigned) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
              [&] { *blocks = resident_blocks(kernel_of(function), threads, shared); });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void const* function, int threads,
                                                          std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* shared, void const* function, int blocks, int) {
  return call("cudaOccupancyAvailableDynamicSMemPerBlock", [&] {
    auto const& kernel = kernel_of(function);
    int const each = device::get().what().shared_per_multiprocessor / std::max(1, blocks) - reserved_shared -
                     static_cast<int>(device::get().info(kernel).static_shared);
    *shared = static_cast<std::size_t>(std::clamp(each, 0, dynamic_limit(kernel)));
  });
}

}  // extern "C"
