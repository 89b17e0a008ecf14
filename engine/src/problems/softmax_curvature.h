#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "adbo/kernels/gram.h"
#include "adbo/kernels/softmax.h"

namespace adbo::detail {

/// The curvature block of a weighted softmax regression, one for all classes:
///   scale * sum_j weight_j kappa_j x_j x_j',   kappa_j = 2 max_c p_jc (1 - p_jc).
/// diag(p) - p p' has no eigenvalue above kappa_j (Gershgorin), so the block's copies bound the Hessian. With
/// many rows it is made of every k-th row, k-fold, which leaves enough rows per feature over all workers.
class SoftmaxCurvature {
 public:
  SoftmaxCurvature(std::shared_ptr<const kernels::Rows> rows, int classes)
      : rows_(std::move(rows)),
        classes_(static_cast<std::size_t>(classes)),
        probability_(kernels::row_count(*rows_) * classes_),
        row_weight_(kernels::row_count(*rows_)) {
    if (kernels::column_count(*rows_) <= kLargestBlock) size_ = kernels::column_count(*rows_);
  }

  /// b, or 0 where a block would be too large.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t diagonal_size() const { return kernels::column_count(*rows_); }

  void compute(kernels::SoftmaxLoss& loss, std::span<const double> y, std::span<const double> weights,
               double scale, std::span<double> block) {
    const std::size_t enough = std::max(size_, kFewestRows);
    weigh_rows(loss, y, weights, scale, std::max<std::size_t>(1, row_weight_.size() / enough));
    kernels::weighted_gram(*rows_, row_weight_, block);
  }

  /// Of all rows.
  void compute_diagonal(kernels::SoftmaxLoss& loss, std::span<const double> y,
                        std::span<const double> weights, double scale, std::span<double> diagonal) {
    weigh_rows(loss, y, weights, scale, 1);
    kernels::weighted_squares(*rows_, row_weight_, diagonal);
  }

 private:
  /// row_weight_ <- scale weight_j kappa_j of every `stride`-th row, `stride`-fold.
  void weigh_rows(kernels::SoftmaxLoss& loss, std::span<const double> y, std::span<const double> weights,
                  double scale, std::size_t stride) {
    loss.probabilities(y, probability_);
    std::fill(row_weight_.begin(), row_weight_.end(), 0.0);
    for (std::size_t j = 0; j < row_weight_.size(); j += stride) {
      double widest = 0;
      for (std::size_t c = 0; c < classes_; ++c) {
        const double p = probability_[j * classes_ + c];
        widest = std::max(widest, 2 * p * (1 - p));
      }
      row_weight_[j] = scale * static_cast<double>(stride) * widest * (weights.empty() ? 1.0 : weights[j]);
    }
  }

  static constexpr std::size_t kLargestBlock = 2000;
  static constexpr std::size_t kFewestRows = 500;

  std::shared_ptr<const kernels::Rows> rows_;
  std::size_t classes_, size_ = 0;
  std::vector<double> probability_, row_weight_;
};

}  // namespace adbo::detail
