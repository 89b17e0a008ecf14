#include "adbo/kernels/softmax.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <utility>

#include "feature_passes.h"
#include "row_blocks.h"

namespace adbo::kernels {

using detail::BlockColumn;
using detail::kBlockRows;

struct SoftmaxLoss::Impl {
  Impl(std::shared_ptr<const Rows> rows, std::vector<std::int32_t> row_labels, int number_of_classes)
      : passes(std::move(rows), 2 * checked_classes(number_of_classes)),
        classes(static_cast<std::size_t>(number_of_classes)),
        labels(std::move(row_labels)),
        link_labels(detail::padded_labels(labels)),
        table(2 * classes * kBlockRows) {
    if (labels.size() != passes.rows()) throw std::invalid_argument("SoftmaxLoss: one label per row");
    for (const std::int32_t label : labels) {
      if (label < 0 || label >= number_of_classes) throw std::invalid_argument("SoftmaxLoss: no such class");
    }
  }

  static std::size_t checked_classes(int number_of_classes) {
    if (number_of_classes < 1) throw std::invalid_argument("SoftmaxLoss: at least one class");
    return static_cast<std::size_t>(number_of_classes);
  }

  [[nodiscard]] std::size_t dimension() const { return classes * passes.cols(); }
  /// The second half of the block table, where the products with the direction stand, then their
  /// coefficients.
  double* direction_table() { return table.data() + classes * kBlockRows; }
  [[nodiscard]] detail::LinkRows link_rows(std::size_t row, std::size_t count) const {
    return {.label = link_labels.data() + row, .count = count};
  }

  void begin(std::span<const double> w, std::size_t sums) {
    assert(w.size() == dimension());
    passes.begin(classes, sums);
    passes.load(0, w);
  }
  void begin(std::span<const double> w, std::span<const double> u, std::size_t sums) {
    assert(w.size() == dimension() && u.size() == dimension());
    passes.begin(2 * classes, sums);
    passes.load(0, w);
    passes.load(classes, u);
  }

  /// The products of the block with all loaded vectors, then probabilities, `loss` and `miss`.
  void forward(std::size_t row, std::size_t count) {
    passes.products(row, count, table.data());
    passes.kernels().softmax(link_rows(row, count), classes, table.data(), loss.of, miss.of);
  }
  /// After forward() with a direction: its coefficients of the Hessian product, and `derivative`.
  void apply_hessian(std::size_t row, std::size_t count) {
    passes.kernels().softmax_hessian(link_rows(row, count), classes, factor.of, table.data(),
                                     direction_table(), derivative.of);
  }
  /// After forward(): probabilities become the coefficients of the gradient.
  void apply_residual(std::size_t row, std::size_t count) {
    passes.kernels().softmax_residual(link_rows(row, count), classes, factor.of, miss.of, table.data());
  }

