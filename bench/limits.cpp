// SPDX-License-Identifier: Apache-2.0
// What this machine can do with memory, with the plainest loops that get there. No software prefetch: it
// slows them.
#include <algorithm>
#include <cstring>

#include "operation.hpp"

#if FP4_HAS_AVX2_PATH
#include <immintrin.h>
#endif

namespace bench {
namespace {

#if FP4_HAS_AVX2_PATH

__attribute__((target("avx2"))) float largest_of(float const* x, std::int64_t count) noexcept {
  constexpr int registers = 8;
  __m256 largest[registers];
  for (auto& l : largest) { l = _mm256_setzero_ps(); }
  for (std::int64_t i = 0; i + registers * 8 <= count; i += registers * 8) {
    for (int r = 0; r < registers; ++r) { largest[r] = _mm256_max_ps(largest[r], _mm256_loadu_ps(x + i + r * 8)); }
  }
  for (int r = 1; r < registers; ++r) { largest[0] = _mm256_max_ps(largest[0], largest[r]); }
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, largest[0]);
  return *std::max_element(lanes, lanes + 8);
}

__attribute__((target("avx2"))) void fill(float* x, std::int64_t count, float value) noexcept {
  __m256 const v = _mm256_set1_ps(value);
  for (std::int64_t i = 0; i + 8 <= count; i += 8) { _mm256_store_ps(x + i, v); }
}

__attribute__((target("avx2"))) void fill_around_caches(float* x, std::int64_t count, float value) noexcept {
  __m256 const v = _mm256_set1_ps(value);
  for (std::int64_t i = 0; i + 8 <= count; i += 8) { _mm256_stream_ps(x + i, v); }
  _mm_sfence();
}

#else

float largest_of(float const* x, std::int64_t count) noexcept {
  constexpr int lanes = 32;
  float largest[lanes]{};
  for (std::int64_t i = 0; i + lanes <= count; i += lanes) {
    for (int j = 0; j < lanes; ++j) { largest[j] = largest[j] < x[i + j] ? x[i + j] : largest[j]; }
  }
  return *std::max_element(largest, largest + lanes);
}

void fill(float* x, std::int64_t count, float value) noexcept { std::fill_n(x, count, value); }

#endif

/// The parts that the library's own loops would give to its threads.
template <class Work>
void in_parts(problem const& p, int threads, Work const& work) {
  with_threads(threads, [&](auto execution) {
    fp4::detail::for_each_part(execution, p.rows, 1 + 32768 / p.cols,
                               [&](std::int64_t first, std::int64_t last) { work(p.part(first, last - first)); });
  });
}

}  // namespace

std::vector<operation> limit_operations() {
  std::vector<operation> list;
  list.push_back({"limit/read", "fp32", 4, 0, limit::read, false, [](problem const& whole, int threads) {
                    in_parts(whole, threads, [](problem const& p) {
                      float volatile const largest = largest_of(p.fp32, p.values());
                      static_cast<void>(largest);
                    });
                  }});
  list.push_back({"limit/write", "fp32", 0, 4, limit::write, false, [](problem const& whole, int threads) {
                    in_parts(whole, threads, [](problem const& p) { fill(p.out, p.values(), 1.0f); });
                  }});
#if FP4_HAS_AVX2_PATH
  list.push_back({"limit/write_non_temporal", "fp32", 0, 4, limit::write, false, [](problem const& whole, int threads) {
                    in_parts(whole, threads, [](problem const& p) { fill_around_caches(p.out, p.values(), 1.0f); });
                  }});
#endif
  list.push_back({"limit/memcpy", "fp32", 4, 4, limit::copy, false, [](problem const& whole, int threads) {
                    in_parts(whole, threads, [](problem const& p) {
                      std::memcpy(p.out, p.fp32, static_cast<std::size_t>(p.values()) * sizeof(float));
                    });
                  }});
  return list;
}

}  // namespace bench
