#pragma once

#include <memory>
#include <vector>

#include "methods/synchronous/adjoint_solver.h"
#include "methods/synchronous/descent_master.h"

namespace adbo::detail {

/// Approximate implicit differentiation at a y that need not be the lower level's solution:
///   d = grad_x G - (d2 g/dx dy) q,  (d2 g/dy dy) q = grad_y G approximately, all at (x, y).
/// At y = y*(x) the error is at most ||d2 g/dx dy|| ||residual|| / mu, with mu the least eigenvalue of
/// d2 g/dy dy. Two rounds beside the solver's.
class AidHypergradient {
 public:
  AidHypergradient(Rounds& rounds, std::unique_ptr<AdjointSolver> solver);

  /// Fills gradient, adjoint (from the adjoint before, where the solver has a start) and the values of a
  /// point. `step` is the solver's.
  AdjointResult estimate(double step, OuterPoint& point);

 private:
  Rounds& rounds_;
  std::unique_ptr<AdjointSolver> solver_;
  std::vector<double> upper_gradient_lower_;  ///< grad_y G, [m]
  std::vector<double> cross_product_;         ///< [n]
};

/// AID-BiO (Ji, Yang, Liang 2021, Algorithm 1; Grazzi et al. 2020): lower_steps = D gradient steps of y from
/// the last y, the adjoint by adjoint_steps = N conjugate gradients from the last q or by N terms of the
/// Neumann series, and a gradient step of x. Deterministic: means over all workers and samples.
class AidMaster final : public DescentMaster {
 public:
  AidMaster(const Problem& problem, const Options& options);

 private:
  SolveFailure estimate(std::int64_t t, OuterPoint& point) override;

  LowerDescent descent_;
  AidHypergradient hypergradient_;
};

}  // namespace adbo::detail
