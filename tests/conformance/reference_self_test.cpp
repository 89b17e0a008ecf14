// The reference on its own: its objectives and its forward mode against differences, its iterations against a
// calculation by hand, its asynchrony against the rules.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "instances.h"
#include "support/reference/reference_adbo.h"

namespace adbo::conformance {
namespace {

using reference::Index;
using reference::LowerSettings;
using reference::Matrix;
using reference::Objective;
using reference::Rounds;
using reference::Vector;

/// The derivative of a vector-valued function, by central differences: relative error about step^2 = 1e-10,
/// and 1e-16 / step = 1e-11 of rounding.
Matrix difference_jacobian(const std::function<Vector(const Vector&)>& function, const Vector& at) {
  constexpr double kStep = 1e-5;
  Matrix jacobian(function(at).size(), at.size());
  for (Index j = 0; j < at.size(); ++j) {
    Vector forward = at, backward = at;
    forward[j] += kStep;
    backward[j] -= kStep;
    jacobian.col(j) = (function(forward) - function(backward)) / (2 * kStep);
  }
  return jacobian;
}

double relative_error(const Matrix& value, const Matrix& expected) {
  return (value - expected).norm() / std::max(1e-3, expected.norm());
}

Vector as_vector(double value) { return Vector::Constant(1, value); }

void check_objective(const Objective& o, const Vector& x, const Vector& y) {
  const auto upper_in_x = [&](const Vector& at) { return as_vector(o.upper(at, y)); };
  const auto upper_in_y = [&](const Vector& at) { return as_vector(o.upper(x, at)); };
  const auto lower_in_y = [&](const Vector& at) { return as_vector(o.lower(x, at)); };
  const auto gradient_in_y = [&](const Vector& at) { return o.lower_gradient(x, at); };
  const auto gradient_in_x = [&](const Vector& at) { return o.lower_gradient(at, y); };
  CHECK(relative_error(o.upper_gradient_x(x, y).transpose(), difference_jacobian(upper_in_x, x)) < 1e-7);
  CHECK(relative_error(o.upper_gradient_y(x, y).transpose(), difference_jacobian(upper_in_y, y)) < 1e-7);
  CHECK(relative_error(o.lower_gradient(x, y).transpose(), difference_jacobian(lower_in_y, y)) < 1e-7);
  CHECK(relative_error(o.lower_hessian(x, y), difference_jacobian(gradient_in_y, y)) < 1e-7);
  CHECK(relative_error(o.lower_cross(x, y), difference_jacobian(gradient_in_x, x)) < 1e-7);
}

TEST_CASE("the plain objectives' derivatives are those of their values") {
  for (const Instance& instance :
       {quadratic_instance({.support_size = 2}), quadratic_instance({.upper_uses_x = false}),
        logistic_tuning_instance({}), hyper_cleaning_instance({})}) {
    Normals normals(5);
    for (const Objective& o : instance.plain.workers) {
      const Vector x = normals.vector(static_cast<std::size_t>(o.size));
      const Vector y = normals.vector(static_cast<std::size_t>(instance.plain.lower_dim));
      check_objective(o, x, y);
    }
  }
}

/// y'_{i,K+1} with z'_K and phi_iK held, as a function of v: what the local gradients differentiate. `states`
/// gives the z' and phi of each round; y'_k is recomputed from v, or, frozen, only its step is.
Vector isolated_points(const reference::Problem& problem, const LowerSettings& s, const Rounds& states,
                       const Vector& v, bool frozen) {
  Vector all(problem.lower_dim * static_cast<Index>(problem.num_workers()));
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    const Objective& o = problem.workers[i];
    Vector y = states.front().local[i];
    for (const reference::RoundState& state : states) {
      const Vector& at = frozen ? state.local[i] : y;
      y -= s.step_local * (o.lower_gradient(reference::support_of(o, v), at) + state.dual[i] +
                           s.penalty * (at - state.consensus));
    }
    all.segment(static_cast<Index>(i) * problem.lower_dim, problem.lower_dim) = y;
  }
  return all;
}

TEST_CASE("dh/dv in forward mode is the derivative of h") {
  for (const Instance& instance : {quadratic_instance({.support_size = 3}), hyper_cleaning_instance({})}) {
    const reference::Problem& p = instance.plain;
    Normals normals(17);
    const Vector v = normals.vector(static_cast<std::size_t>(p.upper_dim));
    const Vector z = normals.vector(static_cast<std::size_t>(p.lower_dim));
    std::vector<Vector> start, y;
    for (std::size_t i = 0; i < p.num_workers(); ++i) {
      start.push_back(normals.vector(static_cast<std::size_t>(p.lower_dim)));
      y.push_back(start.back() + normals.vector(static_cast<std::size_t>(p.lower_dim), 0.3));
    }
    for (const std::int64_t rounds : {1, 2, 5}) {
      LowerSettings s{
          .rounds = rounds, .step_local = 0.1, .step_consensus = 0.03, .step_dual = 0.2, .penalty = 0.7};
      const Rounds at_v = reference::run_lower_rounds(p, s, v, start, z);
      CAPTURE(rounds);

      const auto h = [&](const Vector& at) {
        return as_vector(reference::lower_distance(reference::run_lower_rounds(p, s, at, start, z), y, z));
      };
      const Vector exact = reference::lower_distance_gradient(p, s, CutGradient::kExact, at_v, v, y, z);
      CHECK(relative_error(exact.transpose(), difference_jacobian(h, v)) < 1e-7);

      Vector all_y(p.lower_dim * static_cast<Index>(p.num_workers()));
      for (std::size_t i = 0; i < p.num_workers(); ++i)
        all_y.segment(static_cast<Index>(i) * p.lower_dim, p.lower_dim) = y[i];
      for (const auto order :
           {LowerRoundOrder::kPaper, LowerRoundOrder::kDualFirst, LowerRoundOrder::kConsensusFirst}) {
        s.order = order;
        const Rounds states = reference::run_lower_rounds(p, s, v, start, z);
        for (const bool frozen : {false, true}) {
          const auto distance = [&](const Vector& at) {
            return as_vector((all_y - isolated_points(p, s, states, at, frozen)).squaredNorm());
          };
          const Vector local = reference::lower_distance_gradient(
              p, s, frozen ? CutGradient::kLocalFrozen : CutGradient::kLocal, states, v, y, z);
          CHECK(relative_error(local.transpose(), difference_jacobian(distance, v)) < 1e-7);
        }
      }
    }
  }
}

TEST_CASE("two iterations of one worker in one dimension, calculated by hand") {
  const double H = 2, B = 3, d = 0.5, target = -1, anchor = 2, rho = 0.25;
  const double x0 = 1, y0 = 0.5, z0 = -0.25, theta0 = 0.1;
  const auto one = [](double value) { return Vector::Constant(1, value).eval(); };
  reference::Problem p;
  p.upper_dim = p.lower_dim = 1;
  p.workers.push_back(reference::quadratic_objective(
      {Matrix::Constant(1, 1, H), Matrix::Constant(1, 1, B), one(d), one(target), one(anchor), rho, 0}));
  p.upper_start = one(x0);
  p.lower_start = one(z0);
  p.local_starts = {one(y0)};
  p.dual_start = one(theta0);

  Options o;
  o.active_workers = 1;
  o.cut_interval = 1;
  o.step_upper_local = 0.1;
  o.step_lower_local = 0.05;
  o.step_upper_consensus = 0.2;
  o.step_lower_consensus = 0.07;
  o.step_cut_multiplier = 0.3;
  o.step_consensus_dual = 0.4;
  o.lower_penalty = 1.5;
  o.lower_tolerance = 0.01;
  const reference::Run run = reference::run(p, o, 2);

  // t = 0: no cut yet, c2_0 = 1/eta_theta.
  const double x1 = x0 - 0.1 * (rho * (x0 - anchor) + theta0);
  const double y1 = y0 - 0.05 * (y0 - target);
  const double v1 = x0 + 0.2 * theta0;
  const double z1 = z0;
  const double theta1 = theta0 + 0.4 * (x1 - v1 - theta0 / 0.4);
  // One lower round, and the cut.
  const double dy = 0.05 * (H * y1 - B * v1 - d + 1.5 * (y1 - z1));  // y1 - y'_1
  const double dz = 0.07 * 1.5 * (z1 - y1);                          // z1 - z'_1
  const double h = dy * dy + dz * dz;
  REQUIRE(h > 0.01);
  const double a = 2 * dy * (-0.05 * B);
  const double b = 2 * dy;
  const double c = 2 * dz;
  const double kappa = h - 0.01 - a * v1 - b * y1 - c * z1;
  // t = 1: the multiplier is still 0 in every gradient.
  const double x2 = x1 - 0.1 * (rho * (x1 - anchor) + theta1);
  const double y2 = y1 - 0.05 * (y1 - target);
  const double v2 = v1 + 0.2 * theta1;
  const double z2 = z1;
  const double lambda2 = std::max(0.0, 0.3 * (a * v2 + b * y2 + c * z2 + kappa));
  const double theta2 = theta1 + 0.4 * (x2 - v2 - theta1 / (0.4 * std::pow(2.0, 0.25)));

  // A few roundings of numbers of size 1.
  constexpr double kTolerance = 1e-14;
  CHECK(std::abs(run.iterations[0].upper[0] - v1) < kTolerance);
  CHECK(std::abs(run.iterations[0].dual_sum[0] - theta1) < kTolerance);
  CHECK(std::abs(run.iterations[0].lower_distance - h) < kTolerance);
  CHECK(std::abs(run.iterations[1].upper[0] - v2) < kTolerance);
  CHECK(std::abs(run.iterations[1].lower[0] - z2) < kTolerance);
  CHECK(std::abs(run.iterations[1].dual_sum[0] - theta2) < kTolerance);
  CHECK(std::abs(run.iterations[1].multipliers[0] - lambda2) < kTolerance);
}

TEST_CASE("on a small quadratic the stationarity gap falls") {
  const Instance instance = quadratic_instance({.upper_dim = 2, .lower_dim = 2, .num_workers = 3});
  Options o;
  o.active_workers = 2;
  o.max_staleness = 4;
  o.delay = "lognormal:0,1";
  o.step_upper_local = o.step_lower_local = o.step_upper_consensus = o.step_lower_consensus = 0.02;
  o.step_cut_multiplier = o.step_consensus_dual = 0.1;
  o.cut_interval = 20;
  o.cut_until =
      20;  // one cut: a second that is not binding would keep its value, and with it the gap, from zero
  o.regularization = RegularizationSchedule::kConstant;
  o.cut_regularization = o.dual_regularization = 1e-4;
  const reference::Run run = reference::run(instance.plain, o, 20000);
  REQUIRE(run.totals.cuts_added > 0);
  const double first = run.iterations.front().stationarity_gap;
  const double last = run.iterations.back().stationarity_gap;
  MESSAGE("gap " << first << " -> " << last);
  CHECK(last < 1e-3 * first);
}

TEST_CASE("the active sets obey S and tau") {
  const Instance instance = quadratic_instance({});
  const std::size_t workers = instance.plain.num_workers();
  Options o;
  o.active_workers = 2;
  o.max_staleness = 5;
  o.delay = "lognormal:3.5,1";
  o.stragglers = "2:20";
  o.seed = 3;
  o.cut_interval = 50;
  const reference::Run run = reference::run(instance.plain, o, 300);
  REQUIRE(run.totals.overdue_waits > 0);
  std::vector<std::int64_t> last_active(workers, -1);
  double time = 0;
  for (std::int64_t t = 0; t < 300; ++t) {
    const reference::Iteration& it = run.iterations[static_cast<std::size_t>(t)];
    CHECK(it.active.size() >= 2);
    CHECK(it.virtual_seconds >= time);
    time = it.virtual_seconds;
    for (const std::size_t i : it.active) {
      CHECK(last_active[i] < t);
      last_active[i] = t;
    }
    for (const std::int64_t last : last_active) CHECK(t - last < 5);
  }
}

}  // namespace
}  // namespace adbo::conformance
