#include "methods/running_estimates/block_preconditioner.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "methods/running_estimates/persist_block.h"
#include "methods/running_estimates/pieces.h"

namespace adbo::detail {

using Matrix = Eigen::MatrixXd;

struct BlockPreconditioner::Factors {
  Matrix mean;                     ///< of the workers' blocks
  Matrix sum, scratch;             ///< with the common curvature; with the damping
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
    : block_size_(block_size),
      blocks_(num_workers),
      factors_(std::make_unique<Factors>()),
      common_(block_size) {}

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

/// Factors are dear where blocks are large, and the solves only precondition: changes within a small part of
/// P's diagonal wait.
void BlockPreconditioner::set_common_curvature(std::span<const double> diagonal) {
  constexpr double kNear = 0.02;
  for (std::size_t k = 0; k < block_size_; ++k) {
    const auto row = static_cast<Eigen::Index>(k);
    const double change = std::abs(largest_over_pieces(diagonal, block_size_, k) - common_[k]);
    if (!is_known() || change > kNear * factors_->sum(row, row)) common_changed_ = true;
  }
  if (!common_changed_) return;
  for (std::size_t k = 0; k < block_size_; ++k) common_[k] = largest_over_pieces(diagonal, block_size_, k);
}

bool BlockPreconditioner::has_blocks() const { return factors_->mean.size() > 0; }

void BlockPreconditioner::refresh(double damping) {
  const bool damping_moved = std::abs(damping - damping_) > 0.1 * damping_;
  const bool sum_changed = changed_ || common_changed_;
  if (changed_) sum_blocks();
  if (!has_blocks()) return;
  if (sum_changed) factor_sum();
  if (sum_changed || damping_moved) {
    damping_ = damping;
    factor_damped();
  }
  changed_ = common_changed_ = false;
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
  for (std::vector<double>& block : blocks_) persist_block(archive, block, block_size_);
  archive.sized(power);
  archive(changed_, common_, damping_, largest_, largest_is_old);
  archive.require(power.empty() || power.size() == block_size_, "a direction of another size");
  if (!archive.is_loading()) return;
  const bool any =
      std::any_of(blocks_.begin(), blocks_.end(), [](const auto& block) { return !block.empty(); });
  if (any) {
    sum_blocks();
    factor_sum();
    factor_damped();
  }
  factors_->power = Eigen::Map<const Eigen::VectorXd>(power.data(), static_cast<Eigen::Index>(power.size()));
  largest_is_old_ = largest_is_old;
}

/// The mean of the blocks that are there.
void BlockPreconditioner::sum_blocks() {
  const auto b = static_cast<Eigen::Index>(block_size_);
  factors_->mean.setZero(b, b);
  double heard = 0;
  for (const std::vector<double>& block : blocks_) {
    if (block.empty()) continue;
    factors_->mean += Eigen::Map<const Matrix>(block.data(), b, b);
    heard += 1;
  }
  factors_->mean /= heard;
}

/// P, with the common curvature, and its factors.
void BlockPreconditioner::factor_sum() {
  factors_->sum = factors_->mean;
  factors_->sum.diagonal() +=
      Eigen::Map<const Eigen::VectorXd>(common_.data(), static_cast<Eigen::Index>(block_size_));
  mean_curvature_ = factors_->sum.trace() / static_cast<double>(block_size_);
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

void BlockPreconditioner::add_mean_block_product(std::span<const double> vector,
                                                 std::span<double> out) const {
  if (!has_blocks()) return;
  const Matrix& mean = factors_->mean;
  add_block_product(1.0, {mean.data(), static_cast<std::size_t>(mean.size())}, block_size_, vector, out);
}

void BlockPreconditioner::solve(std::span<double> vector) const {
  if (is_known()) solve_pieces(factors_->plain, vector);
}

void BlockPreconditioner::solve_damped(std::span<double> vector) const {
  if (is_known()) solve_pieces(is_damped() ? factors_->damped : factors_->plain, vector);
}

}  // namespace adbo::detail
