#pragma once
// The relaxed problem (new_22) of a small quadratic instance, solved exactly: every set of cuts that may be
// the one with positive multipliers is tried.

#include <optional>
#include <vector>

#include "support/reference/reference_problem.h"

namespace adbo::conformance {

/// a.v + sum_i b_i.y_i + c.z + kappa <= 0 with (v, {y_i}) stacked: slope.u + consensus.z + offset <= 0.
struct RelaxedCut {
  reference::Vector slope;      // (a, b_1 ... b_N)
  reference::Vector consensus;  // c
  double offset = 0;            // kappa
};

/// min over u = (v, {y_i}) and z of  1/2 u'P u - q'u + constant  subject to the cuts. P is diagonal and
/// positive: with x_i = v, sum_i G_i = sum_i (1/2 ||y_i - t_i||^2 + rho/2 ||v - s_i||^2). z is free.
struct RelaxedProblem {
  reference::Vector diagonal;  // P
  reference::Vector linear;    // q
  double constant = 0;
  reference::Index consensus_dim = 0;
  std::vector<RelaxedCut> cuts;

  [[nodiscard]] double value(const reference::Vector& u) const;
};

struct RelaxedSolution {
  double value = 0;  // of the dual problem, which is a lower bound whatever u and z are
  reference::Vector u, z;
  double primal_value = 0;
  double worst_violation = 0;  // of the cuts at (u, z)
};

/// nullopt: no set of cuts gave a feasible point (the cuts exclude each other).
[[nodiscard]] std::optional<RelaxedSolution> solve_relaxed(const RelaxedProblem& problem);

}  // namespace adbo::conformance
