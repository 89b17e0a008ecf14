#pragma once
// Seeded rows, points and plain reference formulas for the tests of the problems.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "adbo/kernels/rows.h"
#include "adbo/objective.h"
#include "adbo/problems/hyper_cleaning.h"
#include "adbo/random.h"

namespace adbo::test {

inline std::vector<double> random_point(std::size_t size, std::uint64_t seed, double scale = 1) {
  RandomStream random(seed, 0);
  std::vector<double> point(size);
  for (double& value : point) value = scale * random.normal();
  return point;
}

/// Normal features; labels by a random linear rule, so that a model can learn something.
inline LabelledRows random_rows(std::size_t rows, std::size_t cols, int classes, std::uint64_t seed,
                                std::uint64_t rule_seed = 77) {
  const std::vector<double> rule = random_point(static_cast<std::size_t>(classes) * cols, rule_seed);
  RandomStream random(seed, 1);
  kernels::DenseRows features(rows, cols);
  std::vector<std::int32_t> labels(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<double> logit(static_cast<std::size_t>(classes), 0.0);
    for (std::size_t k = 0; k < cols; ++k) {
      features.mutable_row(r)[k] = static_cast<float>(random.normal());
      for (std::size_t c = 0; c < logit.size(); ++c)
        logit[c] += rule[c * cols + k] * static_cast<double>(features.row(r)[k]);
    }
    labels[r] = static_cast<std::int32_t>(std::max_element(logit.begin(), logit.end()) - logit.begin());
  }
  return {.features = std::make_shared<const kernels::Rows>(std::move(features)),
          .labels = std::move(labels)};
}

/// Rows [begin, begin + count).
inline LabelledRows slice(const LabelledRows& rows, std::size_t begin, std::size_t count) {
  std::vector<std::size_t> index(count);
  for (std::size_t k = 0; k < count; ++k) index[k] = begin + k;
  const auto first = rows.labels.begin() + static_cast<std::ptrdiff_t>(begin);
  return {.features = std::make_shared<const kernels::Rows>(kernels::select_rows(*rows.features, index)),
          .labels = {first, first + static_cast<std::ptrdiff_t>(count)}};
}

/// Cross entropies CE_j(w) and, when wanted, the gradient of sum_j factor_j CE_j, by plain loops.
inline double plain_softmax(const LabelledRows& rows, int classes, std::span<const double> w,
                            std::span<const double> factor, std::span<double> gradient) {
  const auto& x = std::get<kernels::DenseRows>(*rows.features);
  const std::size_t width = static_cast<std::size_t>(classes);
  std::fill(gradient.begin(), gradient.end(), 0.0);
  double sum = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<double> logit(width, 0.0);
    for (std::size_t c = 0; c < width; ++c) {
      for (std::size_t k = 0; k < x.cols(); ++k)
        logit[c] += w[c * x.cols() + k] * static_cast<double>(x.row(r)[k]);
    }
    double top = -std::numeric_limits<double>::infinity(), normalizer = 0;
    for (const double z : logit) top = std::max(top, z);
    for (const double z : logit) normalizer += std::exp(z - top);
    const std::size_t label = static_cast<std::size_t>(rows.labels[r]);
    sum += factor[r] * (top + std::log(normalizer) - logit[label]);
    if (gradient.empty()) continue;
    for (std::size_t c = 0; c < width; ++c) {
      const double residual = std::exp(logit[c] - top) / normalizer - (c == label ? 1.0 : 0.0);
      for (std::size_t k = 0; k < x.cols(); ++k) {
        gradient[c * x.cols() + k] += factor[r] * residual * static_cast<double>(x.row(r)[k]);
      }
    }
  }
  return sum;
}

/// The largest difference, relative to the largest entry of the reference.
inline double relative_error(std::span<const double> value, std::span<const double> reference) {
  double worst = 0, size = 0;
  for (std::size_t k = 0; k < reference.size(); ++k) {
    worst = std::max(worst, std::abs(value[k] - reference[k]));
    size = std::max(size, std::abs(reference[k]));
  }
  // Written so that NaN anywhere gives NaN.
  for (const double entry : value) worst += 0 * entry;
  return size > 0 ? worst / size : worst;
}

