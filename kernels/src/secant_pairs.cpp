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

void scale_free(Free free, double factor, std::span<double> vector) {
  for (std::size_t j = 0; j < vector.size(); ++j) vector[j] *= free.empty() || free[j] != 0 ? factor : 1.0;
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

void SecantPairs::apply(std::span<double> vector, Free free) {
  double scale = 0;
  for (std::size_t k = 0; k < used_; ++k) {
    Pair& pair = newest(k);
    const double product = free_dot(free, pair.step, pair.change);
    const double change_square = free_dot(free, pair.change, pair.change);
    const bool curved = is_curved(product, free_dot(free, pair.step, pair.step), change_square);
    pair.inverse_curvature = curved ? 1 / product : 0;
    if (!curved) continue;
    if (scale == 0) scale = product / change_square;
    pair.share = pair.inverse_curvature * free_dot(free, pair.step, vector);
    add_free(free, -pair.share, pair.change, vector);
  }
  if (scale == 0) return;
  scale_free(free, scale, vector);
  for (std::size_t k = used_; k-- > 0;) {
    const Pair& pair = newest(k);
    if (pair.inverse_curvature == 0) continue;
    const double share = pair.inverse_curvature * free_dot(free, pair.change, vector);
    add_free(free, pair.share - share, pair.step, vector);
  }
}

}  // namespace adbo::kernels
