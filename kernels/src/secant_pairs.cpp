#include "adbo/kernels/secant_pairs.h"

#include <algorithm>
#include <cmath>

namespace adbo::kernels {
namespace {

using Free = std::span<const std::uint8_t>;

double free_dot(Free free, std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  if (free.empty()) {
    for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  } else {
    for (std::size_t j = 0; j < a.size(); ++j) sum += free[j] != 0 ? a[j] * b[j] : 0.0;
  }
  return sum;
}

void add_free(Free free, double factor, std::span<const double> from, std::span<double> to) {
  if (free.empty()) {
    for (std::size_t j = 0; j < to.size(); ++j) to[j] += factor * from[j];
  } else {
    for (std::size_t j = 0; j < to.size(); ++j) to[j] += free[j] != 0 ? factor * from[j] : 0.0;
  }
}

void scale_free(Free free, double factor, std::span<const double> metric, std::span<double> vector) {
  for (std::size_t j = 0; j < vector.size(); ++j) {
    if (free.empty() || free[j] != 0) vector[j] *= metric.empty() ? factor : factor * metric[j];
  }
}

/// a' diag(metric) a.
double free_square(Free free, std::span<const double> metric, std::span<const double> a) {
  if (metric.empty()) return free_dot(free, a, a);
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    sum += free.empty() || free[j] != 0 ? metric[j] * a[j] * a[j] : 0.0;
  }
  return sum;
}

}  // namespace

SecantPairs::SecantPairs(std::size_t dim, std::size_t memory, double least_cosine)
    : pairs_(std::max<std::size_t>(1, memory) + 1,
             Pair{.step = std::vector<double>(dim), .change = std::vector<double>(dim)}),
      least_cosine_(least_cosine) {}

bool SecantPairs::is_curved(double product, double step_square, double change_square) const {
  return product > least_cosine_ * std::sqrt(step_square * change_square);
}

bool SecantPairs::remember(std::span<const double> from, std::span<const double> gradient_from,
                           std::span<const double> to, std::span<const double> gradient_to) {
  Pair& pair = pairs_[next_];
  for (std::size_t j = 0; j < to.size(); ++j) {
    pair.step[j] = to[j] - from[j];
    pair.change[j] = gradient_to[j] - gradient_from[j];
  }
  if (!is_curved(free_dot({}, pair.step, pair.change), free_dot({}, pair.step, pair.step),
                 free_dot({}, pair.change, pair.change))) {
    return false;
  }
  next_ = (next_ + 1) % pairs_.size();
  used_ = std::min(used_ + 1, pairs_.size() - 1);
  return true;
}

void SecantPairs::apply(std::span<double> vector, Free free, std::span<const double> metric) {
  double scale = 0;
  for (std::size_t k = 0; k < used_; ++k) {
    Pair& pair = newest(k);
    const double product = free_dot(free, pair.step, pair.change);
    const bool curved =
        is_curved(product, free_dot(free, pair.step, pair.step), free_dot(free, pair.change, pair.change));
    pair.inverse_curvature = curved ? 1 / product : 0;
    if (!curved) continue;
    if (scale == 0) scale = product / free_square(free, metric, pair.change);
    pair.share = pair.inverse_curvature * free_dot(free, pair.step, vector);
    add_free(free, -pair.share, pair.change, vector);
  }
  if (scale == 0 && metric.empty()) return;
  scale_free(free, scale == 0 ? 1.0 : scale, metric, vector);
  for (std::size_t k = used_; k-- > 0;) {
    const Pair& pair = newest(k);
    if (pair.inverse_curvature == 0) continue;
    const double share = pair.inverse_curvature * free_dot(free, pair.change, vector);
    add_free(free, pair.share - share, pair.step, vector);
  }
}

}  // namespace adbo::kernels
