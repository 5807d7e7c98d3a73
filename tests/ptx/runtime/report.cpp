// SPDX-License-Identifier: Apache-2.0
// The counters of a launch, for people: FP4_PTX_REPORT=1 prints them on stderr, FP4_PTX_REPORT=<file> adds them to a
// file. FP4_PTX_ELEMENTS=<n> adds figures for each of n elements.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "device.hpp"

namespace ptx::runtime {
namespace {

using big = unsigned long long;

class printer {
 public:
  explicit printer(std::FILE* to) : to_(to) {}
  [[gnu::format(printf, 2, 3)]] void line(char const* format, ...) {
    std::va_list rest;
    va_start(rest, format);
    std::vfprintf(to_, format, rest);
    va_end(rest);
    std::fputc('\n', to_);
  }

 private:
  std::FILE* to_;
};

void print_instructions(printer& out, launch_report const& report) {
  std::vector<std::pair<std::uint64_t, std::string>> kinds;
  for (auto const& [kind, n] : report.instructions) { kinds.emplace_back(n, kind); }
  std::sort(kinds.rbegin(), kinds.rend());
  out.line("  %llu thread instructions, %llu warp instructions, %d registers",
           static_cast<big>(report.thread_instructions), static_cast<big>(report.warp_instructions), report.registers);
  for (auto const& [n, kind] : kinds) { out.line("    %12llu  %s", static_cast<big>(n), kind.c_str()); }
}

void print_space(printer& out, char const* name, space_counts const& c) {
  if (c.read_requests + c.write_requests == 0) { return; }
  out.line("  %s: %llu bytes read in %llu requests, %llu written in %llu", name, static_cast<big>(c.total_read()),
           static_cast<big>(c.read_requests), static_cast<big>(c.total_written()), static_cast<big>(c.write_requests));
  for (std::size_t i = 0; i < c.widths.size(); ++i) {
    if (c.bytes_read[i] + c.bytes_written[i] == 0) { continue; }
    out.line("    %2u bytes a thread: %llu read, %llu written", c.widths[i], static_cast<big>(c.bytes_read[i]),
             static_cast<big>(c.bytes_written[i]));
  }
  if (c.sectors_read + c.sectors_written > 0) {
    out.line("    32-byte sectors: %llu read, %llu written", static_cast<big>(c.sectors_read),
             static_cast<big>(c.sectors_written));
  }
  if (c.bank_conflicts > 0) { out.line("    bank conflicts: %llu extra passes", static_cast<big>(c.bank_conflicts)); }
}

void print(printer& out, launch_request const& request, launch_report const& report) {
  out.line("kernel %s  grid %u %u %u  block %u %u %u  shared %zu", readable(request.kernel).c_str(), request.grid.x,
           request.grid.y, request.grid.z, request.block.x, request.block.y, request.block.z, request.dynamic_shared);
  print_instructions(out, report);
  print_space(out, "global", report.memory.global);
  print_space(out, "shared", report.memory.shared);
  print_space(out, "local", report.memory.local);
  if (char const* const text = std::getenv("FP4_PTX_ELEMENTS"); text != nullptr && std::atof(text) > 0) {
    double const n = std::atof(text);
    auto const& g = report.memory.global;
    out.line("  for each of %.0f elements: %.3f thread instructions, %.4f bytes of sectors read, %.4f written", n,
             static_cast<double>(report.thread_instructions) / n, 32.0 * static_cast<double>(g.sectors_read) / n,
             32.0 * static_cast<double>(g.sectors_written) / n);
  }
}

}  // namespace

void print_report(launch_request const& request, launch_report const& report) {
  char const* const where = std::getenv("FP4_PTX_REPORT");
  if (where == nullptr || *where == '\0' || std::string(where) == "0") { return; }
  bool const to_file = std::string(where) != "1";
  std::FILE* const file = to_file ? std::fopen(where, "a") : stderr;
  if (file == nullptr) { throw refusal(cudaErrorInvalidValue, std::string("cannot write the report to ") + where); }
  printer out(file);
  print(out, request, report);
  if (to_file) { std::fclose(file); }
}

}  // namespace ptx::runtime
