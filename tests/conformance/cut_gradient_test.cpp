// A cut's coefficients against central differences of h and against the reference's forward mode.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "direct_transport.h"
#include "instances.h"
#include "support/reference/reference_lower.h"

namespace adbo::conformance {
namespace {

using reference::Index;
using reference::LowerSettings;
using reference::Vector;

Options lower_options(std::int64_t rounds) {
  Options o;
  o.lower_rounds = rounds;
  o.step_lower_local = 0.1;
  o.step_lower_consensus = 0.04;
  o.step_lower_dual = 0.2;
  o.lower_penalty = 0.7;
  o.lower_tolerance = 1e-3;
  return o;
}

LowerSettings settings_of(const Options& o) {
  return {o.lower_rounds,    o.step_lower_local, o.step_lower_consensus,
          o.step_lower_dual, o.lower_penalty,    o.lower_round_order};
}

/// Where the barrier is `restart`, the workers start elsewhere than where the master knows them.
Point random_point(const reference::Problem& problem, CutBarrier barrier, std::uint64_t seed) {
  Normals normals(seed);
  const auto m = static_cast<std::size_t>(problem.lower_dim);
  Point point{normals.vector(static_cast<std::size_t>(problem.upper_dim)), normals.vector(m), {}, {}};
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    point.y.push_back(normals.vector(m));
    point.start.push_back(barrier == CutBarrier::kRestart ? Vector(point.y[i] + normals.vector(m, 0.2))
                                                          : point.y[i]);
  }
  return point;
}

Vector from_std(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

double relative_error(const Vector& value, const Vector& expected) {
  REQUIRE(expected.norm() > 1e-6);
  return (value - expected).norm() / expected.norm();
}

/// dh/dv of the engine's own h by central differences, everything else held.
Vector difference_gradient(const Problem& problem, const Options& options, const Point& at) {
  constexpr double kStep = 1e-4;  // h is of size 1: 1e-8 of truncation, 1e-12 of rounding
  Vector gradient(at.v.size());
  for (Index j = 0; j < at.v.size(); ++j) {
    Point forward = at, backward = at;
    forward.v[j] += kStep;
    backward.v[j] -= kStep;
    gradient[j] =
        (build_cut(problem, options, forward).distance - build_cut(problem, options, backward).distance) /
        (2 * kStep);
  }
  return gradient;
}

struct Family {
  std::string name;
  Instance instance;
};

std::vector<Family> families() {
  std::vector<Family> list;
  list.push_back({"quadratic", quadratic_instance({})});
  list.push_back(
      {"quadratic, overlapping supports", quadratic_instance({.upper_dim = 6, .support_size = 3})});
  list.push_back({"logistic tuning", logistic_tuning_instance({})});
  list.push_back({"hyper-cleaning", hyper_cleaning_instance({})});
  return list;
}

TEST_CASE("the exact gradient is the derivative of h") {
  for (const Family& family : families()) {
    CAPTURE(family.name);
    for (const std::int64_t rounds : {1, 2, 5}) {
      for (const CutBarrier barrier : {CutBarrier::kHold, CutBarrier::kRestart}) {
        CAPTURE(rounds);
        Options options = lower_options(rounds);
        options.cut_barrier = barrier;
        const Point point = random_point(family.instance.plain, barrier, 23);
        const BuiltCut built = build_cut(family.instance.product, options, point);
        const Vector expected = difference_gradient(family.instance.product, options, point);
        CHECK(relative_error(from_std(built.cut.upper), expected) < 1e-6);
      }
    }
  }
}

TEST_CASE("cuts of every kind are the reference's") {
  struct Kind {
    LowerRoundOrder order;
    CutGradient gradient;
  };
  std::vector<Kind> kinds{{LowerRoundOrder::kPaper, CutGradient::kExact}};
  for (const auto order :
       {LowerRoundOrder::kPaper, LowerRoundOrder::kDualFirst, LowerRoundOrder::kConsensusFirst})
    for (const auto gradient : {CutGradient::kLocal, CutGradient::kLocalFrozen})
      kinds.push_back({order, gradient});

  for (const Family& family : families()) {
    CAPTURE(family.name);
    const reference::Problem& plain = family.instance.plain;
    for (const Kind& kind : kinds) {
      for (const CutBarrier barrier : {CutBarrier::kHold, CutBarrier::kRestart}) {
        for (const std::int64_t rounds : {1, 2, 5}) {
          CAPTURE(static_cast<int>(kind.order));
          CAPTURE(static_cast<int>(kind.gradient));
          CAPTURE(static_cast<int>(barrier));
          CAPTURE(rounds);
          Options options = lower_options(rounds);
          options.lower_round_order = kind.order;
          options.cut_gradient = kind.gradient;
          options.cut_barrier = barrier;
          const Point p = random_point(plain, barrier, 29);
          const BuiltCut built = build_cut(family.instance.product, options, p);

          const LowerSettings settings = settings_of(options);
          const reference::Rounds states = reference::run_lower_rounds(plain, settings, p.v, p.start, p.z);
          const double h = reference::lower_distance(states, p.y, p.z);
          const Vector a =
              reference::lower_distance_gradient(plain, settings, kind.gradient, states, p.v, p.y, p.z);
          // Two ways to add up the same few hundred products of numbers of size 1.
          constexpr double kTolerance = 1e-12;
          CHECK(std::abs(built.distance - h) < kTolerance * h);
          CHECK(relative_error(from_std(built.cut.upper), a) < kTolerance);
          CHECK(relative_error(from_std(built.cut.lower_consensus), 2 * (p.z - states.back().consensus)) <
                kTolerance);
          double value = a.dot(p.v) + 2 * (p.z - states.back().consensus).dot(p.z) + built.cut.offset;
          for (std::size_t i = 0; i < p.y.size(); ++i) {
            const Vector b = 2 * (p.y[i] - states.back().local[i]);
            CHECK(relative_error(from_std(built.cut.lower_local[i]), b) < kTolerance);
            value += b.dot(p.y[i]);
          }
          // The cut's value at the point that made it is h - epsilon, up to the rounding of its terms.
          CHECK(std::abs(value - (h - options.lower_tolerance)) < 1e-11);
        }
      }
    }
  }
}

}  // namespace
}  // namespace adbo::conformance
