// What a cut costs: runs with a polytope update in every iteration against runs with none, by the number of
// rounds K.
#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include <algorithm>

#include "cleaning_instance.h"

namespace {

using namespace adbo;

void iterations_with_cuts(benchmark::State& state) {
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 3);
  Problem problem = bench::cleaning_problem(8, 500, 500, 784, 10);
  Options options = bench::preset_options("paper/fashion-mnist");
  options.active_workers = 8;
  options.consensus = Consensus::kGeneral;
  options.threads = 2;
  options.iterations = 50;
  options.cut_interval = 1;
  options.cut_until = state.range(0) == 0 ? 0 : -1;
  options.lower_rounds = std::max<std::int64_t>(1, state.range(0));
  double cpu = 0;
  std::int64_t iterations = 0;
  for (auto _ : state) {
    const Result result = Solver(options).solve(problem);
    cpu += result.summary.cpu_seconds;
    iterations += result.summary.iterations;
  }
  state.counters["cpu_ms"] = 1e3 * cpu / static_cast<double>(iterations);
}

/// K = 0: no cuts at all.
BENCHMARK(iterations_with_cuts)->Arg(0)->Arg(1)->Arg(3)->Arg(5)->Unit(benchmark::kMillisecond);

}  // namespace
