#include "methods/async_hypergradient/upper_step.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace adbo::detail {
namespace {

constexpr std::size_t kSecants = 20;
double env(const char* n, double d) {
  const char* e = std::getenv(n);
  return e ? std::atof(e) : d;
}

}  // namespace

UpperStep::UpperStep(const UpperStepSettings& settings, std::size_t upper_dim)
    : settings_(settings),
      mean_(upper_dim),
      square_(upper_dim),
      secants_(settings.scaling == UpperScaling::kPerCoordinate ? upper_dim : 0, kSecants),
      change_(upper_dim),
      free_(upper_dim) {}

void UpperStep::move(std::span<const double> direction, const EstimateLag& lag, std::span<double> upper) {
  static const double kDescentMoves = env("DESC", 100);
  if (settings_.scaling == UpperScaling::kCommon || moves_ < static_cast<std::int64_t>(kDescentMoves)) {
    descend(direction, upper);
  } else {
    follow_tail(direction, lag, upper);
  }
}

void UpperStep::descend(std::span<const double> direction, std::span<double> upper) {
  constexpr double kMean = 0.9, kSquare = 0.99, kDecay = 30, kLargestChange = 0.5;
  ++moves_;
  const double k = static_cast<double>(moves_);
  const double mean_bias = 1 - std::pow(kMean, k), square_bias = 1 - std::pow(kSquare, k);
  double common_square = 0;
  for (std::size_t j = 0; j < upper.size(); ++j) {
    mean_[j] = kMean * mean_[j] + (1 - kMean) * direction[j];
    square_[j] = kSquare * square_[j] + (1 - kSquare) * direction[j] * direction[j];
    common_square += square_[j] / static_cast<double>(upper.size());
  }
  const double rate = settings_.rate / std::sqrt(1 + k / kDecay);
  radius_ = 0;
  for (std::size_t j = 0; j < upper.size(); ++j) {
    const double square = settings_.scaling == UpperScaling::kPerCoordinate ? square_[j] : common_square;
    const double scale = std::sqrt(square / square_bias);
    if (scale == 0) continue;
    const double change = std::clamp(rate * (mean_[j] / mean_bias) / scale, -kLargestChange, kLargestChange);
    upper[j] = std::clamp(upper[j] - change, settings_.lowest, settings_.highest);
  }
  radius_ = rate;
}

bool UpperStep::caught_up(const EstimateLag& lag) {
  static const double kFallen = env("FALL", 0.1), kMin = env("MINW", 2), kMostPatience = env("MAXW", 30);
  ++waited_;
  peak_.lower = std::max(peak_.lower, lag.lower);
  peak_.adjoint = std::max(peak_.adjoint, lag.adjoint);
  const double waited = static_cast<double>(waited_), round = 1 + lag.mean_age;
  if (waited < kMin * round) return false;
  return (lag.lower <= kFallen * peak_.lower && lag.adjoint <= kFallen * peak_.adjoint) ||
         waited > kMostPatience * round;
}

bool UpperStep::is_blocked(double upper, double direction) const {
  return (upper <= settings_.lowest && direction > 0) || (upper >= settings_.highest && direction < 0);
}

void UpperStep::follow_tail(std::span<const double> direction, const EstimateLag& lag,
                            std::span<double> upper) {
  if (!caught_up(lag)) return;
  waited_ = 0;
  peak_ = {};
  secants_.see(upper, direction);
  double norm = 0;
  for (std::size_t j = 0; j < upper.size(); ++j) {
    free_[j] = !is_blocked(upper[j], direction[j]);
    if (free_[j]) norm += direction[j] * direction[j];
  }
  norm = std::sqrt(norm);
  if (norm == 0) return;
  if (last_norm_ > 0 && norm > 2 * last_norm_) {
    radius_ *= 0.5;
  } else {
    radius_ *= 1.5;
  }
  radius_ = std::min(radius_, 0.5);
  last_norm_ = norm;
  std::copy(direction.begin(), direction.end(), change_.begin());
  if (secants_.empty()) {
    // as in the descent
    for (std::size_t j = 0; j < upper.size(); ++j) {
      const double scale = std::sqrt(square_[j]);
      change_[j] = free_[j] && scale > 0 ? 0.3 * radius_ * direction[j] / scale : 0;
    }
  } else {
    secants_.apply(free_, change_);
  }
  double largest = 0;
  for (const double c : change_) largest = std::max(largest, std::abs(c));
  const double scale = largest > radius_ ? radius_ / largest : 1;
  for (std::size_t j = 0; j < upper.size(); ++j) {
    upper[j] = std::clamp(upper[j] - scale * change_[j], settings_.lowest, settings_.highest);
  }
  static const bool trace = env("TRACE", 0) != 0;
  if (trace)
    fprintf(stderr, "tail |d| %.3g step %.3g radius %.3g age %.2g\n", norm, scale * largest, radius_,
            lag.mean_age);
}

}  // namespace adbo::detail
