// SPDX-License-Identifier: Apache-2.0
#include "traffic.hpp"

#include <algorithm>
#include <numeric>

namespace ptx {
namespace {

unsigned lanes_of(std::uint32_t mask) { return static_cast<unsigned>(__builtin_popcount(mask)); }

/// Calls visit(lane) for the set bits of `mask`.
template <class Visit>
void each(std::uint32_t mask, Visit&& visit) {
  for (; mask != 0; mask &= mask - 1) { visit(static_cast<unsigned>(__builtin_ctz(mask))); }
}

/// How many different numbers there are; cheap where they ascend, as most requests do.
class distinct {
 public:
  void add(std::uint64_t x) {
    if (n_ > 0 && values_[n_ - 1] == x) { return; }
    ascending_ = ascending_ && (n_ == 0 || values_[n_ - 1] < x);
    values_[n_++] = x;
  }
  std::uint64_t const* begin() const { return values_; }
  std::uint64_t const* end() const { return values_ + n_; }
  std::uint32_t settle() {
    if (!ascending_) {
      std::sort(values_, values_ + n_);
      n_ = static_cast<std::size_t>(std::unique(values_, values_ + n_) - values_);
    }
    return static_cast<std::uint32_t>(n_);
  }

 private:
  std::uint64_t values_[256];
  std::size_t n_ = 0;
  bool ascending_ = true;
};

/// Passes for the lanes of one pass's worth of bytes: the most words that fall into one bank.
std::uint32_t passes(request const& r, std::uint32_t lanes) {
  distinct words;
  each(lanes, [&](unsigned lane) {
    std::uint64_t const first = r.address[lane] / 4, last = (r.address[lane] + r.bytes - 1) / 4;
    for (std::uint64_t w = first; w <= last; ++w) { words.add(w); }
  });
  words.settle();
  std::uint8_t in_bank[32] = {};
  std::uint8_t most = 0;
  for (std::uint64_t const w : words) { most = std::max(most, ++in_bank[w % 32]); }
  return most;
}

}  // namespace

std::uint64_t space_counts::total_read() const {
  return std::accumulate(bytes_read.begin(), bytes_read.end(), std::uint64_t{0});
}
std::uint64_t space_counts::total_written() const {
  return std::accumulate(bytes_written.begin(), bytes_written.end(), std::uint64_t{0});
}

std::uint32_t sectors(request const& r) {
  distinct found;
  each(r.lanes, [&](unsigned lane) { found.add(r.address[lane] / 32); });
  return found.settle();  // accesses are aligned and at most 32 bytes, so each lies in one sector
}

std::uint32_t bank_conflicts(request const& r) {
  // 8-byte accesses go in two halves of the warp, 16-byte ones in four quarters.
  unsigned const lanes_in_pass = r.bytes <= 4 ? 32 : 128u / r.bytes;
  std::uint32_t extra = 0;
  for (unsigned from = 0; from < 32; from += lanes_in_pass) {
    std::uint32_t const part = r.lanes & static_cast<std::uint32_t>(((std::uint64_t{1} << lanes_in_pass) - 1) << from);
    if (part != 0) { extra += std::max(1u, passes(r, part)) - 1; }
  }
  return extra;
}

void traffic::add(request const& r, space where, bool writes, bool atomic) {
  auto& c = where == space::shared ? shared : where == space::local ? local : global;
  unsigned const lanes = lanes_of(r.lanes);
  auto const width = static_cast<std::size_t>(__builtin_ctz(r.bytes));
  (writes ? c.write_requests : c.read_requests) += 1;
  if (writes) { c.bytes_written[width] += std::uint64_t{lanes} * r.bytes; }
  if (!writes || atomic) { c.bytes_read[width] += std::uint64_t{lanes} * r.bytes; }
  if (atomic) { atomics += lanes; }
  if (where == space::shared) {
    c.bank_conflicts += bank_conflicts(r);
  } else if (where == space::global) {
    (writes ? c.sectors_written : c.sectors_read) += sectors(r);
  } else {  // local memory is interleaved by words: lanes with equal offsets lie next to each other
    (writes ? c.sectors_written : c.sectors_read) += (lanes * r.bytes + 31) / 32;
  }
}

}  // namespace ptx
