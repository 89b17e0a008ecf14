// The methods that work in rounds and take gradient steps: AID, ITD, CPBO, F2SA, FedNest, DSBO, SPDB.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "adbo/adbo.h"
#include "methods/aid/aid_master.h"
#include "methods/decentralized/network.h"
#include "methods/exact/implicit_function.h"
#include "methods/itd/itd_master.h"
#include "problems/test_rows.h"
#include "protocol/vector_math.h"
#include "support/round_workers.h"
#include "support/scaled_identity.h"
#include "support/solver_checks.h"

using namespace adbo;
using adbo::test::largest_difference;
using adbo::test::RoundWorkers;
using adbo::test::scaled_identity;

namespace {

constexpr Method kMethods[] = {Method::kAidCg, Method::kAidNeumann, Method::kItd,  Method::kCpbo,
                               Method::kF2sa,  Method::kFedNest,    Method::kDsbo, Method::kSpdb};

const QuadraticSettings kFamily{.upper_dim = 20, .lower_dim = 30, .num_workers = 6};

Options base(Method method) {
  Options options;
  options.method = method;
  options.clock = ClockKind::kVirtual;
  options.executor = ExecutorKind::kInline;
  options.step_upper = 0.01;
  options.iterations = 2000;
  return options;
}

/// The larger of the distances of x and y from the closed form after all iterations.
double distance_after(const Options& options, const QuadraticSettings& settings = kFamily) {
  QuadraticInstance instance = make_quadratic(settings);
  const Result result = Solver(options).solve(instance.problem);
  REQUIRE(result.status.ok());
  REQUIRE(result.summary.termination == Termination::kIterationLimit);
  return std::max(largest_difference(result.upper, instance.upper_solution),
                  largest_difference(result.lower, instance.lower_solution));
}

/// The Frobenius norm of the mean d2 g/dx dy at a point.
double cross_norm(detail::Rounds& rounds, const detail::OuterPoint& point) {
  std::vector<double> unit(point.lower.size()), column(point.upper.size());
  double square = 0;
  for (std::size_t k = 0; k < unit.size(); ++k) {
    std::fill(unit.begin(), unit.end(), 0.0);
    unit[k] = 1;
    rounds.ask({.cross_product = true}, {.upper = point.upper, .lower = point.lower, .direction = unit});
    rounds.mean_on_supports(&detail::Evaluation::cross_product, column);
    square += detail::squared_norm(column);
  }
  return std::sqrt(square);
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double square = 0;
  for (std::size_t k = 0; k < a.size(); ++k) square += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(square);
}

/// Checks AID's and ITD's estimates at a solved lower level against the exact hypergradient, `mu` being a
/// lower bound of the mean lower Hessian's eigenvalues.
void check_truncation(Problem problem, double mu) {
  RoundWorkers workers(problem, base(Method::kExact));  // whose workers also give the whole Hessian
  detail::Rounds& rounds = workers.rounds();
  detail::ImplicitFunction function(rounds);
  detail::OuterPoint exact(problem);
  exact.upper = test::random_point(problem.upper_dim(), 3, 0.3);
  REQUIRE(!function.evaluate(exact));
  std::vector<double> rhs(problem.lower_dim());
  rounds.ask({.upper = true}, {.upper = exact.upper, .lower = exact.lower});
  rounds.mean(&detail::Evaluation::upper_gradient_lower, rhs);
  const double rhs_norm = std::sqrt(detail::squared_norm(rhs)), cross = cross_norm(rounds, exact);
  const double step = 1 / detail::largest_lower_eigenvalue(rounds, exact.upper, exact.lower, 1);
  const double accuracy = 1e-6 * cross * rhs_norm / mu;  // of the exact one's lower level and system
  for (const int terms : {1, 3, 10, 30}) {
    CAPTURE(terms);
    for (const bool neumann : {false, true}) {
      detail::AidHypergradient aid(rounds, neumann ? detail::make_neumann_solver(rounds, terms)
                                                   : detail::make_conjugate_gradient_solver(rounds, terms));
      detail::OuterPoint point = exact;
      std::fill(point.adjoint.begin(), point.adjoint.end(), 0.0);
      const detail::AdjointResult result = aid.estimate(step, point);
      REQUIRE(!result.failure);
      const double error = distance(point.gradient, exact.gradient);
      CHECK(error <= cross * result.relative_residual * rhs_norm / mu + accuracy);
      if (neumann) CHECK(result.relative_residual <= std::pow(1 - step * mu, terms) + 1e-12);
    }
    detail::ItdHypergradient itd(rounds, terms);
    detail::OuterPoint point = exact;
    itd.estimate(step, point);
    CHECK(distance(point.gradient, exact.gradient) <=
          cross * std::pow(1 - step * mu, terms) * rhs_norm / mu + accuracy);
  }
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------
// The quadratic family's closed form: n = 20, m = 30, N = 6, heterogeneous

TEST_CASE("round methods: aid, itd, f2sa and fednest reach the closed form") {
  CHECK(distance_after(base(Method::kAidCg)) < 1e-6);

  Options options = base(Method::kAidNeumann);
  options.adjoint_steps = 50;  // the bias is that of the series' tail
  CHECK(distance_after(options) < 1e-6);

  options = base(Method::kItd);
  options.lower_steps = 50;  // the same tail
  CHECK(distance_after(options) < 1e-6);

  options = base(Method::kF2sa);
  options.iterations = 3000;
  options.f2sa_multiplier = 100;  // 1e7 at the end: the bias is of the order of its inverse
  options.f2sa_growth = 1.5;
  options.lower_steps = 30;
  CHECK(distance_after(options) < 1e-6);

  for (const std::int64_t upper_steps : {1, 3}) {
    options = base(Method::kFedNest);
    options.adjoint_steps = 50;
    options.upper_steps = upper_steps;
    options.step_upper = 0.01 / static_cast<double>(upper_steps);
    CHECK(distance_after(options) < 1e-6);
  }
}

TEST_CASE("fednest: the light variant is exact where workers are equal, and biased where they differ") {
  Options options = base(Method::kFedNest);
  options.fednest_variant = FedNestVariant::kLight;
  options.adjoint_steps = 100;
  options.step_upper = 0.002;
  options.iterations = 10000;
  QuadraticSettings settings = kFamily;
  settings.condition = 2;
  settings.heterogeneity = 0;
  CHECK(distance_after(options, settings) < 1e-6);
  options.iterations = 3000;
  CHECK(distance_after(options) > 0.1);
}

TEST_CASE("fednest: mini-batches end near the solution, and the same seed gives the same bits") {
  QuadraticSettings settings = kFamily;
  settings.samples = 64;
  Options options = base(Method::kFedNest);
  options.batch_rows = 8;
  options.adjoint_steps = 30;
  options.lower_steps = 5;
  options.step_upper = 0.005;
  for (const std::uint64_t seed : {1, 2, 3}) {
    options.seed = seed;
    // Noise of the constant steps: 0.25 at seed 1, from a start 6 away.
    CHECK(distance_after(options, settings) < 0.75);
  }
  options.iterations = 20;
  QuadraticInstance instance = make_quadratic(settings);
  const Result reference = Solver(options).solve(instance.problem);
  test::check_same_bits_everywhere(instance.problem, options, reference);
}

TEST_CASE("spdb: reaches the closed form on every graph") {
  for (const GraphKind graph : {GraphKind::kRing, GraphKind::kRandom, GraphKind::kComplete}) {
    Options options = base(Method::kSpdb);
    options.graph = graph;
    options.step_upper = 0.002;
    options.lower_steps = options.adjoint_steps = 20;
    options.iterations = 4500;
    CHECK(distance_after(options) < 1e-6);
  }
}

TEST_CASE("spdb: on softmax regression its agents agree, and their hypergradients' mean is the exact one") {
  std::vector<CleaningShard> shards;
  for (std::uint64_t i = 0; i < 4; ++i) {
    shards.push_back(
        {.train = test::random_rows(30, 5, 3, 30 + i), .validation = test::random_rows(20, 5, 3, 40 + i)});
  }
  Problem problem = make_hyper_cleaning(shards, {.classes = 3, .ridge = 0.05});
  for (const GraphKind graph : {GraphKind::kRing, GraphKind::kComplete}) {
    CAPTURE(static_cast<int>(graph));
    Options options = base(Method::kSpdb);  // with the default penalty
    options.graph = graph;
    options.step_upper = 10;
    options.iterations = 500;
    options.stationarity_interval = 500;
    const Result result = Solver(options).solve(problem);
    REQUIRE(result.summary.termination == Termination::kIterationLimit);
    CHECK(result.summary.consensus_error < 1e-3);

    RoundWorkers workers(problem, base(Method::kExact));
    detail::ImplicitFunction function(workers.rounds());
    detail::OuterPoint start(problem), end(problem);
    end.upper = result.upper;
    REQUIRE(!function.evaluate(start));
    REQUIRE(!function.evaluate(end));
    CHECK(end.value < start.value - 0.01);
    CHECK(largest_difference(result.lower, end.lower) < 1e-3);
    CHECK(std::sqrt(result.summary.stationarity_gap) ==
          doctest::Approx(std::sqrt(detail::squared_norm(end.gradient))).epsilon(0.01));
  }
}

TEST_CASE("dsbo: with tracking it reaches the closed form on every graph") {
  for (const GraphKind graph : {GraphKind::kRing, GraphKind::kRandom, GraphKind::kComplete}) {
    CAPTURE(static_cast<int>(graph));
    Options options = base(Method::kDsbo);  // tracking is the default
    options.graph = graph;
    for (const std::uint64_t seed : {1, 2, 3}) {
      options.seed = seed;  // of the random graph
      QuadraticSettings settings = kFamily;
      settings.seed = seed;
      CHECK(distance_after(options, settings) < 1e-6);
    }
    options.dsbo_averaging = 0.3;
    CHECK(distance_after(options) < 1e-6);
  }
}

TEST_CASE("dsbo: a vector and its tracker are one message of twice the size") {
  Options options = base(Method::kDsbo);
  options.step_lower = options.step_adjoint = 0.3;  // no power iterations
  options.lower_steps = 3;
  options.adjoint_steps = 4;
  options.iterations = 5;
  QuadraticInstance instance = make_quadratic(kFamily);
  const Counts tracking = Solver(options).solve(instance.problem).summary.counts;
  options.dsbo_variant = DsboVariant::kGossip;
  const Counts gossip = Solver(options).solve(instance.problem).summary.counts;
  constexpr std::int64_t kNumbers = 2 * 6 * 8;  // bytes of one number to and fro over the ring's edges
  CHECK(tracking.rounds == 5 * (3 + 4 + 1));
  CHECK(gossip.rounds == tracking.rounds);
  CHECK(tracking.messages == 5 * (3 + 4 + 1) * 2 * 6);
  CHECK(tracking.bytes == 5 * kNumbers * 2 * ((3 + 4) * 30 + 20));
  CHECK(gossip.messages == 5 * (3 + 2 * 4 + 1) * 2 * 6);  // the adjoint and its tracker one after the other
  CHECK(gossip.bytes == 5 * kNumbers * ((3 + 2 * 4) * 30 + 20));
}

TEST_CASE(
    "dsbo as published: exact where everybody hears everybody, elsewhere a floor that falls with the steps") {
  Options options = base(Method::kDsbo);
  options.dsbo_variant = DsboVariant::kGossip;
  options.graph = GraphKind::kComplete;
  options.step_upper = 0.002;
  options.iterations = 6000;
  CHECK(distance_after(options) < 1e-6);

  options.graph = GraphKind::kRing;
  options.step_adjoint = 0.3;
  options.iterations = 20000;
  const auto floor_at = [&](double scale) {
    options.step_upper = 0.001 * scale;
    options.step_lower = scale;
    return distance_after(options);
  };
  // Measured: 0.204 at 1/2, 0.120 at 1/4.
  const double half = floor_at(0.5), quarter = floor_at(0.25);
  CHECK(half < 0.3);
  CHECK(quarter < 0.75 * half);
}

TEST_CASE("cpbo: cuts bring the point near the solution; the second phase keeps the polytope") {
  Options options = base(Method::kCpbo);
  options.step_upper = 0.001;
  options.step_lower = 0.1;
  options.step_cut_multiplier = 0.01;
  options.lower_rounds = 100;
  options.lower_tolerance = 1e-6;
  options.cut_interval = 10;
  options.max_cuts = 100;
  // The point zigzags between the cuts: 0.2 is what was measured, from a start 6 away.
  CHECK(distance_after(options) < 0.5);

  options.cut_until = 1000;
  QuadraticInstance instance = make_quadratic(kFamily);
  const Result result = Solver(options).solve(instance.problem);
  REQUIRE(result.summary.termination == Termination::kIterationLimit);
  CHECK(result.summary.counts.cuts_added <= 100);
  CHECK(result.summary.counts.cuts_added > 50);
  options.iterations = 1000;
  const Result until = Solver(options).solve(instance.problem);
  CHECK(until.summary.counts.cuts_added == result.summary.counts.cuts_added);
  CHECK(until.summary.counts.cuts_alive == result.summary.counts.cuts_alive);
}

Options exact_cpbo() {
  Options options = base(Method::kCpbo);
  options.multipliers = MultiplierRule::kExact;
  options.step_upper = 0.03;
  options.lower_rounds = 60;
  options.lower_tolerance = 0;
  options.cut_interval = 1;
  options.max_cuts = 100;
  return options;
}

TEST_CASE("cpbo: with exact multipliers it reaches the closed form") {
  Options options = exact_cpbo();
  options.iterations = 12000;
  CHECK(distance_after(options) < 1e-6);
}

/// Where cuts end after `cuts` of them: the saddle point of their polytope.
struct CutSolution {
  double x_error = 0, y_error = 0;   ///< Euclidean, from the closed form
  double deviation = 0;              ///< ||y - y*(x)||
  double value = 0, best_value = 0;  ///< F there, and the closed form's
};

CutSolution solve_with_cuts(const QuadraticSettings& settings, double epsilon, std::int64_t cuts) {
  QuadraticInstance instance = make_quadratic(settings);
  Options options = exact_cpbo();
  options.step_upper = 1;
  options.lower_tolerance = epsilon;
  options.cut_until = cuts;
  options.iterations = cuts + 3000;
  const Result result = Solver(options).solve(instance.problem);
  CHECK(result.summary.counts.cuts_added == cuts);
  RoundWorkers workers(instance.problem, base(Method::kExact));
  detail::OuterPoint point(instance.problem);
  point.upper = result.upper;
  REQUIRE(!detail::ImplicitFunction(workers.rounds()).evaluate(point));
  workers.rounds().ask({.upper = true}, {.upper = result.upper, .lower = result.lower});
  return {.x_error = distance(result.upper, instance.upper_solution),
          .y_error = distance(result.lower, instance.lower_solution),
          .deviation = distance(result.lower, point.lower),
          .value = workers.rounds().mean(&detail::Evaluation::upper_value),
          .best_value = instance.value};
}

TEST_CASE("cpbo: distances from the solution obey their bounds in epsilon and in what the cuts leave") {
  // docs/methods.md, "What cpbo ends at": with r = y - y*(x), ||y - y*|| <= ||r|| and ||x - x*|| <= ||r|| /
  // (2 sqrt(rho)); ||r|| = sqrt(epsilon) where cuts suffice; F <= F*, as the polytope holds the solution.
  constexpr double kRho = 0.1, kSlack = 1 + 1e-3;
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const auto run = [seed](double epsilon, std::int64_t cuts) {
      CAPTURE(epsilon);
      CAPTURE(cuts);
      const CutSolution found =
          solve_with_cuts({.upper_dim = 5, .lower_dim = 8, .num_workers = 6, .seed = seed}, epsilon, cuts);
      CHECK(found.y_error <= kSlack * found.deviation);
      CHECK(found.y_error >= 0.2 * found.deviation);  // the bound is not idle
      CHECK(found.x_error <= kSlack * found.deviation / (2 * std::sqrt(kRho)));
      CHECK(found.value < found.best_value);
      return found.deviation;
    };
    for (const double epsilon : {1e-1, 1e-2, 1e-4, 1e-6}) {
      CHECK(run(epsilon, 300) == doctest::Approx(std::sqrt(epsilon)).epsilon(0.01));
    }
    double before = run(0, 20);
    for (const std::int64_t cuts : {40, 80, 160}) {
      const double after = run(0, cuts);
      CHECK(after < 0.7 * before);
      before = after;
    }
  }
}

TEST_CASE("cpbo: K rounds give the bias of a Neumann series with K terms") {
  for (const std::int64_t terms : {1, 3}) {
    CAPTURE(terms);
    QuadraticInstance instance = make_quadratic(kFamily);
    Options options = exact_cpbo();
    options.lower_rounds = terms;
    options.iterations = 5000;
    const Result cuts = Solver(options).solve(instance.problem);
    options = base(Method::kAidNeumann);
    options.adjoint_steps = terms;
    options.lower_steps = 20;
    options.iterations = 5000;
    const Result series = Solver(options).solve(instance.problem);
    const double bias = largest_difference(series.upper, instance.upper_solution);
    CHECK(bias > 0.01);
    CHECK(largest_difference(cuts.upper, series.upper) < 0.01 * bias);
  }
}

// ---------------------------------------------------------------------------------------------------------
// Hypergradients

TEST_CASE("round methods: hypergradients at a fixed point are exact within the bound of their truncation") {
  // Penalty 1/2 exp(psi) w^2 with psi around 0: mu is the least exp(psi_j). 40 rows per worker.
  const std::vector<double> psi = test::random_point(6, 3, 0.3);
  const double mu = std::exp(*std::min_element(psi.begin(), psi.end()));
  std::vector<TuningShard> shards;
  std::vector<CleaningShard> cleaning;
  for (std::uint64_t i = 0; i < 3; ++i) {
    shards.push_back(
        {.train = test::random_rows(40, 6, 2, 10 + i), .validation = test::random_rows(20, 6, 2, 20 + i)});
    cleaning.push_back(
        {.train = test::random_rows(40, 5, 3, 30 + i), .validation = test::random_rows(20, 5, 3, 40 + i)});
  }
  check_truncation(make_regularization_tuning(shards, {}), mu);
  constexpr double kRidge = 0.05;
  check_truncation(make_hyper_cleaning(cleaning, {.classes = 3, .ridge = kRidge}), 2 * kRidge);
}

TEST_CASE("round methods: one step of conjugate gradients, and a zero right-hand side") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{7}}) {
    for (const double target : {0.7, 0.0}) {
      // y*(x) = x / 2.5; x = 0 hits the target 0, where grad_y G = 0.
      Problem problem = scaled_identity(n, n, 2.5, target);
      RoundWorkers workers(problem, base(Method::kAidCg));
      for (const bool neumann : {false, true}) {
        detail::Rounds& rounds = workers.rounds();
        detail::AidHypergradient aid(rounds, neumann ? detail::make_neumann_solver(rounds, 60)
                                                     : detail::make_conjugate_gradient_solver(rounds, 1));
        detail::OuterPoint point(problem);
        const detail::AdjointResult result = aid.estimate(0.3, point);
        REQUIRE(!result.failure);
        CHECK(result.relative_residual < 1e-6);
        // d2 g/dx dy = -1: dF/dx = (y - t) / 2.5.
        for (const double entry : point.gradient) CHECK(std::abs(entry + target / 2.5) < 1e-6);
        if (target == 0) CHECK(point.adjoint == std::vector<double>(n, 0.0));
      }
    }
  }
}

