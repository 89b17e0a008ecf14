#pragma once
// The logistic function and its relatives, without overflow or cancellation for any argument.

#include <algorithm>
#include <cmath>

namespace adbo::detail {

/// 1 / (1 + exp(-t)).
inline double sigmoid(double t) {
  const double e = std::exp(-std::abs(t));
  return t >= 0 ? 1 / (1 + e) : e / (1 + e);
}

/// sigmoid(t) (1 - sigmoid(t)); the tails keep their relative accuracy, which the product of the two factors
/// does not.
inline double sigmoid_derivative(double t) {
  const double e = std::exp(-std::abs(t));
  return e / ((1 + e) * (1 + e));
}

/// log(1 + exp(t)).
inline double softplus(double t) { return std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t))); }

}  // namespace adbo::detail
