// The reference method: implicit differentiation at a solved lower level, L-BFGS within a box.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "adbo/adbo.h"
#include "methods/exact/implicit_function.h"
#include "methods/synchronous/rounds.h"
#include "protocol/direct_curvature.h"
#include "support/round_workers.h"
#include "support/scaled_identity.h"
#include "support/solver_checks.h"

using namespace adbo;
using adbo::test::largest_difference;
using adbo::test::RoundWorkers;
using adbo::test::scaled_identity;
using adbo::test::ScaledIdentity;

namespace {

Options exact_options() {
  Options options;
  options.method = Method::kExact;
  options.clock = ClockKind::kVirtual;
  options.iterations = 300;
  options.threads = 2;
  options.hypergradient_tolerance = 1e-10;
  return options;
}

/// The minimizer over the box of the quadratic 1/2 x'Ax - b'x, by trying every set of active bounds.
std::vector<double> brute_force_box(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, double lowest,
                                    double highest) {
  const Eigen::Index n = b.size();
  std::optional<Eigen::VectorXd> best;
  const auto value = [&](const Eigen::VectorXd& x) { return 0.5 * x.dot(a * x) - b.dot(x); };
  for (int code = 0; code < std::pow(3, n); ++code) {
    std::vector<Eigen::Index> free;
    Eigen::VectorXd x(n);
    int rest = code;
    for (Eigen::Index j = 0; j < n; ++j, rest /= 3) {
      x(j) = rest % 3 == 0 ? lowest : highest;
      if (rest % 3 == 2) free.push_back(j);
    }
    for (const Eigen::Index j : free) x(j) = 0;
    const Eigen::VectorXd right = b - a * x;
    if (!free.empty()) {
      const Eigen::MatrixXd reduced = a(free, free);
      const Eigen::VectorXd solution = reduced.ldlt().solve(right(free));
      for (std::size_t k = 0; k < free.size(); ++k) x(free[k]) = solution(static_cast<Eigen::Index>(k));
    }
    if (x.minCoeff() < lowest || x.maxCoeff() > highest) continue;
    if (!best || value(x) < value(*best)) best = x;
  }
  return {best->begin(), best->end()};
}

}  // namespace

TEST_CASE("exact: reaches the quadratic family's closed form") {
  for (const QuadraticSettings& settings :
       {QuadraticSettings{.seed = 1}, QuadraticSettings{.upper_dim = 20, .lower_dim = 30, .num_workers = 6},
        QuadraticSettings{.upper_uses_x = false, .seed = 3},
        QuadraticSettings{.upper_dim = 9, .num_workers = 5, .support_size = 4, .seed = 4},
        QuadraticSettings{.upper_dim = 3, .lower_dim = 1, .num_workers = 1, .seed = 5}}) {
    QuadraticInstance instance = make_quadratic(settings);
    const Result result = Solver(exact_options()).solve(instance.problem);
    CAPTURE(settings.upper_dim);
    CAPTURE(settings.support_size);
    REQUIRE(result.summary.termination == Termination::kConverged);
    // The Hessian of F is at least rho = 0.1 (or, without the term in x, well conditioned in these draws): a
    // hypergradient of 1e-10 leaves 1e-8 with room.
    CHECK(largest_difference(result.upper, instance.upper_solution) < 1e-8);
    CHECK(largest_difference(result.lower, instance.lower_solution) < 1e-8);
    CHECK(result.summary.counts.rounds > 0);
    CHECK(result.summary.counts.messages ==
          2 * result.summary.counts.rounds * static_cast<std::int64_t>(settings.num_workers));
    CHECK(result.summary.counts.cross_products > 0);
  }
}

TEST_CASE("exact: its gradient is the closed form's everywhere") {
  const QuadraticSettings settings{.upper_dim = 9, .num_workers = 5, .support_size = 4, .seed = 6};
  QuadraticInstance instance = make_quadratic(settings);
  RoundWorkers workers(instance.problem, exact_options());
  detail::ImplicitFunction function(workers.rounds());
  RandomStream random(7, 0);
  for (int k = 0; k < 5; ++k) {
    detail::OuterPoint point(instance.problem);
    for (double& v : point.upper) v = random.normal();
    REQUIRE(!function.evaluate(point));
    CHECK(largest_difference(point.gradient, quadratic_hypergradient(settings, point.upper)) < 1e-8);
  }
}

