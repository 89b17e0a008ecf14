#include "methods/running_estimates/block_preconditioner.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace adbo::detail {

using Matrix = Eigen::MatrixXd;

struct BlockPreconditioner::Factors {
  Matrix sum, scratch;
  Eigen::VectorXd power, product;  ///< of the power iteration
  Eigen::LLT<Matrix> plain, damped;
};

namespace {

void solve_pieces(const Eigen::LLT<Matrix>& factor, std::span<double> vector) {
  const Eigen::Index b = factor.rows();
  Eigen::Map<Matrix> pieces(vector.data(), b, static_cast<Eigen::Index>(vector.size()) / b);
  factor.solveInPlace(pieces);
}

}  // namespace

BlockPreconditioner::BlockPreconditioner(std::size_t block_size, std::size_t num_workers)
    : block_size_(block_size), blocks_(num_workers), factors_(std::make_unique<Factors>()) {}

BlockPreconditioner::~BlockPreconditioner() = default;

void BlockPreconditioner::drop(std::size_t worker) {
  blocks_[worker].clear();
  // The last one's stays in use until another is heard.
  changed_ = std::any_of(blocks_.begin(), blocks_.end(), [](const auto& one) { return !one.empty(); });
}

void BlockPreconditioner::set_curvature(std::size_t worker, std::span<const double> curvature) {
  blocks_[worker].assign(curvature.begin(), curvature.end());
  changed_ = true;
}

void BlockPreconditioner::refresh(double damping) {
  const bool damping_moved = std::abs(damping - damping_) > 0.1 * damping_;
  if (changed_) sum_blocks();
  if (changed_ || damping_moved) {
    damping_ = damping;
    factor_damped();
  }
  changed_ = false;
}

void BlockPreconditioner::factor_damped() {
  if (!is_damped() || !(mean_curvature_ > 0)) return;
  factors_->scratch = factors_->sum;
  factors_->scratch.diagonal().array() += damping_;
  factors_->damped.compute(factors_->scratch);
}

/// Sums and factors are made of the blocks again: the same operations, the same bits.
void BlockPreconditioner::persist(StateArchive& archive) {
  std::vector<double> power(factors_->power.begin(), factors_->power.end());
  bool largest_is_old = largest_is_old_;
  archive.sized(blocks_, power);
  archive(changed_, damping_, largest_, largest_is_old);
  const std::size_t numbers = block_size_ * block_size_;
  for (const std::vector<double>& block : blocks_) {
    archive.require(block.empty() || block.size() == numbers, "a curvature block of another size");
  }
  archive.require(power.empty() || power.size() == block_size_, "a direction of another size");
  if (!archive.is_loading()) return;
  const bool any =
      std::any_of(blocks_.begin(), blocks_.end(), [](const auto& block) { return !block.empty(); });
  if (any) {
    sum_blocks();
    factor_damped();
  }
  factors_->power = Eigen::Map<const Eigen::VectorXd>(power.data(), static_cast<Eigen::Index>(power.size()));
  largest_is_old_ = largest_is_old;
}

/// The mean of the blocks that are there, and its factors.
void BlockPreconditioner::sum_blocks() {
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

double BlockPreconditioner::largest_curvature() {
  if (largest_is_old_) find_largest();
  largest_is_old_ = false;
  return largest_;
}

/// Power iteration from where the last one ended: blocks change little from one refresh to the next.
void BlockPreconditioner::find_largest() {
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

void BlockPreconditioner::solve(std::span<double> vector) const {
  if (is_known()) solve_pieces(factors_->plain, vector);
}

void BlockPreconditioner::solve_damped(std::span<double> vector) const {
  if (is_known()) solve_pieces(is_damped() ? factors_->damped : factors_->plain, vector);
}

}  // namespace adbo::detail
