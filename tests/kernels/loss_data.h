#pragma once
// Random classification data, dense and sparse, and plain references for the losses: textbook formulas in
// triple loops, in long double so that the kernels are compared with (nearly) exact values.

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "adbo/kernels/instruction_set.h"
#include "adbo/kernels/rows.h"
#include "random_data.h"

namespace adbo::test {

using kernels::DenseRows;
using kernels::Rows;
using kernels::SparseRows;
using Vector = std::vector<double>;

/// Relative to the largest entry. Rounding errors of double sums of at most 784 products, then of at most a
/// few hundred rows, are below 1000 * 1.1e-16 in the worst case and near 1e-15 in practice; float32
/// accumulation would be off by 1e-7 and fail.
inline constexpr double kTolerance = 1e-12;

/// Largest difference, relative to the largest entry of the reference.
inline double relative_error(std::span<const double> result, std::span<const double> reference) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (!std::isfinite(result[i])) return HUGE_VAL;
    difference = std::max(difference, std::abs(result[i] - reference[i]));
    size = std::max(size, std::abs(reference[i]));
  }
  return size == 0 ? (difference == 0 ? 0 : HUGE_VAL) : difference / size;
}
inline double relative_error(double result, double reference) {
  return relative_error(std::span(&result, 1), std::span(&reference, 1));
}

inline Vector normals(Random& random, std::size_t size, double scale = 1) {
  Vector v(size);
  for (double& entry : v) entry = scale * random.normal();
  return v;
}

/// Normal entries; a share of them is zero.
inline DenseRows random_rows(Random& random, std::size_t rows, std::size_t cols, double zeros) {
  DenseRows matrix(rows, cols);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < cols; ++k) {
      if (random.uniform() >= zeros) matrix.mutable_row(r)[k] = static_cast<float>(random.normal());
    }
  }
  return matrix;
}

inline SparseRows to_sparse(const DenseRows& dense) {
  SparseRows sparse;
  sparse.cols = dense.cols();
  for (std::size_t r = 0; r < dense.rows(); ++r) {
    for (std::size_t k = 0; k < dense.cols(); ++k) {
      if (dense.row(r)[k] == 0.0F) continue;
      sparse.column.push_back(static_cast<std::int32_t>(k));
      sparse.value.push_back(dense.row(r)[k]);
    }
    sparse.row_begin.push_back(static_cast<std::int64_t>(sparse.value.size()));
  }
  return sparse;
}

inline std::shared_ptr<const Rows> share(Rows rows) { return std::make_shared<const Rows>(std::move(rows)); }

/// Everything a loss computes at one point.
struct Products {
  double value = 0;
  Vector gradient, hessian_product;                   // [dimension]
  Vector row_losses, row_derivatives, probabilities;  // [rows], [rows], [rows x classes] (softmax)
};

inline long double weight_of(std::span<const double> weights, std::size_t r) {
  return weights.empty() ? 1.0L : static_cast<long double>(weights[r]);
}

/// log(sum exp z) - z_label, without overflow and without cancellation for confident rows.
inline long double cross_entropy(const std::vector<long double>& z, std::size_t label) {
  const long double largest = *std::max_element(z.begin(), z.end());
  long double others = 0;
  for (std::size_t c = 0; c < z.size(); ++c) {
    if (c != label) others += std::exp(z[c] - largest);
  }
  const long double gap = z[label] - largest;
  return std::log1p(others + std::expm1(gap)) - gap;
}

inline Products softmax_reference(const DenseRows& x, std::span<const std::int32_t> labels,
                                  std::size_t classes, std::span<const double> w,
                                  std::span<const double> weights, double scale, std::span<const double> u) {
  const std::size_t cols = x.cols();
  std::vector<long double> gradient(classes * cols), hessian(classes * cols), z(classes), t(classes),
      p(classes);
  long double value = 0;
  Products out;
  for (std::size_t r = 0; r < x.rows(); ++r) {
    for (std::size_t c = 0; c < classes; ++c) {
      z[c] = t[c] = 0;
      for (std::size_t k = 0; k < cols; ++k) {
        const auto feature = static_cast<long double>(x.row(r)[k]);
        z[c] += static_cast<long double>(w[c * cols + k]) * feature;
        t[c] += static_cast<long double>(u[c * cols + k]) * feature;
      }
    }
    const auto label = static_cast<std::size_t>(labels[r]);
    const long double largest = *std::max_element(z.begin(), z.end());
    long double sum = 0, mean = 0, derivative = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += p[c] = std::exp(z[c] - largest);
    for (std::size_t c = 0; c < classes; ++c) p[c] /= sum, mean += p[c] * t[c];
    const long double factor = static_cast<long double>(scale) * weight_of(weights, r);
    for (std::size_t c = 0; c < classes; ++c) {
      const long double residual = p[c] - (c == label ? 1 : 0);
      derivative += residual * t[c];
      for (std::size_t k = 0; k < cols; ++k) {
        const auto feature = static_cast<long double>(x.row(r)[k]);
        gradient[c * cols + k] += factor * residual * feature;
        hessian[c * cols + k] += factor * p[c] * (t[c] - mean) * feature;
      }
      out.probabilities.push_back(static_cast<double>(p[c]));
    }
    const long double loss = cross_entropy(z, label);
    value += factor * loss;
    out.row_losses.push_back(static_cast<double>(loss));
    out.row_derivatives.push_back(static_cast<double>(derivative));
  }
  out.value = static_cast<double>(value);
  out.gradient.assign(gradient.begin(), gradient.end());
  out.hessian_product.assign(hessian.begin(), hessian.end());
  return out;
}

