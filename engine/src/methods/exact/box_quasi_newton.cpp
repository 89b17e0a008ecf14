#include "methods/exact/box_quasi_newton.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace adbo::detail {
namespace {

/// Below this cosine between the changes of v and of the gradient, the latter is rounding.
constexpr double kLeastCosine = 1e-10;

/// Coordinates nearer to a bound than this share of the box count as being there.
constexpr double kLargestNearness = 1e-3;

}  // namespace

BoxQuasiNewton::BoxQuasiNewton(std::size_t dimension, double lowest, double highest)
    : lowest_(lowest), highest_(highest), is_free_(dimension, 1), pairs_(dimension, kMemory, kLeastCosine) {}

double BoxQuasiNewton::projected(double upper) const { return std::clamp(upper, lowest_, highest_); }

void BoxQuasiNewton::project(std::span<double> upper) const {
  for (double& v : upper) v = projected(v);
}

double BoxQuasiNewton::projected_norm(std::span<const double> upper, std::span<const double> gradient) const {
  double sum = 0;
  for (std::size_t j = 0; j < upper.size(); ++j) {
    const double change = upper[j] - projected(upper[j] - gradient[j]);
    sum += change * change;
  }
  return std::sqrt(sum);
}

void BoxQuasiNewton::move(std::span<const double> upper, double step, std::span<const double> direction,
                          std::span<double> out) const {
  for (std::size_t j = 0; j < upper.size(); ++j) out[j] = projected(upper[j] + step * direction[j]);
}

void BoxQuasiNewton::mark_free(std::span<const double> upper, std::span<const double> gradient) {
  const double width = highest_ - lowest_;
  const double near = std::min(projected_norm(upper, gradient),
                               std::isfinite(width) ? kLargestNearness * width : kLargestNearness);
  for (std::size_t j = 0; j < upper.size(); ++j) {
    const bool held =
        (upper[j] <= lowest_ + near && gradient[j] > 0) || (upper[j] >= highest_ - near && gradient[j] < 0);
    is_free_[j] = held ? 0 : 1;
  }
}

/// The quasi-Newton matrix acts on the free coordinates; the held ones go straight to their bounds.
void BoxQuasiNewton::direction(std::span<const double> upper, std::span<const double> gradient,
                               std::span<double> out) {
  mark_free(upper, gradient);
  std::transform(gradient.begin(), gradient.end(), out.begin(), std::negate<>());
  pairs_.apply(out, is_free_);
}

}  // namespace adbo::detail
