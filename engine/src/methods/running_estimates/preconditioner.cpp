#include "methods/running_estimates/preconditioner.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "protocol/vector_math.h"

namespace adbo::detail {

using Matrix = Eigen::MatrixXd;

struct Preconditioner::Factors {
  Matrix sum, scratch;
  Eigen::VectorXd power, product;  ///< of the power iteration
  Eigen::LLT<Matrix> plain, damped;
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

void scale(std::span<double> vector, double factor) {
  for (double& entry : vector) entry *= factor;
}

void solve_pieces(const Eigen::LLT<Matrix>& factor, std::span<double> vector) {
  const Eigen::Index b = factor.rows();
  Eigen::Map<Matrix> pieces(vector.data(), b, static_cast<Eigen::Index>(vector.size()) / b);
  factor.solveInPlace(pieces);
}

}  // namespace

Preconditioner::Preconditioner(const Problem& problem)
    : block_size_(common_block_size(problem)),
      num_workers_(problem.num_workers()),
      blocks_(num_workers_),
      factors_(std::make_unique<Factors>()) {}

Preconditioner::~Preconditioner() = default;

void Preconditioner::set_block(std::size_t worker, std::span<const double> block) {
  if (block_size_ == 0) return;
  blocks_[worker].assign(block.begin(), block.end());
  changed_ = true;
}

void Preconditioner::see_product(std::span<const double> u, std::span<const double> product) {
  constexpr double kMargin = 2;  // a product shows the curvature along u alone
  const double norm = squared_norm(u);
  if (block_size_ > 0 || norm == 0) return;
  mean_curvature_ = std::max(mean_curvature_, kMargin * std::sqrt(squared_norm(product) / norm));
}

void Preconditioner::refresh(double damping) {
  const bool damping_moved = std::abs(damping - damping_) > 0.1 * damping_;
  if (changed_) sum_blocks();
  if (changed_ || damping_moved) {
    damping_ = damping;
    if (is_damped() && block_size_ > 0 && mean_curvature_ > 0) {
      factors_->scratch = factors_->sum;
      factors_->scratch.diagonal().array() += damping_;
      factors_->damped.compute(factors_->scratch);
    }
  }
  changed_ = false;
}

/// The mean of the blocks that are there, and its factors.
void Preconditioner::sum_blocks() {
  const auto b = static_cast<Eigen::Index>(block_size_);
  factors_->sum.setZero(b, b);
  double heard = 0;
  for (const std::vector<double>& block : blocks_) {
    if (block.empty()) continue;
    factors_->sum += Eigen::Map<const Matrix>(block.data(), b, b);
    heard += 1;
  }
  factors_->sum /= heard;
  mean_curvature_ = factors_->sum.trace() / static_cast<double>(b);
  // A block made of a part of the rows may miss a direction; a little of the mean curvature bounds the step
  // there.
  constexpr double kFloor = 1e-6;
  factors_->sum.diagonal().array() += kFloor * mean_curvature_;
  factors_->plain.compute(factors_->sum);
  largest_is_old_ = true;
}

double Preconditioner::largest_curvature() {
  if (block_size_ == 0) return mean_curvature_;
  if (largest_is_old_) find_largest();
  largest_is_old_ = false;
  return largest_;
}

/// Power iteration from where the last one ended: blocks change little from one refresh to the next.
void Preconditioner::find_largest() {
  constexpr int kIterations = 10;
  Eigen::VectorXd& power = factors_->power;
  if (power.size() == 0) power = Eigen::VectorXd::LinSpaced(factors_->sum.rows(), 1, 2).normalized();
  for (int k = 0; k < kIterations; ++k) {
    factors_->product.noalias() = factors_->sum * power;
    largest_ = factors_->product.norm();
    if (!(largest_ > 0)) return;
    power = factors_->product / largest_;
  }
}

void Preconditioner::solve(std::span<double> vector) const {
  if (!is_known()) return;
  if (block_size_ > 0) {
    solve_pieces(factors_->plain, vector);
  } else {
    scale(vector, 1 / mean_curvature_);
  }
}

void Preconditioner::solve_damped(std::span<double> vector) const {
  if (!is_known()) return;
  if (block_size_ > 0) {
    solve_pieces(is_damped() ? factors_->damped : factors_->plain, vector);
  } else {
    scale(vector, 1 / (mean_curvature_ + damping_));
  }
}

}  // namespace adbo::detail