inline Products logistic_reference(const DenseRows& x, std::span<const std::int32_t> labels,
                                   std::span<const double> w, std::span<const double> weights, double scale,
                                   std::span<const double> u) {
  std::vector<long double> gradient(x.cols()), hessian(x.cols());
  long double value = 0;
  Products out;
  for (std::size_t r = 0; r < x.rows(); ++r) {
    long double z = 0, t = 0;
    for (std::size_t k = 0; k < x.cols(); ++k) {
      z += static_cast<long double>(w[k]) * static_cast<long double>(x.row(r)[k]);
      t += static_cast<long double>(u[k]) * static_cast<long double>(x.row(r)[k]);
    }
    const long double label = labels[r], margin = label * z;
    const long double loss =
        margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
    const long double wrong = 1 / (1 + std::exp(margin)), right = 1 / (1 + std::exp(-margin));
    const long double factor = static_cast<long double>(scale) * weight_of(weights, r);
    for (std::size_t k = 0; k < x.cols(); ++k) {
      gradient[k] -= factor * label * wrong * static_cast<long double>(x.row(r)[k]);
      hessian[k] += factor * wrong * right * t * static_cast<long double>(x.row(r)[k]);
    }
    value += factor * loss;
    out.row_losses.push_back(static_cast<double>(loss));
    out.row_derivatives.push_back(static_cast<double>(-label * wrong * t));
  }
  out.value = static_cast<double>(value);
  out.gradient.assign(gradient.begin(), gradient.end());
  out.hessian_product.assign(hessian.begin(), hessian.end());
  return out;
}

/// Calls body(name) once under each instruction set that this machine has and the kernels were compiled for.
template <class Body>
void for_each_instruction_set(const Body& body) {
  std::vector<std::string> seen;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    const std::string name(kernels::active_instruction_set());
    if (std::find(seen.begin(), seen.end(), name) == seen.end()) {
      seen.push_back(name);
      body(name);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// gradient() and fused() of ranges of rows, with every choice of outputs and with scale 0.5.
/// `reference(weights)`: all rows with the given weights; a range is the rows outside it with weight zero.
template <class Loss, class Reference>
void check_ranges(Loss& loss, std::span<const double> w, std::span<const double> u,
                  std::span<const double> weights, const Reference& reference) {
  const std::size_t rows = loss.rows();
  for (const kernels::RowRange range :
       {kernels::RowRange{0, 1}, {1, 34}, {5, 12}, {31, 97}, {64, rows}, {rows - 3, rows}, {0, rows}}) {
    CAPTURE(range.begin);
    CAPTURE(range.end);
    Vector masked(rows, 0.0);
    std::copy(weights.begin() + static_cast<std::ptrdiff_t>(range.begin),
              weights.begin() + static_cast<std::ptrdiff_t>(range.end),
              masked.begin() + static_cast<std::ptrdiff_t>(range.begin));
    const Products expected = reference(masked);
    const std::span<const double> expected_derivatives =
        std::span(expected.row_derivatives).subspan(range.begin, range.size());
    Vector gradient(loss.dimension(), 9e9);
    CHECK(relative_error(loss.gradient(range, w, weights, 0.5, gradient), expected.value) <= kTolerance);
    CHECK(relative_error(gradient, expected.gradient) <= kTolerance);
    for (int wanted = 0; wanted < 8; ++wanted) {
      CAPTURE(wanted);
      Vector fused_gradient((wanted & 1) != 0 ? loss.dimension() : 0, 9e9),
          hessian((wanted & 2) != 0 ? loss.dimension() : 0, 9e9),
          derivatives((wanted & 4) != 0 ? range.size() : 0, 9e9);
      const double value = loss.fused(range, w, weights, 0.5, u, fused_gradient, hessian, derivatives);
      CHECK(relative_error(value, fused_gradient.empty() ? 0.0 : expected.value) <= kTolerance);
      if (!fused_gradient.empty()) CHECK(relative_error(fused_gradient, expected.gradient) <= kTolerance);
      if (!hessian.empty()) CHECK(relative_error(hessian, expected.hessian_product) <= kTolerance);
      if (!derivatives.empty()) CHECK(relative_error(derivatives, expected_derivatives) <= kTolerance);
    }
  }
}

}  // namespace adbo::test
