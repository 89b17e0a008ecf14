// The methods of mini-batches: stocBiO, STABLE, VRBO, SOBA, SABA, AmIGO.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "adbo/adbo.h"
#include "methods/exact/implicit_function.h"
#include "methods/stochastic/stochastic_master.h"
#include "support/round_workers.h"
#include "support/scaled_identity.h"
#include "support/solver_checks.h"

using namespace adbo;
using adbo::test::largest_difference;
using adbo::test::RoundWorkers;
using adbo::test::scaled_identity;

namespace {

constexpr Method kMethods[] = {Method::kStocbio, Method::kStable, Method::kVrbo,
                               Method::kSoba,    Method::kSaba,   Method::kAmigo};

/// The family of issue: heterogeneous workers, and samples that differ by a quarter in curvature and
/// coupling.
constexpr QuadraticSettings kFamily{.upper_dim = 20, .lower_dim = 30, .num_workers = 6, .samples = 40};
constexpr std::int64_t kBatch = 8;

/// Settings with which the method reaches the solution of kFamily with exact evaluations: step_upper times
/// the largest curvature of F, some 60, is below 1 where the lower level is solved in between, and smaller
/// where it moves at the same time.
Options options_for(Method method) {
  const bool is_single_loop = method == Method::kSoba || method == Method::kSaba;
  Options options;
  options.method = method;
  options.clock = ClockKind::kVirtual;
  options.executor = ExecutorKind::kInline;
  options.threads = 1;
  options.step_upper = is_single_loop ? 0.002 : 0.01;
  options.lower_steps = 5;
  options.adjoint_steps = 40;
  options.iterations = is_single_loop ? 8000 : method == Method::kVrbo ? 800 : 2000;
  return options;
}

StartPoint start_at(const std::vector<double>& upper, const std::vector<double>& lower) {
  StartPoint start;
  start.upper = upper;
  start.lower = lower;
  return start;
}

double error_of(const Result& result, const QuadraticInstance& instance) {
  return std::max(largest_difference(result.upper, instance.upper_solution),
                  largest_difference(result.lower, instance.lower_solution));
}

/// ||x - x*||^2.
double squared_distance(const Result& result, const QuadraticInstance& instance) {
  double sum = 0;
  for (std::size_t j = 0; j < result.upper.size(); ++j) {
    sum += (result.upper[j] - instance.upper_solution[j]) * (result.upper[j] - instance.upper_solution[j]);
  }
  return sum;
}

/// F's Hessian: its columns are differences of the exact hypergradient, which is affine.
Eigen::MatrixXd outer_hessian(const QuadraticSettings& settings) {
  const auto n = static_cast<Eigen::Index>(settings.upper_dim);
  std::vector<double> x(settings.upper_dim, 0.0);
  const std::vector<double> at_zero = quadratic_hypergradient(settings, x);
  Eigen::MatrixXd hessian(n, n);
  for (std::size_t j = 0; j < x.size(); ++j) {
    x[j] = 1;
    const std::vector<double> at_unit = quadratic_hypergradient(settings, x);
    x[j] = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      hessian(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = at_unit[i] - at_zero[i];
    }
  }
  return 0.5 * (hessian + hessian.transpose());
}

/// C = E dd' of the method's estimates d of a hypergradient that is zero, x being held at the start.
Eigen::MatrixXd noise_of(Options options, Problem& problem) {
  constexpr int kSettling = 100, kSamples = 300;
  options.step_upper = 1e-300;
  RoundWorkers workers(problem, options);
  auto& master = dynamic_cast<detail::StochasticMaster&>(workers.master());
  const auto n = static_cast<Eigen::Index>(problem.upper_dim());
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(n, n);
  for (int t = 0; t < kSettling + kSamples; ++t) {
    REQUIRE(master.collective(t, {}, workers.transport()).complete());
    const Eigen::Map<const Eigen::VectorXd> d(master.direction().data(), n);
    if (t >= kSettling) covariance += d * d.transpose() / kSamples;
  }
  return covariance;
}

TuningShard shard(int classes, std::uint64_t seed) {
  RandomStream random(seed, 0);
  const auto rows = [&](std::size_t count) {
    kernels::DenseRows features(count, 5);
    LabelledRows result;
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t k = 0; k < 5; ++k) features.mutable_row(r)[k] = static_cast<float>(random.normal());
      result.labels.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes))));
    }
    result.features = std::make_shared<const kernels::Rows>(std::move(features));
    return result;
  };
  return {.train = rows(40), .validation = rows(30)};
}

