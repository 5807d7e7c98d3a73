// SPDX-License-Identifier: Apache-2.0
// Each operation x type x size x threads, by Google Benchmark.
//
// The counters are bytes and values a second, the threads' rates added, each thread timed by its own
// processor clock: other programs on the machine disturb them little. With two threads each has a problem of
// its own (a half of the largest). The rows named openmp use the library's own threads and wall-clock time.
#include <benchmark/benchmark.h>

#include <thread>

#include "thread_clock.hpp"
#include "workspace.hpp"

namespace {

bench::workspace const& the_workspace() {
  static bench::workspace const made(bench::largest.rows, bench::largest.cols);
  return made;
}

/// What thread `i` of `threads` works on.
bench::problem problem_of(bench::named_size const& size, int i, int threads) {
  std::int64_t const rows = size.rows == bench::largest.rows ? size.rows / threads : size.rows;
  return the_workspace().sized(rows * threads, size.cols).part(rows * i, rows);
}

void run_own_part(benchmark::State& state, bench::operation const& operation, bench::named_size const& size) {
  bench::problem const problem = problem_of(size, state.thread_index(), state.threads());
  if (size.rows != bench::largest.rows) { operation.run(problem, 1); }
  double before = -1;  // the loop's first step waits for the other threads
  for (auto _ : state) {
    if (before < 0) { before = bench::thread_seconds(); }
    operation.run(problem, 1);
    benchmark::ClobberMemory();
  }
  double const seconds = bench::thread_seconds() - before;
  double const values = static_cast<double>(problem.values()) * static_cast<double>(state.iterations()) / seconds;
  state.counters["values/s"] = values;
  state.counters["in_B/s"] = values * operation.bytes_in;
  state.counters["out_B/s"] = values * operation.bytes_out;
}

void run_with_openmp(benchmark::State& state, bench::operation const& operation, bench::named_size const& size) {
  bench::problem const problem = problem_of(size, 0, 1);
  for (auto _ : state) {
    operation.run(problem, 2);
    benchmark::ClobberMemory();
  }
  auto const rate = [&](double each) {
    return benchmark::Counter(each * static_cast<double>(problem.values()),
                              benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["values/s"] = rate(1);
  state.counters["in_B/s"] = rate(operation.bytes_in);
  state.counters["out_B/s"] = rate(operation.bytes_out);
}

void add(bench::operation const& operation, bench::named_size const& size, bool two_threads) {
  std::string const name = operation.name + '/' + operation.type + '/' + size.name;
  auto* const added = benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { run_own_part(state, operation, size); });
  added->Unit(benchmark::kMicrosecond)->Threads(1);
  if (two_threads) { added->Threads(2); }
}

void add_openmp(bench::operation const& operation, bench::named_size const& size) {
  std::string const name = operation.name + '/' + operation.type + '/' + size.name + "/openmp:2";
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { run_with_openmp(state, operation, size); })
      ->Unit(benchmark::kMicrosecond)
      ->UseRealTime();
}

}  // namespace

int main(int count, char** arguments) {
  bool const two_threads = std::thread::hardware_concurrency() > 1;
  for (auto const& operation : bench::all_operations()) {
    for (auto const& size : bench::sizes) {
      if (operation.is_slow && size.rows == bench::largest.rows) { continue; }
      add(operation, size, two_threads);
      bool const shows_openmp = operation.name == "quantize/nearest" || operation.name == "dequantize";
      if (FP4_HAS_OPENMP && two_threads && shows_openmp && operation.type == "fp32") { add_openmp(operation, size); }
    }
  }
  benchmark::AddCustomContext("compiler", bench::compiler_name());
  benchmark::AddCustomContext("processor", bench::processor_name());
  benchmark::AddCustomContext("path", fp4::cpu::name(fp4::cpu::best()));
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) { return 1; }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
