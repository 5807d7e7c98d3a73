// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Cases of a CUDA program. Catch2 would be compiled once for every PTX image, so this is what is needed of it.

#include <cuda_runtime_api.h>

#include <cstdio>
#include <string>
#include <vector>

namespace program {

struct test_case {
  char const* name;
  void (*run)();
};
inline std::vector<test_case> cases;
inline int failures = 0;

struct add_case {
  add_case(char const* name, void (*run)()) { cases.push_back({name, run}); }
};

inline void check(bool ok, char const* text, char const* file, int line, std::string const& values = "") {
  if (ok) { return; }
  ++failures;
  std::printf("%s:%d: failed: %s%s\n", file, line, text, values.c_str());
}

template <class A, class B>
void check_equal(A const& got, B const& wanted, char const* text, char const* file, int line) {
  check(got == wanted, text, file, line, "  got " + std::to_string(got) + ", wanted " + std::to_string(wanted));
}

/// Memory of the device, filled from a vector or left undefined.
template <class T>
class on_device {
 public:
  explicit on_device(std::size_t n) : size_(n) { cudaMalloc(reinterpret_cast<void**>(&data_), n * sizeof(T)); }
  explicit on_device(std::vector<T> const& from) : on_device(from.size()) {
    cudaMemcpy(data_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~on_device() { cudaFree(data_); }
  on_device(on_device const&) = delete;
  on_device& operator=(on_device const&) = delete;

  T* data() { return data_; }
  [[nodiscard]] std::vector<T> back() const {
    std::vector<T> out(size_);
    cudaMemcpy(out.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
    return out;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// Runs all cases, or those that are named.
inline int run(int argc, char** argv) {
  int ran = 0;
  for (auto const& one : cases) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) { wanted = wanted || std::string(argv[i]) == one.name; }
    if (!wanted) { continue; }
    int const before = failures;
    one.run();
    ++ran;
    std::printf("%s  %s\n", failures == before ? "passed" : "FAILED", one.name);
  }
  return failures == 0 && ran > 0 ? 0 : 1;
}

}  // namespace program

#define CASE(name)                                        \
  static void name();                                     \
  static program::add_case const add_##name{#name, name}; \
  static void name()
#define CHECK(condition) program::check(condition, #condition, __FILE__, __LINE__)
#define CHECK_EQUAL(got, wanted) program::check_equal(got, wanted, #got " == " #wanted, __FILE__, __LINE__)
/// A runtime call that must succeed.
#define CUDA(call)                                                                                \
  if (cudaError_t const code = (call); code != cudaSuccess) {                                     \
    program::check(false, #call, __FILE__, __LINE__, std::string("  ") + cudaGetErrorName(code)); \
  }
