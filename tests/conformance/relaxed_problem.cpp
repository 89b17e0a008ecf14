#include "relaxed_problem.h"

#include <Eigen/Dense>
#include <algorithm>
#include <limits>

namespace adbo::conformance {
namespace {

using reference::Index;
using reference::Matrix;
using reference::Vector;

std::vector<std::size_t> members(unsigned subset, std::size_t count) {
  std::vector<std::size_t> list;
  for (std::size_t l = 0; l < count; ++l)
    if ((subset >> l) & 1U) list.push_back(l);
  return list;
}

/// Slopes, consensus parts and offsets of some cuts, row by row.
struct Rows {
  Matrix slope, consensus;
  Vector offset;

  Rows(const RelaxedProblem& problem, const std::vector<std::size_t>& chosen)
      : slope(static_cast<Index>(chosen.size()), problem.diagonal.size()),
        consensus(static_cast<Index>(chosen.size()), problem.consensus_dim),
        offset(static_cast<Index>(chosen.size())) {
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      const RelaxedCut& cut = problem.cuts[chosen[k]];
      slope.row(static_cast<Index>(k)) = cut.slope;
      consensus.row(static_cast<Index>(k)) = cut.consensus;
      offset[static_cast<Index>(k)] = cut.offset;
    }
  }
};

Vector minimizer(const RelaxedProblem& problem, const Rows& rows, const Vector& lambda) {
  return (problem.linear - rows.slope.transpose() * lambda).cwiseQuotient(problem.diagonal);
}

/// The multipliers with which all chosen cuts hold with equality at the minimizer of the Lagrangian and
/// c'lambda = 0; where they are not unique, some: a set with unique ones has the same best value.
Vector multipliers(const RelaxedProblem& problem, const Rows& rows) {
  const Index k = rows.offset.size(), m = problem.consensus_dim;
  const Vector inverse = problem.diagonal.cwiseInverse();
  Matrix system = Matrix::Zero(k + m, k + m);
  system.topLeftCorner(k, k) = -rows.slope * inverse.asDiagonal() * rows.slope.transpose();
  system.topRightCorner(k, m) = rows.consensus;
  system.bottomLeftCorner(m, k) = rows.consensus.transpose();
  Vector right = Vector::Zero(k + m);
  right.head(k) = -rows.offset - rows.slope * inverse.cwiseProduct(problem.linear);
  return system.completeOrthogonalDecomposition().solve(right).head(k);
}

/// A z with  C z <= right, the shortest: it satisfies some of the rows with equality and is the shortest that
/// does.
std::optional<Vector> feasible_consensus(const Matrix& rows, const Vector& right, double tolerance) {
  const auto count = static_cast<std::size_t>(rows.rows());
  for (unsigned subset = 0; subset < (1U << count); ++subset) {
    const std::vector<std::size_t> tight = members(subset, count);
    Vector z = Vector::Zero(rows.cols());
    if (!tight.empty()) {
      Matrix chosen(static_cast<Index>(tight.size()), rows.cols());
      Vector values(static_cast<Index>(tight.size()));
      for (std::size_t k = 0; k < tight.size(); ++k) {
        chosen.row(static_cast<Index>(k)) = rows.row(static_cast<Index>(tight[k]));
        values[static_cast<Index>(k)] = right[static_cast<Index>(tight[k])];
      }
      z = chosen.completeOrthogonalDecomposition().solve(values);
    }
    if ((rows * z - right).maxCoeff() <= tolerance) return z;
  }
  return std::nullopt;
}

std::vector<std::size_t> all_cuts(const RelaxedProblem& problem) {
  return members((1U << problem.cuts.size()) - 1, problem.cuts.size());
}

}  // namespace

double RelaxedProblem::value(const Vector& u) const {
  return 0.5 * u.dot(diagonal.cwiseProduct(u)) - linear.dot(u) + constant;
}

std::optional<RelaxedSolution> solve_relaxed(const RelaxedProblem& problem) {
  // Every lambda >= 0 with sum_l lambda_l c_l = 0 gives a lower bound; the best one is the optimal value, and
  // one of the sets below, the smallest support of an optimal lambda, gives it.
  constexpr double kNonNegative = 1e-12, kBalanced = 1e-10, kFeasible = 1e-10;
  RelaxedSolution best;
  best.value = -std::numeric_limits<double>::infinity();
  for (unsigned subset = 0; subset < (1U << problem.cuts.size()); ++subset) {
    const Rows rows(problem, members(subset, problem.cuts.size()));
    const Vector lambda = rows.offset.size() == 0 ? Vector() : multipliers(problem, rows);
    if (lambda.size() > 0) {
      if (lambda.minCoeff() < -kNonNegative) continue;
      if ((rows.consensus.transpose() * lambda).norm() > kBalanced) continue;
    }
    const Vector u = minimizer(problem, rows, lambda);
    const double bound = problem.value(u) + lambda.dot(rows.slope * u + rows.offset);
    if (bound > best.value) {
      best.value = bound;
      best.u = u;
    }
  }
  const Rows rows(problem, all_cuts(problem));
  best.z = Vector::Zero(problem.consensus_dim);
  if (!problem.cuts.empty()) {
    const std::optional<Vector> z =
        feasible_consensus(rows.consensus, -rows.offset - rows.slope * best.u, kFeasible);
    if (!z) return std::nullopt;
    best.z = *z;
    best.worst_violation =
        std::max(0.0, (rows.slope * best.u + rows.consensus * best.z + rows.offset).maxCoeff());
  }
  best.primal_value = problem.value(best.u);
  return best;
}

}  // namespace adbo::conformance
