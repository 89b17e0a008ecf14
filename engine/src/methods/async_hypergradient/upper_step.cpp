#include "methods/async_hypergradient/upper_step.h"

#include <algorithm>
#include <cmath>

namespace adbo::detail {

UpperStep::UpperStep(const UpperScaling& scaling, std::size_t upper_dim, double rate, double lowest,
                     double highest)
    : scaling_(scaling),
      first_rate_(rate),
      rate_(rate),
      lowest_(lowest),
      highest_(highest),
      mean_(upper_dim),
      square_(upper_dim) {}

void UpperStep::move(std::span<const double> direction, std::span<double> upper) {
  constexpr double kMean = 0.9, kSquare = 0.99;
  ++moves_;
  const double k = static_cast<double>(moves_);
  const double mean_bias = 1 - std::pow(kMean, k), square_bias = 1 - std::pow(kSquare, k);
  double common_square = 0;
  for (std::size_t j = 0; j < upper.size(); ++j) {
    mean_[j] = kMean * mean_[j] + (1 - kMean) * direction[j];
    square_[j] = kSquare * square_[j] + (1 - kSquare) * direction[j] * direction[j];
    common_square += square_[j] / static_cast<double>(upper.size());
  }
  for (std::size_t j = 0; j < upper.size(); ++j) {
    const double square = scaling_ == UpperScaling::kPerCoordinate ? square_[j] : common_square;
    const double scale = std::sqrt(square / square_bias);
    if (scale == 0) continue;
    const double change = std::clamp(rate_ * (mean_[j] / mean_bias) / scale, -kLargestChange, kLargestChange);
    upper[j] = std::clamp(upper[j] - change, lowest_, highest_);
  }
}

void UpperStep::follow_lag(double lag) {
  constexpr double kBearable = 0.3, kGrow = 1.05, kShrink = 0.7, kDecay = 30;
  const double most = first_rate_ / std::sqrt(1 + static_cast<double>(moves_) / kDecay);
  rate_ = std::min(most, rate_ * (lag <= kBearable ? kGrow : kShrink));
}

}  // namespace adbo::detail
