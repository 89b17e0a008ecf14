// Theorem 1 as a property: on small convex instances (K = 1, so that h is a convex quadratic of (v, {y_i},
// z)) the optimal value of the relaxed problem never falls as cuts are added, every cut is valid, and it
// separates its point.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "direct_transport.h"
#include "instances.h"
#include "relaxed_problem.h"
#include "support/reference/reference_lower.h"

namespace adbo::conformance {
namespace {

using reference::Index;
using reference::LowerSettings;
using reference::Vector;

constexpr std::size_t kMostCuts = 6;
/// The problems are solved to about 1e-12; their values are of size 1 to 10.
constexpr double kTolerance = 1e-9;

Options lower_options() {
  Options o;
  o.lower_rounds = 1;
  o.step_lower_local = 0.3;
  o.step_lower_consensus = 0.1;
  o.lower_penalty = 0.8;
  o.lower_tolerance = 1e-2;
  return o;
}

LowerSettings settings_of(const Options& o) {
  return {o.lower_rounds,    o.step_lower_local, o.step_lower_consensus,
          o.step_lower_dual, o.lower_penalty,    o.lower_round_order};
}

/// min sum_i G_i(v, y_i) over (v, {y_i}, z), no cut yet.
RelaxedProblem relaxed(const std::vector<reference::QuadraticData>& workers) {
  const Index n = workers.front().mixing.cols(), m = workers.front().target.size();
  RelaxedProblem r;
  r.consensus_dim = m;
  r.diagonal = r.linear = Vector::Zero(n + m * static_cast<Index>(workers.size()));
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const reference::QuadraticData& w = workers[i];
    r.diagonal.head(n).array() += w.rho;
    r.linear.head(n) += w.rho * w.anchor;
    r.diagonal.segment(n + m * static_cast<Index>(i), m).setOnes();
    r.linear.segment(n + m * static_cast<Index>(i), m) = w.target;
    r.constant += 0.5 * w.rho * w.anchor.squaredNorm() + 0.5 * w.target.squaredNorm();
  }
  return r;
}

Vector stack(const Vector& v, const std::vector<Vector>& y) {
  Vector u(v.size() + y.front().size() * static_cast<Index>(y.size()));
  u.head(v.size()) = v;
  for (std::size_t i = 0; i < y.size(); ++i)
    u.segment(v.size() + static_cast<Index>(i) * y.front().size(), y.front().size()) = y[i];
  return u;
}

double cut_value(const RelaxedCut& cut, const Vector& u, const Vector& z) {
  return cut.slope.dot(u) + cut.consensus.dot(z) + cut.offset;
}

/// The engine's cut at (v, {y_i}, z), where it begins the lower rounds.
RelaxedCut engine_cut(const Problem& problem, const Options& options, const Vector& v,
                      const std::vector<Vector>& y, const Vector& z) {
  const BuiltCut built = build_cut(problem, options, {v, z, y, y});
  const auto from_std = [](const std::vector<double>& values) -> Vector {
    return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
  };
  std::vector<Vector> b;
  for (const std::vector<double>& block : built.cut.lower_local) b.push_back(from_std(block));
  return {stack(from_std(built.cut.upper), b), from_std(built.cut.lower_consensus), built.cut.offset};
}

/// h as a function of its point, with the lower rounds begun at fixed values: one convex quadratic.
struct FixedStart {
  const reference::Problem& problem;
  LowerSettings settings;
  std::vector<Vector> local;
  Vector consensus;

  [[nodiscard]] double h(const Vector& v, const std::vector<Vector>& y, const Vector& z) const {
    return reference::lower_distance(reference::run_lower_rounds(problem, settings, v, local, consensus), y,
                                     z);
  }
  /// phi(v): the point where h = 0.
  [[nodiscard]] std::pair<std::vector<Vector>, Vector> solution(const Vector& v) const {
    const reference::Rounds rounds = reference::run_lower_rounds(problem, settings, v, local, consensus);
    return {rounds.back().local, rounds.back().consensus};
  }
  /// Eq. cuts at a point.
  [[nodiscard]] RelaxedCut cut(const Vector& v, const std::vector<Vector>& y, const Vector& z,
                               double epsilon) const {
    const reference::Rounds rounds = reference::run_lower_rounds(problem, settings, v, local, consensus);
    std::vector<Vector> b;
    for (std::size_t i = 0; i < y.size(); ++i) b.push_back(2 * (y[i] - rounds.back().local[i]));
    const Vector a =
        reference::lower_distance_gradient(problem, settings, CutGradient::kExact, rounds, v, y, z);
    RelaxedCut made{stack(a, b), 2 * (z - rounds.back().consensus), 0};
    made.offset = reference::lower_distance(rounds, y, z) - epsilon - made.slope.dot(stack(v, y)) -
                  made.consensus.dot(z);
    return made;
  }
};

std::vector<Vector> random_locals(Normals& normals, std::size_t workers, std::size_t m) {
  std::vector<Vector> y;
  for (std::size_t i = 0; i < workers; ++i) y.push_back(normals.vector(m));
  return y;
}

/// The cut holds at random points with h <= epsilon: phi(v) moved by at most sqrt(epsilon).
void check_valid(const RelaxedCut& cut, const FixedStart& start, double epsilon, Normals& normals) {
  const std::size_t workers = start.problem.num_workers();
  const auto m = static_cast<std::size_t>(start.problem.lower_dim);
  for (int sample = 0; sample < 200; ++sample) {
    const Vector v = 3 * normals.vector(static_cast<std::size_t>(start.problem.upper_dim));
    auto [y, z] = start.solution(v);
    std::vector<Vector> direction = random_locals(normals, workers + 1, m);
    double length = 0;
    for (const Vector& d : direction) length += d.squaredNorm();
    const double scale = std::sqrt(epsilon / length) * (sample % 2 == 0 ? 1 - 1e-12 : 0.5);
    for (std::size_t i = 0; i < workers; ++i) y[i] += scale * direction[i];
    z += scale * direction[workers];
    REQUIRE(start.h(v, y, z) <= epsilon * (1 + 1e-9));
    CHECK(cut_value(cut, stack(v, y), z) <= kTolerance);
  }
}

std::vector<QuadraticShape> shapes() {
  std::vector<QuadraticShape> list;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    list.push_back({.upper_dim = 2, .lower_dim = 1, .num_workers = 2, .seed = seed});
    list.push_back({.upper_dim = 3, .lower_dim = 2, .num_workers = 3, .seed = 100 + seed});
    list.push_back({.upper_dim = 1, .lower_dim = 3, .num_workers = 2, .seed = 200 + seed});
  }
  return list;
}