TEST_CASE("exact: where conjugate gradients need one step, the implicit term is the closed form's") {
  // Solvers that return the iterate before the last give zero here.
  constexpr double kCurvature = 2.5, kTarget = 0.7;
  for (const bool direct : {false, true}) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{7}}) {
      const std::size_t m = direct ? ScaledIdentity::kSize : n;
      Problem problem = scaled_identity(n, m, kCurvature, kTarget, 0, direct);
      CHECK((detail::direct_curvature_size(problem) > 0) == direct);
      RoundWorkers workers(problem, exact_options());
      detail::ImplicitFunction function(workers.rounds());
      detail::OuterPoint point(problem);
      for (std::size_t j = 0; j < n; ++j) point.upper[j] = 0.3 + 0.1 * static_cast<double>(j);
      REQUIRE(!function.evaluate(point));
      for (std::size_t j = 0; j < n; ++j) {
        const double y = point.upper[j] / kCurvature, repetitions = static_cast<double>(m / n);
        CHECK(point.gradient[j] == doctest::Approx(repetitions * (y - kTarget) / kCurvature).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("exact: a zero right-hand side gives a zero implicit term, not 0/0") {
  for (const bool direct : {false, true}) {
    // y*(x) = x / 2.5 hits the target exactly at x = 0 = t: grad_y G = 0, and grad_x G = c (x - 1) alone is
    // left.
    Problem problem = scaled_identity(7, 7, 2.5, 0.0, 0.5, direct);
    RoundWorkers workers(problem, exact_options());
    detail::ImplicitFunction function(workers.rounds());
    detail::OuterPoint point(problem);
    REQUIRE(!function.evaluate(point));
    CHECK(point.adjoint == std::vector<double>(7, 0.0));
    CHECK(point.gradient == std::vector<double>(7, -0.5));
    const Result result = Solver(exact_options()).solve(problem);
    CHECK(result.summary.termination == Termination::kConverged);
    // 1/6.25 x + 0.5 (x - 1) = 0.
    for (const double v : result.upper) CHECK(v == doctest::Approx(0.5 / (0.5 + 1 / 6.25)).epsilon(1e-9));
  }
}

TEST_CASE("exact: bounds that are active at the solution") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const QuadraticSettings settings{.upper_dim = 5, .seed = seed};
    QuadraticInstance instance = make_quadratic(settings);
    // F is quadratic: its Hessian and linear term from the closed form's gradients.
    const auto n = static_cast<Eigen::Index>(settings.upper_dim);
    const std::vector<double> at_zero =
        quadratic_hypergradient(settings, std::vector<double>(settings.upper_dim, 0.0));
    const Eigen::VectorXd b = -Eigen::Map<const Eigen::VectorXd>(at_zero.data(), n);
    Eigen::MatrixXd a(n, n);
    for (Eigen::Index j = 0; j < n; ++j) {
      std::vector<double> unit(settings.upper_dim, 0.0);
      unit[static_cast<std::size_t>(j)] = 1;
      const std::vector<double> gradient = quadratic_hypergradient(settings, unit);
      a.col(j) = Eigen::Map<const Eigen::VectorXd>(gradient.data(), n) + b;
    }
    const double bound =
        0.5 * *std::max_element(instance.upper_solution.begin(), instance.upper_solution.end(),
                                [](double x, double y) { return std::abs(x) < std::abs(y); });
    const double lowest = -std::abs(bound), highest = std::abs(bound);
    const std::vector<double> expected = brute_force_box(a, b, lowest, highest);
    const auto active = std::count_if(expected.begin(), expected.end(),
                                      [&](double v) { return v == lowest || v == highest; });
    REQUIRE(active > 0);

    instance.problem.set_upper_bounds(lowest, highest);
    const Result result = Solver(exact_options()).solve(instance.problem);
    CAPTURE(seed);
    REQUIRE(result.summary.termination == Termination::kConverged);
    CHECK(largest_difference(result.upper, expected) < 1e-8);
    for (std::size_t j = 0; j < expected.size(); ++j) {
      if (expected[j] == lowest || expected[j] == highest) CHECK(result.upper[j] == expected[j]);
    }
  }
}

TEST_CASE("exact: the same bits for every executor and number of threads") {
  QuadraticInstance instance = make_quadratic({.num_workers = 5, .seed = 4});
  Options options = exact_options();
  options.delay = "lognormal:3.5,1";
  const Result reference = Solver(options).solve(instance.problem);
  REQUIRE(reference.summary.virtual_seconds > 0);
  // Every second of the run is spent in rounds that wait for all.
  CHECK(reference.summary.barrier_virtual_seconds == doctest::Approx(reference.summary.virtual_seconds));
  test::check_same_bits_everywhere(instance.problem, options, reference);
}

TEST_CASE("exact: rounds with some of the workers take means over those") {
  QuadraticInstance instance = make_quadratic({.num_workers = 4, .seed = 8});
  RoundWorkers workers(instance.problem, exact_options());
  const std::vector<double> x(4, 0.2), y(6, -0.1);
  detail::Rounds& rounds = workers.rounds();
  rounds.ask({.upper = true, .lower = true}, {.upper = x, .lower = y});
  const double first = rounds.answer(1).lower_value, second = rounds.answer(3).lower_value;
  const std::vector<std::size_t> some{1, 3};
  rounds.ask({.lower = true}, {.upper = x, .lower = y}, some);
  CHECK(rounds.mean(&detail::Evaluation::lower_value) == (first + second) / 2);
  CHECK(rounds.counts().rounds == 2);
  CHECK(rounds.counts().lower_gradients == 6);
  CHECK(rounds.counts().upper_gradients == 4);
  CHECK(rounds.counts().messages == 12);
  // There 4 + 6 numbers; back 1 + 6 + 4 + 6 + 1 and 1 + 6.
  CHECK(rounds.counts().bytes == 8 * (4 * (10 + 1 + 6 + 4 + 1 + 6) + 2 * (10 + 1 + 6)));
}

TEST_CASE("exact: rounds with mini-batches average to the whole and count samples") {
  QuadraticInstance instance = make_quadratic({.num_workers = 3, .samples = 20});
  RoundWorkers workers(instance.problem, exact_options());
  const std::vector<double> x(4, 0.2), y(6, -0.1), u(6, 0.3);
  const detail::EvaluationPoint point{.upper = x, .lower = y, .direction = u};
  const detail::Wanted all{.upper = true, .lower = true, .hessian_product = true, .cross_product = true};
  detail::Rounds& rounds = workers.rounds();
  const detail::BatchSampler sampler(instance.problem, 1, 5);
  rounds.ask(all, point);
  CHECK(rounds.counts().sample_gradients == 3 * 2 * 20);
  CHECK(rounds.counts().sample_products == 3 * 2 * 20);
  const std::vector<double> full = rounds.answer(1).lower_gradient;

  // Means per batch over many draws: the sampler says which batch worker 1 saw.
  std::vector<double> epoch(6, 0.0);
  std::vector<bool> seen(4, false);
  std::int64_t draws = 0;
  for (; std::count(seen.begin(), seen.end(), true) < 4; ++draws) {
    rounds.ask(all, point, sampler, {.lower = static_cast<std::uint64_t>(draws)});
    const Batch batch = sampler.lower(1, {.lower = static_cast<std::uint64_t>(draws)});
    if (seen[batch.index]) continue;
    seen[batch.index] = true;
    for (std::size_t k = 0; k < 6; ++k) epoch[k] += rounds.answer(1).lower_gradient[k] / 4;
  }
  CHECK(largest_difference(epoch, full) < 1e-14);
  CHECK(rounds.counts().sample_gradients == 3 * 2 * (20 + 5 * draws));
  CHECK(rounds.counts().sample_products == 3 * 2 * (20 + 5 * draws));
  CHECK(rounds.counts().lower_gradients == 3 * (1 + draws));
  // The whole again after batches.
  rounds.ask(all, point);
  CHECK(rounds.answer(1).lower_gradient == full);
}

TEST_CASE("exact: what cannot be solved is a status") {
  // g = -1/2 ||y||^2 - x.y has no minimum.
  Problem unbounded = scaled_identity(2, 2, -1.0, 0.3);
  StartPoint start;
  start.upper = {1.0, 1.0};
  unbounded.set_start(start);
  const Result result = Solver(exact_options()).solve(unbounded);
  CHECK(result.summary.termination == Termination::kSolveFailed);
  CHECK(result.summary.message.find("at the start: the lower level was not solved (unbounded") == 0);
  CHECK(result.upper == start.upper);

  Problem indefinite = scaled_identity(7, 7, -1.0, 0.3, 0, true);
  const Result refused = Solver(exact_options()).solve(indefinite);
  CHECK(refused.summary.termination == Termination::kSolveFailed);
  CHECK(refused.summary.message.find("not positive definite") != std::string::npos);
}

TEST_CASE("exact: curvature that is not the Hessian does not become a wrong gradient") {
  struct Liar final : WorkerObjective {
    double upper(std::span<const double>, std::span<const double> y, std::span<double> grad_x,
                 std::span<double> grad_y) override {
      std::fill(grad_x.begin(), grad_x.end(), 0.0);
      grad_y[0] = y[0] - 1;
      return 0.5 * grad_y[0] * grad_y[0];
    }
    double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
      grad_y[0] = 2 * y[0] - x[0];
      return y[0] * y[0] - x[0] * y[0];
    }
    [[nodiscard]] std::size_t lower_curvature_size() const override { return 1; }
    void lower_curvature(std::span<const double>, std::span<const double>, std::span<double> block) override {
      block[0] = 0.9;  // it is 2
    }
  };
  Problem problem(1, 1);
  problem.add_worker(std::make_unique<Liar>());
  const Result result = Solver(exact_options()).solve(problem);
  CHECK(result.summary.termination == Termination::kSolveFailed);
  CHECK(result.summary.message.find("the adjoint system was not solved") != std::string::npos);
}