/// Logistic regression, or softmax with three classes; r(psi) = e^psi from psi = 0, with the penalty's full
/// weight: the lower level is 1-strongly convex.
Problem tuning(TuningModel model) {
  const int classes = model == TuningModel::kLogistic ? 2 : 3;
  return make_regularization_tuning(
      {shard(classes, 1), shard(classes, 2)},
      {.model = model, .classes = classes, .parametrization = Parametrization::kExp, .penalty_factor = 0.5});
}

/// The estimate of the hypergradient after so many iterations that leave x where it is.
std::vector<double> settled_direction(Problem& problem, Options options, std::int64_t iterations) {
  options.step_upper = 1e-300;
  RoundWorkers workers(problem, options);
  for (std::int64_t t = 0; t < iterations; ++t) {
    const detail::MethodMaster::Outcome outcome = workers.master().collective(t, {}, workers.transport());
    REQUIRE(outcome.complete());
    REQUIRE_FALSE(outcome.ending.has_value());
  }
  const auto direction = dynamic_cast<detail::StochasticMaster&>(workers.master()).direction();
  return {direction.begin(), direction.end()};
}

/// The exact hypergradient at the start, with q.
detail::OuterPoint exact_point(Problem& problem) {
  Options options;
  options.method = Method::kExact;
  options.clock = ClockKind::kVirtual;
  RoundWorkers workers(problem, options);
  detail::ImplicitFunction function(workers.rounds());
  detail::OuterPoint point(problem);
  REQUIRE_FALSE(function.evaluate(point).has_value());
  return point;
}

}  // namespace

TEST_CASE("stochastic methods: exact evaluations reach the closed form to 1e-6") {
  QuadraticInstance instance = make_quadratic(kFamily);
  for (const Method method : kMethods) {
    CAPTURE(method_name(method));
    const Result result = Solver(options_for(method)).solve(instance.problem);
    CHECK(result.summary.termination == Termination::kIterationLimit);
    CHECK(error_of(result, instance) < 1e-6);
  }
}

TEST_CASE("stochastic methods: reduced variance reaches the closed form with mini-batches too") {
  QuadraticInstance instance = make_quadratic(kFamily);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    for (const Method method : {Method::kSaba, Method::kVrbo}) {
      CAPTURE(method_name(method));
      Options options = options_for(method);
      options.seed = seed;
      options.batch_rows = kBatch;
      if (method == Method::kSaba) {
        // An epoch is five draws; steps are those of a mini-batch, whose curvature is up to a quarter larger.
        options.step_upper = 0.0005;
        options.step_lower = 0.5;
        options.iterations = 30000;
      }
      CHECK(error_of(Solver(options).solve(instance.problem), instance) < 1e-6);
    }
  }
}