TEST_CASE("round methods: a lower level that is not convex is a failed solve, not a number") {
  Problem problem = scaled_identity(3, 3, -1.0, 0.7);
  for (const Method method : {Method::kAidCg, Method::kAidNeumann, Method::kFedNest}) {
    Options options = base(method);
    options.lower_steps = 1;
    options.step_lower = 0.5;
    const Result result = Solver(options).solve(problem);
    CHECK(result.summary.termination == Termination::kSolveFailed);
    CHECK(result.summary.message.find("positive definite") != std::string::npos);
    CHECK(detail::all_finite(result.upper));
  }
}

// ---------------------------------------------------------------------------------------------------------
// What all have in common

TEST_CASE("round methods: the same bits for any executor and any number of threads") {
  for (const Method method : kMethods) {
    CAPTURE(method_name(method));
    QuadraticInstance instance = make_quadratic(kFamily);
    Options options = base(method);
    options.iterations = 5;
    options.delay = "lognormal:0,1";
    const Result reference = Solver(options).solve(instance.problem);
    REQUIRE(reference.summary.iterations == 5);
    test::check_same_bits_everywhere(instance.problem, options, reference);
  }
}

TEST_CASE("round methods: a round takes the time of its slowest answer") {
  for (const Method method : kMethods) {
    CAPTURE(method_name(method));
    QuadraticInstance instance = make_quadratic(kFamily);
    Options options = base(method);
    options.iterations = 5;
    options.delay = "lognormal:0,0";  // a millisecond
    options.stragglers = "1:4";
    const Result result = Solver(options).solve(instance.problem);
    CHECK(result.summary.counts.rounds > 0);
    CHECK(result.summary.virtual_seconds ==
          doctest::Approx(0.004 * static_cast<double>(result.summary.counts.rounds)));
    CHECK(result.summary.counts.bytes > 0);
  }
}