TEST_CASE("exact: zero iterations return the start, a start outside the box is moved into it") {
  QuadraticInstance instance = make_quadratic({.seed = 5});
  Options options = exact_options();
  options.iterations = 0;
  const Result none = Solver(options).solve(instance.problem);
  CHECK(none.upper == std::vector<double>(4, 0.0));
  CHECK(none.summary.counts.rounds == 0);

  StartPoint start;
  start.upper = std::vector<double>(4, 50.0);
  instance.problem.set_start(start);
  instance.problem.set_upper_bounds(-40, 40);
  const Result moved = Solver(exact_options()).solve(instance.problem);
  CHECK(moved.summary.termination == Termination::kConverged);
  CHECK(largest_difference(moved.upper, instance.upper_solution) < 1e-8);
}

TEST_CASE("exact: F falls from record to record, and an interrupted run keeps a solved iterate") {
  struct Recorder final : Observer {
    ObserverAction on_iteration(const IterationView& view) override {
      if (view.record.iteration > 0) values.push_back(view.record.upper_objective);
      return view.record.iteration == 3 ? ObserverAction::kStop : ObserverAction::kContinue;
    }
    std::vector<double> values;
  };
  QuadraticInstance instance = make_quadratic({.upper_dim = 20, .lower_dim = 30, .num_workers = 6});
  Recorder recorder;
  const Result result = Solver(exact_options()).solve(instance.problem, &recorder);
  REQUIRE(result.summary.termination == Termination::kStopped);
  REQUIRE(recorder.values.size() == 3);
  CHECK(recorder.values[1] < recorder.values[0]);
  CHECK(recorder.values[2] < recorder.values[1]);
  const ValueFunction again = value_function(instance.problem, result.upper, {}, {});
  CHECK(again.upper_objective == doctest::Approx(recorder.values[2]).epsilon(1e-9));
  CHECK(largest_difference(again.lower, result.lower) < 1e-6);
}

