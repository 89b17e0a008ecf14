#include "methods/synchronous/adjoint_solver.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

/// H u by a round with all workers; `k` counts the system's products.
void hessian_product(Rounds& rounds, const AdjointSystem& system, std::uint64_t k, std::span<const double> u,
                     std::span<double> out) {
  const EvaluationPoint point{.upper = system.upper, .lower = system.lower, .direction = u};
  if (system.sampler == nullptr) {
    rounds.ask({.hessian_product = true}, point);
  } else {
    rounds.ask({.hessian_product = true}, point, *system.sampler, {.lower = system.first_draw + k});
  }
  rounds.mean(&Evaluation::hessian_product, out);
}

class ConjugateGradientSolver final : public AdjointSolver {
 public:
  ConjugateGradientSolver(Rounds& rounds, int steps)
      : rounds_(rounds), steps_(steps), solver_(rounds.problem().lower_dim()) {}

  AdjointResult solve(const AdjointSystem& system, double /*step*/, std::span<double> adjoint) override {
    constexpr double kTolerance = 1e-12;
    system_ = system;
    products_ = 0;
    const auto product = [this](std::span<const double> u, std::span<double> out) {
      hessian_product(rounds_, system_, products_++, u, out);
    };
    const kernels::LinearSolveResult solve = solver_.solve(product, system.rhs, adjoint, kTolerance, steps_);
    AdjointResult result;
    const double rhs_norm = std::sqrt(squared_norm(system.rhs));
    if (rhs_norm > 0) result.relative_residual = solve.residual_norm / rhs_norm;
    if (solve.non_positive_curvature) {
      result.failure = "the adjoint system was not solved: the lower Hessian is not positive definite";
    }
    return result;
  }

 private:
  Rounds& rounds_;
  int steps_;
  AdjointSystem system_;
  std::uint64_t products_ = 0;
  kernels::ConjugateGradients solver_;
};

class NeumannSolver final : public AdjointSolver {
 public:
  NeumannSolver(Rounds& rounds, int terms)
      : rounds_(rounds), terms_(terms), residual_(rounds.problem().lower_dim()) {}

  /// The partial sums obey q_{j+1} = q_j + step (rhs - H q_j): a term is the residual of those before it.
  AdjointResult solve(const AdjointSystem& system, double step, std::span<double> adjoint) override {
    const double rhs_norm = std::sqrt(squared_norm(system.rhs));
    std::fill(adjoint.begin(), adjoint.end(), 0.0);
    if (rhs_norm == 0) return {};
    std::copy(system.rhs.begin(), system.rhs.end(), residual_.begin());
    for (int j = 0; j < terms_; ++j) {
      add_scaled(step, residual_, adjoint);
      hessian_product(rounds_, system, static_cast<std::uint64_t>(j), adjoint, residual_);
      for (std::size_t k = 0; k < residual_.size(); ++k) residual_[k] = system.rhs[k] - residual_[k];
    }
    AdjointResult result{.relative_residual = std::sqrt(squared_norm(residual_)) / rhs_norm, .failure = {}};
    if (result.relative_residual > 1 && system.sampler == nullptr) {
      std::ostringstream text;
      text << "the Neumann series of the adjoint diverges (relative residual " << result.relative_residual
           << "): its step is too long, or the lower Hessian is not positive definite";
      result.failure = text.str();
    }
    return result;
  }

 private:
  Rounds& rounds_;
  int terms_;
  std::vector<double> residual_;
};

}  // namespace

std::unique_ptr<AdjointSolver> make_conjugate_gradient_solver(Rounds& rounds, int steps) {
  return std::make_unique<ConjugateGradientSolver>(rounds, steps);
}

std::unique_ptr<AdjointSolver> make_neumann_solver(Rounds& rounds, int terms) {
  return std::make_unique<NeumannSolver>(rounds, terms);
}

}  // namespace adbo::detail