TEST_CASE("round methods: a huge step ends as diverged at a finite iterate") {
  for (const Method method : kMethods) {
    CAPTURE(method_name(method));
    QuadraticInstance instance = make_quadratic(kFamily);
    Options options = base(method);
    options.step_upper = 1e6;
    if (method == Method::kCpbo) options.step_lower = 1e6;
    const Result result = Solver(options).solve(instance.problem);
    CHECK(result.summary.termination == Termination::kDiverged);
    CHECK(detail::all_bounded(result.upper));
    CHECK(detail::all_bounded(result.lower));
  }
}

TEST_CASE("round methods: a bound on x holds in every iterate") {
  struct Watch final : Observer {
    ObserverAction on_iteration(const IterationView& view) override {
      for (const double x : view.upper) inside = inside && x >= -0.25 && x <= 0.25;
      return ObserverAction::kContinue;
    }
    bool inside = true;
  };
  for (const Method method : kMethods) {
    CAPTURE(method_name(method));
    QuadraticInstance instance = make_quadratic(kFamily);
    instance.problem.set_upper_bounds(-0.25, 0.25);
    Options options = base(method);
    options.step_upper = 0.001;
    options.iterations = 200;
    if (method == Method::kCpbo) options.step_lower = 0.1;
    Watch watch;
    const Result result = Solver(options).solve(instance.problem, &watch);
    CHECK(result.summary.termination == Termination::kIterationLimit);
    CHECK(watch.inside);
  }
}

TEST_CASE("network: Metropolis weights are symmetric, and sum to one") {
  for (const std::size_t agents : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{9}}) {
    for (const GraphKind kind : {GraphKind::kRing, GraphKind::kRandom, GraphKind::kComplete}) {
      const detail::Network network(kind, 0.4, agents, 5);
      for (std::size_t i = 0; i < agents; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < agents; ++j) {
          CHECK(network.weight(i, j) == network.weight(j, i));
          CHECK(network.weight(i, j) >= 0);
          sum += network.weight(i, j);
        }
        CHECK(sum == doctest::Approx(1));
      }
    }
  }
  const detail::Network ring(GraphKind::kRing, 0, 6, 1);
  CHECK(ring.edges() == 6);
  CHECK(ring.weight(0, 1) == doctest::Approx(1.0 / 3));
  CHECK(ring.weight(0, 2) == 0);
  CHECK(detail::Network(GraphKind::kComplete, 0, 6, 1).edges() == 15);
}