// With a constant step gamma, x wanders around x* as a linear recursion with noise does:
//   E||x - x*||^2 = (gamma / 2) tr(C F''^-1)  for small gamma,
// where C is the covariance of the noise, if that is independent from one iteration to the next. C is
// measured with x held at x*. What a method carries along correlates its noise: over some 1 / (step_lower
// mu_g) = 7 iterations where y and q take one step each (SOBA), over 1 / tau = 10 where matrices are averaged
// (STABLE), which multiplies the floor by up to twice as many. A mean over three seeds of a sum of squares in
// which a few of 20 directions count stays within a factor of 4 of its expectation.
TEST_CASE("stochastic methods: constant steps end within their noise floor, which falls with the step") {
  QuadraticInstance instance = make_quadratic(kFamily);
  instance.problem.set_start(start_at(instance.upper_solution, instance.lower_solution));
  const Eigen::MatrixXd hessian = outer_hessian(kFamily);
  const double curvature = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(hessian).eigenvalues().minCoeff();
  REQUIRE(curvature > 0.1);
  struct Case {
    Method method;
    double step;
    double most_correlation;
  };
  for (const Case& c : {Case{Method::kStocbio, 0.01, 1}, Case{Method::kAmigo, 0.01, 1},
                        Case{Method::kSoba, 0.0005, 14}, Case{Method::kStable, 0.01, 20}}) {
    CAPTURE(method_name(c.method));
    Options options = options_for(c.method);
    options.batch_rows = kBatch;
    options.step_lower = 0.5;
    const double per_step = hessian.ldlt().solve(noise_of(options, instance.problem)).trace() / 2;
    const auto mean_squared_distance = [&](double step) {
      options.step_upper = step;
      options.iterations = static_cast<std::int64_t>(1.5 / (step * curvature));  // e^-3 of the way is left
      double sum = 0;
      for (const std::uint64_t seed : {1U, 2U, 3U}) {
        options.seed = seed;
        sum += squared_distance(Solver(options).solve(instance.problem), instance) / 3;
      }
      return sum;
    };
    const double at_step = mean_squared_distance(c.step), at_quarter = mean_squared_distance(c.step / 4);
    MESSAGE(method_name(c.method), ": E||x - x*||^2 / step = ", at_step / c.step, " and ",
            at_quarter / c.step * 4, " at a quarter of the step; with independent noise ", per_step);
    CHECK(at_step < 4 * c.most_correlation * per_step * c.step);
    CHECK(at_step > per_step * c.step / 4);
    CHECK(at_quarter < at_step / 2);
  }
}

TEST_CASE("stochastic methods: at a fixed point the estimate is the exact hypergradient") {
  for (const TuningModel model : {TuningModel::kLogistic, TuningModel::kSoftmax}) {
    CAPTURE(static_cast<int>(model));
    Problem problem = tuning(model);
    const detail::OuterPoint exact = exact_point(problem);
    for (const Method method : kMethods) {
      CAPTURE(method_name(method));
      Options options = options_for(method);
      // y and q contract by 1 - mu/L, some 0.6, per step: 1e-8 after 40.
      CHECK(largest_difference(settled_direction(problem, options, 60), exact.gradient) < 1e-8);
    }
    // The variance-reduced ones with mini-batches as well: everything they remember becomes exact.
    for (const Method method : {Method::kSaba, Method::kVrbo}) {
      CAPTURE(method_name(method));
      Options options = options_for(method);
      options.adjoint_steps = 90;  // 0.8^91 is left of the series
      options.batch_rows = 10;
      options.step_lower = 0.2;
      const std::int64_t iterations = method == Method::kSaba ? 1500 : 60;
      CHECK(largest_difference(settled_direction(problem, options, iterations), exact.gradient) < 1e-8);
    }
  }
}

TEST_CASE("stochastic methods: a Neumann series of Q products is off by its stated bound at most") {
  for (const TuningModel model : {TuningModel::kLogistic, TuningModel::kSoftmax}) {
    Problem problem = tuning(model);
    const detail::OuterPoint exact = exact_point(problem);
    // The cross derivative is 2 (1/2) e^psi diag(y) at psi = 0: its norm is max |y| (with more classes, at
    // most the root of the sum over them). The lower Hessian is at least 1.
    double squares = 0, adjoint = 0;
    for (const double entry : exact.lower) squares += entry * entry;
    for (const double entry : exact.adjoint) adjoint += entry * entry;
    for (const std::int64_t terms : {1, 3, 6, 12}) {
      CAPTURE(terms);
      Options options = options_for(Method::kStocbio);
      options.adjoint_steps = terms;
      options.step_adjoint = 0.3;
      options.lower_steps = 100;
      const double bound = std::sqrt(squares * adjoint) * std::pow(1 - 0.3, terms + 1);
      const double error = largest_difference(settled_direction(problem, options, 2), exact.gradient);
      CHECK(error < bound);
      CHECK(error > 1e-9);  // truncated it is
    }
  }
}

