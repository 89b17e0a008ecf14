// The step sizes of Theorem 2, from the constants that the user gives, and the inequalities they have to
// meet.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "adbo/solver.h"
#include "instances.h"

namespace adbo::conformance {
namespace {

struct Constants {
  double smoothness, drift, gamma, floor1, floor2;
  std::int64_t max_cuts, max_staleness;
};

Options theorem_options(const Constants& c) {
  Options o;
  o.method = Method::kAdbo;
  o.steps = StepRule::kTheorem2;
  o.clock = ClockKind::kVirtual;
  o.threads = 1;
  o.iterations = 1;
  o.smoothness = c.smoothness;
  o.drift_constant = c.drift;
  o.theorem_gamma = c.gamma;
  o.cut_regularization_floor = c.floor1;
  o.dual_regularization_floor = c.floor2;
  o.max_cuts = c.max_cuts;
  o.max_staleness = c.max_staleness;
  return o;
}

Options used(const Options& options, std::size_t num_workers) {
  Instance instance = quadratic_instance({.num_workers = num_workers});
  const Result result = Solver(options).solve(instance.product);
  REQUIRE_MESSAGE(result.status.ok(), result.status.message());
  return result.summary.options_used;
}

bool equal(double a, double b) { return std::abs(a - b) <= 1e-14 * std::abs(b); }

TEST_CASE("a case calculated by hand") {
  // L = 2, k1 = 1/4, gamma = 3, tau = 2, N = 5, M = 4, floors 1/2 and 1/4.
  const Options o = used(theorem_options({2, 0.25, 3, 0.5, 0.25, 4, 2}), 5);
  const double eta_lambda = 0.9 / 300;  // 1 / (30 * 2 * 1/4 * 5 * 4) = 1/300, far below the other bound
  const double eta_theta = 0.9 * (1 - 0.84089641525371454303);  // 2^(-1/4)
  const double eta = 2 / (2 + eta_lambda * 4 * 4 + eta_theta * 5 * 4 +
                          8 * (4 * 3 * 4 / (eta_lambda * 0.25) + 5 * 3 * 4 / (eta_theta * 0.0625)));
  CHECK(equal(o.step_cut_multiplier, eta_lambda));
  CHECK(equal(o.step_consensus_dual, eta_theta));
  for (const double step :
       {o.step_upper_local, o.step_lower_local, o.step_upper_consensus, o.step_lower_consensus})
    CHECK(equal(step, eta));
}

TEST_CASE("the theorem's inequalities hold from t = 1 on") {
  for (const Constants& c :
       {Constants{1, 1, 3, 0.1, 0.1, 20, 15}, Constants{0.01, 1e-4, 2.5, 0.01, 0.02, 1, 1},
        Constants{50, 0.2, 10, 1e-3, 1, 7, 3}, Constants{3, 1e-6, 4, 0.5, 0.5, 100, 1}}) {
    for (const std::size_t num_workers : {1, 4, 24}) {
      CAPTURE(c.smoothness);
      CAPTURE(num_workers);
      const Options o = used(theorem_options(c), num_workers);
      const double eta_lambda = o.step_cut_multiplier, eta_theta = o.step_consensus_dual;
      const double L = c.smoothness, N = static_cast<double>(num_workers),
                   M = static_cast<double>(c.max_cuts);
      CHECK(eta_lambda > 0);
      CHECK(eta_lambda < 1 / (30 * static_cast<double>(c.max_staleness) * c.drift * N * L * L));
      for (const double t : {1.0, 2.0, 10.0, 1000.0}) {
        const double c1 = 1 / (eta_lambda * std::pow(t + 1, 0.25));
        const double c2 = 1 / (eta_theta * std::pow(t + 1, 0.25));
        CHECK(eta_lambda < 2 / (L + 2 * c1));
        CHECK(eta_theta <= 2 / (L + 2 * c2));
      }
      const double bracket = M * c.gamma * L * L / (eta_lambda * c.floor1 * c.floor1) +
                             N * c.gamma * L * L / (eta_theta * c.floor2 * c.floor2);
      const double eta = 2 / (L + eta_lambda * M * L * L + eta_theta * N * L * L + 8 * bracket);
      CHECK(equal(o.step_upper_local, eta));
      CHECK(equal(o.step_lower_local, eta));
      CHECK(equal(o.step_upper_consensus, eta));
      CHECK(equal(o.step_lower_consensus, eta));
    }
  }
}

TEST_CASE("the dual step of the lower rounds is not the theorem's") {
  Options o = theorem_options({1, 1, 3, 0.1, 0.1, 20, 15});
  o.step_lower_dual = 0.123;
  CHECK(used(o, 3).step_lower_dual == 0.123);
}

TEST_CASE("without floors the theorem gives no steps") {
  Instance instance = quadratic_instance({});
  for (const auto floor : {&Options::cut_regularization_floor, &Options::dual_regularization_floor}) {
    Options o = theorem_options({1, 1, 3, 0.1, 0.1, 20, 15});
    o.*floor = 0;
    CHECK(Solver(o).solve(instance.product).status.code() == StatusCode::kInvalidOption);
  }
}

}  // namespace
}  // namespace adbo::conformance
