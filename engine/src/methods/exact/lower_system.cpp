#include "methods/exact/lower_system.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include "adbo/kernels/dense_newton.h"
#include "adbo/kernels/fit.h"
#include "protocol/direct_curvature.h"
#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

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

SolveFailure judge_fit(const kernels::FitResult& fit) {
  const bool ended_early =
      fit.status == kernels::FitStatus::kStalled || fit.status == kernels::FitStatus::kEvaluationLimit;
  if (fit.status == kernels::FitStatus::kConverged) return std::nullopt;
  if (ended_early && is_acceptable(fit.gradient_norm, fit.value)) return std::nullopt;
  return not_minimized(kernels::to_string(fit.status), fit.gradient_norm);
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
    return judge_fit(fit);
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
        newton_(size_),
        residual_(size_),
        refined_(size_) {}

  SolveFailure minimize(std::span<const double> upper, std::span<double> lower, double tolerance) override {
    const kernels::FitResult fit = newton_.minimize(
        lower,
        [&](std::span<const double> y, std::span<double> gradient, std::span<double> hessian) {
          rounds_.ask({.lower = true, .curvature = true}, {.upper = upper, .lower = y});
          rounds_.mean(&Evaluation::lower_gradient, gradient);
          rounds_.mean(&Evaluation::curvature, hessian);
          return rounds_.mean(&Evaluation::lower_value);
        },
        {.gradient_tolerance = tolerance, .max_evaluations = kMostEvaluations});
    if (!newton_.is_factored())
      return not_minimized("its Hessian is not positive definite", fit.gradient_norm);
    return judge_fit(fit);
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
      newton_.solve(residual_);
      refined_.assign(adjoint.begin(), adjoint.end());
      add_scaled(1.0, residual_, refined_);
      rounds_.ask({.hessian_product = true}, {.upper = upper, .lower = lower, .direction = refined_});
      rounds_.mean(&Evaluation::hessian_product, residual_);
      for (std::size_t j = 0; j < size_; ++j) residual_[j] = rhs[j] - residual_[j];
      if (!(norm(residual_) < residual_norm)) break;  // the limit of rounding
      residual_norm = norm(residual_);
      std::copy(refined_.begin(), refined_.end(), adjoint.begin());
    }
    return judge_residual(residual_norm, rhs_norm);
  }

 private:
  static constexpr int kMostEvaluations = 1000, kMostRefinements = 4;

  Rounds& rounds_;
  std::size_t size_;
  kernels::DenseNewton newton_;
  std::vector<double> residual_, refined_;  // [m]
};

}  // namespace

std::unique_ptr<LowerSystem> make_lower_system(Rounds& rounds) {
  if (direct_curvature_size(rounds.problem()) > 0) return std::make_unique<DirectLowerSystem>(rounds);
  return std::make_unique<IterativeLowerSystem>(rounds);
}

}  // namespace adbo::detail
