// The methods that work in rounds and take gradient steps: AID, ITD, CPBO, F2SA, FedNest, DSBO, SPDB.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "adbo/adbo.h"
#include "support/solver_checks.h"

using namespace adbo;
using adbo::test::largest_difference;

namespace {

const QuadraticSettings kFamily{.upper_dim = 20, .lower_dim = 30, .num_workers = 6};

Options base(Method method) {
  Options options;
  options.method = method;
  options.clock = ClockKind::kVirtual;
  options.threads = 2;
  options.step_upper = 0.01;
  options.iterations = 3000;
  return options;
}

/// The larger of the distances of x and y from the closed form.
double distance(const Result& result, const QuadraticInstance& instance) {
  return std::max(largest_difference(result.upper, instance.upper_solution),
                  largest_difference(result.lower, instance.lower_solution));
}

double solved_to(const Options& options, const QuadraticSettings& settings = kFamily) {
  QuadraticInstance instance = make_quadratic(settings);
  const Result result = Solver(options).solve(instance.problem);
  REQUIRE(result.status.ok());
  CAPTURE(result.summary.message);
  REQUIRE(result.summary.termination == Termination::kIterationLimit);
  MESSAGE(method_name(options.method), ": ", distance(result, instance), " after ",
          result.summary.counts.rounds, " rounds");
  return distance(result, instance);
}

}  // namespace

TEST_CASE("aid-cg reaches the closed form") {
  CHECK(solved_to(base(Method::kAidCg)) < 1e-6);
}
TEST_CASE("aid-neumann reaches the closed form once its series is long enough") {
  Options options = base(Method::kAidNeumann);
  options.adjoint_steps = 100;
  CHECK(solved_to(options) < 1e-6);
}
TEST_CASE("itd reaches the closed form once it unrolls enough steps") {
  Options options = base(Method::kItd);
  options.lower_steps = 100;
  CHECK(solved_to(options) < 1e-6);
}
TEST_CASE("f2sa reaches the closed form as its multiplier grows") {
  Options options = base(Method::kF2sa);
  options.f2sa_growth = 1.5;
  options.f2sa_multiplier = 100;
  options.lower_steps = 30;
  CHECK(solved_to(options) < 1e-6);
}
TEST_CASE("fednest reaches the closed form") {
  for (const std::int64_t upper_steps : {1, 3}) {
    Options options = base(Method::kFedNest);
    options.adjoint_steps = 100;
    options.upper_steps = upper_steps;
    options.step_upper /= static_cast<double>(upper_steps);
    CHECK(solved_to(options) < 1e-6);
  }
}
TEST_CASE("fednest light") {
  Options options = base(Method::kFedNest);
  options.fednest_variant = FedNestVariant::kLight;
  options.adjoint_steps = 100;
  CHECK(solved_to(options) < 1e-6);
}
TEST_CASE("dsbo") {
  for (const GraphKind graph : {GraphKind::kRing, GraphKind::kRandom, GraphKind::kComplete}) {
    Options options = base(Method::kDsbo);
    options.graph = graph;
    CHECK(solved_to(options) < 1e-6);
  }
}
TEST_CASE("spdb") {
  for (const GraphKind graph : {GraphKind::kRing, GraphKind::kRandom, GraphKind::kComplete}) {
    Options options = base(Method::kSpdb);
    options.graph = graph;
    CHECK(solved_to(options) < 1e-6);
  }
}
TEST_CASE("cpbo") {
  for (const std::int64_t rounds : {1, 100}) {
    Options options = base(Method::kCpbo);
    options.lower_rounds = rounds;
    options.max_cuts = 100;
    options.cut_interval = 10;
    options.lower_tolerance = 1e-6;
    options.cut_until = 2500;
    CHECK(solved_to(options) < 1e-6);
  }
}
