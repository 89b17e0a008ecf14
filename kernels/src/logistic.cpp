#include "adbo/kernels/logistic.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <utility>

#include "feature_passes.h"
#include "row_blocks.h"

namespace adbo::kernels {

using detail::BlockColumn;
using detail::kBlockRows;

struct LogisticLoss::Impl {
  Impl(std::shared_ptr<const Rows> rows, const std::vector<std::int32_t>& labels)
      : passes(std::move(rows), 2), link_labels(detail::padded_labels(labels)) {
    if (labels.size() != passes.rows()) throw std::invalid_argument("LogisticLoss: one label per row");
    for (const std::int32_t label : labels) {
      if (label != -1 && label != 1) throw std::invalid_argument("LogisticLoss: labels are -1 and +1");
    }
  }

  [[nodiscard]] std::size_t dimension() const { return passes.cols(); }
  /// The rows of the block table: one for w, one for the direction u.
  double* variable() { return table.data(); }
  double* direction() { return table.data() + kBlockRows; }

  void begin(std::span<const double> w, std::size_t sums) {
    assert(w.size() == dimension());
    passes.begin(1, sums);
    passes.load(0, w);
  }
  void begin(std::span<const double> w, std::span<const double> u, std::size_t sums) {
    assert(w.size() == dimension() && u.size() == dimension());
    passes.begin(2, sums);
    passes.load(0, w);
    passes.load(1, u);
  }

  /// The products of the block with the loaded vectors into `table`, then `loss`, `slope` and `curvature`.
  void forward(std::size_t row, std::size_t count) {
    passes.products(row, count, table.data());
    const detail::LinkRows rows = {.label = link_labels.data() + row, .count = count};
    passes.kernels().logistic(rows, variable(), loss.of, slope.of, curvature.of);
  }

