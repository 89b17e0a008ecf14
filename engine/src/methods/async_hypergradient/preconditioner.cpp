#include "methods/async_hypergradient/preconditioner.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>

#include "protocol/vector_math.h"

namespace adbo::detail {

struct Preconditioner::Factor {
  Eigen::LLT<Eigen::MatrixXd> cholesky, damped;
  Eigen::MatrixXd sum;
};

namespace {

/// All workers must give blocks of one size for their mean to exist.
std::size_t common_block_size(const Problem& problem) {
  const std::size_t size = problem.worker(0).lower_curvature_size();
  for (std::size_t i = 1; i < problem.num_workers(); ++i) {
    if (problem.worker(i).lower_curvature_size() != size) return 0;
  }
  return size > 0 && problem.lower_dim() % size == 0 ? size : 0;
}

}  // namespace

Preconditioner::Preconditioner(const Problem& problem)
    : block_size_(common_block_size(problem)),
      num_workers_(problem.num_workers()),
      blocks_(num_workers_),
      factor_(std::make_unique<Factor>()) {}

Preconditioner::~Preconditioner() = default;

void Preconditioner::set_block(std::size_t worker, std::span<const double> block) {
  if (block_size_ == 0) return;
  blocks_[worker].assign(block.begin(), block.end());
  changed_ = true;
}

void Preconditioner::refresh() {
  if (!changed_) return;
  changed_ = false;
  const auto b = static_cast<Eigen::Index>(block_size_);
  factor_->sum.setZero(b, b);
  double heard = 0;
  for (const std::vector<double>& block : blocks_) {
    if (block.empty()) continue;
    factor_->sum += Eigen::Map<const Eigen::MatrixXd>(block.data(), b, b);
    heard += 1;
  }
  factor_->sum /= heard;
  // A block made from a part of the rows may miss a direction altogether; a little of the average curvature keeps the
  // step there bounded.
  constexpr double kFloor = 1e-6;
  factor_->sum.diagonal().array() += kFloor * factor_->sum.trace() / static_cast<double>(b);
  mean_curvature_ = factor_->sum.trace() / static_cast<double>(b);
  factor_->cholesky.compute(factor_->sum);
  factor_->sum.diagonal().array() += damping_ * mean_curvature_;
  factor_->damped.compute(factor_->sum);
}

void Preconditioner::see_product(std::span<const double> u, std::span<const double> product) {
  const double norm = squared_norm(u);
  if (norm > 0) curvature_ = std::max(curvature_, dot(u, product) / norm);
}

double Preconditioner::mean_curvature() const { return mean_curvature_; }

void Preconditioner::solve_damped_in_place(std::span<double> vector) const {
  if (block_size_ == 0) return solve_in_place(vector);
  const auto b = static_cast<Eigen::Index>(block_size_);
  Eigen::Map<Eigen::MatrixXd> columns(vector.data(), b, static_cast<Eigen::Index>(vector.size()) / b);
  factor_->damped.solveInPlace(columns);
}

void Preconditioner::solve_in_place(std::span<double> vector) const {
  if (block_size_ == 0) {
    if (curvature_ > 0) {
      for (double& entry : vector) entry /= curvature_;
    }
    return;
  }
  const auto b = static_cast<Eigen::Index>(block_size_);
  Eigen::Map<Eigen::MatrixXd> columns(vector.data(), b, static_cast<Eigen::Index>(vector.size()) / b);
  factor_->cholesky.solveInPlace(columns);
}

}  // namespace adbo::detail
