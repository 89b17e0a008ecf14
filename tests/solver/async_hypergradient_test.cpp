#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "adbo/adbo.h"

using namespace adbo;

namespace {

Options hypergradient_options(std::int64_t iterations) {
  Options options;
  options.method = Method::kAsyncHypergradient;
  options.clock = ClockKind::kVirtual;
  options.delay = "lognormal:3.5,1";
  options.iterations = iterations;
  options.threads = 2;
  options.adjoint_damping = 0;  // the exact hypergradient
  return options;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

}  // namespace

TEST_CASE(
    "async hypergradient: reaches the quadratic family's solution with S < N, stale answers and stragglers") {
  // The objectives give no curvature blocks, depend on x directly, and their supports overlap.
  for (const std::size_t support : {std::size_t{0}, std::size_t{3}}) {
    for (const bool uses_x : {true, false}) {
      if (support != 0 && !uses_x) continue;  // some coordinates would then be free
      const QuadraticSettings settings{.upper_dim = 4,
                                       .lower_dim = 6,
                                       .num_workers = 6,
                                       .condition = 5,
                                       .upper_uses_x = uses_x,
                                       .support_size = support,
                                       .seed = 3};
      QuadraticInstance instance = make_quadratic(settings);
      Options options = hypergradient_options(6000);
      options.active_workers = 3;
      options.stragglers = "1:4";
      const Result result = Solver(options).solve(instance.problem);
      REQUIRE(result.summary.termination == Termination::kIterationLimit);
      CAPTURE(support);
      CAPTURE(uses_x);
      // The normalized step ends at rate / sqrt(1 + 6000 / 30) = 0.007 per iteration at most, and falls with
      // the direction's own decay: the distance has to be below one such step.
      CHECK(largest_difference(result.upper, instance.upper_solution) < 0.007);
      CHECK(largest_difference(result.lower, instance.lower_solution) < 0.02);
      CHECK(result.summary.barrier_virtual_seconds == 0);
      CHECK(result.summary.counts.cuts_added == 0);
    }
  }
}

TEST_CASE("async hypergradient: the same bits for every executor and number of threads") {
  QuadraticInstance instance = make_quadratic({.num_workers = 5, .seed = 4});
  Options options = hypergradient_options(200);
  const Result reference = Solver(options).solve(instance.problem);
  for (const ExecutorKind kind : {ExecutorKind::kInline, ExecutorKind::kThreads, ExecutorKind::kTbb}) {
    for (const std::int64_t threads : {1, 2, 7}) {
      options.executor = kind;
      options.threads = threads;
      const Result result = Solver(options).solve(instance.problem);
      CHECK(result.upper == reference.upper);
      CHECK(result.lower == reference.lower);
      CHECK(result.summary.virtual_seconds == reference.summary.virtual_seconds);
    }
  }
}

TEST_CASE("async hypergradient: zero iterations return the start, bounds hold, failures name their worker") {
  QuadraticInstance instance = make_quadratic({.num_workers = 3, .seed = 5});
  const Result none = Solver(hypergradient_options(0)).solve(instance.problem);
  CHECK(none.upper == std::vector<double>(4, 0.0));

  instance.problem.set_upper_bounds(-0.05, 0.05);
  const Result bounded = Solver(hypergradient_options(300)).solve(instance.problem);
  for (const double v : bounded.upper) CHECK(std::abs(v) <= 0.05);

  struct Broken final : WorkerObjective {
    double upper(std::span<const double>, std::span<const double>, std::span<double>,
                 std::span<double>) override {
      return std::nan("");
    }
    double lower(std::span<const double>, std::span<const double>, std::span<double>) override { return 0; }
  };
  Problem broken(1, 1);
  broken.add_worker(std::make_unique<Broken>());
  const Result diverged = Solver(hypergradient_options(10)).solve(broken);
  CHECK(diverged.summary.termination == Termination::kDiverged);
  CHECK(diverged.summary.message == "worker 0, iteration 1: the upper objective is nan");
}
