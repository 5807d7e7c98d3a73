// SPDX-License-Identifier: Apache-2.0
// Errors, and the calls about the device as a whole.
#include <climits>

#include "device.hpp"

using namespace ptx::runtime;

namespace {

struct description {
  cudaError_t code;
  char const *name, *text;
};

#define FP4_ERROR(code, text) \
  { code, #code, text }
/// The codes that this runtime returns, and those that programs compare with.
constexpr description descriptions[] = {
    FP4_ERROR(cudaSuccess, "no error"),
    FP4_ERROR(cudaErrorInvalidValue, "invalid argument"),
    FP4_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    FP4_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    FP4_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    FP4_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    FP4_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    FP4_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    FP4_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    FP4_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    FP4_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    FP4_ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    FP4_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    FP4_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    FP4_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    FP4_ERROR(cudaErrorNotReady, "device not ready"),
    FP4_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    FP4_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    FP4_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    FP4_ERROR(cudaErrorAssert, "device-side assert triggered"),
    FP4_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    FP4_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    FP4_ERROR(cudaErrorNotSupported, "operation not supported"),
    FP4_ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    FP4_ERROR(cudaErrorStreamCaptureUnmatched, "the capture was not initiated in this stream"),
    FP4_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    FP4_ERROR(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    FP4_ERROR(cudaErrorStreamCaptureImplicit,
              "operation would make the legacy stream depend on a capturing blocking stream"),
    FP4_ERROR(cudaErrorInvalidClusterSize, "cluster size not supported"),
    FP4_ERROR(cudaErrorUnknown, "unknown error")};
#undef FP4_ERROR

description const& describe(cudaError_t code) {
  for (auto const& d : descriptions) {
    if (d.code == code) { return d; }
  }
  static constexpr description other{cudaErrorUnknown, "an error without a name in the stand-in runtime",
                                     "an error without a name in the stand-in runtime"};
  return other;
}

std::size_t& limit(cudaLimit which) {
  static std::size_t stack = 1024, heap = 8u << 20, printed = 1u << 20;  // as on a device
  switch (which) {
    case cudaLimitStackSize: return stack;
    case cudaLimitMallocHeapSize: return heap;
    case cudaLimitPrintfFifoSize: return printed;
    default: throw refusal(cudaErrorNotSupported, "limit " + std::to_string(which) + " is not implemented");
  }
}

}  // namespace

extern "C" {

char const* cudaGetErrorName(cudaError_t code) { return describe(code).name; }
char const* cudaGetErrorString(cudaError_t code) { return describe(code).text; }

cudaError_t cudaPeekAtLastError() {
  auto const& d = device::get();
  return d.sticky != cudaSuccess ? d.sticky : d.last;
}
cudaError_t cudaGetLastError() {
  cudaError_t const code = cudaPeekAtLastError();
  device::get().last = cudaSuccess;
  return code;
}

cudaError_t cudaGetDeviceCount(int* n) {
  *n = 0;
  return call("cudaGetDeviceCount", [&] {
    device::get().gpu();  // refused where FP4_PTX_TARGET names none
    *n = 1;
  });
}
cudaError_t cudaGetDevice(int* which) {
  *which = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int which) {
  return call("cudaSetDevice", [&] {
    if (which != 0) { throw refusal(cudaErrorInvalidDevice, "there is one device, number 0"); }
  });
}
cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [] { not_while_capturing(); });
}
cudaError_t cudaDeviceReset() {
  device::get().drop();
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0, *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
/// Stacks and heaps are as large as they need to be: a limit is remembered, no more.
cudaError_t cudaDeviceSetLimit(cudaLimit which, std::size_t value) {
  return call("cudaDeviceSetLimit", [&] { limit(which) = value; });
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit which) {
  return call("cudaDeviceGetLimit", [&] { *value = limit(which); });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;  // there is one device
  return cudaSuccess;
}
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

}  // extern "C"
