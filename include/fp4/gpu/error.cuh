// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "../error.hpp"

namespace fp4::gpu {

/// Thrown when CUDA refuses a launch or reports an earlier failure. `what()` is CUDA's own text.
class error : public std::runtime_error {
 public:
  error(cudaError_t code, char const* where)
      : std::runtime_error(std::string(where) + ": " + cudaGetErrorName(code) + ": " + cudaGetErrorString(code)),
        code_(code) {}

  [[nodiscard]] cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

/// A stream: a cudaStream_t, or whatever gives one by get(), as cuda::stream_ref does.
class stream_argument {
 public:
  stream_argument() noexcept = default;
  stream_argument(cudaStream_t stream) noexcept : stream_(stream) {}
  template <class Stream, class = decltype(static_cast<cudaStream_t>(std::declval<Stream const&>().get()))>
  stream_argument(Stream const& stream) noexcept : stream_(stream.get()) {}

  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

namespace detail {

/// Throws gpu::error unless `code` is cudaSuccess. A build without exceptions prints it and aborts.
inline void check(cudaError_t code, char const* where) {
  if (code == cudaSuccess) { return; }
#if FP4_HAS_EXCEPTIONS
  throw error(code, where);
#else
  std::fprintf(stderr, "%s\n", error(code, where).what());
  std::abort();
#endif
}

/// Multiprocessors of the current device.
inline int multiprocessors(char const* where) {
  int device = 0, count = 0;
  check(cudaGetDevice(&device), where);
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), where);
  return count;
}

/// True where p and every multiple of `stride_bytes` from it is a multiple of `bytes`.
inline bool is_aligned(void const* p, int64_t stride_bytes, int64_t bytes) noexcept {
  return reinterpret_cast<size_t>(p) % static_cast<size_t>(bytes) == 0 && stride_bytes % bytes == 0;
}

}  // namespace detail
}  // namespace fp4::gpu
