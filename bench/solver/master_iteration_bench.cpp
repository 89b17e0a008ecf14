// CPU time of one master iteration at the size of Fashion-MNIST (18 workers, 1,667 + 1,667 rows, 784
// features, 10 classes), everything included: workers' steps, master, polytope updates every 50 iterations.
// The counter cpu_ms is the whole process's CPU time per master iteration, as the summary reports it.
#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include "cleaning_instance.h"

namespace {

using namespace adbo;

void run_preset(benchmark::State& state, const char* preset) {
  const auto threads = static_cast<std::size_t>(state.range(0));
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads + 1);
  Problem problem = bench::cleaning_problem(18, 1667, 1667, 784, 10);
  Options options = bench::preset_options(preset);
  options.threads = state.range(0);
  options.iterations = 200;
  double cpu = 0, wall = 0;
  std::int64_t iterations = 0;
  for (auto _ : state) {
    const Result result = Solver(options).solve(problem);
    cpu += result.summary.cpu_seconds;
    wall += result.summary.wall_seconds;
    iterations += result.summary.iterations;
  }
  state.counters["cpu_ms"] = 1e3 * cpu / static_cast<double>(iterations);
  state.counters["wall_ms"] = 1e3 * wall / static_cast<double>(iterations);
}

BENCHMARK_CAPTURE(run_preset, code_mnist, "code/mnist")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_preset, paper_fashion_mnist, "paper/fashion-mnist")
    ->Arg(2)
    ->Unit(benchmark::kMillisecond);

/// The engine alone: a problem so small that nothing but messages, waits and the master's own work is left.
void engine_overhead(benchmark::State& state) {
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 3);
  QuadraticInstance instance = make_quadratic(
      {.upper_dim = 2, .lower_dim = 2, .num_workers = static_cast<std::size_t>(state.range(0))});
  Options options;
  options.clock = ClockKind::kReal;
  options.threads = 2;
  options.executor = static_cast<ExecutorKind>(state.range(1));
  options.iterations = 2000;
  options.cut_until = 0;
  std::int64_t answers = 0;
  double wall = 0;
  for (auto _ : state) {
    const Result result = Solver(options).solve(instance.problem);
    answers += result.summary.counts.upper_gradients;
    wall += result.summary.wall_seconds;
  }
  state.counters["us_per_answer"] = 1e6 * wall / static_cast<double>(answers);
}

BENCHMARK(engine_overhead)
    ->ArgsProduct({{8, 64, 512},
                   {static_cast<int>(ExecutorKind::kTbb), static_cast<int>(ExecutorKind::kThreads),
                    static_cast<int>(ExecutorKind::kInline)}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
