#include "methods/exact/box_quasi_newton.h"

#include <algorithm>
#include <cmath>

#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

/// Below this cosine between the changes of v and of the gradient, the latter is rounding.
constexpr double kLeastCosine = 1e-10;

/// Coordinates nearer to a bound than this share of the box count as being there.
constexpr double kLargestNearness = 1e-3;

}  // namespace

BoxQuasiNewton::BoxQuasiNewton(std::size_t dimension, double lowest, double highest)
    : lowest_(lowest), highest_(highest), is_free_(dimension, 1), pairs_(kMemory) {
  for (Pair& pair : pairs_) {
    pair.s.resize(dimension);
    pair.y.resize(dimension);
  }
}

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

double BoxQuasiNewton::free_dot(std::span<const double> a, std::span<const double> b) const {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += is_free_[j] != 0 ? a[j] * b[j] : 0.0;
  return sum;
}

void BoxQuasiNewton::add_free(double factor, std::span<const double> x, std::span<double> y) const {
  for (std::size_t j = 0; j < x.size(); ++j) y[j] += is_free_[j] != 0 ? factor * x[j] : 0.0;
}

/// The two-loop recursion on the free coordinates, with the pairs whose curvature is positive there; the held
/// ones go straight to their bounds.
void BoxQuasiNewton::direction(std::span<const double> upper, std::span<const double> gradient,
                               std::span<double> out) {
  mark_free(upper, gradient);
  std::transform(gradient.begin(), gradient.end(), out.begin(), [](double g) { return -g; });
  double scale = 0;
  for (std::size_t age = 0; age < used_; ++age) {
    Pair& pair = recent(age);
    const double sy = free_dot(pair.s, pair.y), yy = free_dot(pair.y, pair.y);
    const bool is_curved = sy > kLeastCosine * std::sqrt(free_dot(pair.s, pair.s) * yy);
    pair.inverse_sy = is_curved ? 1 / sy : 0;
    if (!is_curved) continue;
    if (scale == 0) scale = sy / yy;
    pair.share = pair.inverse_sy * free_dot(pair.s, out);
    add_free(-pair.share, pair.y, out);
  }
  if (scale == 0) return;  // nothing is known of the curvature
  for (std::size_t j = 0; j < out.size(); ++j) out[j] *= is_free_[j] != 0 ? scale : 1.0;
  for (std::size_t age = used_; age-- > 0;) {
    const Pair& pair = recent(age);
    if (pair.inverse_sy == 0) continue;
    add_free(pair.share - pair.inverse_sy * free_dot(pair.y, out), pair.s, out);
  }
}

void BoxQuasiNewton::remember(std::span<const double> upper_change, std::span<const double> gradient_change) {
  const double sy = dot(upper_change, gradient_change);
  if (!(sy > kLeastCosine * std::sqrt(squared_norm(upper_change) * squared_norm(gradient_change)))) return;
  Pair& pair = pairs_[next_];
  pair.s.assign(upper_change.begin(), upper_change.end());
  pair.y.assign(gradient_change.begin(), gradient_change.end());
  next_ = (next_ + 1) % kMemory;
  used_ = std::min(used_ + 1, kMemory);
}

}  // namespace adbo::detail
