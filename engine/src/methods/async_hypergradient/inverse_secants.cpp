#include "methods/async_hypergradient/inverse_secants.h"

#include <algorithm>
#include <cmath>

#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

double masked_dot(std::span<const std::uint8_t> free, std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    if (free[j] != 0) sum += a[j] * b[j];
  }
  return sum;
}

}  // namespace

InverseSecants::InverseSecants(std::size_t dim, std::size_t memory)
    : pairs_(memory, Pair{std::vector<double>(dim), std::vector<double>(dim)}),
      point_(dim),
      gradient_(dim),
      weights_(memory) {}

bool InverseSecants::see(std::span<const double> point, std::span<const double> gradient) {
  bool taken = false;
  if (has_point_) {
    Pair& pair = pairs_[next_];
    for (std::size_t j = 0; j < point.size(); ++j) {
      pair.step[j] = point[j] - point_[j];
      pair.change[j] = gradient[j] - gradient_[j];
    }
    // Below this angle the estimate's error may be all there is to the curvature.
    constexpr double kLeastCosine = 1e-3;
    const double product = dot(pair.step, pair.change);
    taken = product > kLeastCosine * std::sqrt(squared_norm(pair.step) * squared_norm(pair.change));
    if (taken) {
      next_ = (next_ + 1) % pairs_.size();
      count_ = std::min(count_ + 1, pairs_.size());
    }
  }
  std::copy(point.begin(), point.end(), point_.begin());
  std::copy(gradient.begin(), gradient.end(), gradient_.begin());
  has_point_ = true;
  return taken;
}

/// The two-loop recursion (Nocedal and Wright, Numerical Optimization, algorithm 7.4), all products over the
/// free coordinates.
void InverseSecants::apply(std::span<const std::uint8_t> free, std::span<double> vector) {
  double scale = 0;
  for (std::size_t k = 0; k < count_; ++k) {
    const Pair& pair = newest(k);
    const double product = masked_dot(free, pair.step, pair.change);
    weights_[k] = product > 0 ? masked_dot(free, pair.step, vector) / product : 0;
    if (product <= 0) continue;
    if (scale == 0) scale = product / masked_dot(free, pair.change, pair.change);
    add_scaled(-weights_[k], pair.change, vector);
  }
  for (double& entry : vector) entry *= scale > 0 ? scale : 1;
  for (std::size_t k = count_; k-- > 0;) {
    const Pair& pair = newest(k);
    const double product = masked_dot(free, pair.step, pair.change);
    if (product <= 0) continue;
    add_scaled(weights_[k] - masked_dot(free, pair.change, vector) / product, pair.step, vector);
  }
  for (std::size_t j = 0; j < vector.size(); ++j) {
    if (free[j] == 0) vector[j] = 0;
  }
}

}  // namespace adbo::detail
