// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the programs need of a device: memory, and to know whether it is the right one.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <fp4/gpu/error.cuh>
#include <vector>

/// Throws fp4::gpu::error unless a call succeeded.
inline void check(cudaError_t code, char const* where) {
  if (code != cudaSuccess) { throw fp4::gpu::error(code, where); }
}

/// Memory of the device.
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t size) : size_(size) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)), "device_array");
  }
  explicit device_array(std::vector<T> const& from) : device_array(from.size()) { write(from); }
  ~device_array() { cudaFree(data_); }
  device_array(device_array const&) = delete;
  device_array& operator=(device_array const&) = delete;

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(size_); }
  void write(std::vector<T> const& from) {
    check(cudaMemcpy(data_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), "device_array::write");
  }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> to(size_);
    check(cudaMemcpy(to.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "device_array::read");
    return to;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// The exit status of a program that cannot run here, as CTest and automake count it.
inline constexpr int skipped = 77;

/// What `run` returns as the exit status of a program; 2, and its sentence on stderr, where it throws.
template <class Run>
int exit_status(Run run) {
  try {
    return run();
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}

/// Whether device 0 has a compute capability from `first` to `last` (100: 10.0). Says so where it does not.
inline bool has_device(int first, int last, char const* which) {
  int major = 0, minor = 0, devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) {
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "has_device");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "has_device");
  }
  int const found = 10 * major + minor;
  if (found >= first && found <= last) { return true; }
  std::printf("skipped: no Blackwell GPU of the kind that this needs: %s; found %s%d.%d\n", which,
              devices > 0 ? "compute capability " : "no GPU, ", major, minor);
  return false;
}