TEST_CASE("stochastic methods: H = 2.5 I gives the implicit term, and a zero right-hand side gives zero") {
  for (const std::size_t n : {1U, 7U}) {
    for (const Method method : kMethods) {
      CAPTURE(n);
      CAPTURE(method_name(method));
      Problem problem = scaled_identity(n, 7, 2.5, 0.3);
      problem.set_start(start_at(std::vector<double>(n, 1.25), {}));
      // y* = x / 2.5 = 0.5; every x_j drives 7 / n of the y_k: dF/dx_j = (7 / n) (0.5 - 0.3) / 2.5.
      const std::vector<double> expected(n, 7.0 / static_cast<double>(n) * 0.2 / 2.5);
      CHECK(largest_difference(settled_direction(problem, options_for(method), 60), expected) < 1e-6);

      Problem solved = scaled_identity(n, 7, 2.5, 0.5);
      solved.set_start(start_at(std::vector<double>(n, 1.25), std::vector<double>(7, 0.5)));
      CHECK(settled_direction(solved, options_for(method), 3) == std::vector<double>(n, 0.0));
    }
  }
}

TEST_CASE("stochastic methods: divergence is a status with the last finite point") {
  QuadraticInstance instance = make_quadratic(kFamily);
  for (const Method method : kMethods) {
    CAPTURE(method_name(method));
    Options options = options_for(method);
    options.step_upper = 50;
    const Result result = Solver(options).solve(instance.problem);
    CHECK(result.summary.termination == Termination::kDiverged);
    CHECK(result.summary.iterations < 1000);
    for (const double entry : result.upper) CHECK(std::isfinite(entry));
    for (const double entry : result.lower) CHECK(std::isfinite(entry));
  }
}

TEST_CASE("stochastic methods: the same bits whatever the executor and the number of threads") {
  QuadraticInstance instance = make_quadratic(kFamily);
  for (const Method method : kMethods) {
    CAPTURE(method_name(method));
    Options options = options_for(method);
    options.step_upper = 0.0005;
    options.batch_rows = kBatch;
    options.delay = "lognormal:0,1";
    // Some hundred rounds of each.
    options.iterations = method == Method::kSoba || method == Method::kSaba ? 100 : 2;
    const Result reference = Solver(options).solve(instance.problem);
    CHECK(reference.summary.barrier_virtual_seconds ==
          doctest::Approx(reference.summary.virtual_seconds).epsilon(1e-12));
    test::check_same_bits_everywhere(instance.problem, options, reference);
    options.seed = 2;
    CHECK(Solver(options).solve(instance.problem).upper != reference.upper);
  }
}

