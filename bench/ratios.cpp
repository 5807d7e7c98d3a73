// SPDX-License-Identifier: Apache-2.0
// The share of a limit that an operation reaches, in a way that a noisy machine disturbs little: limit and
// operation take turns in one process, each thread is timed by its own CPU clock, and the result is the
// median of the ratios of the single rounds. 256 MiB of fp32 (32 MiB where arithmetic alone decides), on one
// thread and on two.
//
//   fp4_ratios [--rounds=11] [--filter=text] [--json=file]
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <thread>

#include "thread_clock.hpp"
#include "workspace.hpp"

namespace {

/// What an operation is held against, and the ratio of rates that it should reach on one thread and on two.
struct comparison {
  char const* operation;
  char const* type;
  char const* baseline;
  std::optional<double> goal[2]{};
  std::optional<double> aim[2]{};
};

constexpr char const* read_limit = "limit/read/fp32";
constexpr char const* write_limit = FP4_HAS_AVX2_PATH ? "limit/write_non_temporal/fp32" : "limit/write/fp32";
constexpr char const* copy_limit = "limit/memcpy/fp32";
constexpr char const* default_quantization = "quantize/nearest/fp32";

comparison const comparisons[] = {
    {"quantize/nearest", "fp32", read_limit, {0.65, 0.70}, {0.75, 0.82}},
    {"quantize/nearest_own_amax", "fp32", read_limit, {0.38, 0.40}, {0.44, 0.48}},
    {"quantize/nearest_128x4", "fp32", read_limit, {0.60, 0.66}, {0.69, 0.76}},
    {"quantize/nearest_128x4", "fp32", default_quantization, {0.94, 0.94}, {1.0, 1.0}},
    {"quantize/nearest", "bf16", read_limit, {0.35, 0.40}, {0.42, 0.50}},
    {"quantize/nearest", "fp16", read_limit, {0.31, 0.35}, {0.38, 0.44}},
    {"quantize/stochastic", "fp32", read_limit, {0.27, 0.31}, {0.33, 0.38}},
    {"quantize/stochastic", "bf16", read_limit},
    {"quantize/hadamard_16", "fp32", read_limit, {0.41, 0.47}, {0.50, 0.58}},
    {"quantize/hadamard_128", "fp32", read_limit, {0.34, 0.39}, {0.42, 0.48}},
    {"quantize/hadamard_16", "bf16", read_limit},
    {"quantize/modelopt", "fp32", read_limit},
    {"quantize/exact", "fp32", default_quantization, {0.5, 0.5}},
    {"quantize/four_over_six", "fp32", default_quantization},
    {"quantize/search", "fp32", default_quantization, {0.04, 0.04}},
    {"quantize/columnwise", "fp32", read_limit},
    {"quantize/blocks_2d", "fp32", read_limit},
    {"quantize/nearest_path_portable", "fp32", default_quantization},
    {"quantize/nearest_path_scalar", "fp32", default_quantization},
    {"dequantize", "fp32", write_limit, {0.92, 0.92}, {0.97, 0.97}},
    {"dequantize", "bf16", write_limit, {0.52, 0.52}, {0.62, 0.62}},
    {"dequantize", "fp16", write_limit},
    {"amax", "fp32", read_limit},
    {"hadamard_16", "fp32", copy_limit},
    {"hadamard_128", "fp32", copy_limit},
    {"scales_to_128x4", "bytes", copy_limit, {0.60, 0.60}, {0.70, 0.70}},
    {"pack_a", "bytes", copy_limit, {0.70, 0.70}, {0.85, 0.85}},
    {"pack_b", "bytes", copy_limit, {0.70, 0.70}, {0.85, 0.85}},
    {"pack_tcgen05", "bytes", copy_limit, {0.70, 0.70}, {0.85, 0.85}},
    {"unpack_a", "bytes", copy_limit},
    {"unpack_tcgen05", "bytes", copy_limit},
    {"limit/memcpy", "fp32", read_limit},
    {"limit/write", "fp32", write_limit},
};

/// Threads that start each piece of work together.
class team {
 public:
  explicit team(int size) : size_(size) {
    for (int i = 1; i < size; ++i) {
      helpers_.emplace_back([this, i] {
        for (int generation = 1;; ++generation) {
          wait_for(generation);
          if (!work_) { return; }
          work_(i);
          ++finished_;
        }
      });
    }
  }
  ~team() {
    work_ = nullptr;
    started_ = ++generation_;
    for (auto& helper : helpers_) { helper.join(); }
  }
  team(team const&) = delete;
  team& operator=(team const&) = delete;

