#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "adbo/adbo.h"
#include "support/solver_checks.h"

using namespace adbo;
using adbo::test::largest_difference;

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

}  // namespace

TEST_CASE("async hypergradient: where it stands still the exact hypergradient vanishes") {
  // S < N, delays, a straggler; no curvature blocks; with and without a term in x; supports that overlap.
  struct Case {
    std::size_t n, m, support;
    bool uses_x;
  };
  for (const auto& [n, m, support, uses_x] : {Case{4, 6, 0, true}, Case{4, 6, 0, false}, Case{4, 6, 3, true},
                                              Case{12, 20, 5, true}, Case{10, 15, 0, true}}) {
    for (const std::uint64_t seed : {1, 2}) {
      const QuadraticSettings settings{.upper_dim = n,
                                       .lower_dim = m,
                                       .num_workers = 6,
                                       .condition = 5,
                                       .upper_uses_x = uses_x,
                                       .support_size = support,
                                       .seed = seed};
      QuadraticInstance instance = make_quadratic(settings);
      Options options = hypergradient_options(12000);
      options.active_workers = 3;
      options.stragglers = "1:4";
      options.seed = seed;
      const Result result = Solver(options).solve(instance.problem);
      REQUIRE(result.summary.termination == Termination::kIterationLimit);
      CAPTURE(n);
      CAPTURE(support);
      CAPTURE(uses_x);
      CAPTURE(seed);
      // The hypergradient's own rounding is about 1e-13 here.
      for (const double g : quadratic_hypergradient(settings, result.upper)) CHECK(std::abs(g) < 1e-8);
      CHECK(largest_difference(result.upper, instance.upper_solution) < 1e-8);
      CHECK(largest_difference(result.lower, instance.lower_solution) < 1e-8);
      CHECK(result.summary.barrier_virtual_seconds == 0);
      CHECK(result.summary.counts.cuts_added == 0);
    }
  }
}

TEST_CASE(
    "async hypergradient: with bounds, the hypergradient vanishes off them and points outwards on them") {
  const QuadraticSettings settings{
      .upper_dim = 6, .lower_dim = 8, .num_workers = 5, .condition = 5, .seed = 7};
  QuadraticInstance instance = make_quadratic(settings);
  // Half of the largest coordinate: some coordinates are held back, others are not.
  double bound = 0;
  for (const double v : instance.upper_solution) bound = std::max(bound, std::abs(v) / 2);
  instance.problem.set_upper_bounds(-bound, bound);
  Options options = hypergradient_options(12000);
  options.active_workers = 3;
  const Result result = Solver(options).solve(instance.problem);
  const std::vector<double> gradient = quadratic_hypergradient(settings, result.upper);
  int held = 0;
  for (std::size_t j = 0; j < gradient.size(); ++j) {
    if (std::abs(result.upper[j]) == bound) {
      ++held;
      CHECK(gradient[j] * result.upper[j] <= 0);
    } else {
      CHECK(std::abs(gradient[j]) < 1e-8);
    }
  }
  CHECK(held > 0);
  CHECK(held < 6);
}

TEST_CASE("async hypergradient: the same bits for every executor and number of threads") {
  QuadraticInstance instance = make_quadratic({.num_workers = 5, .seed = 4});
  Options options = hypergradient_options(200);
  const Result reference = Solver(options).solve(instance.problem);
  test::check_same_bits_everywhere(instance.problem, options, reference);
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
