#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "adbo/kernels/gram.h"
#include "adbo/kernels/logistic.h"

namespace adbo::detail {

/// The exact Hessian of a weighted logistic regression: scale * sum_j weight_j s_j (1 - s_j) x_j x_j'.
class LogisticCurvature {
 public:
  LogisticCurvature(std::shared_ptr<const kernels::Rows> rows, int /*classes*/) : rows_(std::move(rows)) {
    if (kernels::column_count(*rows_) > kLargestBlock) return;
    size_ = kernels::column_count(*rows_);
    row_weight_.resize(kernels::row_count(*rows_));
  }

  /// b = m, or 0 where the matrix would be too large.
  [[nodiscard]] std::size_t size() const { return size_; }

  void compute(kernels::LogisticLoss& loss, std::span<const double> y, std::span<const double> weights,
               double scale, std::span<double> block) {
    loss.row_losses(y, row_weight_);
    for (std::size_t j = 0; j < row_weight_.size(); ++j) {
      // loss = log(1 + e^-m): e^-loss = s(m), and s (1 - s) is the second derivative.
      const double s = std::exp(-row_weight_[j]);
      row_weight_[j] = scale * s * (1 - s) * (weights.empty() ? 1.0 : weights[j]);
    }
    kernels::weighted_gram(*rows_, row_weight_, block);
  }

 private:
  static constexpr std::size_t kLargestBlock = 2000;
  std::shared_ptr<const kernels::Rows> rows_;
  std::size_t size_ = 0;
  std::vector<double> row_weight_;
};

}  // namespace adbo::detail
