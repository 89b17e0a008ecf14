#pragma once
// Softmax (multinomial logistic) regression without intercept: the value and the products that a bilevel method needs.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "adbo/kernels/rows.h"

namespace adbo::kernels {

/// The sum over rows j of  s * weight_j * CE_j(W),  CE_j(W) = -log softmax(W' x_j)[label_j].
///
/// The variable W is [classes * cols] doubles, class after class: W[c * cols + k] belongs to class c and feature k.
/// `weights` is one factor per row ([rows]) or empty, which means 1 for every row; `scale` is s above (1/rows for a mean).
/// Outputs named out are overwritten. Feature values are float32; all products and sums are double.
/// One object serves one thread at a time: it owns the scratch memory, allocated at construction; no call allocates.
class SoftmaxLoss {
 public:
  /// `labels` [rows] in [0, classes). The matrix is shared, not copied.
  SoftmaxLoss(std::shared_ptr<const Rows> rows, std::vector<std::int32_t> labels, int classes);
  ~SoftmaxLoss();
  SoftmaxLoss(SoftmaxLoss&&) noexcept;
  SoftmaxLoss& operator=(SoftmaxLoss&&) noexcept;

  [[nodiscard]] std::size_t rows() const;
  [[nodiscard]] std::size_t dimension() const;  ///< classes * cols
  [[nodiscard]] int classes() const;
  [[nodiscard]] std::span<const std::int32_t> labels() const;

  /// The value alone (one pass).
  double value(std::span<const double> w, std::span<const double> weights, double scale);
  /// The value, and its gradient into out [dimension] (one pass over the rows, forward and backward while a block is in cache).
  double gradient(std::span<const double> w, std::span<const double> weights, double scale, std::span<double> out);
  /// Hessian(W) u into out [dimension].
  void hessian_product(std::span<const double> w, std::span<const double> weights, double scale,
                       std::span<const double> u, std::span<double> out);
  /// out_j = <grad CE_j(W), u> for every row [rows], unweighted and unscaled: the mixed product of a per-row weight.
  void row_directional_derivatives(std::span<const double> w, std::span<const double> u, std::span<double> out);
  /// All of the above in one pass; returns the value.
  double fused(std::span<const double> w, std::span<const double> weights, double scale, std::span<const double> u,
               std::span<double> gradient_out, std::span<double> hessian_product_out,
               std::span<double> row_derivatives_out);
  /// CE_j(W) for every row, unweighted, into out [rows].
  void row_losses(std::span<const double> w, std::span<double> out);
  /// The most probable class of every row into out [rows]; the smallest index wins a tie.
  void predict(std::span<const double> w, std::span<std::int32_t> out);
  /// softmax(W' x_j)[c] for every row and class into out [rows * classes], row after row.
  void probabilities(std::span<const double> w, std::span<double> out);

  /// gradient() of the rows of `range` alone; `weights` are still those of all rows.
  double gradient(RowRange range, std::span<const double> w, std::span<const double> weights, double scale,
                  std::span<double> out);
  /// fused() of the rows of `range` alone, row_derivatives_out [range.size()] beginning with its first row. Any output
  /// may be empty: it is then not wanted. Returns the value, or 0 where the gradient is not wanted.
  double fused(RowRange range, std::span<const double> w, std::span<const double> weights, double scale,
               std::span<const double> u, std::span<double> gradient_out, std::span<double> hessian_product_out,
               std::span<double> row_derivatives_out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace adbo::kernels