  [[nodiscard]] int size() const noexcept { return size_; }

  /// work(0) ... work(size - 1), each on a thread of its own.
  void run(std::function<void(int)> const& work) {
    work_ = work;
    finished_ = 0;
    started_ = ++generation_;
    work(0);
    while (finished_ < size_ - 1) { std::this_thread::yield(); }
  }

 private:
  void wait_for(int generation) const {
    while (started_ < generation) { std::this_thread::yield(); }
  }

  int size_;
  int generation_ = 0;
  std::function<void(int)> work_;
  std::atomic<int> started_{0};
  std::atomic<int> finished_{0};
  std::vector<std::thread> helpers_;
};

/// Counted bytes a second, the threads' rates added; each takes its share of the rows.
double measure(bench::operation const& operation, bench::problem const& whole, team& threads) {
  std::vector<double> rates(static_cast<std::size_t>(threads.size()));
  std::int64_t const rows = whole.rows / threads.size();
  threads.run([&](int i) {
    bench::problem const part = whole.part(rows * i, rows);
    double const before = bench::thread_seconds();
    operation.run(part, 1);
    double const seconds = bench::thread_seconds() - before;
    rates[static_cast<std::size_t>(i)] = operation.counted_bytes() * static_cast<double>(part.values()) / seconds;
  });
  double sum = 0;
  for (double const rate : rates) { sum += rate; }
  return sum;
}

struct summary {
  double median, least, most;
};

summary summarize(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

struct result {
  comparison what;
  int threads;
  summary rate, baseline, ratio;
};

result compare(comparison const& what, bench::operation const& operation, bench::operation const& baseline,
               bench::problem const& problem, team& threads, int rounds) {
  std::vector<double> rates, baselines, ratios;
  for (int round = -1; round < rounds; ++round) {  // round -1 warms up
    double const limit = measure(baseline, problem, threads);
    double const rate = measure(operation, problem, threads);
    if (round < 0) { continue; }
    rates.push_back(rate), baselines.push_back(limit), ratios.push_back(rate / limit);
  }
  return {what, threads.size(), summarize(rates), summarize(baselines), summarize(ratios)};
}

std::string percent(std::optional<double> ratio) {
  if (!ratio) { return "-"; }
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", *ratio * 100);
  return text;
}

void print(result const& r) {
  std::string const name = std::string(r.what.operation) + '/' + r.what.type;
  auto const i = static_cast<std::size_t>(r.threads - 1);
  std::printf("%-36s %d  %8.2f  %6.1f %% [%.1f-%.1f] of %-28s %8.2f   %s -> %s\n", name.c_str(), r.threads,
              r.rate.median * 1e-9, r.ratio.median * 100, r.ratio.least * 100, r.ratio.most * 100, r.what.baseline,
              r.baseline.median * 1e-9, percent(r.what.goal[i]).c_str(), percent(r.what.aim[i]).c_str());
  std::fflush(stdout);
}

std::string json(summary const& s, double unit) {
  char text[96];
  std::snprintf(text, sizeof text, "{\"median\": %.5g, \"min\": %.5g, \"max\": %.5g}", s.median * unit, s.least * unit,
                s.most * unit);
  return text;
}

std::string json(std::optional<double> x) { return x ? std::to_string(*x) : "null"; }

void write_json(char const* path, std::vector<result> const& results, int rounds) {
  std::ofstream file(path);
  std::string load;
  std::getline(std::ifstream("/proc/loadavg"), load);
  std::time_t const now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  file << "{\"context\": {\"date\": \"" << date << "\", \"compiler\": \"" << bench::compiler_name()
       << "\", \"processor\": \"" << bench::processor_name() << "\", \"path\": \"" << fp4::cpu::name(fp4::cpu::best())
       << "\", \"rounds\": " << rounds << ", \"load_after\": \"" << load << "\"},\n\"results\": [";
  char const* separator = "\n";
  for (auto const& r : results) {
    auto const i = static_cast<std::size_t>(r.threads - 1);
    file << separator << "  {\"operation\": \"" << r.what.operation << "\", \"type\": \"" << r.what.type
         << "\", \"threads\": " << r.threads << ", \"baseline\": \"" << r.what.baseline
         << "\",\n   \"GB/s\": " << json(r.rate, 1e-9) << ", \"baseline_GB/s\": " << json(r.baseline, 1e-9)
         << ",\n   \"ratio\": " << json(r.ratio, 1) << ", \"goal\": " << json(r.what.goal[i])
         << ", \"aim\": " << json(r.what.aim[i]) << "}";
    separator = ",\n";
  }
  file << "\n]}\n";
  if (!file.flush()) {
    std::fprintf(stderr, "fp4_ratios: cannot write %s\n", path);
    std::exit(1);
  }
}

bench::operation const& find(std::vector<bench::operation> const& all, std::string const& name) {
  for (auto const& operation : all) {
    if (operation.name + '/' + operation.type == name) { return operation; }
  }
  std::fprintf(stderr, "fp4_ratios: there is no operation %s\n", name.c_str());
  std::exit(1);
}

/// The text behind `name` where the argument begins with it.
char const* value_of(char const* argument, char const* name) {
  std::size_t const length = std::strlen(name);
  return std::strncmp(argument, name, length) == 0 ? argument + length : nullptr;
}

}  // namespace

int main(int count, char** arguments) {
  int rounds = 11;
  char const* filter = "";
  char const* json_path = nullptr;
  for (int i = 1; i < count; ++i) {
    if (char const* const n = value_of(arguments[i], "--rounds=")) {
      rounds = std::max(1, std::atoi(n));
    } else if (char const* const text = value_of(arguments[i], "--filter=")) {
      filter = text;
    } else if (char const* const path = value_of(arguments[i], "--json=")) {
      json_path = path;
    } else {
      std::fprintf(stderr, "usage: %s [--rounds=11] [--filter=text] [--json=file]\n", arguments[0]);
      return 1;
    }
  }

  auto const operations = bench::all_operations();
  bench::workspace const workspace(bench::largest.rows, bench::largest.cols);
  bench::problem const problem = workspace.sized(bench::largest.rows, bench::largest.cols);
  std::printf("operation/type, threads, GB/s, ratio [min-max] of baseline, its GB/s, goal -> aim; %s, %d rounds\n",
              bench::compiler_name().c_str(), rounds);
  std::vector<result> results;
  int const most_threads = std::thread::hardware_concurrency() > 1 ? 2 : 1;
  for (int size = 1; size <= most_threads; ++size) {
    team threads(size);
    for (auto const& what : comparisons) {
      std::string const name = std::string(what.operation) + '/' + what.type;
      if (name.find(filter) == std::string::npos) { continue; }
      auto const& operation = find(operations, name);
      bench::problem const part = operation.is_slow ? problem.part(0, problem.rows / 8) : problem;
      results.push_back(compare(what, operation, find(operations, what.baseline), part, threads, rounds));
      print(results.back());
    }
  }
  if (json_path != nullptr) { write_json(json_path, results, rounds); }
}
