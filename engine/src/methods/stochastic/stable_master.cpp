#include "methods/stochastic/stable_master.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <sstream>

#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Eigen::Map<Vector> view(std::span<double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

}  // namespace

struct StableMaster::Estimates {
  Estimates(Eigen::Index n, Eigen::Index m) : hessian(m, m), cross(n, m), factor(m) {}

  /// Symmetric, with its eigenvalues kept above the floor, and factored.
  void settle() {
    for (Eigen::Index c = 0; c < hessian.cols(); ++c) {
      for (Eigen::Index r = 0; r < c; ++r) {
        hessian(r, c) = hessian(c, r) = 0.5 * (hessian(r, c) + hessian(c, r));
      }
    }
    factor.compute(hessian);
    if (is_well_conditioned()) return;
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(hessian);
    const double floor = kSmallestEigenvalue * eigen.eigenvalues().cwiseAbs().maxCoeff();
    hessian = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(floor).asDiagonal() *
              eigen.eigenvectors().transpose();
    factor.compute(hessian);
  }

  /// By the factor's diagonal, whose squares lie between the eigenvalues.
  [[nodiscard]] bool is_well_conditioned() const {
    if (factor.info() != Eigen::Success) return false;
    const auto diagonal = factor.matrixLLT().diagonal();
    const double ratio = diagonal.minCoeff() / diagonal.maxCoeff();
    return ratio * ratio > kSmallestEigenvalue;
  }

  void persist(StateArchive& archive) {
    archive.values({hessian.data(), static_cast<std::size_t>(hessian.size())});
    archive.values({cross.data(), static_cast<std::size_t>(cross.size())});
    archive(is_filled);
  }

  Matrix hessian;  // H
  Matrix cross;    // J
  Eigen::LLT<Matrix> factor;
  bool is_filled = false;
};

StableMaster::StableMaster(const Problem& problem, const Options& options)
    : StochasticMaster(problem, options),
      options_(options),
      old_upper_(problem.upper_dim()),
      old_lower_(problem.lower_dim()),
      unit_(problem.lower_dim()),
      adjoint_(problem.lower_dim()),
      lower_gradient_(problem.lower_dim()),
      column_(problem.lower_dim()),
      cross_(problem.upper_dim()) {}
StableMaster::~StableMaster() = default;

std::optional<Ending> StableMaster::prepare() {
  const std::size_t n = upper().size(), m = lower().size();
  // H, its factor and a temporary copy, J.
  const double bytes =
      sizeof(double) * (3.0 * static_cast<double>(m) + static_cast<double>(n)) * static_cast<double>(m);
  if (bytes > kMemoryLimit) {
    std::ostringstream text;
    text << "stable would keep a " << m << " x " << m << " and a " << n << " x " << m << " matrix, "
         << bytes / 1e9 << " GB with what they are worked with; its limit is " << kMemoryLimit / 1e9 << " GB";
    return Ending{Termination::kFailed, text.str()};
  }
  make_estimates();
  return std::nullopt;
}

void StableMaster::make_estimates() {
  estimates_ = std::make_unique<Estimates>(static_cast<Eigen::Index>(old_upper_.size()),
                                           static_cast<Eigen::Index>(old_lower_.size()));
}

/// The factor is made anew at the beginning of every iteration.
void StableMaster::persist(StateArchive& archive) {
  StochasticMaster::persist(archive);
  archive(old_upper_, old_lower_);
  if (archive.is_loading() && is_prepared()) make_estimates();
  if (estimates_ != nullptr) archive(*estimates_);
}

std::optional<Ending> StableMaster::advance(const Steps& steps) {
  update_estimates();
  std::copy(upper().begin(), upper().end(), old_upper_.begin());
  std::copy(lower().begin(), lower().end(), old_lower_.begin());

  evaluate({.upper = true, .lower = true}, {}, fresh_draws());
  rounds().mean(&Evaluation::lower_gradient, lower_gradient_);
  rounds().mean_on_supports(&Evaluation::upper_gradient_upper, direction_);
  rounds().mean(&Evaluation::upper_gradient_lower, adjoint_);
  estimates_->factor.solveInPlace(view(adjoint_));
  view(cross_).noalias() = estimates_->cross * view(adjoint_);
  add_scaled(-1.0, cross_, direction_);
  step_upper(steps.upper);

  for (std::size_t j = 0; j < cross_.size(); ++j) cross_[j] = upper()[j] - old_upper_[j];
  view(column_).noalias() = estimates_->cross.transpose() * view(cross_);
  estimates_->factor.solveInPlace(view(column_));
  add_scaled(-steps.lower, lower_gradient_, lower());
  add_scaled(-1.0, column_, lower());
  return std::nullopt;
}

void StableMaster::update_estimates() {
  const BatchDraws draws = fresh_draws();
  if (!estimates_->is_filled || sampler().is_exact()) {
    estimates_->hessian.setZero();
    estimates_->cross.setZero();
    estimates_->is_filled = true;
  } else {
    const double kept = 1 - options_.stable_weight;
    estimates_->hessian *= kept;
    estimates_->cross *= kept;
    add_matrices(-kept, old_upper_, old_lower_, draws);
  }
  add_matrices(1, upper(), lower(), draws);
  estimates_->settle();
}

/// H += factor h(x, y), J likewise.
void StableMaster::add_matrices(double factor, std::span<const double> at_upper,
                                std::span<const double> at_lower, const BatchDraws& draws) {
  std::fill(unit_.begin(), unit_.end(), 0.0);
  for (std::size_t k = 0; k < unit_.size(); ++k) {
    unit_[k] = 1;
    rounds().ask({.hessian_product = true, .cross_product = true},
                 {.upper = at_upper, .lower = at_lower, .direction = unit_}, sampler(), draws);
    unit_[k] = 0;
    const auto column = static_cast<Eigen::Index>(k);
    rounds().mean(&Evaluation::hessian_product, column_);
    rounds().mean_on_supports(&Evaluation::cross_product, cross_);
    estimates_->hessian.col(column) += factor * view(column_);
    estimates_->cross.col(column) += factor * view(cross_);
  }
}

}  // namespace adbo::detail
