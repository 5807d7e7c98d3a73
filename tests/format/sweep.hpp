// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Runs an encoder over all 2^32 fp32 patterns and compares it with what an oracle wants. The oracle is asked
/// only for the ends of each interval of patterns that share a code; in between the sweep checks that the
/// code stays the same.

#include <vector>

#include <fp4/config.hpp>

#include "support/bits.hpp"
#include "support/mismatches.hpp"

namespace test {

/// Patterns from first to last, both included.
struct pattern_interval {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t code;
};

/// All fp32 patterns, cut where wanted(pattern) changes. Inside a window of 2^20 patterns codes may only move
/// away from the window's first, never back to it; that holds for rounding, since no window spans a change of
/// sign.
template <class Wanted>
std::vector<pattern_interval> code_intervals(Wanted const& wanted) {
  std::vector<pattern_interval> found;
  for (std::uint64_t window = 0; window < std::uint64_t{1} << 32; window += 1u << 20) {
    auto first = static_cast<std::uint32_t>(window);
    std::uint32_t const end = first + 0xFFFFFu;
    while (true) {
      std::uint32_t const code = wanted(first);
      std::uint32_t last = end;
      if (wanted(end) != code) {  // bisect: `last` has the code, `other` has another
        std::uint32_t other = end;
        last = first;
        while (other - last > 1) {
          std::uint32_t const probe = last + (other - last) / 2;
          (wanted(probe) == code ? last : other) = probe;
        }
      }
      if (!found.empty() && found.back().code == code) {
        found.back().last = last;
      } else {
        found.push_back({first, last, code});
      }
      if (last == end) { break; }
      first = last + 1;
    }
  }
  return found;
}

// Bracketed as the library's own code, so that g++ may inline that here.
FP4_EXACT_BEGIN
/// Ors the differences from the interval's code. Plain arithmetic on unsigned integers: with OpenMP, vector code.
template <class Encoder>
std::uint32_t differences(pattern_interval range) {
  auto const encode = [](std::uint32_t bits) { return Encoder::encode(__builtin_bit_cast(float, bits)); };
  std::uint32_t different = encode(range.last) ^ range.code;
  std::uint32_t const count = range.last - range.first;
#if defined(_OPENMP)
#pragma omp simd reduction(| : different)
#endif
  for (std::uint32_t i = 0; i < count; ++i) { different |= encode(range.first + i) ^ range.code; }
  return different;
}
FP4_EXACT_END

/// Encodes every pattern of `intervals`. Empty, or what was wrong.
template <class Encoder>
std::string sweep(std::vector<pattern_interval> const& intervals) {
  // Pieces of 2^20 patterns at most, so that threads share the long intervals too.
  std::vector<pattern_interval> pieces;
  for (auto const& [first, last, code] : intervals) {
    for (std::uint64_t at = first; at <= last; at += 1u << 20) {
      std::uint64_t const end = at + ((1u << 20) - 1);
      pieces.push_back({static_cast<std::uint32_t>(at), end < last ? static_cast<std::uint32_t>(end) : last, code});
    }
  }
  auto const count = static_cast<std::int64_t>(pieces.size());
  std::int64_t wrong = -1;
#if defined(_OPENMP)
#pragma omp parallel for schedule(dynamic, 32)
#endif
  for (std::int64_t i = 0; i < count; ++i) {
    if (differences<Encoder>(pieces[static_cast<std::size_t>(i)]) != 0) {
#if defined(_OPENMP)
#pragma omp atomic write
#endif
      wrong = i;
    }
  }
  mismatches found;
  if (wrong >= 0) {
    auto const [first, last, code] = pieces[static_cast<std::size_t>(wrong)];
    for (std::uint64_t at = first; at <= last; ++at) {
      found.compare(at, Encoder::encode(float_of(static_cast<std::uint32_t>(at))), code);
    }
  }
  return found.report();
}

/// Patterns from one sample to the next; prime, and more where unoptimised code runs, perhaps on an emulated
/// processor.
#if defined(__OPTIMIZE__)
inline constexpr std::uint32_t sample_stride = 257;
#else
inline constexpr std::uint32_t sample_stride = 4099;
#endif

/// What fits into a slow run: visit(pattern, code) for the ends of each interval with two patterns on each
/// side, and for samples in between.
template <class Visit>
void visit_samples(std::vector<pattern_interval> const& intervals, Visit const& visit) {
  for (auto const& [first, last, code] : intervals) {
    for (std::uint32_t i = 0; i < 3 && i <= last - first; ++i) { visit(first + i, code), visit(last - i, code); }
    std::uint64_t at = (first + std::uint64_t{sample_stride - 1}) / sample_stride * sample_stride;
    for (; at <= last; at += sample_stride) { visit(static_cast<std::uint32_t>(at), code); }
  }
}

/// Encodes the samples of `intervals`. Empty, or what was wrong.
template <class Encoder>
std::string sample(std::vector<pattern_interval> const& intervals) {
  mismatches found;
  visit_samples(intervals,
                [&](std::uint32_t at, std::uint32_t code) { found.compare(at, Encoder::encode(float_of(at)), code); });
  return found.report();
}

}  // namespace test
