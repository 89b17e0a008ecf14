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

/// How much of the last means the next ones keep, and the slope, relative to the largest, below which
/// coordinates count alike.
constexpr double kKeptSlope = 0.5, kLeastSlope = 1e-3;

/// Where the largest slope has fallen to this share of what it was, slopes say how far the minimum is, and no
/// longer how curved F is: the means stay as they are.
constexpr double kSettled = 1e-2;

}  // namespace

BoxQuasiNewton::BoxQuasiNewton(std::size_t dimension, double lowest, double highest)
    : lowest_(lowest),
      highest_(highest),
      is_free_(dimension, 1),
      pairs_(dimension, kMemory, kLeastCosine),
      slopes_(dimension),
      metric_(dimension) {}

double BoxQuasiNewton::projected(double upper) const { return std::clamp(upper, lowest_, highest_); }

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

void BoxQuasiNewton::average_slopes(std::span<const double> gradient) {
  double largest = 0;
  for (std::size_t j = 0; j < gradient.size(); ++j) {
    if (is_free_[j] != 0) largest = std::max(largest, std::abs(gradient[j]));
  }
  largest_slope_ = std::max(largest_slope_, largest);
  if (has_slopes_ && largest < kSettled * largest_slope_) return;
  const double kept = has_slopes_ ? kKeptSlope : 0;
  has_slopes_ = true;
  for (std::size_t j = 0; j < gradient.size(); ++j) {
    const double slope = largest > 0 ? std::min(1.0, std::abs(gradient[j]) / largest) : 1;
    slopes_[j] = kept * slopes_[j] + (1 - kept) * slope;
  }
}

/// The quasi-Newton matrix acts on the free coordinates; the held ones go straight to their bounds.
void BoxQuasiNewton::direction(std::span<const double> upper, std::span<const double> gradient,
                               std::span<double> out) {
  mark_free(upper, gradient);
  average_slopes(gradient);
  std::transform(slopes_.begin(), slopes_.end(), metric_.begin(),
                 [](double slope) { return 1 / (slope + kLeastSlope); });
  std::transform(gradient.begin(), gradient.end(), out.begin(), std::negate<>());
  pairs_.apply(out, is_free_, metric_);
}

}  // namespace adbo::detail
