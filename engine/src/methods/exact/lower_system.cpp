#include "methods/exact/lower_system.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include "adbo/kernels/fit.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

using Matrix = Eigen::MatrixXd;

double norm(std::span<const double> a) { return std::sqrt(squared_norm(a)); }

std::string in_words(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

SolveFailure not_minimized(std::string_view why, double gradient_norm) {
  return "the lower level was not solved (" + std::string(why) + ", gradient norm " +
         in_words(gradient_norm) + ")";
}

SolveFailure judge_residual(double residual_norm, double rhs_norm) {
  if (residual_norm <= LowerSystem::kWorstResidual * rhs_norm) return std::nullopt;
  return "the adjoint system was not solved (relative residual " + in_words(residual_norm / rhs_norm) + ")";
}

bool is_acceptable(double gradient_norm, double value) {
  return gradient_norm <= LowerSystem::kAcceptableGradient * (1 + std::abs(value));
}

// ---------------------------------------------------------------------------------------------------------
// Products alone

class IterativeLowerSystem final : public LowerSystem {
 public:
  explicit IterativeLowerSystem(Rounds& rounds) : rounds_(rounds) {}

  SolveFailure minimize(std::span<const double> upper, std::span<double> lower, double tolerance) override {
    const kernels::FitResult fit = kernels::fit(
        lower,
        [&](std::span<const double> y, std::span<double> gradient) {
          rounds_.ask({.lower = true}, {.upper = upper, .lower = y});
          rounds_.mean(&Evaluation::lower_gradient, gradient);
          return rounds_.mean(&Evaluation::lower_value);
        },
        [&](std::span<const double> y, std::span<const double> u, std::span<double> out) {
          product(upper, y, u, out);
        },
        {.gradient_tolerance = tolerance, .max_evaluations = kMostEvaluations});
    const bool solved =
        fit.status == kernels::FitStatus::kConverged ||
        ((fit.status == kernels::FitStatus::kStalled || fit.status == kernels::FitStatus::kEvaluationLimit) &&
         is_acceptable(fit.gradient_norm, fit.value));
    if (!solved) return not_minimized(kernels::to_string(fit.status), fit.gradient_norm);
    return std::nullopt;
  }

  SolveFailure solve_adjoint(std::span<const double> upper, std::span<const double> lower,
                             std::span<const double> rhs, std::span<double> adjoint) override {
    const int most = std::max<int>(kLeastSteps, kStepsPerDimension * static_cast<int>(rhs.size()));
    const kernels::LinearSolveResult solve = kernels::conjugate_gradients(
        [&](std::span<const double> u, std::span<double> out) { product(upper, lower, u, out); }, rhs,
        adjoint, kTargetResidual, std::min(most, kMostEvaluations));
    if (solve.converged) return std::nullopt;
    if (solve.non_positive_curvature) {
      return "the adjoint system was not solved: the lower Hessian is not positive definite";
    }
    return judge_residual(solve.residual_norm, norm(rhs));
  }

 private:
  static constexpr int kMostEvaluations = 20000;
  static constexpr int kLeastSteps = 100, kStepsPerDimension = 10;

  void product(std::span<const double> upper, std::span<const double> lower, std::span<const double> u,
               std::span<double> out) {
    rounds_.ask({.hessian_product = true}, {.upper = upper, .lower = lower, .direction = u});
    rounds_.mean(&Evaluation::hessian_product, out);
  }

  Rounds& rounds_;
};

// ---------------------------------------------------------------------------------------------------------
// The whole Hessian

class DirectLowerSystem final : public LowerSystem {
 public:
  explicit DirectLowerSystem(Rounds& rounds)
      : rounds_(rounds),
        size_(rounds.problem().lower_dim()),
        trial_(size_),
        gradient_(size_),
        direction_(size_),
        residual_(size_),
        hessian_(size_, size_) {}

  SolveFailure minimize(std::span<const double> upper, std::span<double> lower, double tolerance) override {
    double value = evaluate(upper, lower);
    for (int k = 0; k < kMostNewtonSteps; ++k) {
      // Also at the solution: the factors serve the adjoint.
      factors_.compute(hessian_);
      if (factors_.info() != Eigen::Success) {
        return not_minimized("its Hessian is not positive definite", norm(gradient_));
      }
      if (norm(gradient_) <= tolerance) return std::nullopt;
      std::transform(gradient_.begin(), gradient_.end(), direction_.begin(), [](double g) { return -g; });
      solve(direction_);
      if (!search(upper, lower, value)) {
        if (is_acceptable(norm(gradient_), value)) return std::nullopt;
        return not_minimized("no further decrease", norm(gradient_));
      }
    }
    if (is_acceptable(norm(gradient_), value)) return std::nullopt;
    return not_minimized("too many Newton steps", norm(gradient_));
  }

  /// The factors' solution, refined by Hessian products: these do not come from the same numbers, so that
  /// the residual also judges the curvature that the workers claim.
  SolveFailure solve_adjoint(std::span<const double> upper, std::span<const double> lower,
                             std::span<const double> rhs, std::span<double> adjoint) override {
    std::fill(adjoint.begin(), adjoint.end(), 0.0);
    const double rhs_norm = norm(rhs);
    if (rhs_norm == 0) return std::nullopt;
    residual_.assign(rhs.begin(), rhs.end());
    double residual_norm = rhs_norm;
    for (int k = 0; k < kMostRefinements && residual_norm > kTargetResidual * rhs_norm; ++k) {
      solve(residual_);
      direction_.assign(adjoint.begin(), adjoint.end());
      add_scaled(1.0, residual_, direction_);
      rounds_.ask({.hessian_product = true}, {.upper = upper, .lower = lower, .direction = direction_});
      rounds_.mean(&Evaluation::hessian_product, residual_);
      for (std::size_t j = 0; j < size_; ++j) residual_[j] = rhs[j] - residual_[j];
      if (!(norm(residual_) < residual_norm)) break;  // the limit of rounding
      residual_norm = norm(residual_);
      std::copy(direction_.begin(), direction_.end(), adjoint.begin());
    }
    return judge_residual(residual_norm, rhs_norm);
  }

 private:
  static constexpr int kMostNewtonSteps = 200, kMostHalvings = 40, kMostRefinements = 4;
  static constexpr double kDecrease = 1e-4;

  /// g at (x, y); the gradient and the Hessian into gradient_ and hessian_.
  double evaluate(std::span<const double> upper, std::span<const double> lower) {
    rounds_.ask({.lower = true, .curvature = true}, {.upper = upper, .lower = lower});
    rounds_.mean(&Evaluation::lower_gradient, gradient_);
    rounds_.mean(&Evaluation::curvature, std::span(hessian_.data(), size_ * size_));
    return rounds_.mean(&Evaluation::lower_value);
  }

  void solve(std::vector<double>& vector) const {
    Eigen::Map<Eigen::VectorXd> view(vector.data(), static_cast<Eigen::Index>(size_));
    factors_.solveInPlace(view);
  }

  /// Moves `lower` along direction_ by the largest halving that decreases g enough or, where g no longer
  /// tells points apart, the gradient; false: none does, and everything is as before.
  bool search(std::span<const double> upper, std::span<double> lower, double& value) {
    const double slope = dot(gradient_, direction_), gradient_norm = norm(gradient_);
    const std::vector<double> gradient_before = gradient_;
    const double noise = 1e-13 * (1 + std::abs(value));
    double step = 1;
    for (int k = 0; k < kMostHalvings; ++k, step /= 2) {
      std::copy(lower.begin(), lower.end(), trial_.begin());
      add_scaled(step, direction_, trial_);
      const double trial_value = evaluate(upper, trial_);
      const bool enough = trial_value <= value + kDecrease * step * slope ||
                          (trial_value <= value + noise && norm(gradient_) < 0.5 * gradient_norm);
      if (!enough) continue;
      std::copy(trial_.begin(), trial_.end(), lower.begin());
      value = trial_value;
      return true;
    }
    gradient_ = gradient_before;
    return false;
  }

  Rounds& rounds_;
  std::size_t size_;
  std::vector<double> trial_, gradient_, direction_, residual_;  // [m]
  Matrix hessian_;
  Eigen::LLT<Matrix> factors_;
};

}  // namespace

std::size_t direct_curvature_size(const Problem& problem) {
  constexpr std::size_t kLargest = 512;  // N matrices of this size travel in a round
  if (problem.lower_dim() > kLargest) return 0;
  for (std::size_t i = 0; i < problem.num_workers(); ++i) {
    if (problem.worker(i).lower_curvature_size() != problem.lower_dim()) return 0;
  }
  return problem.lower_dim();
}

std::unique_ptr<LowerSystem> make_lower_system(Rounds& rounds) {
  if (direct_curvature_size(rounds.problem()) > 0) return std::make_unique<DirectLowerSystem>(rounds);
  return std::make_unique<IterativeLowerSystem>(rounds);
}

}  // namespace adbo::detail