TEST_CASE("exact: more variables of very different slopes than pairs are remembered") {
  // y*(v) = e^v, as of a coefficient; G_j = c_j (y_j - 2)^2 / 2 with c_j from 1 down to 1e-2.
  constexpr std::size_t kSize = 60;
  struct Exponential final : WorkerObjective {
    static double weight(std::size_t j) { return std::pow(10, -2.0 * static_cast<double>(j) / (kSize - 1)); }
    double upper(std::span<const double>, std::span<const double> y, std::span<double> grad_x,
                 std::span<double> grad_y) override {
      std::fill(grad_x.begin(), grad_x.end(), 0.0);
      double value = 0;
      for (std::size_t j = 0; j < kSize; ++j) {
        grad_y[j] = weight(j) * (y[j] - 2);
        value += 0.5 * grad_y[j] * (y[j] - 2);
      }
      return value;
    }
    double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
      double value = 0;
      for (std::size_t j = 0; j < kSize; ++j) {
        grad_y[j] = y[j] - std::exp(x[j]);
        value += 0.5 * grad_y[j] * grad_y[j];
      }
      return value;
    }
  };
  Problem problem(kSize, kSize);
  problem.add_worker(std::make_unique<Exponential>());
  problem.set_upper_bounds(-12, 12);
  StartPoint start;
  start.upper = std::vector<double>(kSize, -2.0);
  problem.set_start(start);
  const Result result = Solver(exact_options()).solve(problem);
  REQUIRE(result.summary.termination == Termination::kConverged);
  // With a multiple of the identity in place of the slopes 300 iterations are not enough.
  CHECK(result.summary.iterations < 40);
  for (const double v : result.upper) CHECK(v == doctest::Approx(std::log(2.0)).epsilon(1e-5));
}