  detail::FeaturePasses passes;
  std::size_t classes;
  std::vector<std::int32_t> labels;
  AlignedVector<double> link_labels;
  AlignedVector<double>
      table;  // block table of W's products and, where there is a direction, of the direction's
  BlockColumn factor, loss, miss, derivative;
};

SoftmaxLoss::SoftmaxLoss(std::shared_ptr<const Rows> rows, std::vector<std::int32_t> labels, int classes)
    : impl_(std::make_unique<Impl>(std::move(rows), std::move(labels), classes)) {}
SoftmaxLoss::~SoftmaxLoss() = default;
SoftmaxLoss::SoftmaxLoss(SoftmaxLoss&&) noexcept = default;
SoftmaxLoss& SoftmaxLoss::operator=(SoftmaxLoss&&) noexcept = default;

std::size_t SoftmaxLoss::rows() const { return impl_->passes.rows(); }
std::size_t SoftmaxLoss::dimension() const { return impl_->dimension(); }
int SoftmaxLoss::classes() const { return static_cast<int>(impl_->classes); }
std::span<const std::int32_t> SoftmaxLoss::labels() const { return impl_->labels; }

double SoftmaxLoss::value(std::span<const double> w, std::span<const double> weights, double scale) {
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

double SoftmaxLoss::gradient(std::span<const double> w, std::span<const double> weights, double scale,
                             std::span<double> out) {
  return gradient(RowRange{0, rows()}, w, weights, scale, out);
}

double SoftmaxLoss::gradient(RowRange range, std::span<const double> w, std::span<const double> weights,
                             double scale, std::span<double> out) {
  assert(weights.empty() || weights.size() == rows());
  assert(range.begin <= range.end && range.end <= rows());
  assert(out.size() == dimension());
  Impl& s = *impl_;
  s.begin(w, s.classes);
  double value = 0;
  detail::for_each_block(range, [&](std::size_t row, std::size_t count) {
    detail::row_factors(weights, scale, row, count, s.factor);
    s.forward(row, count);
    value += detail::weighted_sum(s.factor, s.loss, count);
    s.apply_residual(row, count);
    s.passes.accumulate(row, count, s.table.data());
  });
  s.passes.store_sums(0, out);
  return value;
}

void SoftmaxLoss::hessian_product(std::span<const double> w, std::span<const double> weights, double scale,
                                  std::span<const double> u, std::span<double> out) {
  assert(weights.empty() || weights.size() == rows());
  assert(out.size() == dimension());
  Impl& s = *impl_;
  s.begin(w, u, s.classes);
  detail::for_each_block(RowRange{0, rows()}, [&](std::size_t row, std::size_t count) {
    detail::row_factors(weights, scale, row, count, s.factor);
    s.forward(row, count);
    s.apply_hessian(row, count);
    s.passes.accumulate(row, count, s.direction_table());
  });
  s.passes.store_sums(0, out);
}

void SoftmaxLoss::row_directional_derivatives(std::span<const double> w, std::span<const double> u,
                                              std::span<double> out) {
  assert(out.size() == rows());
  Impl& s = *impl_;
  s.begin(w, u, 0);
  detail::for_each_block(RowRange{0, rows()}, [&](std::size_t row, std::size_t count) {
    s.forward(row, count);
    s.apply_hessian(row, count);
    std::copy_n(s.derivative.of, count, out.data() + row);
  });
}

double SoftmaxLoss::fused(std::span<const double> w, std::span<const double> weights, double scale,
                          std::span<const double> u, std::span<double> gradient_out,
                          std::span<double> hessian_product_out, std::span<double> row_derivatives_out) {
  assert(gradient_out.size() == dimension() && hessian_product_out.size() == dimension());
  assert(row_derivatives_out.size() == rows());
  return fused(RowRange{0, rows()}, w, weights, scale, u, gradient_out, hessian_product_out,
               row_derivatives_out);
}

double SoftmaxLoss::fused(RowRange range, std::span<const double> w, std::span<const double> weights,
                          double scale, std::span<const double> u, std::span<double> gradient_out,
                          std::span<double> hessian_product_out, std::span<double> row_derivatives_out) {
  assert(range.begin <= range.end && range.end <= rows());
  assert(weights.empty() || weights.size() == rows());
  Impl& s = *impl_;
  const bool wants_gradient = !gradient_out.empty(), wants_hessian = !hessian_product_out.empty();
  const std::size_t sums = (wants_gradient ? s.classes : 0U) + (wants_hessian ? s.classes : 0U);
  // The coefficients of the sums lie one after the other.
  const double* coefficients = wants_gradient ? s.table.data() : s.direction_table();
  s.begin(w, u, sums);
  double value = 0;
  detail::for_each_block(range, [&](std::size_t row, std::size_t count) {
    detail::row_factors(weights, scale, row, count, s.factor);
    s.forward(row, count);
    s.apply_hessian(row, count);
    if (!row_derivatives_out.empty()) {
      std::copy_n(s.derivative.of, count, row_derivatives_out.data() + (row - range.begin));
    }
    if (wants_gradient) {
      value += detail::weighted_sum(s.factor, s.loss, count);
      s.apply_residual(row, count);  // last: it overwrites the probabilities
    }
    if (sums > 0) s.passes.accumulate(row, count, coefficients);
  });
  s.passes.store_sums(0, gradient_out);
  s.passes.store_sums(wants_gradient ? s.classes : 0, hessian_product_out);
  return value;
}

void SoftmaxLoss::row_losses(std::span<const double> w, std::span<double> out) {
  assert(out.size() == rows());
  Impl& s = *impl_;
  s.begin(w, 0);
  detail::for_each_block(RowRange{0, rows()}, [&](std::size_t row, std::size_t count) {
    s.forward(row, count);
    std::copy_n(s.loss.of, count, out.data() + row);
  });
}

void SoftmaxLoss::predict(std::span<const double> w, std::span<std::int32_t> out) {
  assert(out.size() == rows());
  Impl& s = *impl_;
  s.begin(w, 0);
  detail::for_each_block(RowRange{0, rows()}, [&](std::size_t row, std::size_t count) {
    s.passes.products(row, count, s.table.data());
    for (std::size_t r = 0; r < count; ++r) {
      const double* logits = s.table.data() + r;
      std::size_t best = 0;
      for (std::size_t c = 1; c < s.classes; ++c) {
        if (logits[c * kBlockRows] > logits[best * kBlockRows]) best = c;
      }
      out[row + r] = static_cast<std::int32_t>(best);
    }
  });
}

void SoftmaxLoss::probabilities(std::span<const double> w, std::span<double> out) {
  assert(out.size() == rows() * impl_->classes);
  Impl& s = *impl_;
  s.begin(w, 0);
  detail::for_each_block(RowRange{0, rows()}, [&](std::size_t row, std::size_t count) {
    s.forward(row, count);
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t c = 0; c < s.classes; ++c)
        out[(row + r) * s.classes + c] = s.table[c * kBlockRows + r];
    }
  });
}

}  // namespace adbo::kernels
