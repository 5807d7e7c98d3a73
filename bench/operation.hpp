// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What is timed: each operation once, for Google Benchmark and for the ratio program.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <fp4/fp4.hpp>

namespace bench {

/// A matrix in every form that an operation reads, and room for what it writes.
struct problem {
  std::int64_t rows = 0, cols = 0;
  float const* fp32 = nullptr;
  fp4::float16 const* fp16 = nullptr;
  fp4::bfloat16 const* bf16 = nullptr;
  std::uint8_t const* codes = nullptr;  ///< fp32 quantized with the default choices
  std::uint8_t const* scales = nullptr;
  std::uint8_t* new_codes = nullptr;
  std::uint8_t* new_scales = nullptr;
  float* out = nullptr;  ///< rows * cols values
  float amax = 0, amax_hadamard_16 = 0, amax_hadamard_128 = 0;

  [[nodiscard]] std::int64_t values() const noexcept { return rows * cols; }
  /// Its rows [first, first + count): a problem of its own.
  [[nodiscard]] problem part(std::int64_t first, std::int64_t count) const noexcept;

  template <class T>
  [[nodiscard]] fp4::matrix_view<T const> input() const noexcept {
    if constexpr (std::is_same_v<T, float>) {
      return {fp32, rows, cols};
    } else if constexpr (std::is_same_v<T, fp4::float16>) {
      return {fp16, rows, cols};
    } else {
      return {bf16, rows, cols};
    }
  }
  template <class T>
  [[nodiscard]] fp4::matrix_view<T> output() const noexcept {
    return {reinterpret_cast<T*>(out), rows, cols};
  }
};

/// What a rate is compared with.
enum class limit { read, write, copy };

struct operation {
  std::string name;     ///< family/variant
  std::string type;     ///< of the values
  double bytes_in = 0;  ///< for each value
  double bytes_out = 0;
  limit bound = limit::read;
  bool is_slow = false;  ///< bound by arithmetic at every size, or with more bytes than others: not for the largest
  std::function<void(problem const&, int threads)> run;

  /// The same, marked as slow.
  [[nodiscard]] operation slow() const {
    operation marked = *this;
    marked.is_slow = true;
    return marked;
  }
  /// The bytes whose rate is shown: what is written where writing is the limit, else what is read.
  [[nodiscard]] double counted_bytes() const noexcept { return bound == limit::write ? bytes_out : bytes_in; }
};

/// Calls f with the execution argument for that many threads.
template <class F>
void with_threads([[maybe_unused]] int threads, F const& f) {
#if FP4_HAS_OPENMP
  f(fp4::openmp(threads));
#else
  f(fp4::sequential{});
#endif
}

/// "fp32", "fp16" or "bf16".
template <class T>
[[nodiscard]] std::string type_name() {
  return std::is_same_v<T, float> ? "fp32" : std::is_same_v<T, fp4::float16> ? "fp16" : "bf16";
}

std::vector<operation> limit_operations();
std::vector<operation> quantize_fp32_operations();
std::vector<operation> quantize_fp16_operations();
std::vector<operation> quantize_bf16_operations();
std::vector<operation> other_operations();
std::vector<operation> peer_operations();

/// All of the above.
std::vector<operation> all_operations();

}  // namespace bench
