// Under the virtual clock a run is a function of the problem and the options: the same bits for any number of
// threads, with every executor, measured or not, watched or not.

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "engine_run.h"
#include "scenarios.h"

namespace adbo::conformance {
namespace {

/// Equality of bits: NaN equals itself, 0 does not equal -0.
bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double p, double q) { return same_bits(p, q); });
}

/// Everything but wall_seconds, and where asked for the gap.
void require_same_record(const TraceRecord& a, const TraceRecord& b, bool with_gap) {
  REQUIRE(a.iteration == b.iteration);
  REQUIRE(same_bits(a.virtual_seconds, b.virtual_seconds));
  REQUIRE(same_bits(a.upper_objective, b.upper_objective));
  REQUIRE(same_bits(a.lower_objective, b.lower_objective));
  REQUIRE(same_bits(a.lower_distance, b.lower_distance));
  if (with_gap) REQUIRE(same_bits(a.stationarity_gap, b.stationarity_gap));
  REQUIRE(a.cuts == b.cuts);
  REQUIRE(a.active == b.active);
  REQUIRE(a.max_staleness == b.max_staleness);
}

void require_same_trace(const std::vector<Observed>& a, const std::vector<Observed>& b, bool with_gap) {
  REQUIRE(a.size() == b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    CAPTURE(t);
    REQUIRE(same_bits(a[t].upper, b[t].upper));
    REQUIRE(same_bits(a[t].lower, b[t].lower));
    require_same_record(a[t].record, b[t].record, with_gap);
  }
}

void require_same_result(const Result& a, const Result& b) {
  REQUIRE(same_bits(a.upper, b.upper));
  REQUIRE(same_bits(a.lower, b.lower));
  REQUIRE(a.summary.termination == b.summary.termination);
  REQUIRE(a.summary.iterations == b.summary.iterations);
  REQUIRE(same_bits(a.summary.virtual_seconds, b.summary.virtual_seconds));
  REQUIRE(same_bits(a.summary.barrier_virtual_seconds, b.summary.barrier_virtual_seconds));
  REQUIRE(same_bits(a.summary.upper_change_max, b.summary.upper_change_max));
  REQUIRE(a.summary.staleness_histogram == b.summary.staleness_histogram);
  const Counts &c = a.summary.counts, &d = b.summary.counts;
  REQUIRE(c.upper_gradients == d.upper_gradients);
  REQUIRE(c.lower_gradients == d.lower_gradients);
  REQUIRE(c.hessian_products == d.hessian_products);
  REQUIRE(c.cross_products == d.cross_products);
  REQUIRE(c.sample_gradients == d.sample_gradients);
  REQUIRE(c.sample_products == d.sample_products);
  REQUIRE(c.messages == d.messages);
  REQUIRE(c.bytes == d.bytes);
  REQUIRE(c.cuts_added == d.cuts_added);
  REQUIRE(c.cuts_dropped == d.cuts_dropped);
  REQUIRE(c.cuts_alive == d.cuts_alive);
}

/// Long enough for a dozen polytope updates; several hundred runs are made.
constexpr std::int64_t kShortRun = 60;

EngineRun run(const Scenario& scenario, Options options) {
  options.iterations = kShortRun;
  Instance instance = scenario.instance();
  EngineRun run = run_engine(instance.product, options);
  REQUIRE_MESSAGE(run.result.status.ok(), run.result.status.message());
  REQUIRE(run.seen.size() == kShortRun + 1);
  return run;
}

/// The inline executor, on the caller's thread: the order of everything is fixed.
EngineRun base_run(const Scenario& scenario) {
  Options options = scenario.options;
  options.executor = ExecutorKind::kInline;
  options.threads = 1;
  return run(scenario, options);
}

std::string name_of(ExecutorKind kind) {
  switch (kind) {
    case ExecutorKind::kTbb:
      return "tbb";
    case ExecutorKind::kThreads:
      return "threads";
    case ExecutorKind::kInline:
      return "inline";
  }
  return "?";
}

TEST_CASE("threads and executors do not change a bit") {
  for (const Scenario& scenario : scenarios()) {
    CAPTURE(scenario.name);
    const EngineRun base = base_run(scenario);
    for (const ExecutorKind executor : {ExecutorKind::kTbb, ExecutorKind::kThreads}) {
      for (const std::int64_t threads : {1, 2, 7}) {
        CAPTURE(name_of(executor));
        CAPTURE(threads);
        Options options = scenario.options;
        options.executor = executor;
        options.threads = threads;
        const EngineRun other = run(scenario, options);
        require_same_trace(base.seen, other.seen, true);
        require_same_result(base.result, other.result);
      }
    }
  }
}

TEST_CASE("measuring the stationarity gap does not change a bit of the run") {
  for (const Scenario& scenario : scenarios()) {
    CAPTURE(scenario.name);
    REQUIRE(scenario.options.stationarity_interval == 1);
    const EngineRun measured = run(scenario, scenario.options);
    for (const std::int64_t interval : {0, 7}) {
      Options options = scenario.options;
      options.stationarity_interval = interval;
      const EngineRun other = run(scenario, options);
      require_same_trace(measured.seen, other.seen, false);
      REQUIRE(same_bits(measured.result.upper, other.result.upper));
      REQUIRE(same_bits(measured.result.lower, other.result.lower));
    }
  }
}

TEST_CASE("an observer does not change a bit of the run") {
  for (const Scenario& scenario : scenarios()) {
    CAPTURE(scenario.name);
    const EngineRun watched = run(scenario, scenario.options);
    Instance instance = scenario.instance();
    Options options = scenario.options;
    options.iterations = kShortRun;
    const Result alone = Solver(options).solve(instance.product);
    require_same_result(watched.result, alone);
    // The result is the last state that the observer saw.
    REQUIRE(same_bits(watched.seen.back().upper, alone.upper));
    REQUIRE(same_bits(watched.seen.back().lower, alone.lower));
  }
}

TEST_CASE("checking the derivatives before does not change a bit of the run") {
  for (const Scenario& scenario : scenarios()) {
    CAPTURE(scenario.name);
    const EngineRun unchecked = run(scenario, scenario.options);
    Instance instance = scenario.instance();
    const std::vector<double> y(instance.product.lower_dim(), 0.25);
    for (std::size_t i = 0; i < instance.product.num_workers(); ++i) {
      const std::vector<double> x(instance.product.support(i).size, 0.5);
      CHECK(check_derivatives(instance.product.worker(i), x, y, 2, 1).worst() < 1e-4);
    }
    Options options = scenario.options;
    options.iterations = kShortRun;
    const EngineRun checked = run_engine(instance.product, options);
    require_same_trace(unchecked.seen, checked.seen, true);
    require_same_result(unchecked.result, checked.result);
  }
}

TEST_CASE("another seed is another run") {
  const Scenario& scenario = scenarios().front();
  const EngineRun base = base_run(scenario);
  Options options = scenario.options;
  options.seed += 1;
  const EngineRun other = run(scenario, options);
  CHECK(!same_bits(base.result.upper, other.result.upper));
  CHECK(base.result.summary.virtual_seconds != other.result.summary.virtual_seconds);
}

}  // namespace
}  // namespace adbo::conformance