TEST_CASE("stochastic methods: bounds hold, and steps decay as asked") {
  QuadraticInstance instance = make_quadratic(kFamily);
  instance.problem.set_upper_bounds(-0.1, 0.2);
  for (const Method method : kMethods) {
    CAPTURE(method_name(method));
    Options options = options_for(method);
    options.iterations = 60;
    for (const double entry : Solver(options).solve(instance.problem).upper) {
      CHECK(entry >= -0.1);
      CHECK(entry <= 0.2);
    }
  }
  // A step that is much too long moves no coordinate by more than the limit's share of the box.
  instance.problem.set_upper_bounds(-1, 3);
  for (const Method method : kMethods) {
    CAPTURE(method_name(method));
    Options options = options_for(method);
    options.step_upper = 100;
    options.iterations = 1;
    for (const double entry : Solver(options).solve(instance.problem).upper) {
      CHECK(std::abs(entry) == doctest::Approx(0.01 * 4));
    }
    options.move_limit = 0;
    const std::vector<double> free = Solver(options).solve(instance.problem).upper;
    CHECK(std::any_of(free.begin(), free.end(), [](double entry) { return entry == -1 || entry == 3; }));
  }
  // One worker, y at its solution: x moves by step_upper (1 + t)^(-p) times the hypergradient alone.
  Problem problem = scaled_identity(1, 7, 2.5, 0.5);
  Options options = options_for(Method::kStocbio);
  options.step_upper = 1e-3;
  options.step_decay = 0.5;
  options.lower_steps = 40;
  options.iterations = 1;
  const double first = Solver(options).solve(problem).upper[0];
  options.iterations = 2;
  const double second = Solver(options).solve(problem).upper[0] - first;
  // The hypergradient has changed by the curvature 7 / 2.5^2 times the first step.
  CHECK(second == doctest::Approx(first * (1 - 1e-3 * 7 / 6.25) / std::sqrt(2.0)).epsilon(1e-9));
}

TEST_CASE("stochastic methods: rounds and samples are counted as they are asked for") {
  QuadraticInstance instance = make_quadratic(kFamily);
  struct Case {
    Method method;
    std::int64_t rounds, sample_gradients, sample_products;  ///< per iteration; samples per worker
  };
  constexpr std::int64_t kQ = 40, kLower = 5, kM = 30;
  // STABLE asks in its first iteration about one point only.
  for (const Case& c : {Case{Method::kSoba, 1, 2 * kBatch, 2 * kBatch},
                        Case{Method::kAmigo, kLower + kQ + 2, (kLower + 1) * kBatch, (kQ + 1) * kBatch},
                        Case{Method::kStocbio, kLower + kQ + 2, (kLower + 1) * kBatch, (kQ + 1) * kBatch}}) {
    CAPTURE(method_name(c.method));
    Options options = options_for(c.method);
    options.step_lower = 0.5;
    options.step_upper = 0.0005;
    options.batch_rows = kBatch;
    options.iterations = 10;
    const Counts counts = Solver(options).solve(instance.problem).summary.counts;
    CHECK(counts.rounds == 10 * c.rounds);
    CHECK(counts.sample_gradients == 10 * 6 * c.sample_gradients);
    CHECK(counts.sample_products == 10 * 6 * c.sample_products);
  }
  Options options = options_for(Method::kSaba);
  options.step_lower = 0.5;
  options.step_upper = 0.0005;
  options.batch_rows = kBatch;
  options.iterations = 10;
  CHECK(Solver(options).solve(instance.problem).summary.counts.rounds == 5 + 10);  // five batches first
  options.method = Method::kStable;
  CHECK(Solver(options).solve(instance.problem).summary.counts.rounds == kM + 9 * 2 * kM + 10);
}

TEST_CASE("stochastic methods: what needs too much memory is refused with its size") {
  /// So many samples and so large a lower variable, and nothing to compute.
  class Large final : public WorkerObjective {
   public:
    double upper(std::span<const double>, std::span<const double>, std::span<double>,
                 std::span<double>) override {
      return 0;
    }
    double lower(std::span<const double>, std::span<const double>, std::span<double>) override { return 0; }
    [[nodiscard]] SampleCounts sample_counts() const override { return {1000000, 1000000}; }
  };
  Problem problem(3, 20000);
  problem.add_worker(std::make_unique<Large>());
  for (const Method method : {Method::kSaba, Method::kStable}) {
    Options options = options_for(method);
    options.step_lower = 1;
    options.batch_rows = 1;
    const Result result = Solver(options).solve(problem);
    CHECK(result.summary.termination == Termination::kFailed);
    CHECK(result.summary.message.find(method == Method::kSaba ? "2e+06 batches" : "20000 x 20000") !=
          std::string::npos);
    CHECK(result.summary.message.find("limit is 2 GB") != std::string::npos);
  }
}
