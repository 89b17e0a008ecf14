#include "adbo/kernels/dense_newton.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace adbo::kernels {

using Matrix = Eigen::MatrixXd;
using ConstView = Eigen::Map<const Eigen::VectorXd>;

struct DenseNewton::Factors {
  explicit Factors(std::size_t dimension) : hessian(dimension, dimension), llt(hessian.rows()) {}
  Matrix hessian;
  Eigen::LLT<Matrix> llt;
  bool is_valid = false;
};

namespace {

ConstView view(std::span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

double norm(std::span<const double> a) { return view(a).norm(); }

/// How far two values may differ and still count as equal.
double value_noise(double value) { return 1e-13 * (1 + std::abs(value)); }

}  // namespace

DenseNewton::DenseNewton(std::size_t dimension)
    : trial_(dimension),
      gradient_(dimension),
      trial_gradient_(dimension),
      direction_(dimension),
      factors_(std::make_unique<Factors>(dimension)) {}

DenseNewton::~DenseNewton() = default;

bool DenseNewton::is_factored() const { return factors_->is_valid; }

void DenseNewton::solve(std::span<double> vector) const {
  Eigen::Map<Eigen::VectorXd> in_place(vector.data(), static_cast<Eigen::Index>(vector.size()));
  factors_->llt.solveInPlace(in_place);
}

double DenseNewton::evaluate(std::span<const double> w, const SecondOrderFunction& function) {
  ++evaluations_;
  return function(w, trial_gradient_,
                  {factors_->hessian.data(), static_cast<std::size_t>(factors_->hessian.size())});
}

FitResult DenseNewton::minimize(std::span<double> w, const SecondOrderFunction& function,
                                const FitOptions& options) {
  evaluations_ = 0;
  double value = evaluate(w, function);
  gradient_ = trial_gradient_;
  const auto result = [&](FitStatus status) {
    return FitResult{
        .status = status, .value = value, .gradient_norm = norm(gradient_), .evaluations = evaluations_};
  };
  factors_->is_valid = false;
  if (!std::isfinite(value) || !std::isfinite(norm(gradient_))) return result(FitStatus::kNotFinite);
  for (;;) {
    // At the minimum, too: whoever solves with the Hessian there needs the factors.
    factors_->llt.compute(factors_->hessian);
    factors_->is_valid = factors_->llt.info() == Eigen::Success;
    if (norm(gradient_) <= options.gradient_tolerance) return result(FitStatus::kConverged);
    if (!factors_->is_valid) return result(FitStatus::kStalled);
    if (evaluations_ >= options.max_evaluations) return result(FitStatus::kEvaluationLimit);
    std::transform(gradient_.begin(), gradient_.end(), direction_.begin(), [](double g) { return -g; });
    solve(direction_);
    if (!search(w, value, function, options)) return result(FitStatus::kStalled);
  }
}

/// Moves along direction_ by the largest halving that decreases the value enough or, where values no longer
/// tell points apart, the gradient; false: none does, and w, value, gradient and factors are as before.
bool DenseNewton::search(std::span<double> w, double& value, const SecondOrderFunction& function,
                         const FitOptions& options) {
  constexpr double kDecrease = 1e-4, kSmaller = 0.5;
  constexpr int kMostHalvings = 40;
  const double slope = view(gradient_).dot(view(direction_)), gradient_norm = norm(gradient_);
  double step = 1;
  for (int k = 0; k < kMostHalvings && evaluations_ < options.max_evaluations; ++k, step /= 2) {
    for (std::size_t j = 0; j < w.size(); ++j) trial_[j] = w[j] + step * direction_[j];
    const double trial_value = evaluate(trial_, function);
    const bool enough =
        trial_value <= value + kDecrease * step * slope ||
        (trial_value <= value + value_noise(value) && norm(trial_gradient_) < kSmaller * gradient_norm);
    if (!enough) continue;  // a value that is not a number, too
    std::copy(trial_.begin(), trial_.end(), w.begin());
    gradient_.swap(trial_gradient_);
    value = trial_value;
    return true;
  }
  return false;
}

}  // namespace adbo::kernels
