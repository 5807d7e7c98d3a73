// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../config.hpp"
#include "../error.hpp"

#if FP4_HAS_OPENMP
#include <omp.h>
#endif

namespace fp4 {

/// Category of an execution argument.
struct execution_choice {};

/// On the calling thread.
struct sequential {
  using choice = execution_choice;
};

#if FP4_HAS_OPENMP
/// On OpenMP threads; 0 means as many as OpenMP would use. Results do not depend on the number. Declared where the
/// compiler has OpenMP turned on.
struct openmp {
  using choice = execution_choice;
  int threads = 0;
  constexpr openmp() noexcept = default;
  explicit constexpr openmp(int n) noexcept : threads(n) {}
};
using default_execution = openmp;
#else
using default_execution = sequential;
#endif

[[nodiscard]] constexpr check_result check(sequential) noexcept { return {}; }
#if FP4_HAS_OPENMP
[[nodiscard]] constexpr check_result check(openmp how) noexcept {
  return how.threads < 0 ? check_result{errc::bad_thread_count, static_cast<double>(how.threads), 0} : check_result{};
}
#endif

namespace detail {

/// Calls work(first, last) on parts that cover [0, count), each at least `grain` units where it can be.
template <class Work>
void for_each_part(sequential, std::int64_t count, std::int64_t /*grain*/, Work const& work) {
  if (count > 0) { work(std::int64_t{0}, count); }
}

#if FP4_HAS_OPENMP
template <class Work>
void for_each_part(openmp how, std::int64_t count, std::int64_t grain, Work const& work) {
  std::int64_t const most = how.threads > 0 ? how.threads : omp_get_max_threads();
  std::int64_t const useful = (count + grain - 1) / grain;
  int const threads = static_cast<int>(useful < most ? useful : most);
  if (threads <= 1) { return for_each_part(sequential{}, count, grain, work); }
#pragma omp parallel num_threads(threads)
  {
    std::int64_t const parts = omp_get_num_threads(), part = omp_get_thread_num();
    std::int64_t const first = count / parts * part + (part < count % parts ? part : count % parts);
    std::int64_t const last = first + count / parts + (part < count % parts ? 1 : 0);
    if (first < last) { work(first, last); }
  }
}
#endif

}  // namespace detail
}  // namespace fp4
