#pragma once
// Two-class logistic regression without intercept, labels -1 / +1.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "adbo/kernels/rows.h"

namespace adbo::kernels {

/// The sum over rows j of  s * weight_j * log(1 + exp(-label_j * w.x_j)).
///
/// The variable w is [cols] doubles. Conventions of weights, scale, outputs, precision, memory and threads are those
/// of SoftmaxLoss.
class LogisticLoss {
 public:
  /// `labels` [rows], each -1 or +1. The matrix is shared, not copied.
  LogisticLoss(std::shared_ptr<const Rows> rows, std::vector<std::int32_t> labels);
  ~LogisticLoss();
  LogisticLoss(LogisticLoss&&) noexcept;
  LogisticLoss& operator=(LogisticLoss&&) noexcept;

  [[nodiscard]] std::size_t rows() const;
  [[nodiscard]] std::size_t dimension() const;  ///< cols

  double value(std::span<const double> w, std::span<const double> weights, double scale);
  double gradient(std::span<const double> w, std::span<const double> weights, double scale, std::span<double> out);
  void hessian_product(std::span<const double> w, std::span<const double> weights, double scale,
                       std::span<const double> u, std::span<double> out);
  /// out_j = d/dw log(1 + exp(-label_j w.x_j)) . u, unweighted and unscaled, into out [rows].
  void row_directional_derivatives(std::span<const double> w, std::span<const double> u, std::span<double> out);
  double fused(std::span<const double> w, std::span<const double> weights, double scale, std::span<const double> u,
               std::span<double> gradient_out, std::span<double> hessian_product_out,
               std::span<double> row_derivatives_out);
  void row_losses(std::span<const double> w, std::span<double> out);
  /// The second derivative of log(1 + exp(-t)) at t = label_j w.x_j, unweighted and unscaled, into out [rows]:
  /// weighted_gram() with these makes the Hessian.
  void row_curvatures(std::span<const double> w, std::span<double> out);
  /// -1 or +1 for every row into out [rows]; +1 where w.x_j > 0.
  void predict(std::span<const double> w, std::span<std::int32_t> out);

  double gradient(RowRange range, std::span<const double> w, std::span<const double> weights, double scale,
                  std::span<double> out);
  double fused(RowRange range, std::span<const double> w, std::span<const double> weights, double scale,
               std::span<const double> u, std::span<double> gradient_out, std::span<double> hessian_product_out,
               std::span<double> row_derivatives_out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace adbo::kernels
