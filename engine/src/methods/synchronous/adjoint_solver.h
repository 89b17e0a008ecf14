#pragma once

#include <memory>
#include <span>
#include <vector>

#include "adbo/kernels/fit.h"
#include "methods/synchronous/rounds.h"
#include "methods/synchronous/solve_failure.h"

namespace adbo::detail {

/// The system (d2 g/dy dy) q = rhs with the mean lower objective, solved as far as a few rounds go.
struct AdjointSystem {
  std::span<const double> upper{}, lower{};  ///< the point (x, y)
  std::span<const double> rhs{};             ///< [m]
  const BatchSampler* sampler = nullptr;     ///< products are estimated from its mini-batches; null: exact
  std::uint64_t first_draw = 0;              ///< one draw per product
};

struct AdjointResult {
  double relative_residual = 0;  ///< ||rhs - H q|| / ||rhs|| at the q returned; 0 where rhs = 0
  SolveFailure failure;
};

/// Approximate solvers by Hessian products, one round each. They allocate nothing once made. May throw
/// RoundEnded.
class AdjointSolver {
 public:
  virtual ~AdjointSolver() = default;
  /// `adjoint` [m] holds the start, for solvers that have one, and the result. rhs = 0 gives 0. `step` is
  /// read by solvers that have one.
  virtual AdjointResult solve(const AdjointSystem& system, double step, std::span<double> adjoint) = 0;
};

/// At most `steps` conjugate gradients from the start given; fails where the Hessian shows non-positive
/// curvature. With condition number kappa, s steps bring the error in the Hessian's norm down to
/// 2 ((sqrt kappa - 1) / (sqrt kappa + 1))^s of what it was. A start that is not zero, and the residual, cost
/// one round each.
[[nodiscard]] std::unique_ptr<AdjointSolver> make_conjugate_gradient_solver(Rounds& rounds, int steps);

/// step sum_{j < terms} (I - step H)^j rhs: the residual is (I - step H)^terms rhs, below ||rhs|| for every
/// positive definite H and step < 2 / L; fails where it is not, products being exact. `terms` rounds, one of
/// them for the residual.
[[nodiscard]] std::unique_ptr<AdjointSolver> make_neumann_solver(Rounds& rounds, int terms);

}  // namespace adbo::detail
