#include "methods/running_estimates/upper_step.h"

#include <algorithm>
#include <cmath>

#include "protocol/vector_math.h"

namespace adbo::detail {
namespace {

/// No coordinate moves further in one step, in either phase.
constexpr double kLargestChange = 0.5;
constexpr std::size_t kSecants = 20;
/// Below this cosine the estimates' error may be all there is to a pair's curvature.
constexpr double kLeastCosine = 1e-3;
/// The residuals' part of their peak that the tail's first steps wait for.
constexpr double kCoarsest = 0.3;

/// The tail's memory is not needed where there is no tail.
std::size_t tail_dim(const UpperStepSettings& settings, std::size_t upper_dim) {
  return settings.scaling == UpperScaling::kPerCoordinate ? upper_dim : 0;
}

}  // namespace

UpperStep::UpperStep(const UpperStepSettings& settings, std::size_t upper_dim)
    : settings_(settings),
      mean_(upper_dim),
      square_(upper_dim),
      secants_(tail_dim(settings, upper_dim), kSecants, kLeastCosine),
      last_upper_(tail_dim(settings, upper_dim)),
      last_direction_(tail_dim(settings, upper_dim)),
      part_of_peak_(kCoarsest),
      change_(tail_dim(settings, upper_dim)),
      free_(tail_dim(settings, upper_dim)) {}

void UpperStep::move(std::span<const double> direction, const EstimateLag& lag, std::span<double> upper) {
  if (settings_.scaling == UpperScaling::kCommon || moves_ < settings_.descent_moves) {
    descend(direction, upper);
  } else {
    follow_tail(direction, lag, upper);
  }
}

void UpperStep::descend(std::span<const double> direction, std::span<double> upper) {
  constexpr double kMean = 0.9, kSquare = 0.99, kDecay = 30;
  ++moves_;
  const double k = static_cast<double>(moves_);
  const double mean_bias = 1 - std::pow(kMean, k), square_bias = 1 - std::pow(kSquare, k);
  double common_square = 0;
  for (std::size_t j = 0; j < upper.size(); ++j) {
    mean_[j] = kMean * mean_[j] + (1 - kMean) * direction[j];
    square_[j] = kSquare * square_[j] + (1 - kSquare) * direction[j] * direction[j];
    common_square += square_[j] / static_cast<double>(upper.size());
  }
  rate_ = settings_.rate / std::sqrt(1 + k / kDecay);
  for (std::size_t j = 0; j < upper.size(); ++j) {
    const double square = settings_.scaling == UpperScaling::kPerCoordinate ? square_[j] : common_square;
    const double scale = std::sqrt(square / square_bias);
    const double change = scale > 0 ? rate_ * (mean_[j] / mean_bias) / scale : 0;
    upper[j] = std::clamp(upper[j] - std::clamp(change, -kLargestChange, kLargestChange), settings_.lowest,
                          settings_.highest);
  }
}

void UpperStep::follow_tail(std::span<const double> direction, const EstimateLag& lag,
                            std::span<double> upper) {
  if (!have_caught_up(lag)) return;
  waited_ = 0;
  peak_ = {};
  learn_curvature(direction, upper);
  const double norm = mark_free(direction, upper);
  if (norm == 0) return;
  adapt_accuracy(norm);
  adapt_radius(norm);
  propose(direction);
  apply_change(upper);
}

void UpperStep::learn_curvature(std::span<const double> direction, std::span<const double> upper) {
  if (last_norm_ > 0) secants_.remember(last_upper_, last_direction_, upper, direction);
  std::copy(upper.begin(), upper.end(), last_upper_.begin());
  std::copy(direction.begin(), direction.end(), last_direction_.begin());
}

/// A step on v makes both residuals rise; when they have fallen to a part of their peak, what is left of the
/// direction's error is that part of what the step changed, whatever the problem's units. One round of
/// answers is needed to see the peak at all; a worker that stays silent does not stop v for ever.
bool UpperStep::have_caught_up(const EstimateLag& lag) {
  constexpr double kMostRounds = 30;
  ++waited_;
  peak_.lower = std::max(peak_.lower, lag.lower);
  peak_.adjoint = std::max(peak_.adjoint, lag.adjoint);
  const double rounds = static_cast<double>(waited_) / (1 + lag.mean_age);
  if (rounds < 1) return false;
  if (rounds > kMostRounds) return true;
  return lag.lower <= part_of_peak_ * peak_.lower && lag.adjoint <= part_of_peak_ * peak_.adjoint;
}

/// The norm of the direction over the coordinates that no bound holds back.
double UpperStep::mark_free(std::span<const double> direction, std::span<const double> upper) {
  double square = 0;
  for (std::size_t j = 0; j < upper.size(); ++j) {
    const bool held = (upper[j] <= settings_.lowest && direction[j] > 0) ||
                      (upper[j] >= settings_.highest && direction[j] < 0);
    free_[j] = held ? 0 : 1;
    if (!held) square += direction[j] * direction[j];
  }
  return std::sqrt(square);
}

/// Secant pairs of a nearly flat direction drown in the gradients' errors: where steps do not make the
/// gradient smaller, the next ones wait for better estimates.
void UpperStep::adapt_accuracy(double norm) {
  constexpr double kSharpen = 0.5, kRelax = 1.2, kFinest = 0.01;
  const bool gained = last_norm_ == 0 || norm < last_norm_;
  part_of_peak_ = std::clamp(part_of_peak_ * (gained ? kRelax : kSharpen), kFinest, kCoarsest);
}

/// There is no objective to search along a line by; a gradient that has doubled says that the last step was
/// too long.
void UpperStep::adapt_radius(double norm) {
  constexpr double kShrink = 0.5, kGrow = 1.5, kTooMuch = 2;
  if (radius_ == 0) radius_ = rate_;
  radius_ *= last_norm_ > 0 && norm > kTooMuch * last_norm_ ? kShrink : kGrow;
  radius_ = std::min(radius_, kLargestChange);
  last_norm_ = norm;
}

void UpperStep::propose(std::span<const double> direction) {
  if (!secants_.empty()) {
    std::copy(direction.begin(), direction.end(), change_.begin());
    secants_.apply(change_, free_);
    for (std::size_t j = 0; j < change_.size(); ++j) {
      if (free_[j] == 0) change_[j] = 0;
    }
    return;
  }
  // Nothing is known of the curvature yet: a cautious step by the descent's scales.
  constexpr double kPartOfRadius = 0.3;
  for (std::size_t j = 0; j < change_.size(); ++j) {
    const double scale = std::sqrt(square_[j]);
    change_[j] = free_[j] != 0 && scale > 0 ? kPartOfRadius * radius_ * direction[j] / scale : 0;
  }
}

/// The proposed change, cut to the radius and the bounds.
void UpperStep::apply_change(std::span<double> upper) const {
  const double largest = largest_entry(change_);
  const double scale = largest > radius_ ? radius_ / largest : 1;
  for (std::size_t j = 0; j < upper.size(); ++j) {
    upper[j] = std::clamp(upper[j] - scale * change_[j], settings_.lowest, settings_.highest);
  }
}

}  // namespace adbo::detail
