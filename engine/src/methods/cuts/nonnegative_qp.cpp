#include "methods/cuts/nonnegative_qp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace adbo::detail {

NonnegativeQp::NonnegativeQp(std::size_t capacity, double regularization)
    : regularization_(regularization),
      gram_(capacity * capacity),
      linear_(capacity),
      scale_(capacity),
      x_(capacity),
      candidate_(capacity),
      factor_(capacity * capacity),
      is_passive_(capacity),
      is_barred_(capacity) {
  passive_.reserve(capacity);
}

double NonnegativeQp::solve(std::span<const double> gram, std::span<const double> linear,
                            std::span<double> solution) {
  size_ = solution.size();
  scale(gram, linear, solution);
  passive_.clear();
  for (std::size_t k = 0; k < size_; ++k) {
    is_barred_[k] = scale_[k] == 0;
    is_passive_[k] = x_[k] > 0;
    if (is_passive_[k]) passive_.push_back(k);
  }

  // Every entry that stays decreases the objective, so no passive set occurs twice; the bound is for
  // rounding alone.
  const std::size_t most_entries = 10 * size_ + 10;
  bool sound = settle_passive();
  for (std::size_t entries = 0; sound && entries < most_entries; ++entries) {
    std::size_t entering = size_;
    double steepest = 0.01 * kTolerance * magnitude();
    for (std::size_t k = 0; k < size_; ++k) {
      if (is_passive_[k] || is_barred_[k] || !(slope(k) > steepest)) continue;
      steepest = slope(k);
      entering = k;
    }
    if (entering == size_) break;
    is_passive_[entering] = 1;
    passive_.push_back(entering);
    sound = settle_passive();
    // Rounding may send the entering unknown straight back: it then waits until another one has entered.
    const bool stayed = is_passive_[entering] != 0;
    if (stayed) {
      for (std::size_t k = 0; k < size_; ++k) is_barred_[k] = scale_[k] == 0;
    } else {
      is_barred_[entering] = 1;
    }
  }

  const double left = sound ? violation() : std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < size_; ++k) solution[k] = x_[k] * scale_[k];
  return left;
}

void NonnegativeQp::scale(std::span<const double> gram, std::span<const double> linear,
                          std::span<const double> start) {
  for (std::size_t k = 0; k < size_; ++k) {
    const double diagonal = gram[k * size_ + k];
    scale_[k] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 0;
    x_[k] = diagonal > 0 && start[k] > 0 ? start[k] / scale_[k] : 0;
    linear_[k] = linear[k] * scale_[k];
  }
  for (std::size_t k = 0; k < size_; ++k) {
    for (std::size_t l = 0; l < size_; ++l)
      gram_[k * size_ + l] = gram[k * size_ + l] * scale_[k] * scale_[l];
    gram_[k * size_ + k] += regularization_;
  }
}

/// Moves x towards the minimizer over the passive unknowns; one that reaches zero on the way leaves, until
/// the minimizer itself is positive. False: the matrix is not positive definite, or not finite.
bool NonnegativeQp::settle_passive() {
  while (!passive_.empty()) {
    if (!minimize_on_passive()) return false;
    double reach = 1;
    std::size_t blocking = passive_.size();
    for (std::size_t p = 0; p < passive_.size(); ++p) {
      if (candidate_[p] > 0) continue;
      const double x = x_[passive_[p]];
      const double ratio = x > 0 ? x / (x - candidate_[p]) : 0;
      if (blocking < passive_.size() && ratio >= reach) continue;
      reach = ratio;
      blocking = p;
    }
    for (std::size_t p = 0; p < passive_.size(); ++p) {
      double& x = x_[passive_[p]];
      // The minimizer itself where nothing blocks: no rounding of x + 1 (s - x).
      x = blocking == passive_.size() ? candidate_[p] : std::max(0.0, x + reach * (candidate_[p] - x));
    }
    if (blocking == passive_.size()) return true;
    x_[passive_[blocking]] = 0;
    std::erase_if(passive_, [this](std::size_t k) {
      is_passive_[k] = x_[k] > 0;
      return is_passive_[k] == 0;
    });
  }
  return true;
}

/// candidate_ <- the solution of (Q + D) s = r on the passive unknowns, by Cholesky's factorization.
bool NonnegativeQp::minimize_on_passive() {
  const std::size_t p = passive_.size();
  const auto l = [this, p](std::size_t row, std::size_t col) -> double& { return factor_[row * p + col]; };
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = entry(passive_[i], passive_[j]);
      for (std::size_t k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
      if (i == j && !(sum > 0)) return false;
      l(i, j) = i == j ? std::sqrt(sum) : sum / l(j, j);
    }
  }
  for (std::size_t i = 0; i < p; ++i) {
    double sum = linear_[passive_[i]];
    for (std::size_t k = 0; k < i; ++k) sum -= l(i, k) * candidate_[k];
    candidate_[i] = sum / l(i, i);
  }
  for (std::size_t i = p; i-- > 0;) {
    for (std::size_t k = i + 1; k < p; ++k) candidate_[i] -= l(k, i) * candidate_[k];
    candidate_[i] /= l(i, i);
  }
  return true;
}

/// w_k = r_k - ((Q + D) x)_k: the objective's descent along unknown k.
double NonnegativeQp::slope(std::size_t k) const {
  double sum = linear_[k];
  for (std::size_t l = 0; l < size_; ++l) sum -= entry(k, l) * x_[l];
  return sum;
}

double NonnegativeQp::magnitude() const {
  double linear = 0, product = 0;
  for (std::size_t k = 0; k < size_; ++k) {
    linear = std::max(linear, std::abs(linear_[k]));
    double sum = 0;
    for (std::size_t l = 0; l < size_; ++l) sum += std::abs(entry(k, l) * x_[l]);
    product = std::max(product, sum);
  }
  return linear + product;
}

double NonnegativeQp::violation() const {
  double worst = 0;
  for (std::size_t k = 0; k < size_; ++k) {
    if (scale_[k] == 0) continue;
    const double w = slope(k);
    worst = std::max(worst, x_[k] > 0 ? std::abs(w) : w);
  }
  const double size = magnitude();
  return size > 0 ? worst / size : worst;
}

}  // namespace adbo::detail