TEST_CASE("exact: a time limit in the middle of a round leaves the iterate before it") {
  QuadraticInstance instance = make_quadratic({.num_workers = 3, .seed = 9});
  Options options = exact_options();
  options.clock = ClockKind::kReal;
  options.delay = "lognormal:11,0";  // a minute
  options.time_limit_seconds = 0.05;
  const Result result = Solver(options).solve(instance.problem);
  CHECK(result.summary.termination == Termination::kTimeLimit);
  CHECK(result.upper == std::vector<double>(4, 0.0));
  CHECK(result.summary.iterations == 0);
}

TEST_CASE("exact: a worker that throws ends the run by name; a trial that is not finite is only refused") {
  struct Awkward final : WorkerObjective {
    explicit Awkward(double wall, bool throws) : wall_(wall), throws_(throws) {}
    double upper(std::span<const double> x, std::span<const double> y, std::span<double> grad_x,
                 std::span<double> grad_y) override {
      if (x[0] > wall_ && throws_) throw std::runtime_error("beyond the wall");
      grad_x[0] = 0;
      grad_y[0] = y[0] - 0.9;
      return x[0] > wall_ ? std::nan("") : 0.5 * grad_y[0] * grad_y[0];
    }
    double lower(std::span<const double> x, std::span<const double> y, std::span<double> grad_y) override {
      grad_y[0] = 0.5 * y[0] - x[0];  // y* = 2 x: the first step goes to x = 1, the solution is 0.45
      return 0.25 * y[0] * y[0] - x[0] * y[0];
    }
    double wall_;
    bool throws_;
  };
  for (const bool throws : {true, false}) {
    Problem problem(1, 1);
    problem.add_worker(std::make_unique<Awkward>(100, false));
    problem.add_worker(std::make_unique<Awkward>(0.7, throws));
    const Result result = Solver(exact_options()).solve(problem);
    if (throws) {
      CHECK(result.summary.termination == Termination::kFailed);
      CHECK(result.summary.message == "worker 1, iteration 1: beyond the wall");
    } else {
      CHECK(result.summary.termination == Termination::kConverged);
      CHECK(result.upper[0] == doctest::Approx(0.45).epsilon(1e-8));
    }
  }
}