/// Central differences of a scalar function. With step 1e-5 truncation and rounding are both about 1e-10.
inline std::vector<double> difference_gradient(const std::function<double(std::span<const double>)>& function,
                                               std::span<const double> point) {
  constexpr double kStep = 1e-5;
  std::vector<double> moved(point.begin(), point.end()), result(point.size());
  for (std::size_t k = 0; k < point.size(); ++k) {
    moved[k] = point[k] + kStep;
    const double ahead = function(moved);
    moved[k] = point[k] - kStep;
    result[k] = (ahead - function(moved)) / (2 * kStep);
    moved[k] = point[k];
  }
  return result;
}

struct ProductErrors {
  double upper_grad_x = 0, upper_grad_y = 0, lower_grad_y = 0, hessian = 0, cross = 0;
  double fused = 0;         // largest error of lower_fused() against the separate calls
  double partly_fused = 0;  // the same with outputs left out (without grad_y the value is 0)
};

/// Every product of a worker against central differences of its own values, and the fused against the
/// separate ones.
inline ProductErrors product_errors(WorkerObjective& worker, std::span<const double> x,
                                    std::span<const double> y, std::span<const double> u) {
  const std::size_t n = x.size(), m = y.size();
  std::vector<double> grad_x(worker.upper_depends_on_x() ? n : 0), grad_y(m), scratch_x(grad_x), scratch_y(m);
  ProductErrors errors;

  worker.upper(x, y, grad_x, grad_y);
  errors.upper_grad_y = relative_error(
      grad_y,
      difference_gradient([&](auto point) { return worker.upper(x, point, scratch_x, scratch_y); }, y));
  if (worker.upper_depends_on_x()) {
    errors.upper_grad_x = relative_error(
        grad_x,
        difference_gradient([&](auto point) { return worker.upper(point, y, scratch_x, scratch_y); }, x));
  }

  const double value = worker.lower(x, y, grad_y);
  errors.lower_grad_y = relative_error(
      grad_y, difference_gradient([&](auto point) { return worker.lower(x, point, scratch_y); }, y));

  // Both second-order products are gradients of <grad_y g, u>.
  const auto slope_along_u = [&](std::span<const double> at_x, std::span<const double> at_y) {
    worker.lower(at_x, at_y, scratch_y);
    double sum = 0;
    for (std::size_t k = 0; k < m; ++k) sum += scratch_y[k] * u[k];
    return sum;
  };
  std::vector<double> hessian(m), cross(n);
  worker.lower_hessian_product(x, y, u, hessian);
  errors.hessian =
      relative_error(hessian, difference_gradient([&](auto point) { return slope_along_u(x, point); }, y));
  worker.lower_cross_product(x, y, u, cross);
  errors.cross =
      relative_error(cross, difference_gradient([&](auto point) { return slope_along_u(point, y); }, x));

  for (int wanted = 0; wanted < 8; ++wanted) {
    constexpr double kUntouched = 1e300;
    std::vector<double> fused_grad((wanted & 1) != 0 ? m : 0, kUntouched),
        fused_hessian((wanted & 2) != 0 ? m : 0, kUntouched),
        fused_cross((wanted & 4) != 0 ? n : 0, kUntouched);
    const double fused_value = worker.lower_fused(x, y, u, fused_grad, fused_hessian, fused_cross);
    double& worst = wanted == 7 ? errors.fused : errors.partly_fused;
    worst = std::max(
        worst, fused_grad.empty() ? std::abs(fused_value) : std::abs(fused_value - value) / std::abs(value));
    if (!fused_grad.empty()) worst = std::max(worst, relative_error(fused_grad, grad_y));
    if (!fused_hessian.empty()) worst = std::max(worst, relative_error(fused_hessian, hessian));
    if (!fused_cross.empty()) worst = std::max(worst, relative_error(fused_cross, cross));
  }
  return errors;
}

/// Central differences are good to about 1e-9 here; 1e-6 leaves room for large third derivatives and still
/// sees any wrong factor. The fused and the separate products differ by the rounding of sums in another
/// order.
#define ADBO_CHECK_PRODUCTS(errors)             \
  do {                                          \
    const auto& checked_errors = (errors);      \
    CHECK(checked_errors.upper_grad_x < 1e-6);  \
    CHECK(checked_errors.upper_grad_y < 1e-6);  \
    CHECK(checked_errors.lower_grad_y < 1e-6);  \
    CHECK(checked_errors.hessian < 1e-6);       \
    CHECK(checked_errors.cross < 1e-6);         \
    CHECK(checked_errors.fused < 1e-12);        \
    CHECK(checked_errors.partly_fused < 1e-12); \
  } while (false)

}  // namespace adbo::test
