#pragma once

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
  LogisticCurvature(std::shared_ptr<const kernels::Rows> rows, int /*classes*/)
      : rows_(std::move(rows)), row_weight_(kernels::row_count(*rows_)) {
    if (kernels::column_count(*rows_) <= kLargestBlock) size_ = kernels::column_count(*rows_);
  }

  /// b = m, or 0 where the matrix would be too large.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t diagonal_size() const { return kernels::column_count(*rows_); }

  void compute(kernels::LogisticLoss& loss, std::span<const double> y, std::span<const double> weights,
               double scale, std::span<double> block) {
    weigh_rows(loss, y, weights, scale);
    kernels::weighted_gram(*rows_, row_weight_, block);
  }

  void compute_diagonal(kernels::LogisticLoss& loss, std::span<const double> y,
                        std::span<const double> weights, double scale, std::span<double> diagonal) {
    weigh_rows(loss, y, weights, scale);
    kernels::weighted_squares(*rows_, row_weight_, diagonal);
  }

 private:
  void weigh_rows(kernels::LogisticLoss& loss, std::span<const double> y, std::span<const double> weights,
                  double scale) {
    loss.row_curvatures(y, row_weight_);
    for (std::size_t j = 0; j < row_weight_.size(); ++j) {
      row_weight_[j] *= scale * (weights.empty() ? 1.0 : weights[j]);
    }
  }

  static constexpr std::size_t kLargestBlock = 2000;
  std::shared_ptr<const kernels::Rows> rows_;
  std::size_t size_ = 0;
  std::vector<double> row_weight_;
};

}  // namespace adbo::detail
