#pragma once

#include <memory>
#include <span>

#include "methods/synchronous/rounds.h"
#include "methods/synchronous/solve_failure.h"

namespace adbo::detail {

/// The two solves of implicit differentiation with the mean lower objective g = (1/N) sum_i g_i, all
/// evaluations being rounds. Every method may throw RoundEnded.
class LowerSystem {
 public:
  virtual ~LowerSystem() = default;

  /// y <- argmin g(x, .) from the start in `lower` [m], until the norm of grad_y g is at most `tolerance`. A
  /// search that ends at the limits of rounding succeeds where the norm is at most kAcceptableGradient
  /// (1 + |g|); whoever needs more judges by what the remaining gradient does to the upper objective.
  virtual SolveFailure minimize(std::span<const double> upper, std::span<double> lower, double tolerance) = 0;

  /// q <- (d2 g/dy dy)^-1 rhs at the (x, y) that minimize() was last called for, from the start in `adjoint`
  /// [m]. Fails where the true residual stays above kWorstResidual ||rhs||; rhs = 0 gives q = 0.
  virtual SolveFailure solve_adjoint(std::span<const double> upper, std::span<const double> lower,
                                     std::span<const double> rhs, std::span<double> adjoint) = 0;

  static constexpr double kAcceptableGradient = 1e-6;
  static constexpr double kTargetResidual = 1e-12;
  static constexpr double kWorstResidual = 1e-6;
};

/// Newton's method and Cholesky factors where direct_curvature_size() says so, L-BFGS with Newton-CG and
/// conjugate gradients elsewhere. `rounds` must outlive the object.
[[nodiscard]] std::unique_ptr<LowerSystem> make_lower_system(Rounds& rounds);

}  // namespace adbo::detail