RelaxedSolution solve(const RelaxedProblem& problem) {
  const std::optional<RelaxedSolution> solution = solve_relaxed(problem);
  REQUIRE(solution.has_value());
  // Certified: a feasible point whose value is the lower bound.
  REQUIRE(solution->worst_violation < kTolerance);
  REQUIRE(std::abs(solution->primal_value - solution->value) < kTolerance);
  return *solution;
}

TEST_CASE("the engine's cuts: values never fall, every cut is valid and separates its point") {
  int rises = 0;
  for (const QuadraticShape& shape : shapes()) {
    CAPTURE(shape.seed);
    Instance instance = quadratic_instance(shape);
    const Options options = lower_options();
    RelaxedProblem problem = relaxed(quadratic_data(shape));
    Normals normals(shape.seed + 77);
    double before = solve(problem).value;
    // Cuts of different starts belong to different h. No more of them than dimensions: their normals are
    // independent, so that they have a common point.
    const std::size_t dimensions = shape.upper_dim + (shape.num_workers + 1) * shape.lower_dim;
    while (problem.cuts.size() < std::min(kMostCuts, dimensions)) {
      const Vector v = normals.vector(shape.upper_dim);
      const Vector z = normals.vector(shape.lower_dim);
      const std::vector<Vector> y = random_locals(normals, shape.num_workers, shape.lower_dim);
      const FixedStart start{instance.plain, settings_of(options), y, z};
      if (start.h(v, y, z) <= options.lower_tolerance) continue;

      const RelaxedCut cut = engine_cut(instance.product, options, v, y, z);
      CHECK(cut_value(cut, stack(v, y), z) > 0);
      check_valid(cut, start, options.lower_tolerance, normals);
      problem.cuts.push_back(cut);
      // Cuts of different starts belong to different h: their common set may be empty, and then the value is
      // infinite.
      if (!solve_relaxed(problem)) break;
      const double value = solve(problem).value;
      CHECK(value >= before - kTolerance);
      rises += value > before + 1e-6 ? 1 : 0;
      before = value;
    }
  }
  MESSAGE(rises << " rises");
  CHECK(rises > 10);  // not only equalities
}

TEST_CASE("cutting the minimizer again and again: the values rise to that of h <= epsilon") {
  int rises = 0;
  for (const QuadraticShape& shape : shapes()) {
    CAPTURE(shape.seed);
    const Instance instance = quadratic_instance(shape);
    const Options options = lower_options();
    const double epsilon = options.lower_tolerance;
    Normals normals(shape.seed + 99);
    const FixedStart start{instance.plain, settings_of(options),
                           random_locals(normals, shape.num_workers, shape.lower_dim),
                           normals.vector(shape.lower_dim)};
    RelaxedProblem problem = relaxed(quadratic_data(shape));
    // Whatever v is, (v, phi(v)) is feasible for every cut: an upper bound of all values.
    const Vector some_v = normals.vector(shape.upper_dim);
    const double ceiling = problem.value(stack(some_v, start.solution(some_v).first));

    RelaxedSolution now = solve(problem);
    while (problem.cuts.size() < kMostCuts) {
      const Vector v = now.u.head(instance.plain.upper_dim);
      std::vector<Vector> y;
      for (std::size_t i = 0; i < shape.num_workers; ++i)
        y.push_back(now.u.segment(v.size() + static_cast<Index>(i) * instance.plain.lower_dim,
                                  instance.plain.lower_dim));
      if (start.h(v, y, now.z) <= epsilon) break;
      const RelaxedCut cut = start.cut(v, y, now.z, epsilon);
      CHECK(cut_value(cut, now.u, now.z) > 0);
      check_valid(cut, start, epsilon, normals);
      problem.cuts.push_back(cut);
      const RelaxedSolution next = solve(problem);
      CHECK(next.value >= now.value - kTolerance);
      CHECK(next.value <= ceiling + kTolerance);
      rises += next.value > now.value + 1e-6 ? 1 : 0;
      now = next;
    }
  }
  MESSAGE(rises << " rises");
  CHECK(rises > 30);
}

}  // namespace
}  // namespace adbo::conformance