  detail::FeaturePasses passes;
  AlignedVector<double> link_labels;
  AlignedVector<double> table =
      AlignedVector<double>(2 * kBlockRows);  // block table: w.x and u.x, then coefficients
  BlockColumn factor, loss, slope, curvature;
};

LogisticLoss::LogisticLoss(std::shared_ptr<const Rows> rows, std::vector<std::int32_t> labels)
    : impl_(std::make_unique<Impl>(std::move(rows), labels)) {}
LogisticLoss::~LogisticLoss() = default;
LogisticLoss::LogisticLoss(LogisticLoss&&) noexcept = default;
LogisticLoss& LogisticLoss::operator=(LogisticLoss&&) noexcept = default;

std::size_t LogisticLoss::rows() const { return impl_->passes.rows(); }
std::size_t LogisticLoss::dimension() const { return impl_->dimension(); }

double LogisticLoss::value(std::span<const double> w, std::span<const double> weights, double scale) {
  assert(weights.empty() || weights.size() == rows());
  Impl& s = *impl_;
  s.begin(w, 0);
  double value = 0;
  detail::for_each_block(RowRange{0, rows()}, [&](std::size_t row, std::size_t count) {
    detail::row_factors(weights, scale, row, count, s.factor);
    s.forward(row, count);
    value += detail::weighted_sum(s.factor, s.loss, count);
  });
  return value;
}

double LogisticLoss::gradient(std::span<const double> w, std::span<const double> weights, double scale,
                              std::span<double> out) {
  return gradient(RowRange{0, rows()}, w, weights, scale, out);
}

double LogisticLoss::gradient(RowRange range, std::span<const double> w, std::span<const double> weights,
                              double scale, std::span<double> out) {
  assert(weights.empty() || weights.size() == rows());
  assert(range.begin <= range.end && range.end <= rows());
  assert(out.size() == dimension());
  Impl& s = *impl_;
  s.begin(w, 1);
  double value = 0;
  detail::for_each_block(range, [&](std::size_t row, std::size_t count) {
    detail::row_factors(weights, scale, row, count, s.factor);
    s.forward(row, count);
    value += detail::weighted_sum(s.factor, s.loss, count);
    for (std::size_t r = 0; r < count; ++r) s.variable()[r] = s.factor.of[r] * s.slope.of[r];
    s.passes.accumulate(row, count, s.variable());
  });
  s.passes.store_sums(0, out);
  return value;
}

void LogisticLoss::hessian_product(std::span<const double> w, std::span<const double> weights, double scale,
                                   std::span<const double> u, std::span<double> out) {
  assert(weights.empty() || weights.size() == rows());
  assert(out.size() == dimension());
  Impl& s = *impl_;
  s.begin(w, u, 1);
  detail::for_each_block(RowRange{0, rows()}, [&](std::size_t row, std::size_t count) {
    detail::row_factors(weights, scale, row, count, s.factor);
    s.forward(row, count);
    double* t = s.direction();
    for (std::size_t r = 0; r < count; ++r) t[r] *= s.factor.of[r] * s.curvature.of[r];
    s.passes.accumulate(row, count, t);
  });
  s.passes.store_sums(0, out);
}

void LogisticLoss::row_directional_derivatives(std::span<const double> w, std::span<const double> u,
                                               std::span<double> out) {
  assert(out.size() == rows());
  Impl& s = *impl_;
  s.begin(w, u, 0);
  detail::for_each_block(RowRange{0, rows()}, [&](std::size_t row, std::size_t count) {
    s.forward(row, count);
    for (std::size_t r = 0; r < count; ++r) out[row + r] = s.slope.of[r] * s.direction()[r];
  });
}

double LogisticLoss::fused(std::span<const double> w, std::span<const double> weights, double scale,
                           std::span<const double> u, std::span<double> gradient_out,
                           std::span<double> hessian_product_out, std::span<double> row_derivatives_out) {
  assert(gradient_out.size() == dimension() && hessian_product_out.size() == dimension());
  assert(row_derivatives_out.size() == rows());
  return fused(RowRange{0, rows()}, w, weights, scale, u, gradient_out, hessian_product_out,
               row_derivatives_out);
}

double LogisticLoss::fused(RowRange range, std::span<const double> w, std::span<const double> weights,
                           double scale, std::span<const double> u, std::span<double> gradient_out,
                           std::span<double> hessian_product_out, std::span<double> row_derivatives_out) {
  assert(range.begin <= range.end && range.end <= rows());
  assert(weights.empty() || weights.size() == rows());
  Impl& s = *impl_;
  const bool wants_gradient = !gradient_out.empty(), wants_hessian = !hessian_product_out.empty();
  const std::size_t sums = (wants_gradient ? 1U : 0U) + (wants_hessian ? 1U : 0U);
  // The coefficients of the sums lie one after the other.
  const double* coefficients = wants_gradient ? s.variable() : s.direction();
  s.begin(w, u, sums);
  double value = 0;
  detail::for_each_block(range, [&](std::size_t row, std::size_t count) {
    detail::row_factors(weights, scale, row, count, s.factor);
    s.forward(row, count);
    if (wants_gradient) value += detail::weighted_sum(s.factor, s.loss, count);
    double* t = s.direction();
    for (std::size_t r = 0; r < count; ++r) {
      if (!row_derivatives_out.empty()) row_derivatives_out[row - range.begin + r] = s.slope.of[r] * t[r];
      s.variable()[r] = s.factor.of[r] * s.slope.of[r];
      t[r] *= s.factor.of[r] * s.curvature.of[r];
    }
    if (sums > 0) s.passes.accumulate(row, count, coefficients);
  });
  s.passes.store_sums(0, gradient_out);
  s.passes.store_sums(wants_gradient ? 1 : 0, hessian_product_out);
  return value;
}

void LogisticLoss::row_losses(std::span<const double> w, std::span<double> out) {
  assert(out.size() == rows());
  Impl& s = *impl_;
  s.begin(w, 0);
  detail::for_each_block(RowRange{0, rows()}, [&](std::size_t row, std::size_t count) {
    s.forward(row, count);
    std::copy_n(s.loss.of, count, out.data() + row);
  });
}

void LogisticLoss::row_curvatures(std::span<const double> w, std::span<double> out) {
  assert(out.size() == rows());
  Impl& s = *impl_;
  s.begin(w, 0);
  detail::for_each_block(RowRange{0, rows()}, [&](std::size_t row, std::size_t count) {
    s.forward(row, count);
    std::copy_n(s.curvature.of, count, out.data() + row);
  });
}

void LogisticLoss::predict(std::span<const double> w, std::span<std::int32_t> out) {
  assert(out.size() == rows());
  Impl& s = *impl_;
  s.begin(w, 0);
  detail::for_each_block(RowRange{0, rows()}, [&](std::size_t row, std::size_t count) {
    s.passes.products(row, count, s.variable());
    for (std::size_t r = 0; r < count; ++r) out[row + r] = s.variable()[r] > 0 ? 1 : -1;
  });
}

}  // namespace adbo::kernels
