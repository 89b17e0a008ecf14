// Runs in which the master brings late contributions up to date.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "adbo/adbo.h"
#include "support/shared_ridge.h"
#include "support/solver_checks.h"

using namespace adbo;
using adbo::test::make_shared_ridge;
using adbo::test::Told;

namespace {

Options late_options(std::int64_t iterations) {
  Options options;
  options.method = Method::kAsyncHypergradient;
  options.clock = ClockKind::kVirtual;
  options.delay = "lognormal:3.5,1";
  options.stragglers = "1:8";
  options.active_workers = 2;
  options.iterations = iterations;
  options.threads = 2;
  return options;
}

double largest_hypergradient(const Problem& problem, const std::vector<double>& upper) {
  return test::shared_ridge_hypergradient(problem, upper).lpNorm<Eigen::Infinity>();
}

/// Fails in its first answer, and in every tenth.
class Unreliable final : public test::RidgeWorker {
 public:
  using RidgeWorker::RidgeWorker;
  void lower_curvature(std::span<const double> x, std::span<const double> y,
                       std::span<double> block) override {
    RidgeWorker::lower_curvature(x, y, block);
    if (calls_++ % 10 == 0) throw std::runtime_error("a passing failure");
  }

 private:
  int calls_ = 0;
};

}  // namespace

TEST_CASE("late contributions: where the run stands still the exact hypergradient vanishes") {
  // S < N, delays, a straggler that is awaited after 60 iterations or, where only r is brought up to
  // date, 15.
  for (const Told told : {Told::kBlock, Told::kDiagonal, Told::kNothing}) {
    for (const std::uint64_t seed : {1, 2}) {
      Problem problem = make_shared_ridge(6, 5, told);
      Options options = late_options(told == Told::kBlock ? 2000 : 12000);
      options.seed = seed;
      const Result result = Solver(options).solve(problem);
      REQUIRE(result.summary.termination == Termination::kIterationLimit);
      CAPTURE(static_cast<int>(told));
      CAPTURE(seed);
      CHECK(result.summary.max_staleness == (told == Told::kBlock ? 60 : 15));
      CHECK(largest_hypergradient(problem, result.upper) < 1e-8);
    }
  }
}

TEST_CASE("late contributions: the same bits for every executor and number of threads") {
  Problem problem = make_shared_ridge(4, 5, Told::kBlock);
  const Options options = late_options(200);
  const Result reference = Solver(options).solve(problem);
  test::check_same_bits_everywhere(problem, options, reference);
}

TEST_CASE("late contributions: an answer that failed carries no block that later ones refer to") {
  Problem problem(4, 4);
  problem.add_worker(std::make_unique<Unreliable>(4, 1, Told::kBlock));
  for (std::uint64_t i = 0; i < 3; ++i) {
    problem.add_worker(std::make_unique<test::RidgeWorker>(4, 2 + i, Told::kBlock));
  }
  problem.set_common_term(std::make_unique<test::RidgeTerm>());
  Options options = late_options(2000);
  options.worker_retries = 1;
  const Result result = Solver(options).solve(problem);
  REQUIRE_MESSAGE(result.summary.termination == Termination::kIterationLimit, result.summary.message);
  CHECK(largest_hypergradient(problem, result.upper) < 1e-8);
}

TEST_CASE("late contributions: tau is 60 by default for this method alone, and what is given is used") {
  Problem problem = make_shared_ridge(3, 4, Told::kBlock);
  Options options = late_options(5);
  CHECK(Solver(options).solve(problem).summary.max_staleness == 60);
  options.max_staleness = 7;
  CHECK(Solver(options).solve(problem).summary.max_staleness == 7);
  options.max_staleness = 0;
  options.method = Method::kAdbo;
  CHECK(Solver(options).solve(problem).summary.max_staleness == 15);
}

TEST_CASE("late contributions: a common term needs every worker to depend on all of x") {
  class Half final : public test::RidgeWorker {
   public:
    using RidgeWorker::RidgeWorker;
    [[nodiscard]] UpperSupport upper_support(std::size_t) const override { return {1, 2}; }
  };
  Problem problem(4, 4);
  problem.add_worker(std::make_unique<Half>(4, 1, Told::kBlock));
  CHECK(problem.validate().ok());
  problem.set_common_term(std::make_unique<test::RidgeTerm>());
  const Status status = problem.validate();
  CHECK(status.code() == StatusCode::kInvalidProblem);
  CHECK(status.message().find("worker 0") != std::string::npos);
}

TEST_CASE("late contributions: the check of a common term passes what is right and names what is wrong") {
  Problem problem = make_shared_ridge(4, 1, Told::kBlock);
  test::RidgeTerm right;
  const std::vector<double> x{0.1, -0.4, 0.3, 1}, y{1, -2, 0.5, 0.2};
  CHECK(check_common_term(right, problem.worker(0), x, y, 5, 1).worst() < 1e-6);

  /// Half of what the objective has.
  class Wrong final : public CommonTerm {
   public:
    void gradient(std::span<const double> at, std::span<const double> point, std::span<double> out) override {
      right_.gradient(at, point, out);
      for (double& entry : out) entry /= 2;
    }
    void curvature(std::span<const double> at, std::span<const double> point,
                   std::span<double> out) override {
      right_.curvature(at, point, out);
    }
    void cross_product(std::span<const double> at, std::span<const double> point, std::span<const double> u,
                       std::span<double> out) override {
      right_.cross_product(at, point, u, out);
      for (double& entry : out) entry /= 2;
    }
    [[nodiscard]] std::unique_ptr<CommonTerm> clone() const override {
      return std::make_unique<Wrong>(*this);
    }

   private:
    test::RidgeTerm right_;
  } wrong;
  const CommonTermCheck check = check_common_term(wrong, problem.worker(0), x, y, 5, 1);
  CHECK(check.curvature > 0.1);
  CHECK(check.cross < 1e-6);
  CHECK(check.objective > 0.1);
}
