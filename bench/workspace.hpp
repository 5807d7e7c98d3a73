// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "operation.hpp"

namespace bench {

/// Zeroed memory that is resident, in 2 MiB pages where the system gives them.
class pages {
 public:
  explicit pages(std::size_t bytes);
  ~pages();
  pages(pages const&) = delete;
  pages& operator=(pages const&) = delete;

  template <class T>
  [[nodiscard]] T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  void* data_;
  std::size_t bytes_;
};

/// Normal data for the largest problem, in all types, and room for results.
class workspace {
 public:
  workspace(std::int64_t rows, std::int64_t cols);

  /// A problem on the first rows * cols values.
  [[nodiscard]] problem sized(std::int64_t rows, std::int64_t cols) const noexcept;

 private:
  pages fp32_, fp16_, bf16_, codes_, scales_, new_codes_, new_scales_, out_;
  problem whole_;
};

/// The sizes: 256 KiB, 4 MiB and 256 MiB of fp32.
struct named_size {
  char const* name;
  std::int64_t rows, cols;
};
inline constexpr named_size sizes[] = {{"L2", 128, 512}, {"L3", 256, 4096}, {"DRAM", 16384, 4096}};
inline constexpr named_size largest = sizes[2];

/// One line each: compiler, instruction set, processor.
[[nodiscard]] std::string compiler_name();
[[nodiscard]] std::string processor_name();

}  // namespace bench
