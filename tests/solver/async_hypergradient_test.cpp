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

/// g(x, y) = 1/2 ||y - x||^2 + 1/2 ||y||^2, G(y) = 1/2 ||y - target||^2 on a coordinate of x that is the
/// worker's own; keeps the x of every call of lower_fused().
class OwnCoordinate final : public WorkerObjective {
 public:
  OwnCoordinate(std::size_t index, std::vector<double>& seen) : index_(index), seen_(seen) {}
  double upper(std::span<const double>, std::span<const double> y, std::span<double>,
               std::span<double> grad_y) override {
    std::fill(grad_y.begin(), grad_y.end(), 0.0);
    grad_y[index_] = y[index_] - 1;
    return grad_y[index_] * grad_y[index_] / 2;
  }
  double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
    double value = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      const double pull = k == index_ ? x[0] : 0;
      grad_y[k] = 2 * y[k] - pull;
      value += y[k] * y[k] - pull * y[k];
    }
    return value;
  }
  double lower_fused(std::span<const double> x, std::span<const double> y, std::span<const double> u,
                     std::span<double> grad_y, std::span<double> hessian_y,
                     std::span<double> cross_x) override {
    seen_.push_back(x[0]);
    for (std::size_t k = 0; k < u.size(); ++k) hessian_y[k] = 2 * u[k];
    cross_x[0] = -u[index_];
    return lower(x, y, grad_y);
  }
  [[nodiscard]] UpperSupport upper_support(std::size_t) const override { return {index_, 1}; }
  [[nodiscard]] bool upper_depends_on_x() const override { return false; }

 private:
  std::size_t index_;
  std::vector<double>& seen_;
};

/// Keeps the upper variable of every iteration.
class Recorder final : public Observer {
 public:
  ObserverAction on_iteration(const IterationView& view) override {
    upper_.emplace_back(view.upper.begin(), view.upper.end());
    return ObserverAction::kContinue;
  }
  [[nodiscard]] const std::vector<std::vector<double>>& upper() const { return upper_; }

 private:
  std::vector<std::vector<double>> upper_;
};

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
  for (const Case& one : {Case{4, 6, 0, true}, Case{4, 6, 0, false}, Case{4, 6, 3, true},
                          Case{12, 20, 5, true}, Case{10, 15, 0, true}}) {
    for (const std::uint64_t seed : {1, 2}) {
      const QuadraticSettings settings{.upper_dim = one.n,
                                       .lower_dim = one.m,
                                       .num_workers = 6,
                                       .condition = 5,
                                       .upper_uses_x = one.uses_x,
                                       .support_size = one.support,
                                       .seed = seed};
      QuadraticInstance instance = make_quadratic(settings);
      Options options = hypergradient_options(12000);
      options.active_workers = 3;
      options.stragglers = "1:4";
      options.seed = seed;
      const Result result = Solver(options).solve(instance.problem);
      REQUIRE(result.summary.termination == Termination::kIterationLimit);
      CAPTURE(one.n);
      CAPTURE(one.support);
      CAPTURE(one.uses_x);
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

TEST_CASE(
    "async hypergradient: where coordinates belong to workers, the mean of v over its steps is the result") {
  constexpr std::size_t kWorkers = 2;
  constexpr std::int64_t kIterations = 12;
  std::vector<std::vector<double>> seen(kWorkers);
  Problem problem(kWorkers, kWorkers);
  for (std::size_t i = 0; i < kWorkers; ++i) {
    problem.add_worker(std::make_unique<OwnCoordinate>(i, seen[i]));
  }
  Options options = hypergradient_options(kIterations);
  options.active_workers = kWorkers;  // every step is seen by everybody
  options.executor = ExecutorKind::kInline;
  Recorder recorder;
  const Result result = Solver(options).solve(problem, &recorder);
  REQUIRE(result.summary.termination == Termination::kIterationLimit);
  for (std::size_t i = 0; i < kWorkers; ++i) {
    REQUIRE(seen[i].size() == kIterations);  // v after 0, 1, ... steps
    CHECK(seen[i].back() != seen[i].front());
    double sum = 0;
    for (std::size_t t = 1; t < seen[i].size(); ++t) {
      sum += seen[i][t];
      CHECK(recorder.upper()[t][i] == doctest::Approx(sum / static_cast<double>(t)).epsilon(1e-14));
    }
  }
}
